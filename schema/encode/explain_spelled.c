/* schema/encode/explain_spelled.c - what is wrong with a text of a logical type, with base64, or with a long in quotes. */
#include "schema/encode/explain_walk.h"
#include "schema/encode/spelling.h"

/* The sentences for what has one of its own: the token, then what is expected. */
static const struct {
    enum problem_code code;
    const char *sentence;
} words[SPELLING_FAULTS] = {
    [SPELLING_SYNTAX] = {PROBLEM_ENCODING, "is no"},
    [SPELLING_NO_SUCH] = {PROBLEM_RANGE, "names a day or a time that there is not, and is no"},
    [SPELLING_LEAP] = {PROBLEM_RANGE, "is a leap second, for which there is no place in a"},
    [SPELLING_DIGITS] = {PROBLEM_RANGE, "has more digits behind the second than a"},
    [SPELLING_SCALE] = {PROBLEM_RANGE, "has more digits behind the point than a"},
};

static void tell_fault(struct explain *x, const struct explain_value *v, enum spelling_fault fault)
{
    struct slice expected = explain_kind_name(x, v->op), got = explain_token(x, v->at);
    explain_tell(x, explain_note(x, words[fault].code, expected, got, v->branch), "%s %s %s.",
                 (const char *)got.ptr, words[fault].sentence, (const char *)expected.ptr);
}

static void tell(struct explain *x, const struct explain_value *v, enum spelling_fault fault, size_t bytes)
{
    switch (fault) {
    case SPELLING_FITS: break;
    case SPELLING_TYPE: explain_type(x, v); break;
    case SPELLING_FRACTION: explain_fraction(x, v); break;
    case SPELLING_RANGE: explain_range(x, v); break;
    case SPELLING_SIZE: explain_size(x, v, bytes); break;
    default: tell_fault(x, v, fault);
    }
}

/* The content of a string, or a number. False: memory is out. */
static bool text_of(struct explain *x, const uint8_t *at, struct slice *out)
{
    unsigned flags;
    if (*at == '"') {
        const uint8_t *begin = at + 1;
        return explain_name(
            x, &(struct explain_member){.name = begin, .quote = scan_string(begin, x->e.end, &flags)}, out);
    }
    *out = slice_of(at, (size_t)(skip_value(&x->e, at) - at));
    return true;
}

void explain_spelled(struct explain *x, const struct explain_value *v)
{
    const struct op *op = &x->program->ops[v->op];
    bool is_quoted = *v->at == '"', is_number = *v->at == '-' || scan_is_digit(*v->at);
    struct slice text;
    uint8_t *end;
    if (!is_quoted && !is_number) {
        explain_type(x, v);
        return;
    }
    if (!text_of(x, v->at, &text))
        return;
    x->spelled.len = 0;
    if (!buf_reserve(&x->spelled, spelling_bytes_max(op, text.len))) {
        explain_stop(x, EXPLAIN_NO_MEMORY);
        return;
    }
    end = x->spelled.ptr;
    enum spelling_fault fault = spelling_read(op, text, is_quoted, x->spelled.ptr, &end);
    tell(x, v, fault, (size_t)(end - x->spelled.ptr));
}
