/* schema/encode/encode.c - JSON text to Avro binary in one pass: the walk, driven by the program and an explicit
 * stack.
 *
 * Fields in schema order are encoded as they are met. One that comes too early is passed over, its place
 * remembered, and encoded in its turn. One that has a default and has not come by the time a later one does
 * is taken for absent; if it comes after all, the whole text is encoded once more and nothing is taken for
 * absent (encode.careful). So each byte is read four times at the most, but for values in unions
 * (encode_union.c). */
#include "schema/encode/encode.h"

#include "schema/encode/encode_block.h"
#include "schema/encode/encode_record.h"
#include "schema/encode/encode_scalar.h"
#include "schema/encode/encode_spelled.h"

/* ---- output ---- */

static void set_output(struct encode *e, size_t datum_bytes)
{
    e->out = e->buf->ptr + e->out_before;
    e->o = e->out + datum_bytes;
    e->out_limit = e->buf->ptr + e->buf->cap - OUT_SLACK;
}

bool encode_refuse(struct encode *e, enum encode_result why)
{
    e->result = why;
    return false;
}

/* The most that one value may ask for: a string's text is at most six times as long as the string. */
enum { GROW_MAX = 6 * LIMIT_RECORD_MAX + 64 };

bool encode_grow(struct encode *e, size_t bytes)
{
    size_t datum_bytes = (size_t)(e->o - e->out);
    if (datum_bytes > LIMIT_RECORD_MAX || bytes > GROW_MAX) {
        e->too_large_in_trial |= e->trials > 0;
        return encode_refuse(e, e->trials ? ENCODE_MISFIT : ENCODE_TOO_LARGE);
    }
    e->buf->len = e->out_before + datum_bytes;
    if (!buf_reserve(e->buf, bytes + OUT_SLACK))
        return encode_refuse(e, ENCODE_NO_MEMORY);
    set_output(e, datum_bytes);
    return true;
}

/* ---- the stack ---- */

static bool is_container(const struct frame *f)
{
    return f->kind < FRAME_TAG;
}

struct frame *encode_push(struct encode *e, enum frame_kind kind, uint32_t op)
{
    struct codec *c = e->codec;
    if (kind < FRAME_TAG && unlikely(e->depth >= e->depth_max) && !encode_may_nest(e, kind, op))
        return NULL;
    if (!stack_reserve(&c->frames, 1, sizeof(struct frame))) {
        e->result = ENCODE_NO_MEMORY;
        return NULL;
    }
    struct frame *f = (struct frame *)c->frames.ptr + c->frames.n++;
    f->kind = (uint8_t)kind;
    f->is_closed = f->is_off_field = false;
    f->op = op;
    f->begin = encode_at(e, e->p);
    f->names = name_scope_open(&c->names);
    f->name_text = (uint32_t)c->name_text.len;
    e->depth += kind < FRAME_TAG;
    if (e->depth > e->deepest)
        e->deepest = e->depth;
    return f;
}

void encode_pop(struct encode *e)
{
    struct codec *c = e->codec;
    struct frame *f = encode_top(e);
    e->depth -= is_container(f);
    name_scope_close(&c->names, &f->names);
    c->name_text.len = f->name_text;
    if (f->kind == FRAME_RECORD && f->record.spans != PROGRAM_NONE)
        c->spans.n = f->record.spans;
    c->frames.n--;
}

enum step encode_close(struct encode *e, const uint8_t *p)
{
    const struct frame *f = encode_top(e);
    if (unlikely(e->trials) && !memo_put(e, f->begin, f->op, e->level, MEMO_FITS))
        return STEP_FAIL;
    e->p = p;
    encode_pop(e);
    return STEP_DONE;
}

/* ---- the walk ---- */

enum { SHORT_NUMBER_MAX = 19, LONG_NUMBER = 1024 };

static enum step encode_value(struct encode *e, const uint8_t *p)
{
    if (e->op == PROGRAM_NONE)
        return any_open(e, p);
    const struct op *op = &e->program->ops[e->op];
    switch ((enum opcode)op->code) {
    case OP_NULL: p = scan_word(p, e->end, "null", 4); break;
    case OP_BOOLEAN: p = scalar_boolean(e, p); break;
    case OP_INT: p = scalar_integer(e, p, true); break;
    case OP_LONG: p = scalar_integer(e, p, false); break;
    case OP_FLOAT: p = scalar_float(e, p); break;
    case OP_DOUBLE: p = scalar_double(e, p); break;
    case OP_BYTES: p = scalar_bytes(e, p); break;
    case OP_STRING: p = scalar_string(e, p); break;
    case OP_ENUM: p = scalar_enum(e, op, p); break;
    case OP_FIXED: p = scalar_fixed(e, p, op->a); break;
    case OP_RECORD: return record_open(e, op, p);
    case OP_ARRAY: return array_open(e, op, p);
    case OP_MAP: return map_open(e, op, p);
    case OP_UNION: return union_open(e, p);
    case OP_MOMENT:
    case OP_DECIMAL:
    case OP_UUID:
    case OP_UUID_STRING:
    case OP_BASE64:
    case OP_INT64:
    case OP_UINT32: p = encode_spelled(e, op, p); break;
    case OPCODES: assert(!"no instruction");
    }
    e->p = p;
    return likely(p != NULL) ? STEP_DONE : STEP_FAIL;
}

/* A number of many digits is read in another way than others. */
static size_t token_cost(const uint8_t *p, size_t bytes)
{
    bool is_long_number = *p != '"' && bytes > SHORT_NUMBER_MAX;
    return is_long_number ? LONG_NUMBER + bytes * 2 : bytes / 2;
}

/* Within an attempt: what is known of a bracket is not looked at again, and what is looked at costs. */
static COLD enum step try_value(struct encode *e, const uint8_t *p)
{
    bool is_bracket = *p == '{' || *p == '[';
    encode_pay(e, COST_VALUE);
    if (is_bracket && (e->op == PROGRAM_NONE || e->program->ops[e->op].code != OP_UNION)) {
        uint32_t known = memo_get(e, encode_at(e, p), e->op, e->level);
        if (known == MEMO_MISFIT)
            return STEP_FAIL;
        if (known == MEMO_FITS) {
            e->p = skip_value(e, p);
            return e->p ? STEP_DONE : STEP_FAIL;
        }
    }
    e->p = p;
    enum step step = encode_value(e, p);
    if (step == STEP_DONE && !is_bracket)
        encode_pay(e, token_cost(p, (size_t)(e->p - p)));
    return step;
}

static inline enum step start_value(struct encode *e)
{
    const uint8_t *p = e->p;
    e->steps++;
    if (unlikely(p == e->end) || !encode_room(e, 0))
        return STEP_FAIL;
    p = e->p = scan_space(p);
    if (unlikely(e->trials))
        return try_value(e, p);
    return encode_value(e, p);
}

static inline enum step resume(struct encode *e)
{
    struct frame *f = encode_top(e);
    if (unlikely(e->budget < 0))
        return encode_fail(e, ENCODE_TOO_MUCH_WORK);
    switch ((enum frame_kind)f->kind) {
    case FRAME_RECORD: return record_resume(e, f);
    case FRAME_ARRAY: return array_resume(e, f);
    case FRAME_MAP: return map_resume(e, f);
    case FRAME_TAG: return union_resume_tag(e);
    case FRAME_TRY: return union_resume_try(e, f);
    case FRAME_ANY_OBJECT:
    case FRAME_ANY_ARRAY: return any_resume(e, f);
    }
    assert(!"no frame");
    return STEP_FAIL;
}

/* Something does not fit: back to the innermost attempt, if there is one. */
static COLD enum step unwind(struct encode *e)
{
    while (e->result == ENCODE_MISFIT && e->codec->frames.n) {
        struct frame *f = encode_top(e);
        if (f->kind == FRAME_TRY)
            return union_next_try(e, f);
        if (e->trials && is_container(f) && !memo_put(e, f->begin, f->op, e->level, MEMO_MISFIT))
            return STEP_FAIL;
        encode_pop(e);
    }
    return STEP_FAIL;
}

static enum encode_result walk(struct encode *e)
{
    e->result = ENCODE_MISFIT;
    enum step step = STEP_VALUE;
    for (;;) {
        switch (step) {
        case STEP_VALUE: step = start_value(e); break;
        case STEP_DONE:
            if (e->codec->frames.n == 0)
                return ENCODE_FITS;
            step = resume(e);
            break;
        case STEP_FAIL:
            step = unwind(e);
            if (step == STEP_FAIL && (e->result != ENCODE_MISFIT || e->codec->frames.n == 0))
                return e->result;
            break;
        }
    }
}

/* ---- the front ---- */

static void set_levels(struct encode *e, struct encode_rules rules)
{
    e->nlevels = 0;
    for (uint8_t unknown = UNKNOWN_REJECT; unknown <= rules.unknown; unknown++) {
        e->levels[e->nlevels++] = (struct encode_rules){MISSING_REJECT, unknown};
        if (rules.missing != MISSING_REJECT)
            e->levels[e->nlevels++] = (struct encode_rules){MISSING_DEFAULT, unknown};
    }
    if (rules.missing == MISSING_ZERO)
        e->levels[e->nlevels++] = rules;
    e->level = e->nlevels - 1;
}

static void forget(struct encode *e)
{
    struct codec *c = e->codec;
    c->frames.n = c->spans.n = c->ends.n = c->blocks.n = 0;
    name_set_clear(&c->names);
    c->name_text.len = 0;
    e->depth = e->deepest = e->depth_outside;
    e->trials = e->ends_hint = e->memo_begin = e->memo_end = 0;
    e->empty_items = 0;
    e->most_items = 0;
    e->level = e->nlevels - 1;
    memo_forget(c);
}

void encode_trim(struct codec *c)
{
    stack_reset(&c->frames, sizeof(struct frame), SCRATCH_KEEP_BYTES);
    stack_reset(&c->spans, sizeof(struct text_span), SCRATCH_KEEP_BYTES);
    stack_reset(&c->ends, sizeof(struct text_span), SCRATCH_KEEP_BYTES);
    stack_reset(&c->blocks, sizeof(struct block), SCRATCH_KEEP_BYTES);
    name_set_reset(&c->names);
    buf_reset(&c->name_text, SCRATCH_KEEP_BYTES);
    buf_reset(&c->text, SCRATCH_KEEP_BYTES);
    memo_forget(c);
}

static enum encode_result encode_once(struct encode *e, const struct encode_job *job, const uint8_t *p)
{
    set_output(e, 0);
    e->has_guessed = false;
    e->p = p;
    e->op = job->op;
    enum encode_result r = walk(e);
    if (r != ENCODE_FITS)
        return r;
    if (e->p != e->end)
        return ENCODE_MISFIT; /* space at the end was cut off before */
    if (!blocks_finish(e))
        return e->result;
    if (e->empty_items > LIMIT_EMPTY_ITEMS_MAX)
        return ENCODE_TOO_MANY;
    return e->o - e->out > LIMIT_RECORD_MAX ? ENCODE_TOO_LARGE : ENCODE_FITS;
}

int64_t encode_budget(size_t body_bytes, bool brief)
{
    return (brief ? LIMIT_WORK_BRIEF_MAX : LIMIT_WORK_MAX) + LIMIT_WORK_PER_BYTE * (int64_t)body_bytes;
}

/* *p: the text's first byte that is no space. */
static enum encode_result begin(struct encode *e, struct codec *c, const struct encode_job *job,
                                struct slice json, struct buf *out, const uint8_t **p)
{
    *e = (struct encode){.codec = c,
                         .program = job->program,
                         .buf = out,
                         .out_before = out->len,
                         .mode = job->mode,
                         .depth_outside = job->depth,
                         .depth_max = job->limits.depth ? job->limits.depth : LIMIT_DATA_DEPTH_MAX,
                         .items_max = job->limits.items ? job->limits.items : UINT32_MAX,
                         .budget = job->budget};
    if (json.len > UINT32_MAX / 2)
        return ENCODE_TOO_LARGE;
    if (!scan_text_init(json, &c->text, &e->text, &e->end) || !buf_reserve(out, json.len + 64 + OUT_SLACK))
        return ENCODE_NO_MEMORY;
    set_levels(e, job->rules);
    forget(e);
    set_output(e, 0);
    if (e->text == e->end)
        return ENCODE_MISFIT;
    *p = scan_space(e->text);
    return ENCODE_FITS;
}

enum encode_result encode_text(struct encode *e, struct codec *c, const struct encode_job *job,
                               struct slice json, struct buf *out)
{
    const uint8_t *p;
    enum encode_result r = begin(e, c, job, json, out, &p);
    if (r == ENCODE_FITS)
        r = encode_once(e, job, p);
    if (r == ENCODE_AGAIN) {
        e->careful = true;
        forget(e);
        r = encode_once(e, job, p);
        assert(r != ENCODE_AGAIN);
    }
    out->len = e->out_before + (r == ENCODE_FITS ? (size_t)(e->o - e->out) : 0);
    return r;
}

enum encode_result encode_prepare(struct encode *e, struct codec *c, const struct encode_job *job,
                                  struct slice json, struct buf *out)
{
    const uint8_t *p;
    enum encode_result r = begin(e, c, job, json, out, &p);
    if (r != ENCODE_FITS)
        return r;
    return skip_value(e, p) ? ENCODE_FITS : e->result;
}

enum encode_result encode_fits(struct encode *e, uint32_t op, const uint8_t *value, uint32_t depth,
                               uint8_t level)
{
    struct codec *c = e->codec;
    set_output(e, 0);
    c->frames.n = c->spans.n = c->blocks.n = 0;
    name_set_clear(&c->names);
    c->name_text.len = 0;
    e->depth = depth;
    e->trials = 1;
    e->careful = true;
    e->level = level;
    e->p = value;
    e->op = op;
    memo_enter(e, encode_at(e, value), encode_at(e, skip_value(e, value)));
    enum encode_result r = walk(e);
    e->buf->len = e->out_before;
    return r;
}
