/* schema/encode.c - JSON text to Avro binary in one pass: the walk, driven by the program and an explicit
 * stack.
 *
 * Fields in schema order are encoded as they are met. One that comes too early is passed over, its place
 * remembered, and encoded in its turn. One that has a default and has not come by the time a later one does
 * is taken for absent; if it comes after all, the whole text is encoded once more and nothing is taken for
 * absent (encode.careful). So each byte is read four times at the most, but for values in unions
 * (encode_union.c). */
#include "schema/encode.h"

#include "schema/encode_scalar.h"

/* ---- output ---- */

static void set_output(struct encode *e, size_t datum_bytes)
{
    e->out = e->buf->ptr + e->out_before;
    e->o = e->out + datum_bytes;
    e->out_limit = e->buf->ptr + e->buf->cap - OUT_SLACK;
}

static COLD bool refuse(struct encode *e, enum encode_result why)
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
        return refuse(e, e->trials ? ENCODE_MISFIT : ENCODE_TOO_LARGE);
    }
    e->buf->len = e->out_before + datum_bytes;
    if (!buf_reserve(e->buf, bytes + OUT_SLACK))
        return refuse(e, ENCODE_NO_MEMORY);
    set_output(e, datum_bytes);
    return true;
}

static bool put_bytes(struct encode *e, struct slice s)
{
    if (!encode_room(e, s.len))
        return false;
    if (s.len)
        memcpy(e->o, s.ptr, s.len);
    e->o += s.len;
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
    if (kind < FRAME_TAG && e->depth == LIMIT_DATA_DEPTH_MAX) {
        e->was_too_deep = true;
        e->result = ENCODE_MISFIT;
        return NULL;
    }
    if (!stack_reserve(&c->frames, 1, sizeof(struct frame))) {
        e->result = ENCODE_NO_MEMORY;
        return NULL;
    }
    struct frame *f = (struct frame *)c->frames.ptr + c->frames.n++;
    f->kind = (uint8_t)kind;
    f->is_closed = f->is_off_field = false;
    f->op = op;
    f->begin = encode_at(e, e->p);
    f->names = c->names.n;
    f->slots = c->slots.n;
    f->slots_mask = 0;
    f->name_text = (uint32_t)c->name_text.len;
    e->depth += kind < FRAME_TAG;
    return f;
}

void encode_pop(struct encode *e)
{
    struct codec *c = e->codec;
    struct frame *f = encode_top(e);
    e->depth -= is_container(f);
    c->names.n = f->names;
    c->slots.n = f->slots;
    c->name_text.len = f->name_text;
    if (f->kind == FRAME_RECORD && f->record.spans != PROGRAM_NONE)
        c->spans.n = f->record.spans;
    c->frames.n--;
}

/* A container is complete; p: behind it. */
static enum step close_frame(struct encode *e, const uint8_t *p)
{
    const struct frame *f = encode_top(e);
    if (unlikely(e->trials) && !memo_put(e->codec, f->begin, f->op, e->level, MEMO_FITS))
        return encode_fail(e, ENCODE_NO_MEMORY);
    e->p = p;
    encode_pop(e);
    return STEP_DONE;
}

static enum step next_value(struct encode *e, const uint8_t *p, uint32_t op)
{
    e->p = p;
    e->op = op;
    return STEP_VALUE;
}

/* ---- arrays and maps ---- */

static enum step close_block(struct encode *e, struct frame *f, const uint8_t *p)
{
    if (!encode_room(e, 1) || !blocks_close(e, f->block.out, f->block.count))
        return STEP_FAIL;
    return close_frame(e, p);
}

static struct frame *open_block(struct encode *e, enum frame_kind kind, uint32_t items)
{
    struct frame *f = encode_push(e, kind, e->op);
    if (f) {
        f->block.items = items;
        f->block.count = 0;
        f->block.out = (uint32_t)(e->o++ - e->out);
    }
    return f;
}

static enum step open_array(struct encode *e, const struct op *op, const uint8_t *p)
{
    struct frame *f;
    if (*p != '[' || !(f = open_block(e, FRAME_ARRAY, op->a)))
        return STEP_FAIL;
    p = scan_space(p + 1);
    return *p == ']' ? close_block(e, f, p + 1) : next_value(e, p, op->a);
}

static enum step resume_array(struct encode *e, struct frame *f)
{
    const uint8_t *p = e->p;
    f->block.count++;
    if (unlikely(p == e->end))
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return next_value(e, p + 1, f->block.items);
    return *p == ']' ? close_block(e, f, p + 1) : STEP_FAIL;
}

/* p: behind a name. At what stands behind the colon, or NULL. */
static inline const uint8_t *pass_colon(const struct encode *e, const uint8_t *p)
{
    if (p == e->end)
        return NULL;
    p = scan_space(p);
    return *p == ':' ? p + 1 : NULL;
}

/* The content of the string that was just written at `at`. */
static struct slice written_string(const uint8_t *at, const uint8_t *end)
{
    while (*at++ & 0x80)
        ;
    return slice_of(at, (size_t)(end - at));
}

static enum step read_key(struct encode *e, struct frame *f, const uint8_t *p)
{
    if (!encode_room(e, 0))
        return STEP_FAIL;
    size_t at = (size_t)(e->o - e->out);
    p = scalar_string(e, p);
    if (!p || !(p = pass_colon(e, p)))
        return STEP_FAIL;
    struct slice key = written_string(e->out + at, e->o);
    switch (names_add(e->codec, f, e->out, (uint32_t)(key.ptr - e->out), (uint32_t)key.len)) {
    case NAMES_NEW: return next_value(e, p, f->block.items);
    case NAMES_DUPLICATE: return STEP_FAIL;
    case NAMES_NO_MEMORY: break;
    }
    return encode_fail(e, ENCODE_NO_MEMORY);
}

static enum step open_map(struct encode *e, const struct op *op, const uint8_t *p)
{
    struct frame *f;
    if (*p != '{' || !(f = open_block(e, FRAME_MAP, op->a)))
        return STEP_FAIL;
    p = scan_space(p + 1);
    return *p == '}' ? close_block(e, f, p + 1) : read_key(e, f, p);
}

static enum step resume_map(struct encode *e, struct frame *f)
{
    const uint8_t *p = e->p;
    f->block.count++;
    if (unlikely(p == e->end))
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return read_key(e, f, scan_space(p + 1));
    return *p == '}' ? close_block(e, f, p + 1) : STEP_FAIL;
}

/* ---- records ---- */

static struct text_span *spans_of(const struct encode *e, const struct frame *f)
{
    return (struct text_span *)e->codec->spans.ptr + f->record.spans;
}

/* Is a field that the text lacks filled in, with what? False: it must be there. */
static bool find_filling(const struct encode *e, const struct op_field *field, struct slice *out)
{
    uint8_t missing = e->levels[e->level].missing;
    if (missing == MISSING_REJECT || (missing == MISSING_DEFAULT && !field->has_default))
        return false;
    *out = field->has_default ? field->def : field->zero;
    return true;
}

static bool fill(struct encode *e, const struct op_field *field)
{
    struct slice filling;
    if (!find_filling(e, field, &filling))
        return false;
    if (unlikely(!filling.ptr)) {
        if (!field->has_default)
            return refuse(e, e->trials ? ENCODE_MISFIT : ENCODE_TOO_LARGE);
        e->needed = (uint32_t)(field - e->program->fields);
        return refuse(e, ENCODE_NEEDS_DEFAULT);
    }
    e->budget -= 1 + (int64_t)(filling.len / 64);
    return put_bytes(e, filling);
}

/* The text of the record is read: encode the fields that came too early, fill in those that did not come. */
static enum step finish_record(struct encode *e, struct frame *f, const uint8_t *p)
{
    const struct text_span *spans = f->record.spans == PROGRAM_NONE ? NULL : spans_of(e, f);
    f->is_closed = true;
    for (; f->record.field != f->record.fields_end; f->record.field++) {
        const struct text_span *span = spans ? &spans[f->record.field - f->record.fields] : NULL;
        if (span && span->end) {
            f->record.resume = p;
            return next_value(e, e->text + span->begin, f->record.field->op);
        }
        if (!fill(e, f->record.field))
            return STEP_FAIL;
    }
    return close_frame(e, p);
}

/* A member's name at p, read. */
struct member {
    int field;            /* or -1 */
    struct slice name;    /* unescaped; in the text or in codec.name_text */
    const uint8_t *value; /* behind the colon */
};

static bool read_member(struct encode *e, const struct op *op, const uint8_t *p, struct member *m)
{
    m->field = -1;
    unsigned flags;
    const uint8_t *quote = *p == '"' ? scan_string(p + 1, e->end, &flags) : NULL;
    if (!quote || !(m->value = pass_colon(e, quote + 1)))
        return false;
    p++;
    m->name = slice_of(p, (size_t)(quote - p));
    if (flags & SCAN_ESCAPED) {
        struct buf *text = &e->codec->name_text;
        if (!buf_reserve(text, m->name.len))
            return refuse(e, ENCODE_NO_MEMORY);
        m->name.ptr = text->ptr + text->len;
        m->name.len = (size_t)(scan_unescape(p, quote, text->ptr + text->len) - m->name.ptr);
    }
    if (op)
        m->field = program_field(e->program, op, m->name);
    return true;
}

/* Keep the name, which may already stand behind name_text's end, and see whether the object had it before. */
static bool add_name(struct encode *e, struct frame *f, struct slice name)
{
    struct buf *text = &e->codec->name_text;
    size_t at = text->len;
    bool is_there = text->ptr && name.ptr == text->ptr + at;
    if (is_there)
        text->len += name.len;
    else if (!buf_append(text, name))
        return refuse(e, ENCODE_NO_MEMORY);
    enum names_result r = names_add(e->codec, f, text->ptr, (uint32_t)at, (uint32_t)name.len);
    return r == NAMES_NEW || refuse(e, r == NAMES_DUPLICATE ? ENCODE_MISFIT : ENCODE_NO_MEMORY);
}

static enum step read_unknown(struct encode *e, struct frame *f, const struct member *m)
{
    if (e->levels[e->level].unknown == UNKNOWN_REJECT || !add_name(e, f, m->name))
        return STEP_FAIL;
    f->is_off_field = true;
    return next_value(e, m->value, PROGRAM_NONE);
}

/* One entry for each field, all empty. */
static bool make_spans(struct encode *e, struct frame *f)
{
    struct stack *spans = &e->codec->spans;
    uint32_t n = (uint32_t)(f->record.fields_end - f->record.fields);
    if (!stack_reserve(spans, n, sizeof(struct text_span)))
        return refuse(e, ENCODE_NO_MEMORY);
    f->record.spans = spans->n;
    spans->n += n;
    memset(spans_of(e, f), 0, n * sizeof(struct text_span));
    e->budget -= n / 4;
    return true;
}

/* Pass over the value of a field whose turn has not come. */
static enum step remember(struct encode *e, struct frame *f, const struct member *m)
{
    if (f->record.spans == PROGRAM_NONE && !make_spans(e, f))
        return STEP_FAIL;
    if (spans_of(e, f)[m->field].end)
        return STEP_FAIL; /* twice */
    const uint8_t *value = scan_space(m->value), *behind = skip_value(e, value);
    if (!behind)
        return STEP_FAIL;
    spans_of(e, f)[m->field] = (struct text_span){encode_at(e, value), encode_at(e, behind)};
    e->p = behind;
    f->is_off_field = true;
    return STEP_DONE;
}

/* Take the fields before `field` for absent, if all of them may be. */
static bool guess_absent(struct encode *e, struct frame *f, const struct op_field *field)
{
    struct slice filling;
    if (e->careful || f->record.spans != PROGRAM_NONE)
        return false;
    for (const struct op_field *i = f->record.field; i != field; i++)
        if (!find_filling(e, i, &filling))
            return false;
    e->has_guessed = true;
    return true;
}

static enum step read_field(struct encode *e, struct frame *f, const struct member *m)
{
    const struct op_field *field = f->record.fields + m->field;
    if (field < f->record.field)
        return encode_fail(e, e->has_guessed ? ENCODE_AGAIN : ENCODE_MISFIT);
    if (field > f->record.field) {
        if (!guess_absent(e, f, field))
            return remember(e, f, m);
        for (; f->record.field != field; f->record.field++)
            if (!fill(e, f->record.field))
                return STEP_FAIL;
    }
    return next_value(e, m->value, field->op);
}

static NOINLINE enum step read_other_member(struct encode *e, struct frame *f, const uint8_t *p)
{
    struct member m;
    if (!read_member(e, &e->program->ops[f->op], p, &m))
        return STEP_FAIL;
    return m.field < 0 ? read_unknown(e, f, &m) : read_field(e, f, &m);
}

/* p: where a name should be. */
static inline enum step next_member(struct encode *e, struct frame *f, const uint8_t *p)
{
    const struct op_field *field = f->record.field;
    if (likely(field != f->record.fields_end && scan_match(p, e->end, field->key, field->head)))
        return next_value(e, p + field->key.len, field->op);
    return read_other_member(e, f, p);
}

static enum step open_record(struct encode *e, const struct op *op, const uint8_t *p)
{
    struct frame *f;
    if (*p != '{' || !(f = encode_push(e, FRAME_RECORD, e->op)))
        return STEP_FAIL;
    f->record.fields = f->record.field = e->program->fields + op->a;
    f->record.fields_end = f->record.fields + op->b;
    f->record.resume = NULL;
    f->record.spans = PROGRAM_NONE;
    p = scan_space(p + 1);
    return *p == '}' ? finish_record(e, f, p + 1) : next_member(e, f, p);
}

/* A field's value is complete, or (is_off_field) a member was passed over. */
static enum step resume_record(struct encode *e, struct frame *f)
{
    const uint8_t *p = e->p;
    if (unlikely(f->is_off_field)) {
        f->is_off_field = false;
    } else {
        if (f->record.resume) {
            p = f->record.resume;
            f->record.resume = NULL;
        }
        f->record.field++;
        if (unlikely(f->is_closed))
            return finish_record(e, f, p);
    }
    if (unlikely(f->record.spans != PROGRAM_NONE) && f->record.field != f->record.fields_end) {
        const struct text_span *span = spans_of(e, f) + (f->record.field - f->record.fields);
        if (span->end) {
            f->record.resume = p;
            return next_value(e, e->text + span->begin, f->record.field->op);
        }
    }
    if (unlikely(p == e->end))
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return next_member(e, f, scan_space(p + 1));
    return *p == '}' ? finish_record(e, f, p + 1) : STEP_FAIL;
}

/* ---- values of no type: members that are no fields and are ignored ---- */

static enum step read_any_name(struct encode *e, struct frame *f, const uint8_t *p)
{
    struct member m;
    if (!read_member(e, NULL, p, &m) || !add_name(e, f, m.name))
        return STEP_FAIL;
    return next_value(e, m.value, PROGRAM_NONE);
}

static enum step open_any(struct encode *e, const uint8_t *p)
{
    bool is_object = *p == '{';
    if (!is_object && *p != '[') {
        e->p = skip_value(e, p);
        return e->p ? STEP_DONE : STEP_FAIL;
    }
    struct frame *f = encode_push(e, is_object ? FRAME_ANY_OBJECT : FRAME_ANY_ARRAY, PROGRAM_NONE);
    if (!f)
        return STEP_FAIL;
    p = scan_space(p + 1);
    if (*p == (is_object ? '}' : ']'))
        return close_frame(e, p + 1);
    return is_object ? read_any_name(e, f, p) : next_value(e, p, PROGRAM_NONE);
}

static enum step resume_any(struct encode *e, struct frame *f)
{
    bool is_object = f->kind == FRAME_ANY_OBJECT;
    const uint8_t *p = e->p;
    if (p == e->end)
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return is_object ? read_any_name(e, f, scan_space(p + 1)) : next_value(e, p + 1, PROGRAM_NONE);
    return *p == (is_object ? '}' : ']') ? close_frame(e, p + 1) : STEP_FAIL;
}

/* ---- the walk ---- */

static enum step encode_value(struct encode *e, const uint8_t *p)
{
    if (e->op == PROGRAM_NONE)
        return open_any(e, p);
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
    case OP_RECORD: return open_record(e, op, p);
    case OP_ARRAY: return open_array(e, op, p);
    case OP_MAP: return open_map(e, op, p);
    case OP_UNION: return union_open(e, p);
    case OPCODES: assert(!"no instruction");
    }
    e->p = p;
    return likely(p != NULL) ? STEP_DONE : STEP_FAIL;
}

/* Within an attempt: what is known of a bracket is not looked at again, and what is looked at costs. */
static COLD enum step try_value(struct encode *e, const uint8_t *p)
{
    bool is_bracket = *p == '{' || *p == '[';
    e->budget -= 8;
    if (is_bracket && (e->op == PROGRAM_NONE || e->program->ops[e->op].code != OP_UNION)) {
        uint32_t known = memo_get(e->codec, encode_at(e, p), e->op, e->level);
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
        e->budget -= (e->p - p) / 16;
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
    case FRAME_RECORD: return resume_record(e, f);
    case FRAME_ARRAY: return resume_array(e, f);
    case FRAME_MAP: return resume_map(e, f);
    case FRAME_TAG: return union_resume_tag(e);
    case FRAME_TRY: return union_resume_try(e, f);
    case FRAME_ANY_OBJECT:
    case FRAME_ANY_ARRAY: return resume_any(e, f);
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
        if (e->trials && is_container(f) && !memo_put(e->codec, f->begin, f->op, e->level, MEMO_MISFIT))
            return encode_fail(e, ENCODE_NO_MEMORY);
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
    const struct encode_rules strict = {MISSING_REJECT, UNKNOWN_REJECT};
    const struct encode_rules defaults = {MISSING_DEFAULT, UNKNOWN_REJECT};
    e->levels[0] = strict;
    e->nlevels = 1;
    if (rules.missing != MISSING_REJECT)
        e->levels[e->nlevels++] = defaults;
    const struct encode_rules *last = &e->levels[e->nlevels - 1];
    if (last->missing != rules.missing || last->unknown != rules.unknown)
        e->levels[e->nlevels++] = rules;
    e->level = e->nlevels - 1;
}

static void forget(struct encode *e)
{
    struct codec *c = e->codec;
    c->frames.n = c->spans.n = c->ends.n = c->blocks.n = c->names.n = c->slots.n = 0;
    c->name_text.len = 0;
    e->depth = e->trials = e->ends_hint = 0;
    e->level = e->nlevels - 1;
    memo_forget(c);
}

void encode_trim(struct codec *c)
{
    stack_reset(&c->frames, sizeof(struct frame), SCRATCH_KEEP_BYTES);
    stack_reset(&c->spans, sizeof(struct text_span), SCRATCH_KEEP_BYTES);
    stack_reset(&c->ends, sizeof(struct text_span), SCRATCH_KEEP_BYTES);
    stack_reset(&c->blocks, sizeof(struct block), SCRATCH_KEEP_BYTES);
    stack_reset(&c->names, sizeof(struct name), SCRATCH_KEEP_BYTES);
    stack_reset(&c->slots, sizeof(uint32_t), SCRATCH_KEEP_BYTES);
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
    return e->o - e->out > LIMIT_RECORD_MAX ? ENCODE_TOO_LARGE : ENCODE_FITS;
}

/* Work beyond reading: defaults written, attempts. About a nanosecond a unit. */
static int64_t budget_of(size_t text_bytes)
{
    return (4 << 20) + 32 * (int64_t)text_bytes;
}

/* *p: the text's first byte that is no space. */
static enum encode_result begin(struct encode *e, struct codec *c, const struct encode_job *job,
                                struct slice json, struct buf *out, const uint8_t **p)
{
    *e = (struct encode){
        .codec = c, .program = job->program, .buf = out, .out_before = out->len, .mode = job->mode};
    if (json.len > UINT32_MAX / 2)
        return ENCODE_TOO_LARGE;
    if (!scan_text_init(json, &c->text, &e->text, &e->end) || !buf_reserve(out, json.len + 64 + OUT_SLACK))
        return ENCODE_NO_MEMORY;
    e->budget = budget_of(json.len);
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
    c->frames.n = c->spans.n = c->blocks.n = c->names.n = c->slots.n = 0;
    c->name_text.len = 0;
    e->depth = depth;
    e->trials = 1;
    e->careful = true;
    e->level = level;
    e->p = value;
    e->op = op;
    enum encode_result r = walk(e);
    e->buf->len = e->out_before;
    return r;
}
