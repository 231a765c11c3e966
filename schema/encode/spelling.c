/* schema/encode/spelling.c - see spelling.h. */
#include "schema/encode/spelling.h"

#include <assert.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "base/uuid.h"
#include "schema/decode/avro_read.h"
#include "schema/encode/encode.h"

/* ---- moments ---- */

static const struct moment {
    enum rfc3339_kind kind;
    unsigned digits; /* behind the second */
    bool is_int;
    const char *expected;
} moments[] = {
    [LOGICAL_DATE] = {RFC3339_DATE, 0, true, "RFC 3339 date"},
    [LOGICAL_TIME_MILLIS] = {RFC3339_TIME, 3, true, "RFC 3339 time without offset, to milliseconds"},
    [LOGICAL_TIME_MICROS] = {RFC3339_TIME, 6, false, "RFC 3339 time without offset, to microseconds"},
    [LOGICAL_TIMESTAMP_MILLIS] = {RFC3339_STAMP, 3, false, "RFC 3339 date and time, to milliseconds"},
    [LOGICAL_TIMESTAMP_MICROS] = {RFC3339_STAMP, 6, false, "RFC 3339 date and time, to microseconds"},
    [LOGICAL_TIMESTAMP_NANOS] = {RFC3339_STAMP, 9, false, "RFC 3339 date and time, to nanoseconds"},
    [LOGICAL_LOCAL_TIMESTAMP_MILLIS] = {RFC3339_LOCAL, 3, false,
                                        "RFC 3339 date and time without offset, to milliseconds"},
    [LOGICAL_LOCAL_TIMESTAMP_MICROS] = {RFC3339_LOCAL, 6, false,
                                        "RFC 3339 date and time without offset, to microseconds"},
    [LOGICAL_LOCAL_TIMESTAMP_NANOS] = {RFC3339_LOCAL, 9, false,
                                       "RFC 3339 date and time without offset, to nanoseconds"},
};

static const struct moment *moment_of(const struct op *op)
{
    assert(op->a < ARRAY_LEN(moments) && moments[op->a].expected);
    return &moments[op->a];
}

static struct decimal_type decimal_of(const struct op *op)
{
    return (struct decimal_type){.precision = op->b, .scale = op->info};
}

/* ---- JSON to Avro ---- */

size_t spelling_bytes_max(const struct op *op, size_t chars)
{
    bool is_fixed = (op->code == OP_DECIMAL || op->code == OP_BASE64) && op->a != SPELL_ANY_SIZE;
    return chars + (is_fixed ? op->a : 0) + DECIMAL_BYTES_MAX + AVRO_VARINT_MAX;
}

static enum spelling_fault read_whole(struct slice number, int64_t *out)
{
    switch (num_parse_i64(number, out)) {
    case NUM_INTEGER: return SPELLING_FITS;
    case NUM_FRACTION: return SPELLING_FRACTION;
    case NUM_HUGE: break;
    }
    return SPELLING_RANGE;
}

/* Is it -?(0|[1-9][0-9]*)? */
static bool is_whole(struct slice text)
{
    const uint8_t *p = text.ptr, *end = p + text.len;
    p += p < end && *p == '-';
    if (p == end || (*p == '0' && p + 1 < end))
        return false;
    while (p < end && (uint8_t)(*p - '0') <= 9)
        p++;
    return p == end;
}

static enum spelling_fault read_quoted_whole(struct slice text, int64_t *out)
{
    return is_whole(text) ? read_whole(text, out) : SPELLING_SYNTAX;
}

static enum spelling_fault read_moment(const struct op *op, struct slice text, bool is_quoted, int64_t *out)
{
    static const enum spelling_fault faults[] = {
        [RFC3339_FITS] = SPELLING_FITS,       [RFC3339_SYNTAX] = SPELLING_SYNTAX,
        [RFC3339_NO_SUCH] = SPELLING_NO_SUCH, [RFC3339_LEAP] = SPELLING_LEAP,
        [RFC3339_DIGITS] = SPELLING_DIGITS,   [RFC3339_RANGE] = SPELLING_RANGE,
    };
    const struct moment *m = moment_of(op);
    enum spelling_fault fault;
    if (!is_quoted)
        fault = read_whole(text, out);
    else if (op->flags & OP_FLAG_QUOTED && is_whole(text))
        fault = read_whole(text, out);
    else
        fault = faults[rfc3339_parse(m->kind, m->digits, text, out)];
    bool is_beyond = fault == SPELLING_FITS && m->is_int && *out != (int32_t)*out;
    return is_beyond ? SPELLING_RANGE : fault;
}

/* All numbers are read as 64 bits, and written as they are. */
static enum spelling_fault read_number(const struct op *op, struct slice text, bool is_quoted, uint8_t *out,
                                       uint8_t **end)
{
    int64_t v;
    enum spelling_fault fault;
    if (op->code == OP_MOMENT)
        fault = read_moment(op, text, is_quoted, &v);
    else if (op->code == OP_UINT32)
        fault = is_quoted ? SPELLING_TYPE : read_whole(text, &v);
    else
        fault = is_quoted ? read_quoted_whole(text, &v) : read_whole(text, &v);
    if (fault)
        return fault;
    if (op->code != OP_UINT32) {
        *end = encode_varint(out, encode_zigzag(v));
        return SPELLING_FITS;
    }
    if (v < 0 || v > UINT32_MAX)
        return SPELLING_RANGE;
    put_le32(out, (uint32_t)v);
    *end = out + 4;
    return SPELLING_FITS;
}

/* Behind "0x": any bytes. */
static enum spelling_fault read_hex(struct slice digits, uint8_t *out, size_t *n)
{
    if (digits.len % 2)
        return SPELLING_SYNTAX;
    for (*n = 0; *n < digits.len / 2; ++*n) {
        int byte = hex_byte(digits.ptr + *n * 2);
        if (byte < 0)
            return SPELLING_SYNTAX;
        out[*n] = (uint8_t)byte;
    }
    return SPELLING_FITS;
}

static bool is_hex(struct slice text)
{
    return slice_starts(text, SLICE("0x"));
}

static enum spelling_fault read_decimal(const struct op *op, struct slice text, uint8_t *out, size_t *n)
{
    static const enum spelling_fault faults[] = {
        [DECIMAL_FITS] = SPELLING_FITS,
        [DECIMAL_SYNTAX] = SPELLING_SYNTAX,
        [DECIMAL_SCALE] = SPELLING_SCALE,
        [DECIMAL_PRECISION] = SPELLING_RANGE,
    };
    uint8_t bytes[DECIMAL_BYTES_MAX];
    if (is_hex(text))
        return read_hex(slice_of(text.ptr + 2, text.len - 2), out, n);
    size_t shortest;
    enum spelling_fault fault = faults[decimal_parse(text, decimal_of(op), bytes, &shortest)];
    if (fault)
        return fault;
    *n = op->a == SPELL_ANY_SIZE ? shortest : op->a;
    assert(shortest <= *n); /* by the rule for a fixed's precision */
    memset(out, bytes[0] & 0x80 ? 0xff : 0, *n - shortest);
    memcpy(out + *n - shortest, bytes, shortest);
    return SPELLING_FITS;
}

/* Those that are bytes: what they are without a length. */
static enum spelling_fault read_content(const struct op *op, struct slice text, bool is_quoted, uint8_t *out,
                                        size_t *n)
{
    if (op->code == OP_DECIMAL)
        return read_decimal(op, text, out, n);
    if (!is_quoted)
        return SPELLING_TYPE;
    switch ((enum opcode)op->code) {
    case OP_UUID: *n = UUID_BYTES; return uuid_parse(text, out) ? SPELLING_FITS : SPELLING_SYNTAX;
    case OP_UUID_STRING:
        *n = text.len;
        if (!uuid_parse(text, out))
            return SPELLING_SYNTAX;
        memcpy(out, text.ptr, text.len); /* as it was written */
        return SPELLING_FITS;
    case OP_BASE64: return base64_parse(text, out, n) ? SPELLING_FITS : SPELLING_SYNTAX;
    default: break;
    }
    assert(!"no bytes");
    return SPELLING_TYPE;
}

/* The size that it must have; SPELL_ANY_SIZE: its length is written before it. */
static uint32_t size_of(const struct op *op)
{
    switch ((enum opcode)op->code) {
    case OP_UUID: return UUID_BYTES;
    case OP_DECIMAL:
    case OP_BASE64: return op->a;
    default: return SPELL_ANY_SIZE;
    }
}

enum spelling_fault spelling_read(const struct op *op, struct slice text, bool is_quoted, uint8_t *out,
                                  uint8_t **end)
{
    size_t n;
    uint32_t size = size_of(op);
    text = slice_not_null(text);
    if (op->code == OP_MOMENT || op->code == OP_INT64 || op->code == OP_UINT32)
        return read_number(op, text, is_quoted, out, end);
    uint8_t *content = size == SPELL_ANY_SIZE ? out + AVRO_VARINT_MAX : out;
    enum spelling_fault fault = read_content(op, text, is_quoted, content, &n);
    if (fault)
        return fault;
    if (size != SPELL_ANY_SIZE) {
        *end = out + n;
        return n == size ? SPELLING_FITS : SPELLING_SIZE;
    }
    out = encode_varint(out, (uint64_t)n << 1);
    memmove(out, content, n);
    *end = out + n;
    return SPELLING_FITS;
}

void spelling_expected(const struct op *op, char out[SPELLING_WORDS_MAX])
{
    const char *words = "";
    switch ((enum opcode)op->code) {
    case OP_MOMENT: words = moment_of(op)->expected; break;
    case OP_DECIMAL: snprintf(out, SPELLING_WORDS_MAX, "decimal(%u,%u)", op->b, op->info); return;
    case OP_UUID:
    case OP_UUID_STRING: words = "UUID"; break;
    case OP_BASE64: words = "base64 text with padding"; break;
    case OP_INT64: words = "long"; break;
    case OP_UINT32: words = "whole number from 0 to 4294967295"; break;
    default: assert(!"spelled");
    }
    snprintf(out, SPELLING_WORDS_MAX, "%s", words);
}

/* ---- Avro to JSON ---- */

static const uint8_t *take_number(const struct op *op, const uint8_t *at, const uint8_t *end, int64_t *out,
                                  const char **fault)
{
    bool is_int = op->code == OP_MOMENT && moment_of(op)->is_int;
    const uint8_t *p = avro_read_long(at, end, out);
    if (p && !(is_int && (*out != (int32_t)*out || p - at > AVRO_INT_MAX)))
        return p;
    *fault = avro_int_fault(at, end);
    return NULL;
}

static const uint8_t *take_bytes(const uint8_t *at, const uint8_t *end, struct slice *out, const char **fault)
{
    int64_t len;
    const uint8_t *p = avro_read_long(at, end, &len);
    if (!p || len < 0 || len > end - p) {
        *fault = avro_length_fault(at, end);
        return NULL;
    }
    *out = slice_of(p, (size_t)len);
    return p + len;
}

const uint8_t *spelling_take(const struct op *op, const uint8_t *at, const uint8_t *end, struct spelled *out,
                             const char **fault)
{
    *out = (struct spelled){.number = 0};
    if (op->code == OP_MOMENT || op->code == OP_INT64)
        return take_number(op, at, end, &out->number, fault);
    size_t size = op->code == OP_UINT32 ? 4 : size_of(op);
    if (size == SPELL_ANY_SIZE)
        return take_bytes(at, end, &out->bytes, fault);
    if ((size_t)(end - at) < size) {
        *fault = "a fixed is cut off";
        return NULL;
    }
    if (op->code == OP_UINT32)
        out->number = get_le32(at);
    else
        out->bytes = slice_of(at, size);
    return at + size;
}

enum { NUMBER_CHARS_MAX = 64 };

size_t spelling_chars_max(const struct op *op, const struct spelled *v)
{
    switch ((enum opcode)op->code) {
    case OP_DECIMAL: return op->b + v->bytes.len * 2 + 8;
    case OP_BASE64: return base64_chars(v->bytes.len) + 2;
    default: return NUMBER_CHARS_MAX;
    }
}

static uint8_t *put_hex(struct slice bytes, uint8_t *w)
{
    *w++ = '0';
    *w++ = 'x';
    for (size_t i = 0; i < bytes.len; i++)
        w = hex_put(w, bytes.ptr[i]);
    return w;
}

/* What is no number of the type, so that it could not be taken back, is shown as the bytes that it is. */
static uint8_t *put_decimal(const struct op *op, struct slice bytes, uint8_t *w)
{
    size_t n = decimal_print(bytes, decimal_of(op), w);
    return n ? w + n : put_hex(bytes, w);
}

/* One that has no text is a number. */
static uint8_t *put_moment(const struct op *op, int64_t v, uint8_t *w)
{
    const struct moment *m = moment_of(op);
    bool is_quoted = op->flags & OP_FLAG_QUOTED;
    size_t n = rfc3339_print(m->kind, m->digits, v, w + 1);
    if (!n) {
        n = num_print_i64(v, w + is_quoted);
        if (!is_quoted)
            return w + n;
    }
    w[0] = '"';
    w[n + 1] = '"';
    return w + n + 2;
}

uint8_t *spelling_print(const struct op *op, const struct spelled *v, uint8_t *w)
{
    if (op->code == OP_MOMENT)
        return put_moment(op, v->number, w);
    if (op->code == OP_UINT32)
        return w + num_print_i64(v->number, w);
    *w++ = '"';
    switch ((enum opcode)op->code) {
    case OP_DECIMAL: w = put_decimal(op, v->bytes, w); break;
    case OP_UUID:
        uuid_print(v->bytes.ptr, w);
        w += UUID_CHARS;
        break;
    case OP_BASE64: w = base64_put(v->bytes, w); break;
    case OP_INT64: w += num_print_i64(v->number, w); break;
    default: assert(!"spelled");
    }
    *w++ = '"';
    return w;
}
