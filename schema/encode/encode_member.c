/* schema/encode/encode_member.c - names of an object's members, read in full, and JSON of no type: members that are
 * no fields, where those are ignored. It is checked like all else, duplicate names too,
 * and written nowhere. */
#include "schema/encode/encode_member.h"

#include "schema/encode/encode_scalar.h"

bool member_read(struct encode *e, const struct op *op, const uint8_t *p, struct member *m)
{
    m->field = -1;
    unsigned flags;
    const uint8_t *quote = *p == '"' ? scan_string(p + 1, e->end, &flags) : NULL;
    if (!quote || !(m->value = encode_pass_colon(e, quote + 1)))
        return false;
    if (!scalar_content(e, p + 1, quote, flags, &m->name))
        return false;
    encode_pay_token(e, m->name.len);
    if (op)
        m->field = program_field(e->program, op, m->name);
    return true;
}

bool member_add_name(struct encode *e, struct frame *f, struct slice name)
{
    struct buf *text = &e->codec->name_text;
    size_t at = text->len;
    bool is_there = text->ptr && name.ptr == text->ptr + at;
    if (is_there)
        text->len += name.len;
    else if (!buf_reserve(text, name.len + 1) || !buf_append(text, name)) /* memory for "" too */
        return encode_refuse(e, ENCODE_NO_MEMORY);
    if (e->trials)
        encode_pay(e, COST_KEY);
    enum names_result r =
        name_set_add(&e->codec->names, &f->names, text->ptr, (uint32_t)at, (uint32_t)name.len);
    return r == NAMES_NEW || encode_refuse(e, r == NAMES_DUPLICATE ? ENCODE_MISFIT : ENCODE_NO_MEMORY);
}

/* ---- values of no type ---- */

static enum step read_any_name(struct encode *e, struct frame *f, const uint8_t *p)
{
    struct member m;
    if (!member_read(e, NULL, p, &m) || !member_add_name(e, f, m.name))
        return STEP_FAIL;
    return encode_next(e, m.value, PROGRAM_NONE);
}

enum step any_open(struct encode *e, const uint8_t *p)
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
        return encode_close(e, p + 1);
    return is_object ? read_any_name(e, f, p) : encode_next(e, p, PROGRAM_NONE);
}

enum step any_resume(struct encode *e, struct frame *f)
{
    bool is_object = f->kind == FRAME_ANY_OBJECT;
    const uint8_t *p = e->p;
    if (p == e->end)
        return STEP_FAIL;
    p = scan_space(p);
    if (*p == ',')
        return is_object ? read_any_name(e, f, scan_space(p + 1)) : encode_next(e, p + 1, PROGRAM_NONE);
    return *p == (is_object ? '}' : ']') ? encode_close(e, p + 1) : STEP_FAIL;
}
