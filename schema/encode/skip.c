/* schema/encode/skip.c - JSON values passed over because their turn has not come. They are checked like any other
 * (but for duplicate names), and where each bracket inside ends is remembered: when its turn comes and
 * something in it must be passed over again, that takes no second look. Brackets are always passed over for
 * the first time in the order of the text, so codec.ends is sorted by itself. */
#include "schema/encode/encode.h"

static struct text_span *ends_of(const struct encode *e)
{
    return e->codec->ends.ptr;
}

/* The index of the first entry at or behind `begin`, seeking forward from `i`, before which all begin
 * earlier. */
static uint32_t seek(const struct text_span *ends, uint32_t n, uint32_t i, uint32_t begin)
{
    uint32_t step = 1;
    while (i + step < n && ends[i + step].begin <= begin) {
        i += step;
        step *= 2;
    }
    uint32_t low = i, high = n - i > step ? i + step : n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ends[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the bracket at `begin` ends, or 0: it has not been passed over yet. */
static uint32_t find_end(struct encode *e, uint32_t begin)
{
    const struct text_span *ends = ends_of(e);
    uint32_t n = e->codec->ends.n;
    if (n == 0 || begin > ends[n - 1].begin)
        return 0;
    uint32_t from = e->ends_hint < n && ends[e->ends_hint].begin <= begin ? e->ends_hint : 0;
    uint32_t i = seek(ends, n, from, begin);
    assert(i < n && ends[i].begin == begin);
    e->ends_hint = i;
    return ends[i].end;
}

static const uint8_t *misfit(struct encode *e)
{
    e->result = ENCODE_MISFIT;
    return NULL;
}

static const uint8_t *skip_scalar(const uint8_t *p, const uint8_t *end)
{
    unsigned flags;
    const uint8_t *quote;
    switch (*p) {
    case '"': quote = scan_string(p + 1, end, &flags); return quote ? quote + 1 : NULL;
    case 'n': return scan_word(p, end, "null", 4);
    case 't': return scan_word(p, end, "true", 4);
    case 'f': return scan_word(p, end, "false", 5);
    default: return scan_number(p);
    }
}

/* p: at the name's quote. At what stands behind the colon, or NULL. */
static const uint8_t *skip_name(const uint8_t *p, const uint8_t *end)
{
    unsigned flags;
    if (*p != '"' || !(p = scan_string(p + 1, end, &flags)) || ++p == end)
        return NULL;
    p = scan_space(p);
    return *p == ':' ? scan_space(p + 1) : NULL;
}

/* The brackets that are open: indexes into codec.ends. */
struct open {
    uint32_t n, at[JSON_NEST_MAX];
};

static bool open_bracket(struct encode *e, struct open *open, const uint8_t *p)
{
    if (open->n == JSON_NEST_MAX) {
        e->was_too_deep = true;
        return misfit(e);
    }
    struct stack *ends = &e->codec->ends;
    if (!stack_reserve(ends, 1, sizeof(struct text_span))) {
        e->result = ENCODE_NO_MEMORY;
        return false;
    }
    open->at[open->n++] = ends->n;
    ends_of(e)[ends->n++] = (struct text_span){encode_at(e, p), 0};
    return true;
}

/* p: behind a value. Closes brackets and passes the comma, if any; at the next value, or behind the last
 * bracket. */
static const uint8_t *skip_closing(struct encode *e, struct open *open, const uint8_t *p)
{
    while (open->n) {
        struct text_span *inner = &ends_of(e)[open->at[open->n - 1]];
        bool is_object = e->text[inner->begin] == '{';
        if (p == e->end)
            return NULL;
        p = scan_space(p);
        if (*p == ',') {
            p = scan_space(p + 1);
            return is_object ? skip_name(p, e->end) : p;
        }
        if (*p++ != (is_object ? '}' : ']'))
            return NULL;
        inner->end = encode_at(e, p);
        open->n--;
    }
    return p;
}

/* p: at an opening bracket. At its first value, or (*is_empty) at its closing bracket. */
static const uint8_t *skip_opening(const struct encode *e, const uint8_t *p, bool *is_empty)
{
    bool is_object = *p == '{';
    p = scan_space(p + 1);
    *is_empty = *p == (is_object ? '}' : ']');
    return is_object && !*is_empty ? skip_name(p, e->end) : p;
}

static const uint8_t *skip_bracket(struct encode *e, const uint8_t *p)
{
    struct open open;
    open.n = 0;
    uint32_t nends = e->codec->ends.n;
    do {
        bool is_empty = false;
        if (*p == '{' || *p == '[') {
            if (!open_bracket(e, &open, p)) {
                e->codec->ends.n = nends;
                return NULL;
            }
            p = skip_opening(e, p, &is_empty);
            if (p && !is_empty)
                continue;
        } else {
            p = skip_scalar(p, e->end);
        }
        p = p ? skip_closing(e, &open, p) : NULL;
        if (!p) {
            e->codec->ends.n = nends; /* half of it is of no use */
            return misfit(e);
        }
    } while (open.n);
    return p;
}

const uint8_t *skip_value(struct encode *e, const uint8_t *p)
{
    if (*p != '{' && *p != '[') {
        p = skip_scalar(p, e->end);
        return p ? p : misfit(e);
    }
    uint32_t end = find_end(e, encode_at(e, p));
    return end ? e->text + end : skip_bracket(e, p);
}
