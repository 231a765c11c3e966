/* server/metrics_text.c - see metrics_text.h. */
#include "server/metrics_text.h"

#include <assert.h>

#include "base/num.h"

enum { DECIMALS_MAX = 9 };

/* ---- pieces ---- */

/* `quoted`: of a label's value, where a quote is escaped too. */
static bool put_escaped(struct buf *out, struct slice text, bool quoted)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool ok = c == '\n'                           ? buf_append(out, SLICE("\\n"))
                  : c == '\\' || (c == '"' && quoted) ? buf_append_byte(out, '\\') && buf_append_byte(out, c)
                                                      : buf_append_byte(out, c);
        if (!ok)
            return false;
    }
    return true;
}

/* Without zeros at the end of a fraction. */
static bool put_number(struct buf *out, uint64_t value, unsigned decimals)
{
    uint8_t text[NUM_U64_MAX_CHARS + 1 + DECIMALS_MAX];
    uint64_t unit = 1;
    assert(decimals <= DECIMALS_MAX);
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    size_t n = num_print_u64(value / unit, text);
    uint64_t fraction = value % unit;
    if (fraction)
        text[n++] = '.';
    while (fraction) {
        unit /= 10;
        text[n++] = (uint8_t)('0' + fraction / unit);
        fraction %= unit;
    }
    return buf_append(out, slice_of(text, n));
}

static bool put_labels(struct buf *out, struct slice labels)
{
    return !labels.len || (buf_append_byte(out, '{') && buf_append(out, labels) && buf_append_byte(out, '}'));
}

/* ---- lines ---- */

bool metrics_text_family(struct buf *out, const char *name, const char *type, const char *help)
{
    return buf_printf(out, "# HELP %s ", name) && put_escaped(out, slice_str(help), false) &&
           buf_printf(out, "\n# TYPE %s %s\n", name, type);
}

bool metrics_text_label(struct buf *labels, const char *name, struct slice value)
{
    return buf_printf(labels, "%s%s=\"", labels->len ? "," : "", name) && put_escaped(labels, value, true) &&
           buf_append_byte(labels, '"');
}

bool metrics_text_sample(struct buf *out, const char *name, struct slice labels, uint64_t value,
                         unsigned decimals)
{
    return buf_append(out, slice_str(name)) && put_labels(out, labels) && buf_append_byte(out, ' ') &&
           put_number(out, value, decimals) && buf_append_byte(out, '\n');
}

/* The last bucket has no bound: it is +Inf. */
static bool put_bucket(struct buf *out, const char *name, struct slice labels, unsigned i, uint64_t below,
                       unsigned first, unsigned decimals)
{
    bool ok = buf_printf(out, "%s_bucket{", name) && buf_append(out, labels) &&
              buf_append(out, labels.len ? SLICE(",le=\"") : SLICE("le=\""));
    ok = ok && (i + 1 == HISTOGRAM_BUCKETS ? buf_append(out, SLICE("+Inf"))
                                           : put_number(out, UINT64_C(1) << (first + i), decimals));
    return ok && buf_append(out, SLICE("\"} ")) && put_number(out, below, 0) && buf_append_byte(out, '\n');
}

bool metrics_text_histogram(struct buf *out, const char *name, struct slice labels,
                            const struct histogram_read *h, unsigned first, unsigned decimals)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        count += h->bucket[i];
        if (!put_bucket(out, name, labels, i, count, first, decimals))
            return false;
    }
    return buf_printf(out, "%s_sum", name) && put_labels(out, labels) && buf_append_byte(out, ' ') &&
           put_number(out, h->sum, decimals) && buf_printf(out, "\n%s_count", name) &&
           put_labels(out, labels) && buf_append_byte(out, ' ') && put_number(out, count, 0) &&
           buf_append_byte(out, '\n');
}
