/* server/http/head_cache.c - see head_cache.h. Hot: what each request takes is a look at its target, sixteen bytes at a
 * time, two calls of memcmp at most, and a slice for each field that is there. */
#include "server/http/head_cache.h"

#include <assert.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/crc32c.h"
#include "base/secret.h"

/* ---- the request line ---- */

/* Where a target ends at the latest: the first byte that may not stand in one. `mark`: its first '?', or there. */
struct target_ends {
    size_t end, mark;
};

static inline bool in_target(uint8_t c)
{
    return c > 0x20 && c < 0x7f && c != '#';
}

static struct target_ends target_ends(const uint8_t *p, size_t at, size_t len)
{
    size_t mark = SIZE_MAX;
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(' '), del = _mm_set1_epi8(0x7f), hash = _mm_set1_epi8('#');
    for (; len - at >= 16; at += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + at));
        __m128i bad = _mm_or_si128(_mm_cmpeq_epi8(v, del), _mm_cmpeq_epi8(v, hash));
        unsigned good = (unsigned)_mm_movemask_epi8(_mm_andnot_si128(bad, _mm_cmpgt_epi8(v, space)));
        unsigned marks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('?')));
        if (marks && mark == SIZE_MAX)
            mark = at + (unsigned)__builtin_ctz(marks);
        if (good != 0xffff) {
            at += (unsigned)__builtin_ctz(~good);
            return (struct target_ends){at, mark < at ? mark : at};
        }
    }
#endif
    for (; at < len && in_target(p[at]); at++)
        if (p[at] == '?' && mark == SIZE_MAX)
            mark = at;
    return (struct target_ends){at, mark < at ? mark : at};
}

/* Our methods have 3 to 7 letters. 0: there is no space behind so many. */
static size_t method_bytes(struct slice bytes)
{
    size_t n = 3;
    while (n < bytes.len && n < 8 && bytes.ptr[n] != ' ')
        n++;
    return n < bytes.len && n < 8 ? n : 0;
}

/* False: it is not a plain request line of a method of ours with a path, or not there as far as its second space. */
static bool line_read(struct slice bytes, struct head_match *m)
{
    const uint8_t *p = bytes.ptr;
    size_t n = method_bytes(bytes), at = n + 1;
    if (!n || at == bytes.len || p[at] != '/')
        return false;
    m->method_sent = slice_of(p, n);
    m->method = http1_method(m->method_sent);
    struct target_ends t = target_ends(p, at, bytes.len);
    if (m->method == METHODS || t.end == bytes.len || p[t.end] != ' ')
        return false;
    m->target = slice_of(p + at, t.end - at);
    m->path = slice_of(p + at, t.mark - at);
    m->query = t.mark < t.end ? slice_of(p + t.mark + 1, t.end - t.mark - 1) : (struct slice){0};
    m->tail = slice_of(p + t.end + 1, bytes.len - t.end - 1);
    return true;
}

/* ---- finding ---- */

/* Digits at the start of `s`, no more than surely fit. */
static size_t digits(struct slice s, uint64_t *value)
{
    size_t n = 0;
    for (*value = 0; n < s.len && n < 18 && s.ptr[n] >= '0' && s.ptr[n] <= '9'; n++)
        *value = *value * 10 + (s.ptr[n] - '0');
    return n;
}

/* Who tries out credentials byte by byte is not told by the clock how many of them are right. */
static inline bool same(const struct known_head *k, const uint8_t *bytes, size_t at, size_t n)
{
    if (unlikely(k->is_secret))
        return secret_eq(bytes, k->text + at, n);
    return memcmp(bytes, k->text + at, n) == 0;
}

/* How many bytes of the tail are this head; 0: it is another. */
static size_t tail_bytes(const struct known_head *k, struct head_match *m)
{
    struct slice tail = m->tail;
    size_t there = 0;
    if (!k->bytes || tail.len < k->length_at || !same(k, tail.ptr, 0, k->length_at))
        return 0;
    m->length = 0;
    m->length_more = 0;
    if (k->length_at == k->bytes)
        return k->bytes;
    struct slice rest = slice_of(tail.ptr + k->length_at, tail.len - k->length_at);
    size_t behind = k->bytes - k->length_end;
    there = digits(rest, &m->length);
    if (!there || rest.len - there < behind || !same(k, rest.ptr + there, k->length_end, behind))
        return 0;
    m->length_more = there - (size_t)(k->length_end - k->length_at);
    return k->length_at + there + behind;
}

static unsigned guess_of(enum method m)
{
    return m == METHOD_PUT || m == METHOD_POST;
}

bool head_cache_match(struct head_cache *cache, struct head_guess *guess, const struct http1_limits *limits,
                      struct slice bytes, struct head_match *m)
{
    if (guess->misses == HEAD_MISSES_MAX || !line_read(bytes, m))
        return false;
    m->known = &cache->slot[guess->slot[guess_of(m->method)] % HEAD_CACHE_SLOTS];
    size_t n = tail_bytes(m->known, m);
    m->bytes = (size_t)(m->tail.ptr - bytes.ptr) + n;
    if (!n || m->bytes > limits->head_max || m->target.len > limits->target_max ||
        (m->method == METHOD_HEAD && (m->length || m->known->info.chunked)))
        return false;
    guess->misses = 0;
    return true;
}

void head_match_take(const struct head_match *m, struct request *req, struct http1_info *info)
{
    const struct known_head *k = m->known;
    req->method = m->method;
    req->method_sent = m->method_sent;
    req->target = m->target;
    req->path = m->path;
    req->query = m->query;
    req->http_minor = k->http_minor;
    req->body_declared = k->info.chunked ? UINT64_MAX : m->length;
    *info = k->info;
    req->headers = k->fields;
    for (uint32_t left = k->fields; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        size_t at = k->field[i].at + (k->field[i].at > k->length_at ? m->length_more : 0);
        req->header[i] = slice_of(m->tail.ptr + at, k->field[i].bytes);
    }
    req->header[HEADER_CONTENT_LENGTH].len += m->length_more;
}

/* ---- keeping ---- */

/* Lists that were joined, and the host of an absolute target, stand elsewhere. */
static bool keep_fields(struct known_head *k, struct slice text, const struct request *req)
{
    k->fields = req->headers;
    for (uint32_t left = k->fields; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        struct slice value = req->header[i];
        uintptr_t at = (uintptr_t)value.ptr - (uintptr_t)text.ptr;
        if (at > text.len || value.len > text.len - at)
            return false;
        k->field[i].at = (uint16_t)at;
        k->field[i].bytes = (uint16_t)value.len;
    }
    return true;
}

struct known_head *head_cache_keep(struct head_cache *cache, struct head_guess *guess, struct slice head,
                                   const struct request *req, const struct http1_info *info)
{
    size_t line = req->method_sent.len + 1 + req->target.len + 1;
    struct slice text = slice_of(head.ptr + line, head.len - line);
    if (guess->misses == HEAD_MISSES_MAX || text.len > KNOWN_HEAD_BYTES_MAX)
        return NULL;
    guess->misses++;
    uint8_t slot = (uint8_t)(crc32c(0, text) % HEAD_CACHE_SLOTS);
    struct known_head *k = &cache->slot[slot];
    k->bytes = 0;
    if (!keep_fields(k, text, req))
        return NULL;
    k->length_at = k->length_end = k->bytes = (uint16_t)text.len;
    if (k->fields >> HEADER_CONTENT_LENGTH & 1) {
        k->length_at = k->field[HEADER_CONTENT_LENGTH].at;
        k->length_end = (uint16_t)(k->length_at + k->field[HEADER_CONTENT_LENGTH].bytes);
    }
    k->http_minor = req->http_minor;
    k->info = *info;
    k->web_passed = 0;
    k->is_secret = k->fields >> HEADER_AUTHORIZATION & 1;
    k->identity = (struct identity){0};
    memcpy(k->text, text.ptr, text.len);
    guess->slot[guess_of(req->method)] = cache->newest = slot;
    return k;
}
