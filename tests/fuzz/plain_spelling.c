/* tests/fuzz/plain_spelling.c - see plain_spelling.h. */
#include "tests/fuzz/plain_spelling.h"

#include <regex.h>
#include <time.h>

#include "base/num.h"
#include "tests/fuzz/fuzz.h"

enum { DIGITS_MAX = 36 }; /* that surely fit 128 bits */

static void put(struct buf *out, const void *p, size_t n)
{
    CHECK(buf_append(out, slice_of(p, n)), "memory is out");
}

static void put_long(struct buf *out, int64_t v)
{
    uint64_t bits = v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
    for (; bits > 127; bits /= 128)
        put(out, &(uint8_t){(uint8_t)(bits % 128 + 128)}, 1);
    put(out, &(uint8_t){(uint8_t)bits}, 1);
}

static void put_sized(struct buf *out, struct slice s)
{
    put_long(out, (int64_t)s.len);
    put(out, s.ptr, s.len);
}

/* A text of its own for the C library; NULL where it has a NUL, or is too long to be right. */
static char *c_text(struct slice s)
{
    return s.len < 100000 && !memchr(s.len ? (const char *)s.ptr : "", 0, s.len)
               ? strndup((const char *)s.ptr, s.len)
               : NULL;
}

enum { GROUPS_MAX = 12 };

/* Each is compiled once. */
static const regex_t *compiled(const char *pattern)
{
    static struct {
        const char *pattern;
        regex_t regex;
    } known[16];
    unsigned i = 0;
    for (; i < ARRAY_LEN(known) && known[i].pattern; i++)
        if (!strcmp(known[i].pattern, pattern))
            return &known[i].regex;
    CHECK(i < ARRAY_LEN(known), "more than %u patterns", i);
    CHECK(regcomp(&known[i].regex, pattern, REG_EXTENDED) == 0, "%s", pattern);
    known[i].pattern = pattern;
    return &known[i].regex;
}

/* Does all of it match? */
static bool matches(const char *text, const char *pattern, regmatch_t groups[GROUPS_MAX])
{
    return regexec(compiled(pattern), text, GROUPS_MAX, groups, 0) == 0;
}

/* Of a group of digits; 0: it did not match. */
static int number(const char *text, regmatch_t group)
{
    int n = 0;
    CHECK(group.rm_eo - group.rm_so <= 4, "a part of a moment has four digits at most");
    for (regoff_t i = group.rm_so; i < group.rm_eo; i++)
        n = n * 10 + (text[i] - '0');
    return n;
}

/* ---- moments ---- */

static bool is_int(const struct op *op)
{
    return op->a == LOGICAL_DATE || op->a == LOGICAL_TIME_MILLIS;
}

enum opcode plain_kind(const struct op *op)
{
    if (op->code == OP_INT64)
        return OP_LONG;
    if (op->code == OP_MOMENT)
        return is_int(op) ? OP_INT : OP_LONG;
    return (enum opcode)op->code;
}

static int digits_of(uint32_t logical)
{
    switch (logical) {
    case LOGICAL_DATE: return 0;
    case LOGICAL_TIME_MILLIS:
    case LOGICAL_TIMESTAMP_MILLIS:
    case LOGICAL_LOCAL_TIMESTAMP_MILLIS: return 3;
    case LOGICAL_TIMESTAMP_NANOS:
    case LOGICAL_LOCAL_TIMESTAMP_NANOS: return 9;
    default: return 6;
    }
}

#define DATE "([0-9]{4})-([0-9]{2})-([0-9]{2})"
#define TIME "([0-9]{2}):([0-9]{2}):([0-9]{2})([.][0-9]+)?"

/* Groups: 1 to 3 the date, 4 to 7 the time, 9 to 11 the offset, whichever there are. */
static bool match_moment(uint32_t logical, const char *text, regmatch_t g[GROUPS_MAX])
{
    switch (logical) {
    case LOGICAL_DATE: return matches(text, "^" DATE "$", g);
    case LOGICAL_TIME_MILLIS:
    case LOGICAL_TIME_MICROS: return matches(text, "^(()())" TIME "$", g);
    case LOGICAL_TIMESTAMP_MILLIS:
    case LOGICAL_TIMESTAMP_MICROS:
    case LOGICAL_TIMESTAMP_NANOS:
        return matches(text, "^" DATE "[Tt]" TIME "([Zz]|([+-])([0-9]{2}):([0-9]{2}))$", g);
    default: return matches(text, "^" DATE "[Tt]" TIME "$", g);
    }
}

/* False: no such day or time. */
static bool seconds_of(uint32_t logical, const char *text, const regmatch_t g[GROUPS_MAX], int64_t *out)
{
    bool has_date = logical != LOGICAL_TIME_MILLIS && logical != LOGICAL_TIME_MICROS;
    struct tm tm = {.tm_year = 70, .tm_mday = 1}, same;
    if (has_date) {
        tm.tm_year = number(text, g[1]) - 1900;
        tm.tm_mon = number(text, g[2]) - 1;
        tm.tm_mday = number(text, g[3]);
    }
    if (logical != LOGICAL_DATE) {
        tm.tm_hour = number(text, g[4]);
        tm.tm_min = number(text, g[5]);
        tm.tm_sec = number(text, g[6]);
    }
    same = tm;
    *out = timegm(&same);
    return same.tm_year == tm.tm_year && same.tm_mon == tm.tm_mon && same.tm_mday == tm.tm_mday &&
           same.tm_hour == tm.tm_hour && same.tm_min == tm.tm_min && same.tm_sec == tm.tm_sec;
}

/* ".5" as so many digits; false: more of them. */
static bool fraction_of(const char *text, regmatch_t g, int digits, int64_t *out)
{
    *out = 0;
    for (int i = 0, n = g.rm_so < 0 ? 0 : (int)(g.rm_eo - g.rm_so) - 1; i < digits || i < n; i++) {
        int digit = i < n ? text[g.rm_so + 1 + i] - '0' : 0;
        if (i >= digits && digit)
            return false;
        if (i < digits)
            *out = *out * 10 + digit;
    }
    return true;
}

static bool moment_of(const struct op *op, const char *text, int64_t *out, enum problem_code *why)
{
    regmatch_t g[GROUPS_MAX];
    int64_t seconds, fraction = 0, unit = 1, offset = 0;
    bool has_offset = op->a >= LOGICAL_TIMESTAMP_MILLIS && op->a <= LOGICAL_TIMESTAMP_NANOS;
    *why = PROBLEM_ENCODING;
    if (!text || !match_moment(op->a, text, g))
        return false;
    *why = PROBLEM_RANGE;
    for (int i = 0; i < digits_of(op->a); i++)
        unit *= 10;
    if (!seconds_of(op->a, text, g, &seconds) ||
        (op->a != LOGICAL_DATE && !fraction_of(text, g[7], digits_of(op->a), &fraction)))
        return false;
    if (has_offset && g[9].rm_so >= 0) {
        int hours = number(text, g[10]), minutes = number(text, g[11]);
        if (hours > 23 || minutes > 59)
            return false;
        offset = (hours * 60 + minutes) * (text[g[9].rm_so] == '-' ? -60 : 60);
    }
    __int128 v = (__int128)(seconds - offset) * unit + fraction;
    *out = op->a == LOGICAL_DATE ? seconds / 86400 : (int64_t)v;
    return v == (int64_t)v;
}

/* ---- whole numbers ---- */

static bool is_whole(const char *text)
{
    regmatch_t g[GROUPS_MAX];
    return text && matches(text, "^-?(0|[1-9][0-9]*)$", g);
}

static bool whole_of(struct slice text, int64_t *out, enum problem_code *why)
{
    enum num_kind kind = num_parse_i64(text, out);
    *why = kind == NUM_FRACTION ? PROBLEM_TYPE : PROBLEM_RANGE;
    return kind == NUM_INTEGER;
}

static bool integer_of(const struct op *op, struct slice s, const char *text, bool is_string, int64_t *out,
                       enum problem_code *why)
{
    if (!is_string)
        return whole_of(s, out, why);
    bool may_be_quoted = op->code == OP_INT64 || op->flags & OP_FLAG_QUOTED;
    if (may_be_quoted && is_whole(text))
        return whole_of(s, out, why);
    *why = op->code == OP_UINT32 ? PROBLEM_TYPE : PROBLEM_ENCODING;
    return op->code == OP_MOMENT && moment_of(op, text, out, why);
}

static enum plain_spelling spell_integer(const struct op *op, struct slice s, const char *text,
                                         bool is_string, struct buf *out, enum problem_code *why)
{
    int64_t v;
    if (!integer_of(op, s, text, is_string, &v, why))
        return SPELLED_MISFIT;
    *why = PROBLEM_RANGE;
    if (op->code == OP_UINT32) {
        if (v < 0 || v >= (int64_t)1 << 32)
            return SPELLED_MISFIT;
        for (int i = 0; i < 4; i++)
            put(out, &(uint8_t){(uint8_t)(v >> 8 * i)}, 1);
        return SPELLED_FITS;
    }
    if (plain_kind(op) == OP_INT && (v < -(int64_t)2147483648 || v > 2147483647))
        return SPELLED_MISFIT;
    put_long(out, v);
    return SPELLED_FITS;
}

/* ---- decimals ---- */

static enum plain_spelling spell_hex(const struct op *op, const char *text, struct buf *out,
                                     enum problem_code *why)
{
    regmatch_t g[GROUPS_MAX];
    struct buf bytes = {0};
    *why = PROBLEM_ENCODING;
    if (!matches(text, "^0x([0-9a-fA-F]{2})*$", g))
        return SPELLED_MISFIT;
    for (const char *p = text + 2; *p; p += 2) {
        unsigned byte;
        CHECK(sscanf(p, "%2x", &byte) == 1, "%s", p);
        put(&bytes, &(uint8_t){(uint8_t)byte}, 1);
    }
    *why = PROBLEM_SIZE;
    bool ok = op->a == SPELL_ANY_SIZE || op->a == bytes.len;
    if (ok && op->a == SPELL_ANY_SIZE)
        put_long(out, (int64_t)bytes.len);
    if (ok)
        put(out, bytes.ptr, bytes.len);
    buf_release(&bytes);
    return ok ? SPELLED_FITS : SPELLED_MISFIT;
}

/* The number's digits without zeros around them go to `digits`, *exponent is that of the last. */
static void take_apart(const char *text, const regmatch_t g[GROUPS_MAX], struct buf *digits,
                       int64_t *exponent)
{
    *exponent = g[3].rm_so < 0 ? 0 : strtoll(text + g[3].rm_so + 1, NULL, 10);
    if (*exponent > 1000000000 || *exponent < -1000000000)
        *exponent = *exponent < 0 ? -1000000000 : 1000000000;
    for (regoff_t i = g[1].rm_so; i < (g[2].rm_so < 0 ? g[1].rm_eo : g[2].rm_eo); i++)
        if (text[i] != '.' && (digits->len || text[i] != '0'))
            put(digits, text + i, 1);
    *exponent -= g[2].rm_so < 0 ? 0 : g[2].rm_eo - g[2].rm_so - 1;
    while (digits->len && digits->ptr[digits->len - 1] == '0') {
        digits->len--;
        ++*exponent;
    }
}

static void put_big_endian(const struct op *op, __int128 v, struct buf *out)
{
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++)
        bytes[i] = (uint8_t)(v >> 8 * (15 - i));
    size_t n = 16;
    while (n > 1 && (__int128)v >> (8 * (n - 1) - 1) == (v < 0 ? -1 : 0))
        n--;
    if (op->a == SPELL_ANY_SIZE) {
        put_sized(out, slice_of(bytes + 16 - n, n));
        return;
    }
    for (size_t i = op->a; i > 16; i--)
        put(out, &(uint8_t){v < 0 ? 0xff : 0}, 1);
    n = op->a < 16 ? op->a : 16;
    put(out, bytes + 16 - n, n);
}

static enum plain_spelling spell_decimal(const struct op *op, const char *text, bool is_string,
                                         struct buf *out, enum problem_code *why)
{
    regmatch_t g[GROUPS_MAX];
    struct buf digits = {0};
    int64_t exponent;
    *why = PROBLEM_ENCODING;
    if (!text)
        return is_string ? SPELLED_MISFIT : SPELLED_GIVES_UP;
    if (is_string && text[0] == '0' && text[1] == 'x')
        return spell_hex(op, text, out, why);
    if (!matches(text, "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$", g))
        return SPELLED_MISFIT;
    *why = PROBLEM_RANGE;
    take_apart(text, g, &digits, &exponent);
    size_t n = digits.len;
    int64_t zeros = exponent + op->info;
    enum plain_spelling result = SPELLED_FITS;
    if (n && (zeros < 0 || (int64_t)n + zeros > op->b))
        result = SPELLED_MISFIT;
    else if (n && (int64_t)n + zeros > DIGITS_MAX)
        result = SPELLED_GIVES_UP;
    if (result == SPELLED_FITS) {
        __int128 v = 0;
        for (size_t i = 0; i < n; i++)
            v = v * 10 + (digits.ptr[i] - '0');
        for (int64_t i = 0; n && i < zeros; i++)
            v *= 10;
        put_big_endian(op, text[0] == '-' ? -v : v, out);
    }
    buf_release(&digits);
    return result;
}

/* ---- bytes ---- */

static enum plain_spelling spell_uuid(const struct op *op, const char *text, struct buf *out)
{
    regmatch_t g[GROUPS_MAX];
    if (!text || !matches(text, "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", g))
        return SPELLED_MISFIT;
    if (op->code == OP_UUID_STRING) {
        put_sized(out, slice_str(text));
        return SPELLED_FITS;
    }
    for (const char *p = text; *p; p += 2) {
        unsigned byte;
        p += *p == '-';
        CHECK(sscanf(p, "%2x", &byte) == 1, "%s", p);
        put(out, &(uint8_t){(uint8_t)byte}, 1);
    }
    return SPELLED_FITS;
}

static enum plain_spelling spell_base64(const struct op *op, const char *text, struct buf *out,
                                        enum problem_code *why)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    regmatch_t g[GROUPS_MAX];
    struct buf bytes = {0};
    uint32_t bits = 0;
    int nbits = 0;
    *why = PROBLEM_ENCODING;
    if (!text || !matches(text, "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", g))
        return SPELLED_MISFIT;
    for (const char *p = text; *p && *p != '='; p++) {
        bits = (bits << 6 | (uint32_t)(strchr(alphabet, *p) - alphabet)) & 0xffff;
        nbits += 6;
        if (nbits >= 8) {
            nbits -= 8;
            put(&bytes, &(uint8_t){(uint8_t)(bits >> nbits)}, 1);
        }
    }
    bool ok = !(bits & ((1u << nbits) - 1));
    if (ok && op->a != SPELL_ANY_SIZE && bytes.len != op->a) {
        *why = PROBLEM_SIZE;
        ok = false;
    }
    if (ok && op->a == SPELL_ANY_SIZE)
        put_sized(out, buf_slice(&bytes));
    else if (ok)
        put(out, bytes.ptr, bytes.len);
    buf_release(&bytes);
    return ok ? SPELLED_FITS : SPELLED_MISFIT;
}

/* ---- the front ---- */

static enum plain_spelling spell(const struct op *op, struct slice s, const char *text, bool is_string,
                                 struct buf *out, enum problem_code *why)
{
    switch ((enum opcode)op->code) {
    case OP_MOMENT:
    case OP_INT64:
    case OP_UINT32: return spell_integer(op, s, text, is_string, out, why);
    case OP_DECIMAL: return spell_decimal(op, text, is_string, out, why);
    default: break;
    }
    *why = is_string ? PROBLEM_ENCODING : PROBLEM_TYPE;
    if (!is_string)
        return SPELLED_MISFIT;
    return op->code == OP_BASE64 ? spell_base64(op, text, out, why) : spell_uuid(op, text, out);
}

enum plain_spelling plain_spell(const struct op *op, struct slice s, bool is_string, struct buf *out,
                                enum problem_code *why)
{
    char *text = c_text(s);
    enum plain_spelling result = spell(op, s, text, is_string, out, why);
    free(text);
    return result;
}
