/* client/ctl/line_diff.c - see line_diff.h. */
#include "client/ctl/line_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct lines {
    struct slice *at;
    size_t n;
};

/* What is walked: x lines of the old text and y of the new one are behind us; the diagonal is x - y. */
struct diff {
    struct lines old, new;
    size_t same_before; /* lines at the beginning that are equal */
    int64_t n, m;       /* lines between the equal ends */
    int32_t **rounds;   /* for each number of changes, how far each diagonal was reached before it */
    int64_t changes;    /* of the last round; -1: too many */
};

static bool split(struct slice text, struct lines *out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    n += text.len && text.ptr[text.len - 1] != '\n';
    *out = (struct lines){malloc((n + 1) * sizeof *out->at), 0};
    if (!out->at)
        return false;
    while (text.len) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t)(end - text.ptr) : text.len;
        out->at[out->n++] = slice_of(text.ptr, len);
        text = end ? slice_of(end + 1, text.len - len - 1) : slice_of(text.ptr, 0);
    }
    return true;
}

static struct slice old_line(const struct diff *d, int64_t x)
{
    return d->old.at[d->same_before + (size_t)x];
}

static struct slice new_line(const struct diff *d, int64_t y)
{
    return d->new.at[d->same_before + (size_t)y];
}

static void find_ends(struct diff *d)
{
    size_t n = d->old.n, m = d->new.n, before = 0, behind = 0;
    while (before < n && before < m && slice_eq(d->old.at[before], d->new.at[before]))
        before++;
    while (behind < n - before && behind < m - before &&
           slice_eq(d->old.at[n - 1 - behind], d->new.at[m - 1 - behind]))
        behind++;
    d->same_before = before;
    d->n = (int64_t)(n - before - behind);
    d->m = (int64_t)(m - before - behind);
}

/* Where the diagonal k comes from: down from k + 1 (a new line) or right from k - 1 (an old one is left out). */
static bool comes_down(const int32_t *v, int64_t k, int64_t d)
{
    return k == -d || (k != d && v[k - 1] < v[k + 1]);
}

/* One round with d changes over the reached diagonals v; true: the end is reached. */
static bool walk_round(const struct diff *df, int32_t *v, int64_t d)
{
    for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = comes_down(v, k, d) ? v[k + 1] : v[k - 1] + 1, y = x - k;
        while (x < df->n && y >= 0 && y < df->m && slice_eq(old_line(df, x), new_line(df, y))) {
            x++;
            y++;
        }
        v[k] = (int32_t)x;
        if (x >= df->n && y >= df->m)
            return true;
    }
    return false;
}

/* Rounds of one more change each, of which each is kept, to find the way back. */
static bool search(struct diff *d)
{
    int64_t most = d->n + d->m < LINE_DIFF_MAX ? d->n + d->m : LINE_DIFF_MAX;
    size_t width = 2 * (size_t)most + 3;
    int32_t *v = calloc(width, sizeof *v);
    d->rounds = calloc((size_t)most + 1, sizeof *d->rounds);
    bool good = v && d->rounds;
    d->changes = -1;
    for (int64_t i = 0; good && i <= most; i++) {
        size_t kept = 2 * (size_t)i + 3;
        d->rounds[i] = malloc(kept * sizeof *v);
        good = d->rounds[i];
        if (!good)
            break;
        memcpy(d->rounds[i], v + most + 1 - (i + 1), kept * sizeof *v);
        if (walk_round(d, v + most + 1, i)) {
            d->changes = i;
            break;
        }
    }
    free(v);
    return good;
}

/* The marks between the equal ends, from the end back. *n of them. */
static enum line_mark *trace(const struct diff *d, size_t *n)
{
    size_t room = (size_t)(d->n + d->m), at = room;
    enum line_mark *marks = malloc((room + 1) * sizeof *marks);
    int64_t x = d->n, y = d->m;
    for (int64_t i = d->changes; marks && i >= 0; i--) {
        const int32_t *v = d->rounds[i] + i + 1;
        int64_t k = x - y;
        bool down = comes_down(v, k, i);
        int64_t from_x = i == 0 ? 0 : down ? v[k + 1] : v[k - 1];
        int64_t from_y = i == 0 ? 0 : from_x - (down ? k + 1 : k - 1);
        while (x > from_x && y > from_y) {
            marks[--at] = LINE_BOTH;
            x--;
            y--;
        }
        if (i > 0) {
            marks[--at] = down ? LINE_NEW : LINE_OLD;
            x = from_x;
            y = from_y;
        }
    }
    *n = room - at;
    if (marks)
        memmove(marks, marks + at, *n * sizeof *marks);
    return marks;
}

/* ---- giving ---- */

static void give_same(const struct diff *d, size_t from, size_t to, line_diff_fn give, void *user)
{
    for (size_t i = from; i < to; i++)
        give(user, LINE_BOTH, d->old.at[i]);
}

static void give_all(const struct diff *d, line_diff_fn give, void *user)
{
    for (int64_t x = 0; x < d->n; x++)
        give(user, LINE_OLD, old_line(d, x));
    for (int64_t y = 0; y < d->m; y++)
        give(user, LINE_NEW, new_line(d, y));
}

static bool give_traced(const struct diff *d, line_diff_fn give, void *user)
{
    size_t n;
    enum line_mark *marks = trace(d, &n);
    int64_t x = 0, y = 0;
    for (size_t i = 0; marks && i < n; i++) {
        give(user, marks[i], marks[i] == LINE_NEW ? new_line(d, y) : old_line(d, x));
        x += marks[i] != LINE_NEW;
        y += marks[i] != LINE_OLD;
    }
    free(marks);
    return marks;
}

static bool run(struct diff *d, line_diff_fn give, void *user)
{
    find_ends(d);
    if (!search(d))
        return false;
    give_same(d, 0, d->same_before, give, user);
    bool good = true;
    if (d->changes < 0)
        give_all(d, give, user);
    else
        good = give_traced(d, give, user);
    give_same(d, d->same_before + (size_t)d->n, d->old.n, give, user);
    return good;
}

bool line_diff(struct slice old_text, struct slice new_text, line_diff_fn give, void *user)
{
    struct diff d = {0};
    bool good = split(old_text, &d.old) && split(new_text, &d.new) && run(&d, give, user);
    int64_t most = d.n + d.m < LINE_DIFF_MAX ? d.n + d.m : LINE_DIFF_MAX;
    for (int64_t i = 0; d.rounds && i <= most; i++)
        free(d.rounds[i]);
    free(d.rounds);
    free(d.old.at);
    free(d.new.at);
    return good;
}
