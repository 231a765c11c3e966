/* schema/value/value_write.c - values as Avro binary and JSON, and the pointer to one. */
#include <assert.h>

#include "schema/decode/decode.h"
#include "schema/json.h"
#include "schema/value/value_parts.h"

enum rc value_too_deep(struct err *err)
{
    return err_set(err, ERR_TOO_DEEP,
                   "With this the record would nest records, arrays and maps more than %d levels deep.",
                   LIMIT_DATA_DEPTH_MAX);
}

/* ---- Avro ---- */

/* An open value whose parts before `next` are written. */
struct value_frame {
    const struct value *v;
    uint32_t next;
};

struct writer {
    const struct program *program;
    struct buf *out;
    size_t before; /* out->len at the beginning */
    struct err *err;
    struct value_frame *top;
    struct value_frame frames[VALUE_NEST_MAX + 1]; /* the bottom is not used */
};

static bool put(struct writer *w, struct slice bytes)
{
    if (unlikely(bytes.len > LIMIT_RECORD_MAX - (w->out->len - w->before))) {
        err_set(w->err, ERR_RECORD_TOO_LARGE, "The record takes more than %d bytes as Avro binary.",
                LIMIT_RECORD_MAX);
        return false;
    }
    if (unlikely(!buf_append(w->out, bytes))) {
        err_oom(w->err);
        return false;
    }
    return true;
}

static bool put_number(struct writer *w, int64_t n)
{
    uint8_t digits[10];
    return put(w, slice_of(digits, (size_t)(encode_varint(digits, encode_zigzag(n)) - digits)));
}

static bool put_key(struct writer *w, struct slice key)
{
    return put_number(w, (int64_t)key.len) && put(w, key);
}

/* What stands before its parts. */
static bool put_head(struct writer *w, const struct value *v)
{
    switch (w->program->ops[v->op].code) {
    case OP_UNION: return put_number(w, v->branch);
    case OP_ARRAY:
    case OP_MAP: return v->nparts == 0 || put_number(w, v->nparts);
    default: return true;
    }
}

/* What stands behind them: the array's or map's last block, which is empty. */
static bool put_tail(struct writer *w, const struct value *v)
{
    uint8_t code = w->program->ops[v->op].code;
    return (code != OP_ARRAY && code != OP_MAP) || put(w, slice_of("", 1));
}

static bool put_value(struct writer *w, const struct value *v)
{
    if (!value_is_joined(v)) {
        assert(v->avro.ptr);
        return put(w, v->avro);
    }
    if (unlikely(w->top == w->frames + VALUE_NEST_MAX)) {
        value_too_deep(w->err);
        return false;
    }
    *++w->top = (struct value_frame){.v = v};
    return put_head(w, v);
}

static bool write_parts(struct writer *w, const struct value *root)
{
    if (!put_value(w, root))
        return false;
    while (w->top != w->frames) {
        struct value_frame *f = w->top;
        if (f->next == f->v->nparts) {
            w->top--;
            if (!put_tail(w, f->v))
                return false;
            continue;
        }
        const struct value *part = f->v->part[f->next++];
        if (w->program->ops[f->v->op].code == OP_MAP && !put_key(w, part->key))
            return false;
        if (!put_value(w, part))
            return false;
    }
    return true;
}

enum rc value_write(const struct datum *d, const struct value *v, struct buf *out, struct err *err)
{
    struct writer w; /* the frames stay uninitialised */
    w.program = d->program;
    w.out = out;
    w.before = out->len;
    w.err = err;
    w.top = w.frames;
    if (write_parts(&w, v))
        return RC_OK;
    out->len = w.before;
    return RC_ERR;
}

/* ---- JSON ---- */

enum rc value_print(struct datum *d, struct value *v, enum json_form form, size_t bytes_max, struct buf *out,
                    struct err *err)
{
    const struct program *p = schema_program_of(d->schema, form);
    struct slice avro = v->avro;
    struct buf written = {0};
    enum rc rc = RC_OK;
    if (!p)
        return err_oom(err);
    if (value_is_joined(v)) {
        rc = value_write(d, v, &written, err);
        avro = slice_not_null(buf_slice(&written));
    }
    if (rc == RC_OK)
        rc = decode_json(p, v->op, form, bytes_max, avro, avro, SLICE(""), out, err);
    buf_release(&written);
    return rc;
}

/* ---- pointers ---- */

/* Is the branch that the open union holds printed under its tag? */
static bool has_tag(const struct datum *d, const struct value *v)
{
    const struct op *op = &d->program->ops[v->op];
    bool is_bare = d->opts->form != JSON_AVRO && op->flags & OP_FLAG_SINGLE;
    return !is_bare && d->program->ops[v->part[0]->op].code != OP_NULL;
}

static bool push_index(uint32_t index, struct buf *out)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    return json_pointer_push(out, slice_of(digits, num_print_u64(index, digits)));
}

/* The token that leads from its parent to the value. */
static bool push_step(const struct datum *d, const struct value *v, struct buf *out)
{
    const struct value *parent = v->parent;
    const struct op *op = &d->program->ops[parent->op];
    switch (op->code) {
    case OP_RECORD: return json_pointer_push(out, d->program->fields[op->a + v->place].name);
    case OP_ARRAY: return push_index(value_place(v), out);
    case OP_MAP: return json_pointer_push(out, v->key);
    default:
        return !has_tag(d, parent) ||
               json_pointer_push(out, d->program->branches[op->a + parent->branch].tag);
    }
}

bool value_pointer(const struct datum *d, const struct value *v, struct buf *out)
{
    uint32_t n = 0;
    for (const struct value *up = v; up->parent; up = up->parent)
        n++;
    const struct value **way = arena_alloc(d->arena, n * sizeof(struct value *));
    if (!way)
        return false;
    for (uint32_t i = n; i-- > 0; v = v->parent)
        way[i] = v;
    for (uint32_t i = 0; i < n; i++)
        if (!push_step(d, way[i], out))
            return false;
    return true;
}
