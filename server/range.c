/* server/range.c - see range.h. */
#include "server/range.h"

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The digits at *s, which moves behind them. What is beyond 64 bits counts as the largest number, since it lies behind
 * any end as well. False: there are none, and *out stays. */
static bool take_number(struct slice *s, uint64_t *out)
{
    const uint8_t *at = s->ptr, *end = s->ptr + s->len;
    uint64_t n = 0;
    for (; at < end && is_digit(*at); at++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
            n = UINT64_MAX;
    bool any = at > s->ptr;
    if (any)
        *out = n;
    *s = slice_of(at, (size_t)(end - at));
    return any;
}

static void skip(struct slice *s, const char *chars)
{
    while (s->len && strchr(chars, s->ptr[0]) && s->ptr[0])
        *s = slice_of(s->ptr + 1, s->len - 1);
}

static bool take_char(struct slice *s, uint8_t c)
{
    if (!s->len || s->ptr[0] != c)
        return false;
    *s = slice_of(s->ptr + 1, s->len - 1);
    return true;
}

/* The last `wanted` bytes, or all if there are not so many. */
static enum range_kind suffix(uint64_t wanted, uint64_t content_bytes, struct range *out)
{
    if (!wanted)
        return RANGE_OUTSIDE;
    out->bytes = wanted < content_bytes ? wanted : content_bytes;
    out->first = content_bytes - out->bytes;
    return out->bytes ? RANGE_PART : RANGE_WHOLE; /* no part of nothing could be told */
}

static enum range_kind parse_one(struct slice *s, uint64_t content_bytes, struct range *out)
{
    uint64_t first, last = UINT64_MAX;
    if (take_char(s, '-'))
        return take_number(s, &last) ? suffix(last, content_bytes, out) : RANGE_WHOLE;
    if (!take_number(s, &first) || !take_char(s, '-'))
        return RANGE_WHOLE;
    if (take_number(s, &last) && last < first)
        return RANGE_WHOLE;
    if (first >= content_bytes)
        return RANGE_OUTSIDE;
    out->first = first;
    out->bytes = (last < content_bytes ? last + 1 : content_bytes) - first;
    return RANGE_PART;
}

enum range_kind range_parse(struct slice range, uint64_t content_bytes, struct range *out)
{
    static const size_t unit_bytes = sizeof "bytes=" - 1;
    if (range.len < unit_bytes || !slice_eq_nocase(slice_of(range.ptr, unit_bytes), SLICE("bytes=")))
        return RANGE_WHOLE;
    struct slice rest = slice_of(range.ptr + unit_bytes, range.len - unit_bytes);
    skip(&rest, ", \t");
    enum range_kind kind = parse_one(&rest, content_bytes, out);
    skip(&rest, ", \t");
    return rest.len ? RANGE_WHOLE : kind; /* another range, or what is none */
}

bool range_applies(struct slice if_range, struct slice tag)
{
    return !if_range.len || (tag.len && slice_eq(if_range, tag));
}
