/* client/ctl/samples.c - see samples.h. */
#include "client/ctl/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MAX = 64, NUMBER_CHARS = 64 };

/* ---- a line ---- */

static double number_of(struct slice text)
{
    char digits[NUMBER_CHARS];
    size_t len = text.len < sizeof digits ? text.len : sizeof digits - 1;
    if (!len)
        return 0;
    memcpy(digits, text.ptr, len);
    digits[len] = 0;
    return strtod(digits, NULL);
}

/* Where the labels end: a brace in quotes is none. */
static size_t labels_len(const uint8_t *p, size_t len)
{
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        if (quoted && p[i] == '\\')
            i++;
        else if (p[i] == '"')
            quoted = !quoted;
        else if (p[i] == '}' && !quoted)
            return i;
    }
    return len;
}

static bool parse_line(struct slice line, struct sample *out)
{
    size_t name = 0;
    while (name < line.len && line.ptr[name] != '{' && line.ptr[name] != ' ')
        name++;
    if (name == 0 || name == line.len || line.ptr[0] == '#')
        return false;
    *out = (struct sample){.name = slice_of(line.ptr, name)};
    size_t at = name;
    if (line.ptr[at] == '{') {
        size_t len = labels_len(line.ptr + at + 1, line.len - at - 1);
        out->labels = slice_of(line.ptr + at + 1, len);
        at += len + 2;
    }
    if (at >= line.len)
        return false;
    out->value = number_of(slice_of(line.ptr + at, line.len - at));
    return true;
}

bool sample_next(struct slice *rest, struct sample *out)
{
    while (rest->len) {
        const uint8_t *end = memchr(rest->ptr, '\n', rest->len);
        size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
        struct slice line = slice_of(rest->ptr, len);
        len += end != NULL;
        *rest = slice_of(rest->ptr + len, rest->len - len);
        if (parse_line(line, out))
            return true;
    }
    return false;
}

/* ---- labels ---- */

struct slice sample_label(const struct sample *s, const char *label)
{
    struct slice name = slice_str(label), rest = s->labels;
    while (rest.len) {
        const uint8_t *quote = memchr(rest.ptr, '"', rest.len);
        if (!quote)
            break;
        struct slice key = slice_of(rest.ptr, (size_t)(quote - rest.ptr));
        size_t left = rest.len - key.len - 1, len = 0;
        while (len < left && quote[1 + len] != '"')
            len += quote[1 + len] == '\\' ? 2 : 1;
        if (len > left)
            break;
        if (key.len == name.len + 1 && slice_starts(key, name))
            return slice_of(quote + 1, len);
        size_t gone = key.len + 1 + len + 1;
        gone += gone < rest.len && rest.ptr[gone] == ',';
        rest = gone < rest.len ? slice_of(rest.ptr + gone, rest.len - gone) : (struct slice){0};
    }
    return (struct slice){0};
}

bool sample_label_is(const struct sample *s, const char *label, const char *value)
{
    return slice_eq(sample_label(s, label), slice_str(value));
}

/* ---- many ---- */

double samples_sum(struct slice text, const char *name)
{
    struct sample s;
    double sum = 0;
    while (sample_next(&text, &s))
        if (slice_eq(s.name, slice_str(name)))
            sum += s.value;
    return sum;
}

struct buckets {
    double bound[BUCKETS_MAX], count[BUCKETS_MAX]; /* at most the bound */
    size_t n;
};

static bool is_bucket_of(const struct sample *s, const char *name, const char *label, const char *value)
{
    struct slice wanted = slice_str(name);
    return s->name.len == wanted.len + 7 && slice_starts(s->name, wanted) &&
           memcmp(s->name.ptr + wanted.len, "_bucket", 7) == 0 &&
           (!label || sample_label_is(s, label, value));
}

static void add(struct buckets *b, double bound, double count)
{
    size_t i = 0;
    while (i < b->n && b->bound[i] != bound)
        i++;
    if (i == BUCKETS_MAX)
        return;
    if (i == b->n) {
        b->bound[b->n] = bound;
        b->count[b->n++] = 0;
    }
    b->count[i] += count;
}

static void gather(struct slice text, const char *name, const char *label, const char *value, double sign,
                   struct buckets *out)
{
    struct sample s;
    while (sample_next(&text, &s)) {
        if (!is_bucket_of(&s, name, label, value))
            continue;
        struct slice bound = sample_label(&s, "le");
        if (!bound.len)
            continue;
        add(out, slice_eq(bound, SLICE("+Inf")) ? HUGE_VAL : number_of(bound), sign * s.value);
    }
}

double samples_quantile(struct slice before, struct slice now, const char *name, const char *label,
                        const char *value, double share)
{
    struct buckets b = {0};
    double all = 0, best = HUGE_VAL;
    gather(now, name, label, value, 1, &b);
    gather(before, name, label, value, -1, &b);
    for (size_t i = 0; i < b.n; i++)
        all = b.bound[i] == HUGE_VAL ? b.count[i] : all;
    if (all <= 0)
        return 0;
    for (size_t i = 0; i < b.n; i++)
        if (b.count[i] >= share * all && b.bound[i] < best)
            best = b.bound[i];
    return best;
}
