/* schema/value/value_equal.c - are two values the same data? Where their bytes are the same they are; else they are opened,
 * and compared part by part. */
#include <assert.h>
#include <math.h>

#include "schema/value/value_parts.h"

/* Two open values whose parts before `next` are equal. */
struct value_frame {
    struct value *a, *b;
    uint32_t next;
};

struct comparison {
    struct datum *d;
    struct err *err;
    struct value_frame *top;
    struct value_frame frames[VALUE_NEST_MAX + 1]; /* the bottom is not used */
};

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static enum rc compare_doubles(struct comparison *c, struct value *a, struct value *b, bool *equal)
{
    double x, y;
    if (value_double(c->d, a, &x, c->err) != RC_OK || value_double(c->d, b, &y, c->err) != RC_OK)
        return RC_ERR;
    *equal = same_number(x, y);
    return RC_OK;
}

/* Numbers, and symbols, may be written in more bytes than they need. */
static enum rc compare_longs(struct comparison *c, struct value *a, struct value *b, bool *equal)
{
    int64_t x, y;
    if (value_long(c->d, a, &x, c->err) != RC_OK || value_long(c->d, b, &y, c->err) != RC_OK)
        return RC_ERR;
    *equal = x == y;
    return RC_OK;
}

static enum rc compare_texts(struct comparison *c, struct value *a, struct value *b, bool *equal)
{
    struct slice x, y;
    if (value_text(c->d, a, &x, c->err) != RC_OK || value_text(c->d, b, &y, c->err) != RC_OK)
        return RC_ERR;
    *equal = slice_eq(x, y);
    return RC_OK;
}

/* Open both; their parts are compared later. */
static enum rc enter(struct comparison *c, struct value *a, struct value *b, bool *equal)
{
    if (value_open(c->d, a, c->err) != RC_OK || value_open(c->d, b, c->err) != RC_OK)
        return RC_ERR;
    bool is_map = c->d->program->ops[a->op].code == OP_MAP;
    if (is_map && value_index(c->d, b, c->err) != RC_OK)
        return RC_ERR;
    bool is_union = c->d->program->ops[a->op].code == OP_UNION;
    *equal = a->nparts == b->nparts && (!is_union || a->branch == b->branch);
    if (!*equal)
        return RC_OK;
    if (c->top == c->frames + VALUE_NEST_MAX)
        return value_too_deep(c->err);
    *++c->top = (struct value_frame){.a = a, .b = b};
    return RC_OK;
}

static enum rc compare(struct comparison *c, struct value *a, struct value *b, bool *equal)
{
    *equal = a->op == b->op;
    if (!*equal)
        return RC_OK;
    if (!value_is_joined(a) && !value_is_joined(b) && slice_eq(a->avro, b->avro))
        return datum_pay(c->d, COST_SPAN + a->avro.len / 4, c->err);
    if (datum_pay(c->d, COST_VALUE, c->err) != RC_OK)
        return RC_ERR;
    switch ((enum opcode)c->d->program->ops[a->op].code) {
    case OP_FLOAT:
    case OP_DOUBLE: return compare_doubles(c, a, b, equal);
    case OP_INT:
    case OP_LONG:
    case OP_ENUM: return compare_longs(c, a, b, equal);
    case OP_STRING:
    case OP_BYTES: return compare_texts(c, a, b, equal);
    case OP_RECORD:
    case OP_ARRAY:
    case OP_MAP:
    case OP_UNION: return enter(c, a, b, equal);
    default: *equal = false; return RC_OK; /* one form only: their bytes differ */
    }
}

/* The next part of what is open. */
static enum rc step(struct comparison *c, bool *equal)
{
    struct value_frame *f = c->top;
    if (f->next == f->a->nparts) {
        c->top--;
        return RC_OK;
    }
    struct value *a = f->a->part[f->next], *b = f->b->part[f->next];
    f->next++;
    if (c->d->program->ops[f->a->op].code == OP_MAP) {
        b = value_entry(f->b, a->key);
        *equal = b != NULL;
        if (!b)
            return RC_OK;
    }
    return compare(c, a, b, equal);
}

enum rc value_equal(struct datum *d, struct value *a, struct value *b, bool *equal, struct err *err)
{
    struct comparison c; /* the frames stay uninitialised */
    c.d = d;
    c.err = err;
    c.top = c.frames;
    enum rc rc = compare(&c, a, b, equal);
    while (rc == RC_OK && *equal && c.top != c.frames)
        rc = step(&c, equal);
    return rc;
}
