/* schema/encode/scan.c - the tokens of JSON text that are not read in line: strings with escapes, numbers, long
 * runs. */
#include "schema/encode/scan.h"

#include "schema/json.h"

/* ---- the text ---- */

bool scan_text_init(struct slice json, struct buf *copy, const uint8_t **p, const uint8_t **end)
{
    while (json.len && scan_is_space(json.ptr[json.len - 1]))
        json.len--;
    uint8_t last = json.len ? json.ptr[json.len - 1] : 0;
    if (last != '}' && last != ']' && last != '"') { /* a bare word or number, or no JSON */
        copy->len = 0;
        if (!buf_append(copy, json) || !buf_append_byte(copy, 0))
            return false;
        json.ptr = copy->ptr;
    }
    *p = json.ptr;
    *end = json.ptr + json.len;
    return true;
}

/* ---- strings ---- */

#define EACH(byte) (0x0101010101010101u * (byte))

/* The high bit of each byte that is no plain content; exact up to the first. */
static inline uint64_t word_stops(uint64_t w)
{
    uint64_t quote = w ^ EACH('"'), escape = w ^ EACH('\\');
    quote = (quote - EACH(1)) & ~quote;
    escape = (escape - EACH(1)) & ~escape;
    uint64_t control = (w - EACH(0x20)) & ~w;
    return (quote | escape | control | w) & EACH(0x80);
}

const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end)
{
#if defined(__SSE2__)
    for (; end - p >= 16; p += 16) {
        unsigned stops = scan_block(_mm_loadu_si128((const __m128i *)p));
        if (stops)
            return p + __builtin_ctz(stops);
    }
#endif
    for (; end - p >= 8; p += 8) {
        uint64_t stops = word_stops(get_le64(p));
        if (stops)
            return p + __builtin_ctzll(stops) / 8;
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* Behind the escape whose backslash is at p, *code_point is what it stands for; NULL: there is no such
 * escape. */
static const uint8_t *read_escape(const uint8_t *p, const uint8_t *end, uint32_t *code_point)
{
    if (end - p < 2)
        return NULL;
    switch (p[1]) {
    case '"':
    case '\\':
    case '/': *code_point = p[1]; return p + 2;
    case 'b': *code_point = '\b'; return p + 2;
    case 'f': *code_point = '\f'; return p + 2;
    case 'n': *code_point = '\n'; return p + 2;
    case 'r': *code_point = '\r'; return p + 2;
    case 't': *code_point = '\t'; return p + 2;
    case 'u': break;
    default: return NULL;
    }
    int32_t unit = json_hex4(p + 2, end);
    if (unit < 0 || json_is_low_surrogate(unit))
        return NULL;
    *code_point = (uint32_t)unit;
    if (!json_is_high_surrogate(unit))
        return p + 6;
    if (end - p < 12 || p[6] != '\\' || p[7] != 'u')
        return NULL;
    int32_t low = json_hex4(p + 8, end);
    if (low < 0 || !json_is_low_surrogate(low))
        return NULL;
    *code_point = 0x10000 + ((uint32_t)(unit & 0x3ff) << 10) + (uint32_t)(low & 0x3ff);
    return p + 12;
}

const uint8_t *scan_string(const uint8_t *p, const uint8_t *end, unsigned *flags)
{
    unsigned seen = 0;
    for (;;) {
        p = scan_plain(p, end);
        if (p == end || *p < 0x20)
            return NULL;
        if (*p == '"') {
            *flags = seen;
            return p;
        }
        if (*p == '\\') {
            uint32_t c;
            p = read_escape(p, end, &c);
            if (!p)
                return NULL;
            seen |= SCAN_ESCAPED;
            continue;
        }
        seen |= SCAN_WIDE;
        do { /* texts that are not ASCII seldom go back to it for long */
            size_t n = utf8_char_len(p, end);
            if (n == 0)
                return NULL;
            p += n;
        } while (p < end && *p >= 0x80);
    }
}

uint8_t *scan_unescape(const uint8_t *p, const uint8_t *quote, uint8_t *out)
{
    while (p < quote) {
        const uint8_t *escape = memchr(p, '\\', (size_t)(quote - p));
        size_t run = (size_t)((escape ? escape : quote) - p);
        memcpy(out, p, run);
        out += run;
        p += run;
        if (escape) {
            uint32_t c;
            p = read_escape(p, quote, &c);
            out += utf8_put(c, out);
        }
    }
    return out;
}

/* The code point at p, which is valid; where the next one begins. */
static const uint8_t *read_char(const uint8_t *p, const uint8_t *quote, uint32_t *c)
{
    if (*p == '\\')
        return read_escape(p, quote, c);
    size_t n = utf8_char_len(p, quote);
    static const uint8_t lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    *c = *p & lead_bits[n];
    for (size_t i = 1; i < n; i++)
        *c = *c << 6 | (p[i] & 0x3f);
    return p + n;
}

uint8_t *scan_bytes(const uint8_t *p, const uint8_t *quote, uint8_t *out, struct scan_wide *wide)
{
    const uint8_t *start = out;
    while (p < quote) {
        const uint8_t *stop = scan_plain(p, quote);
        memcpy(out, p, (size_t)(stop - p));
        out += stop - p;
        p = stop;
        if (p == quote)
            break;
        uint32_t c;
        p = read_char(p, quote, &c);
        if (c > 255) {
            *wide = (struct scan_wide){(size_t)(out - start), c};
            return NULL;
        }
        *out++ = (uint8_t)c;
    }
    return out;
}

size_t scan_count(const uint8_t *p, const uint8_t *quote, bool *all_bytes)
{
    size_t n = 0;
    *all_bytes = true;
    while (p < quote) {
        const uint8_t *stop = scan_plain(p, quote);
        n += (size_t)(stop - p);
        p = stop;
        if (p == quote)
            break;
        uint32_t c;
        p = read_char(p, quote, &c);
        if (c > 255)
            *all_bytes = false;
        n++;
    }
    return n;
}

/* ---- numbers ---- */

static const uint8_t *digits(const uint8_t *p)
{
    while (scan_is_digit(*p))
        p++;
    return p;
}

const uint8_t *scan_number(const uint8_t *p)
{
    p += *p == '-';
    const uint8_t *first = p;
    p = digits(p);
    if (p == first || (*first == '0' && p > first + 1))
        return NULL;
    if (*p == '.') {
        first = ++p;
        p = digits(p);
        if (p == first)
            return NULL;
    }
    if ((*p | 0x20) == 'e') {
        p++;
        p += *p == '+' || *p == '-';
        first = p;
        p = digits(p);
        if (p == first)
            return NULL;
    }
    return p;
}
