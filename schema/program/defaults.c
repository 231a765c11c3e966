/* schema/program/defaults.c - every default of a schema to Avro binary, by the encoder itself. A record in a default
 * may leave out fields that have defaults of their own, so one default may need another: they are encoded on
 * demand, with an explicit stack, and one that needs itself has no end. */
#include "base/utf8.h"
#include "schema/encode/encode.h"
#include "schema/encode/explain.h"
#include "schema/program/compile.h"

enum state { STATE_NEW, STATE_STARTED, STATE_DONE, STATE_FAILED };

/* A field of the program beside the model's. */
struct item {
    const struct field *field;
    uint8_t state;
};

struct defaults {
    struct compiler *c;
    struct item *items; /* beside program.fields */
    uint32_t *stack, n;
    struct buf out;
};

static int shown(struct slice s)
{
    return (int)utf8_cut(s, 100).len;
}

static enum rc fault_circle(struct defaults *d, const struct item *item)
{
    enum rc rc = RC_OK;
    compile_fault(
        d->c, &rc, PROBLEM_INFINITE, item->field->place, "default",
        "The default of \"%.*s\" contains itself: it leaves out a field whose default leads back to it.",
        shown(item->field->name), item->field->name.ptr);
    return rc;
}

static enum rc fault_size(struct defaults *d, const struct item *item)
{
    enum rc rc = RC_OK;
    compile_fault(d->c, &rc, PROBLEM_RANGE, item->field->place, "default",
                  "The default of \"%.*s\" takes more than %d bytes.", shown(item->field->name),
                  item->field->name.ptr, LIMIT_RECORD_MAX);
    return rc;
}

/* {"string":"x"} where "x" is meant: the mistake that is made most. */
static const char *advice_for(const struct type *type, struct slice text)
{
    bool is_object = text.len && text.ptr[0] == '{';
    if (type->kind == TYPE_UNION)
        return is_object ? " A union's default is written bare, without the branch's name." : "";
    bool is_quoted_number = text.len > 2 && text.ptr[0] == '"' &&
                            (text.ptr[1] == '-' || scan_is_digit(text.ptr[1])) && type->kind >= TYPE_INT &&
                            type->kind <= TYPE_DOUBLE;
    return is_quoted_number ? " Write the number without quotes." : "";
}

static enum rc fault_misfit(struct defaults *d, const struct item *item, struct encode_job *job)
{
    const struct field *f = item->field;
    struct err why;
    job->budget = d->c->budget;
    enum rc rc = explain_text(d->c->codec, job, f->default_json, d->c->problems, &why);
    d->c->budget = job->budget;
    if (why.code == ERR_NO_MEMORY || why.code == ERR_TOO_MUCH_WORK) {
        *d->c->err = why;
        return rc;
    }
    const struct problem *first = why.first;
    struct slice inner = first ? first->pointer : SLICE("");
    struct slice words = first && first->detail.len ? first->detail : slice_str(why.message);
    rc = RC_OK;
    struct problem *p =
        compile_fault(d->c, &rc, PROBLEM_DEFAULT, f->place, "default",
                      "The default of \"%.*s\" does not fit its type%s%.*s: %.*s%s", shown(f->name),
                      f->name.ptr, inner.len ? ", at " : "", shown(inner), inner.ptr, (int)words.len,
                      words.ptr, advice_for(f->type, f->default_json));
    if (p && first) {
        p->expected = first->expected;
        p->got = first->got;
    }
    return rc;
}

static enum rc warn_later_branch(struct defaults *d, const struct item *item)
{
    const struct field *f = item->field;
    bool ok = model_warn(
        d->c->model,
        "The default of \"%.*s\" belongs to a later branch of its union; readers older than Avro 1.12 "
        "take it for the first.",
        shown(f->name), f->name.ptr);
    return ok ? RC_OK : err_oom(d->c->err);
}

static enum rc keep(struct defaults *d, uint32_t index, const struct encode *e)
{
    struct op_field *field = &d->c->program->fields[index];
    if (compile_keep(d->c, d->out.len))
        return RC_ERR;
    if (!arena_copy(&d->c->program->arena, buf_slice(&d->out), &field->filling.avro))
        return err_oom(d->c->err);
    field->filling.depth = e->deepest;
    field->filling.empty_items = (uint32_t)e->empty_items;
    field->filling.most_items = e->most_items;
    d->items[index].state = STATE_DONE;
    return e->was_later_branch ? warn_later_branch(d, &d->items[index]) : RC_OK;
}

/* The top of the stack needs the default of another field. */
static enum rc wait_for(struct defaults *d, uint32_t index, uint32_t needed)
{
    struct item *item = &d->items[index], *other = &d->items[needed];
    if (other->state == STATE_NEW) {
        other->state = STATE_STARTED;
        d->stack[d->n++] = needed;
        return RC_OK;
    }
    assert(other->state != STATE_DONE);
    bool is_circle = other->state == STATE_STARTED; /* which it may itself be the whole of */
    d->n--;
    item->state = STATE_FAILED;
    return is_circle ? fault_circle(d, item) : RC_OK; /* what failed was reported by itself */
}

/* Encode the default on top of the stack, or find out what must come first. */
static enum rc advance(struct defaults *d)
{
    struct compiler *c = d->c;
    uint32_t index = d->stack[d->n - 1];
    struct item *item = &d->items[index];
    struct encode_job job = {.program = c->program,
                             .op = c->program->fields[index].op,
                             .mode = UNION_DEFAULT,
                             .rules = {MISSING_DEFAULT, UNKNOWN_REJECT},
                             .budget = c->budget};
    struct encode e;
    d->out.len = 0;
    enum encode_result r = encode_text(&e, c->codec, &job, item->field->default_json, &d->out);
    c->budget = e.budget - (int64_t)(e.steps * COST_VALUE * 2) - (e.o - e.out);
    if (c->budget < 0)
        return err_set(c->err, ERR_TOO_MUCH_WORK,
                       "Encoding the defaults of this schema takes too much work.");
    if (r == ENCODE_NEEDS_DEFAULT)
        return wait_for(d, index, e.needed);
    d->n--;
    item->state = STATE_FAILED;
    switch (r) {
    case ENCODE_FITS: return keep(d, index, &e);
    case ENCODE_MISFIT: return fault_misfit(d, item, &job);
    case ENCODE_TOO_LARGE: return fault_size(d, item);
    case ENCODE_TOO_MANY:
        return err_set(c->err, ERR_TOO_MUCH_WORK,
                       "A default of this schema has more than %d items of no bytes.", LIMIT_EMPTY_ITEMS_MAX);
    default: return err_oom(c->err);
    }
}

static enum rc encode_all(struct defaults *d)
{
    enum rc rc = RC_OK;
    for (uint32_t i = 0; i < d->c->program->nfields && !rc; i++) {
        if (!d->c->program->fields[i].has_default || d->items[i].state != STATE_NEW)
            continue;
        d->items[i].state = STATE_STARTED;
        d->stack[d->n++] = i;
        while (d->n && !rc)
            rc = advance(d);
    }
    return rc;
}

static void list_items(struct defaults *d)
{
    const struct model *m = d->c->model;
    for (uint32_t t = 0; t < m->ntypes; t++)
        if (m->types[t]->kind == TYPE_RECORD)
            for (uint32_t i = 0; i < m->types[t]->record.nfields; i++)
                d->items[d->c->program->ops[t].a + i].field = &m->types[t]->record.fields[i];
}

enum rc defaults_encode(struct compiler *c)
{
    struct defaults d = {.c = c};
    uint32_t n = c->program->nfields;
    d.items = arena_calloc(&c->scratch, (size_t)n + 1, sizeof *d.items);
    d.stack = arena_calloc(&c->scratch, (size_t)n + 1, sizeof *d.stack);
    if (!d.items || !d.stack)
        return err_oom(c->err);
    list_items(&d);
    enum rc rc = encode_all(&d);
    buf_release(&d.out);
    encode_trim(c->codec);
    return rc;
}
