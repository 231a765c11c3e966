/* schema/path/path_atom.c - scalars, and what they are as a truth, a number, a text. */
#include "schema/path/path_atom.h"

#include <math.h>

#include "base/num.h"
#include "base/utf8.h"
#include "schema/encode/scan.h"

enum { COST_FLOAT_SHOWN = 48 };

/* ---- of values ---- */

/* A byte above 127 takes two. */
static enum rc text_of_bytes(struct path_run *r, struct slice bytes, struct slice *out)
{
    size_t high = 0;
    for (size_t i = 0; i < bytes.len; i++)
        high += bytes.ptr[i] >> 7;
    *out = bytes;
    if (datum_pay(r->d, bytes.len * (high ? COST_TEXT_MADE : COST_TEXT_BYTE), r->err))
        return RC_ERR;
    if (!high)
        return RC_OK;
    uint8_t *text = arena_alloc(&r->texts, bytes.len + high), *o = text;
    if (!text)
        return err_oom(r->err);
    for (size_t i = 0; i < bytes.len; i++)
        o += utf8_put(bytes.ptr[i], o);
    *out = slice_of(text, bytes.len + high);
    return RC_OK;
}

static enum rc text_of_value(struct path_run *r, struct value *v, struct atom *a)
{
    enum opcode code = path_code(r, v);
    a->kind = ATOM_TEXT;
    if (value_text(r->d, v, &a->text, r->err))
        return RC_ERR;
    return code == OP_BYTES || code == OP_FIXED ? text_of_bytes(r, a->text, &a->text) : RC_OK;
}

/* 0.1 is no float: the nearest one is printed so, and was meant so. Integers that are not large are what they are. */
static enum rc show_float(struct path_run *r, double *v)
{
    uint8_t digits[NUM_DOUBLE_MAX_CHARS];
    double shown;
    if (!isfinite(*v) || (fabs(*v) < 0x1p23 && *v == trunc(*v)))
        return RC_OK;
    if (datum_pay(r->d, COST_FLOAT_SHOWN, r->err))
        return RC_ERR;
    if (num_parse_double(slice_of(digits, num_print_float((float)*v, digits)), &shown))
        *v = shown;
    return RC_OK;
}

static enum rc number_of_value(struct path_run *r, struct value *v, bool is_float, struct atom *a)
{
    a->kind = ATOM_DOUBLE;
    if (value_double(r->d, v, &a->number, r->err))
        return RC_ERR;
    return is_float ? show_float(r, &a->number) : RC_OK;
}

enum rc atom_of_value(struct path_run *r, struct value *v, struct atom *a)
{
    if (value_enter_union(r->d, &v, r->err) || datum_pay(r->d, COST_VISIT, r->err))
        return RC_ERR;
    enum opcode code = path_code(r, v);
    switch (code) {
    case OP_NULL: *a = (struct atom){.kind = ATOM_NULL}; return RC_OK;
    case OP_BOOLEAN: a->kind = ATOM_BOOLEAN; return value_boolean(r->d, v, &a->boolean, r->err);
    case OP_INT:
    case OP_LONG: a->kind = ATOM_INTEGER; return value_long(r->d, v, &a->integer, r->err);
    case OP_FLOAT:
    case OP_DOUBLE: return number_of_value(r, v, code == OP_FLOAT, a);
    case OP_RECORD:
    case OP_ARRAY:
    case OP_MAP: *a = (struct atom){.kind = ATOM_PARTS, .parts = v}; return RC_OK;
    default: return text_of_value(r, v, a);
    }
}

/* ---- conversions ---- */

bool atom_is_true(const struct atom *a)
{
    switch (a->kind) {
    case ATOM_NULL: return false;
    case ATOM_BOOLEAN: return a->boolean;
    case ATOM_INTEGER: return a->integer != 0;
    case ATOM_DOUBLE: return a->number != 0 && !isnan(a->number);
    case ATOM_TEXT: return a->text.len > 0;
    case ATOM_PARTS: break;
    }
    return true;
}

static struct atom number_of_text(struct slice text) /* a zero stands behind it */
{
    struct atom a = {.kind = ATOM_DOUBLE, .number = NAN};
    const uint8_t *end = scan_number(text.ptr);
    if (end != text.ptr + text.len)
        return a;
    if (num_parse_i64(text, &a.integer) == NUM_INTEGER)
        a.kind = ATOM_INTEGER;
    else if (!num_parse_double(text, &a.number))
        a.number = text.ptr[0] == '-' ? -INFINITY : INFINITY;
    return a;
}

enum rc atom_to_number(struct path_run *r, const struct atom *a, struct atom *out)
{
    struct slice copy;
    *out = *a;
    switch (a->kind) {
    case ATOM_INTEGER:
    case ATOM_DOUBLE: return RC_OK;
    case ATOM_NULL: *out = (struct atom){.kind = ATOM_INTEGER, .integer = 0}; return RC_OK;
    case ATOM_BOOLEAN: *out = (struct atom){.kind = ATOM_INTEGER, .integer = a->boolean}; return RC_OK;
    case ATOM_PARTS: *out = (struct atom){.kind = ATOM_DOUBLE, .number = NAN}; return RC_OK;
    case ATOM_TEXT: break;
    }
    if (datum_pay(r->d, a->text.len * COST_TEXT_MADE, r->err))
        return RC_ERR;
    if (!arena_copy(&r->texts, a->text, &copy))
        return err_oom(r->err);
    *out = number_of_text(copy);
    return RC_OK;
}

static enum rc keep_text(struct path_run *r, struct slice text, struct slice *out)
{
    return arena_copy(&r->texts, text, out) ? RC_OK : err_oom(r->err);
}

enum rc atom_to_text(struct path_run *r, const struct atom *a, struct slice *text, bool *has)
{
    uint8_t digits[NUM_DOUBLE_MAX_CHARS];
    *has = a->kind != ATOM_NULL && a->kind != ATOM_PARTS;
    *text = SLICE("");
    switch (a->kind) {
    case ATOM_BOOLEAN: *text = a->boolean ? SLICE("true") : SLICE("false"); return RC_OK;
    case ATOM_TEXT: *text = a->text; return RC_OK;
    case ATOM_INTEGER: return keep_text(r, slice_of(digits, num_print_i64(a->integer, digits)), text);
    case ATOM_DOUBLE: return keep_text(r, slice_of(digits, num_print_double(a->number, digits)), text);
    default: return RC_OK;
    }
}
