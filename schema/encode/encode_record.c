/* schema/encode/encode_record.c - records whose members are not in schema order, are no fields, or do not come at
 * all. */
#include "schema/encode/encode_record.h"

#include "schema/encode/encode_member.h"

/* ---- fields that do not come ---- */

static bool put_bytes(struct encode *e, struct slice s)
{
    if (!encode_room(e, s.len))
        return false;
    if (s.len)
        memcpy(e->o, s.ptr, s.len);
    e->o += s.len;
    return true;
}

/* May the text lack the field? */
static bool may_fill(const struct encode *e, const struct op_field *field)
{
    uint8_t missing = e->levels[e->level].missing;
    return missing == MISSING_ZERO || (missing == MISSING_DEFAULT && field->has_default);
}

static bool fill(struct encode *e, const struct op_field *field)
{
    const struct op_filling *filling = &field->filling;
    if (!may_fill(e, field))
        return false;
    if (unlikely(!filling->avro.ptr)) {
        if (!field->has_default)
            return encode_refuse(e, e->trials ? ENCODE_MISFIT : ENCODE_TOO_LARGE);
        e->needed = (uint32_t)(field - e->program->fields);
        return encode_refuse(e, ENCODE_NEEDS_DEFAULT);
    }
    if (unlikely(e->depth + filling->depth > e->depth_max || filling->most_items > e->items_max) &&
        !encode_may_fill(e, filling))
        return false;
    if (e->depth + filling->depth > e->deepest)
        e->deepest = e->depth + filling->depth;
    e->empty_items += filling->empty_items;
    if (filling->most_items > e->most_items)
        e->most_items = filling->most_items;
    encode_pay(e, COST_FILL + filling->avro.len / 16);
    return put_bytes(e, filling->avro);
}

enum step record_finish(struct encode *e, struct frame *f, const uint8_t *p)
{
    const struct text_span *spans = f->record.spans == PROGRAM_NONE ? NULL : record_spans(e, f);
    f->is_closed = true;
    for (; f->record.field != f->record.fields_end; f->record.field++) {
        const struct text_span *span = spans ? &spans[f->record.field - f->record.fields] : NULL;
        if (span && span->end) {
            f->record.resume = p;
            return encode_next(e, e->text + span->begin, f->record.field->op);
        }
        if (!fill(e, f->record.field))
            return STEP_FAIL;
    }
    return encode_close(e, p);
}

/* ---- members that are no fields ---- */

static enum step read_unknown(struct encode *e, struct frame *f, const struct member *m)
{
    if (e->levels[e->level].unknown == UNKNOWN_REJECT || !member_add_name(e, f, m->name))
        return STEP_FAIL;
    f->is_off_field = true;
    return encode_next(e, m->value, PROGRAM_NONE);
}

/* ---- fields out of order ---- */

/* One entry for each field, all empty. */
static bool make_spans(struct encode *e, struct frame *f)
{
    struct stack *spans = &e->codec->spans;
    uint32_t n = (uint32_t)(f->record.fields_end - f->record.fields);
    if (!stack_reserve(spans, n, sizeof(struct text_span)))
        return encode_refuse(e, ENCODE_NO_MEMORY);
    f->record.spans = spans->n;
    spans->n += n;
    memset(record_spans(e, f), 0, n * sizeof(struct text_span));
    encode_pay(e, (size_t)n * COST_SPAN);
    return true;
}

/* Pass over the value of a field whose turn has not come. */
static enum step remember(struct encode *e, struct frame *f, const struct member *m)
{
    if (f->record.spans == PROGRAM_NONE && !make_spans(e, f))
        return STEP_FAIL;
    if (record_spans(e, f)[m->field].end)
        return STEP_FAIL; /* twice */
    const uint8_t *value = scan_space(m->value), *behind = skip_value(e, value);
    if (!behind)
        return STEP_FAIL;
    record_spans(e, f)[m->field] = (struct text_span){encode_at(e, value), encode_at(e, behind)};
    e->p = behind;
    f->is_off_field = true;
    return STEP_DONE;
}

/* Take the fields before `field` for absent, if all of them may be. */
static bool guess_absent(struct encode *e, struct frame *f, const struct op_field *field)
{
    if (e->careful || f->record.spans != PROGRAM_NONE)
        return false;
    for (const struct op_field *i = f->record.field; i != field; i++)
        if (!may_fill(e, i))
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
    return encode_next(e, m->value, field->op);
}

enum step record_other_member(struct encode *e, struct frame *f, const uint8_t *p)
{
    struct member m;
    if (!member_read(e, &e->program->ops[f->op], p, &m))
        return STEP_FAIL;
    return m.field < 0 ? read_unknown(e, f, &m) : read_field(e, f, &m);
}
