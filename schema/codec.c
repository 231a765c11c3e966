/* schema/codec.c - the front of the encoder, and struct codec: the scratch memory's beginning, growth and
 * end. */
#include "schema/codec.h"

#include "base/hash.h"
#include "schema/encode/encode.h"
#include "schema/encode/explain.h"
#include "schema/scratch.h"

bool stack_grow(struct stack *s, uint32_t more, size_t size)
{
    uint64_t cap = s->cap < 16 ? 16 : s->cap;
    while (cap - s->n < more)
        cap += cap / 2;
    if (cap > UINT32_MAX)
        return false;
    void *p = realloc(s->ptr, cap * size);
    if (!p)
        return false;
    s->ptr = p;
    s->cap = (uint32_t)cap;
    return true;
}

void stack_release(struct stack *s)
{
    free(s->ptr);
    *s = (struct stack){0};
}

struct codec *codec_new(void)
{
    struct codec *c = calloc(1, sizeof *c);
    if (c)
        c->memo.seed = hash_bytes(SLICE("memo")) | 1;
    return c;
}

void codec_free(struct codec *c)
{
    if (!c)
        return;
    stack_release(&c->frames);
    stack_release(&c->spans);
    stack_release(&c->ends);
    stack_release(&c->blocks);
    name_set_release(&c->names);
    buf_release(&c->name_text);
    buf_release(&c->text);
    free(c->memo.at);
    free(c);
}

enum rc codec_check_bytes(const struct codec_opts *opts, uint64_t bytes, struct err *err)
{
    if (likely(!opts->limits.bytes || bytes <= opts->limits.bytes))
        return RC_OK;
    return err_set(err, ERR_RECORD_TOO_LARGE,
                   "A record of this type has at most %u bytes of Avro; this one has %llu.",
                   opts->limits.bytes, (unsigned long long)bytes);
}

/* ---- JSON to Avro ---- */

static enum rc refuse(enum encode_result r, struct err *err)
{
    switch (r) {
    case ENCODE_TOO_LARGE:
        return err_set(err, ERR_RECORD_TOO_LARGE, "The record takes more than %d bytes as Avro binary.",
                       LIMIT_RECORD_MAX);
    case ENCODE_TOO_MANY:
        return err_set(err, ERR_TOO_MUCH_WORK, "The record has more than %d array items of no bytes.",
                       LIMIT_EMPTY_ITEMS_MAX);
    case ENCODE_TOO_MUCH_WORK:
        return err_set(err, ERR_TOO_MUCH_WORK,
                       "Checking this body takes too much work; if it has unions, tag their values.");
    case ENCODE_NO_MEMORY: return err_oom(err);
    default: assert(!"all others are told by the second pass"); return RC_ERR;
    }
}

enum rc encode_or_explain(struct codec *c, struct encode_job *job, struct slice json, struct buf *out,
                          struct arena *arena, struct err *err)
{
    struct encode e;
    enum encode_result r = encode_text(&e, c, job, json, out);
    enum rc rc = RC_OK;
    job->budget = e.budget;
    if (unlikely(r == ENCODE_BEYOND) && !encode_note_excess(&e, arena, &job->excess))
        rc = err_oom(err);
    else if (unlikely(r == ENCODE_MISFIT || r == ENCODE_BEYOND))
        rc = explain_text(c, job, json, arena, err);
    else if (unlikely(r != ENCODE_FITS))
        rc = refuse(r, err);
    encode_trim(c);
    return rc;
}

struct encode_job encode_job_of(const struct program *p, uint32_t op, const struct codec_opts *opts)
{
    return (struct encode_job){
        .program = p,
        .op = op,
        .mode = opts->form == JSON_AVRO ? UNION_TAGGED : UNION_FREE,
        .rules = {(uint8_t)opts->missing, (uint8_t)opts->unknown},
    };
}

enum rc codec_from_json(struct codec *c, const struct schema *s, const struct codec_opts *opts,
                        struct slice json, struct buf *out, struct arena *arena, struct err *err)
{
    const struct program *p = schema_program_of(s, opts->form);
    if (unlikely(!p))
        return err_oom(err);
    struct encode_job job = encode_job_of(p, p->root, opts);
    size_t before = out->len;
    job.budget = encode_budget(json.len, opts->brief);
    job.limits = opts->limits;
    enum rc rc = encode_or_explain(c, &job, json, out, arena, err);
    if (rc == RC_OK && codec_check_bytes(opts, out->len - before, err) != RC_OK) {
        out->len = before;
        return RC_ERR;
    }
    return rc;
}

enum rc codec_field_from_json(struct codec *c, const struct schema *s, int field,
                              const struct codec_opts *opts, struct slice json, struct buf *out,
                              struct arena *arena, struct err *err)
{
    const struct program *p = schema_program_of(s, opts->form);
    if (unlikely(!p))
        return err_oom(err);
    const struct op *root = &p->ops[p->root];
    assert(root->code == OP_RECORD && field >= 0 && (uint32_t)field < root->b);
    struct encode_job job = encode_job_of(p, p->fields[root->a + (uint32_t)field].op, opts);
    job.budget = encode_budget(json.len, opts->brief);
    job.depth = 1;
    job.limits = opts->limits;
    return encode_or_explain(c, &job, json, out, arena, err);
}
