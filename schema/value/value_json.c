/* schema/value/value_json.c - JSON that is put into a datum: encoded where it comes to stand, and where it does not fit, the
 * problems' pointers lead there. */
#include <assert.h>

#include "schema/encode/explain.h"
#include "schema/value/value_parts.h"

/* What it costs to read and write a byte, before anything else; and to count a level around the value. */
enum { COST_BYTE = 4, COST_LEVEL = 8 };

/* `base` before the pointers of all problems. Together they may be too long to tell: then fewer are told. */
static enum rc move_problems(struct datum *d, struct slice base, struct err *err)
{
    enum err_code code = err->code;
    size_t bytes = 0;
    err->last = NULL;
    err->problems = 0;
    for (struct problem *p = err->first; p; p = p->next) {
        bytes += base.len + p->pointer.len;
        if (err->last && bytes > LIMIT_POINTERS_MAX) {
            err->last->next = NULL;
            err->truncated = true;
            break;
        }
        uint8_t *pointer = arena_alloc(d->arena, base.len + p->pointer.len);
        if (!pointer)
            return err_oom(err);
        memcpy(pointer, base.ptr, base.len);
        if (p->pointer.len)
            memcpy(pointer + base.len, p->pointer.ptr, p->pointer.len);
        p->pointer = slice_of(pointer, base.len + p->pointer.len);
        err->last = p;
        err->problems++;
    }
    if (code == ERR_BAD_JSON) /* its sentence is about the text */
        return RC_ERR;
    return err_sum_up(err, code);
}

/* Where the value is, before what is told of it. */
static enum rc tell_place(struct datum *d, const struct value *v, struct slice prefix, struct err *err)
{
    struct buf base = {0};
    enum rc rc = RC_ERR;
    if (!err->problems)
        return RC_ERR;
    if (!buf_append(&base, prefix) || !value_pointer(d, v, &base))
        rc = err_oom(err);
    else if (base.len > LIMIT_POINTERS_MAX) /* the way is endless: the sentence alone */
        rc = err_set(err, err->code, "%.*s", (int)utf8_cut(err->first->detail, sizeof err->message - 1).len,
                     (const char *)err->first->detail.ptr);
    else if (base.len)
        rc = move_problems(d, buf_slice(&base), err);
    buf_release(&base);
    return rc;
}

static enum rc encode(struct datum *d, const struct value *v, struct slice json, struct buf *out,
                      struct err *err)
{
    const struct program *p = schema_program_of(d->schema, d->opts->form);
    assert(d->codec);
    if (!p)
        return err_oom(err);
    struct encode_job job = encode_job_of(p, v->op, d->opts);
    job.depth = value_depth(d, v);
    if (datum_pay(d, (uint64_t)job.depth * COST_LEVEL, err) != RC_OK)
        return RC_ERR;
    job.budget = d->budget;
    enum rc rc = encode_or_explain(d->codec, &job, json, out, d->arena, err);
    d->budget = job.budget;
    return rc;
}

enum rc value_set_json(struct datum *d, struct value *v, struct slice json, struct slice prefix,
                       struct err *err)
{
    struct buf out = {0};
    struct slice avro;
    *err = (struct err){0};
    if (datum_pay(d, COST_VALUE + (uint64_t)json.len * COST_BYTE, err) != RC_OK)
        return RC_ERR;
    enum rc rc = encode(d, v, json, &out, err);
    if (rc != RC_OK)
        rc = tell_place(d, v, prefix, err);
    else if (!arena_copy(d->arena, buf_slice(&out), &avro))
        rc = err_oom(err);
    else
        value_set_seen(v, avro);
    buf_release(&out);
    return rc;
}
