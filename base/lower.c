/* base/lower.c - lower case by a table of runs (lower.def), found by bisection; ASCII without it. */
#include "base/lower.h"

#include "base/utf8.h"

struct run {
    uint32_t first, last, stride;
    int32_t delta;
};

static const struct run runs[] = {
#define LOWER(first, last, stride, delta) {first, last, stride, delta},
#include "base/lower.def"
#undef LOWER
};

enum { RUNS = sizeof runs / sizeof *runs };

uint32_t lower_of(uint32_t c)
{
    if (c < 0x80)
        return c - 'A' < 26 ? c | 0x20 : c;
    size_t low = 0, high = RUNS; /* the first run that ends at c or behind it */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (runs[middle].last < c)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == RUNS || c < runs[low].first || (c - runs[low].first) % runs[low].stride)
        return c;
    return (uint32_t)((int32_t)c + runs[low].delta);
}

/* The character at *p, which moves behind it. */
static uint32_t next(const uint8_t **p)
{
    const uint8_t *at = *p;
    uint32_t c = at[0];
    if (c < 0x80) {
        *p = at + 1;
        return c;
    }
    unsigned tails = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    c &= 0x3f >> tails;
    for (unsigned i = 1; i <= tails; i++)
        c = c << 6 | (at[i] & 0x3f);
    *p = at + 1 + tails;
    return c;
}

size_t lower_text(struct slice text, uint8_t *out)
{
    const uint8_t *p = slice_not_null(text).ptr, *end = p + text.len;
    uint8_t *o = out;
    while (p < end)
        o += utf8_put(lower_of(next(&p)), o);
    return (size_t)(o - out);
}

bool lower_equal(struct slice a, struct slice b)
{
    const uint8_t *p = slice_not_null(a).ptr, *q = slice_not_null(b).ptr;
    const uint8_t *p_end = p + a.len, *q_end = q + b.len;
    while (p < p_end && q < q_end)
        if (lower_of(next(&p)) != lower_of(next(&q)))
            return false;
    return p == p_end && q == q_end;
}
