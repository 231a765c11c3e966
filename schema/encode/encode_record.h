/* schema/encode/encode_record.h - records in the encoder's walk: what is read in line. The next field is guessed by
 * comparing the text with its name as it would be written; all else is encode_record.c's. */
#ifndef SCHEMA_ENCODE_RECORD_H
#define SCHEMA_ENCODE_RECORD_H

#include "schema/encode/encode.h"

/* The text of the record is read, up to p: encode the fields that came too early, fill in those that did not
 * come. */
enum step record_finish(struct encode *e, struct frame *f, const uint8_t *p);
/* A member, its name at p, that is not the field whose turn it is, or is spelt in another way. */
enum step record_other_member(struct encode *e, struct frame *f, const uint8_t *p);

static inline struct text_span *record_spans(const struct encode *e, const struct frame *f)
{
    return (struct text_span *)e->codec->spans.ptr + f->record.spans;
}

/* p: where a name should be. */
static inline enum step record_next_member(struct encode *e, struct frame *f, const uint8_t *p)
{
    const struct op_field *field = f->record.field;
    if (likely(field != f->record.fields_end && scan_match(p, e->end, field->key, field->head)))
        return encode_next(e, p + field->key.len, field->op);
    return record_other_member(e, f, p);
}

static inline enum step record_open(struct encode *e, const struct op *op, const uint8_t *p)
{
    struct frame *f;
    if (*p != '{' || !(f = encode_push(e, FRAME_RECORD, e->op)))
        return STEP_FAIL;
    f->record.fields = f->record.field = e->program->fields + op->a;
    f->record.fields_end = f->record.fields + op->b;
    f->record.resume = NULL;
    f->record.spans = PROGRAM_NONE;
    p = scan_space(p + 1);
    return *p == '}' ? record_finish(e, f, p + 1) : record_next_member(e, f, p);
}

/* A field's value is complete, or (is_off_field) a member was passed over. */
static inline enum step record_resume(struct encode *e, struct frame *f)
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
            return record_finish(e, f, p);
    }
    if (unlikely(f->record.spans != PROGRAM_NONE) && f->record.field != f->record.fields_end) {
        const struct text_span *span = record_spans(e, f) + (f->record.field - f->record.fields);
        if (span->end) {
            f->record.resume = p;
            return encode_next(e, e->text + span->begin, f->record.field->op);
        }
    }
    if (unlikely(p == e->end))
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return record_next_member(e, f, scan_space(p + 1));
    return *p == '}' ? record_finish(e, f, p + 1) : STEP_FAIL;
}

#endif
