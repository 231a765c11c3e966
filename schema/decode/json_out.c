/* schema/decode/json_out.c - growth of the output, and the quoting of strings in blocks. */
#include "schema/decode/json_out.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/utf8.h"

/* The room ends with the memory, or where the limit is reached. */
static void set_end(struct json_out *o)
{
    size_t room = o->buf->cap - o->buf->len;
    size_t most = o->bytes_max + JSON_OUT_SLACK;
    o->end = o->buf->ptr + o->buf->len + (room < most ? room : most);
}

uint8_t *json_out_begin(struct json_out *o, struct buf *buf, size_t bytes_max, struct err *err)
{
    *o = (struct json_out){.buf = buf, .bytes_max = bytes_max, .err = err};
    if (!buf->ptr)
        return json_out_grow(o, NULL, 0);
    set_end(o);
    return json_out_room(o, buf->ptr + buf->len, 0);
}

void json_out_finish(struct json_out *o, uint8_t *w)
{
    assert(w <= o->end);
    o->buf->len = (size_t)(w - o->buf->ptr);
}

COLD uint8_t *json_out_grow(struct json_out *o, uint8_t *w, size_t more)
{
    size_t wrote = w ? (size_t)(w - o->buf->ptr) - o->buf->len : 0;
    if (wrote > o->bytes_max || more > o->bytes_max - wrote) {
        err_set(o->err, ERR_JSON_TOO_LARGE, "The record's JSON form would take more than %zu bytes.",
                o->bytes_max);
        return NULL;
    }
    if (!buf_grow(o->buf, wrote + more + JSON_OUT_SLACK)) { /* keeps what stands behind len, too */
        err_oom(o->err);
        return NULL;
    }
    set_end(o);
    return o->buf->ptr + o->buf->len + wrote;
}

/* A block is copied whole, then counted up to its first special byte: the quote, the backslash, those below
 * 0x20 and those from 0x80 on. */
#if defined(__SSE2__)
#include <emmintrin.h>

enum { BLOCK = 16 };

static inline size_t copy_block(const uint8_t *p, uint8_t *w)
{
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    _mm_storeu_si128((__m128i *)w, x);
    __m128i control = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20)); /* signed: takes 0x80 and above along */
    __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
    unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
    return mask ? (size_t)__builtin_ctz(mask) : BLOCK;
}
#else
enum { BLOCK = 8 };

/* The top bit of each byte of x that is below n (n up to 0x80).
 * Bytes behind the first may be wrong: borrows. */
static inline uint64_t bytes_below(uint64_t x, uint8_t n)
{
    return (x - UINT64_C(0x0101010101010101) * n) & ~x & UINT64_C(0x8080808080808080);
}

static inline size_t copy_block(const uint8_t *p, uint8_t *w)
{
    uint64_t x = get_le64(p);
    put_le64(w, x);
    uint64_t quote = x ^ UINT64_C(0x0101010101010101) * '"';
    uint64_t backslash = x ^ UINT64_C(0x0101010101010101) * '\\';
    uint64_t mask = bytes_below(x, 0x20) | bytes_below(quote, 1) | bytes_below(backslash, 1) |
                    (x & UINT64_C(0x8080808080808080));
    return mask ? (size_t)__builtin_ctzll(mask) / 8 : BLOCK;
}
#endif

_Static_assert((int)BLOCK <= (int)JSON_OUT_SLACK,
               "a block may be written where only its beginning is needed");

/* Copy the bytes from p on that need nothing done; how many.
 * There is room for all up to end, and the slack. */
static inline size_t copy_plain(const uint8_t *p, const uint8_t *end, const uint8_t *readable, uint8_t *w)
{
    const uint8_t *start = p;
    while (end - p >= BLOCK) {
        size_t n = copy_block(p, w);
        p += n;
        w += n;
        if (n < BLOCK)
            return (size_t)(p - start);
    }
    size_t left = (size_t)(end - p), n;
    if (left == 0)
        return (size_t)(p - start);
    if (likely(readable - p >= BLOCK)) {
        n = copy_block(p, w);
    } else {
        uint8_t last[BLOCK] = {0};
        memcpy(last, p, left);
        n = copy_block(last, w);
    }
    return (size_t)(p - start) + (n < left ? n : left);
}

static uint8_t *put_escape(uint8_t *w, uint8_t c)
{
    static const char letters[0x20] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";
    w[0] = '\\';
    if (c >= 0x20 || letters[c]) {
        w[1] = c >= 0x20 ? c : (uint8_t)letters[c];
        return w + 2;
    }
    memcpy(w + 1, "u00", 3);
    w[4] = (uint8_t)hex[c >> 4];
    w[5] = (uint8_t)hex[c & 15];
    return w + 6;
}

enum { ESCAPE_MAX = 6 };

/* Room for the string's bytes as they are, and its quote. */
static inline uint8_t *open_string(struct json_out *o, uint8_t *w, struct slice s)
{
    w = json_out_room(o, w, s.len);
    if (likely(w))
        *w++ = '"';
    return w;
}

/* Up to the next byte that something must be done with. False: there is none. */
static inline bool pass_plain(const uint8_t **p, const uint8_t *end, const uint8_t *readable, uint8_t **w)
{
    size_t plain = copy_plain(*p, end, readable, *w);
    *p += plain;
    *w += plain;
    return *p < end;
}

uint8_t *json_out_string(struct json_out *o, uint8_t *w, struct slice s, const uint8_t *readable,
                         const uint8_t **bad)
{
    const uint8_t *p = s.ptr, *end = p + s.len;
    *bad = NULL;
    w = open_string(o, w, s);
    if (unlikely(!w))
        return NULL;
    while (unlikely(pass_plain(&p, end, readable, &w))) {
        if (*p < 0x80) {
            w = json_out_room(o, w, (size_t)(end - p) + ESCAPE_MAX);
            if (unlikely(!w))
                return NULL;
            w = put_escape(w, *p++);
            continue;
        }
        do {
            size_t n = utf8_char_len(p, end);
            if (unlikely(n == 0)) {
                *bad = p;
                return NULL;
            }
            for (size_t i = 0; i < n; i++)
                *w++ = *p++;
        } while (p < end && *p >= 0x80);
    }
    *w++ = '"';
    return w;
}

uint8_t *json_out_bytes(struct json_out *o, uint8_t *w, struct slice s, const uint8_t *readable)
{
    const uint8_t *p = s.ptr, *end = p + s.len;
    w = open_string(o, w, s);
    if (unlikely(!w))
        return NULL;
    while (pass_plain(&p, end, readable, &w)) {
        w = json_out_room(o, w, (size_t)(end - p) + ESCAPE_MAX);
        if (unlikely(!w))
            return NULL;
        w = *p < 0x80 ? put_escape(w, *p) : w + utf8_put(*p, w);
        p++;
    }
    *w++ = '"';
    return w;
}
