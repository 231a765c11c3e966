/* base/utf8.c - the check of whole texts, ASCII in blocks and the rest by character, and the encoder. */
#include "base/utf8.h"

#include <assert.h>

#include "base/bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>

enum { BLOCK = 16 };

/* How many bytes of the block are ASCII before the first that is not; BLOCK: all. */
static inline size_t ascii_bytes(const uint8_t *p)
{
    unsigned mask = (unsigned)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)p));
    return mask ? (size_t)__builtin_ctz(mask) : BLOCK;
}
#else
enum { BLOCK = 8 };

static inline size_t ascii_bytes(const uint8_t *p)
{
    uint64_t high = get_le64(p) & 0x8080808080808080;
    return high ? (size_t)__builtin_ctzll(high) / 8 : BLOCK;
}
#endif

static const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= BLOCK) {
        size_t n = ascii_bytes(p);
        p += n;
        if (n < BLOCK)
            return p;
    }
    while (p < end && *p < 0x80)
        p++;
    return p;
}

size_t utf8_valid_len(struct slice s)
{
    if (s.len == 0)
        return 0;
    const uint8_t *p = s.ptr, *end = s.ptr + s.len;
    for (;;) {
        p = skip_ascii(p, end);
        while (p < end && *p >= 0x80) { /* texts that are not ASCII seldom go back to it for long */
            size_t n = utf8_char_len(p, end);
            if (n == 0)
                return (size_t)(p - s.ptr);
            p += n;
        }
        if (p == end)
            return s.len;
    }
}

struct slice utf8_cut(struct slice s, size_t bytes)
{
    if (s.len > bytes)
        s.len = bytes;
    for (size_t n = 1; n < 4 && n <= s.len; n++) {
        const uint8_t *p = s.ptr + s.len - n;
        if (utf8_is_tail(*p))
            continue;
        if (utf8_char_len(p, s.ptr + s.len) == 0)
            s.len -= n;
        break;
    }
    return s;
}

size_t utf8_put(uint32_t c, uint8_t *out)
{
    assert(c <= 0x10ffff && (c < 0xd800 || c > 0xdfff));
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}
