/* server/registry/lineage.c - subjects and their versions, wherever their rows stand. */
#include <stdlib.h>

#include "base/num.h"
#include "server/registry/registry.h"
#include "server/router.h"
#include "server/words.h"

/* ---- which versions ---- */

enum which which_of(const struct call *c)
{
    if (call_flag(c, PARAM_deletedOnly))
        return WHICH_DELETED;
    return call_flag(c, PARAM_deleted) ? WHICH_ALL : WHICH_LIVE;
}

bool which_has(enum which which, const struct row_version *v)
{
    if (v->state == VERSION_LIVE)
        return which != WHICH_DELETED;
    return v->state == VERSION_DELETED && which != WHICH_LIVE;
}

bool lineage_latest(const struct type_row *row, enum which which, struct row_version *out)
{
    for (uint32_t i = row->nversions; i-- > 0;) {
        *out = type_row_version(row, i);
        if (which_has(which, out))
            return true;
    }
    return false;
}

bool lineage_has(const struct type_row *row, enum which which)
{
    struct row_version v;
    return lineage_latest(row, which, &v);
}

bool lineage_find(const struct type_row *row, uint32_t number, enum which which, struct row_version *out)
{
    for (uint32_t i = 0; i < row->nversions; i++) {
        *out = type_row_version(row, i);
        if (out->number == number)
            return which_has(which, out);
    }
    return false;
}

/* ---- one lineage ---- */

enum rc no_subject(struct slice name, struct err *err)
{
    struct words words;
    return err_set(err, ERR_NO_SUBJECT, "Subject '%s' not found.", words_of(name, &words));
}

enum rc no_version(uint32_t number, struct err *err)
{
    if (!number)
        return err_set(err, ERR_NO_VERSION, "Version latest not found.");
    return err_set(err, ERR_NO_VERSION, "Version %u not found.", number);
}

enum space lineage_space(struct slice name)
{
    return router_type_name_fault(name) ? SPACE_SUBJECT : SPACE_TYPE;
}

enum rc lineage_read(struct call *c, struct slice name, struct type_row *row, struct err *err)
{
    struct slice bytes;
    enum rc rc = rows_get(c, lineage_space(name), name, &bytes, err);
    return rc == RC_OK ? type_row_decode(bytes, row, err) : rc;
}

enum rc lineage_need(struct call *c, struct slice name, enum which which, struct type_row *row,
                     struct err *err)
{
    enum rc rc = lineage_read(c, name, row, err);
    if (rc == RC_NOTFOUND || (rc == RC_OK && !lineage_has(row, which)))
        return no_subject(name, err);
    return rc;
}

enum rc version_parse(struct slice text, uint32_t *number, struct err *err)
{
    uint64_t n;
    struct words words;
    *number = 0;
    if (slice_eq_nocase(text, SLICE("latest")) || slice_eq(text, SLICE("-1")))
        return RC_OK;
    if (!num_parse_decimal(text, INT32_MAX, &n) || !n)
        return err_set(err, ERR_BAD_VERSION,
                       "'%s' is no version: it is a number from 1 to 2147483647, or latest.",
                       words_of(text, &words));
    *number = (uint32_t)n;
    return RC_OK;
}

enum rc version_of_path(struct call *c, enum which which, struct row_version *out, struct err *err)
{
    struct type_row row;
    uint32_t number;
    if (version_parse(c->req->arg, &number, err) != RC_OK ||
        lineage_need(c, c->subject, which, &row, err) != RC_OK)
        return RC_ERR;
    bool found = number ? lineage_find(&row, number, which, out) : lineage_latest(&row, which, out);
    return found ? RC_OK : no_version(number, err);
}

/* ---- all of them ---- */

struct found {
    struct slice name, bytes;
};

/* The rows of one space; in the arena but for the array. */
struct list {
    struct found *at;
    size_t n, cap;
};

static enum rc list_add(struct call *c, void *arg, struct slice name, struct slice bytes, struct err *err)
{
    struct list *l = arg;
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct found *p = reallocarray(l->at, cap, sizeof *p);
        if (!p)
            return err_oom(err);
        l->at = p;
        l->cap = cap;
    }
    struct found *f = &l->at[l->n];
    if (!arena_copy(call_arena(c), name, &f->name) || !arena_copy(call_arena(c), bytes, &f->bytes))
        return err_oom(err);
    l->n++;
    return RC_OK;
}

/* The first key behind all that begin so; empty: there is none. `room` has as many bytes as the prefix. */
static struct slice behind(struct slice prefix, uint8_t *room)
{
    size_t n = prefix.len;
    while (n && prefix.ptr[n - 1] == 0xff)
        n--;
    if (!n)
        return (struct slice){0};
    memcpy(room, prefix.ptr, n);
    room[n - 1]++;
    return slice_of(room, n);
}

static enum rc collect(struct call *c, struct slice prefix, struct list *types, struct list *others,
                       struct err *err)
{
    uint8_t *room = arena_alloc(call_arena(c), prefix.len + 1);
    if (!room)
        return err_oom(err);
    struct slice upto = behind(prefix, room);
    /* Keys that begin with 00 are other rows. */
    struct slice from = prefix.len ? prefix : SLICE("\x01");
    if (rows_each(c, SPACE_TYPE, from, upto, list_add, types, err) != RC_OK)
        return RC_ERR;
    return rows_each(c, SPACE_SUBJECT, from, upto, list_add, others, err);
}

static enum rc walk(struct call *c, const struct list *a, const struct list *b,
                    enum rc (*each)(struct call *, void *, struct slice, const struct type_row *,
                                    struct err *),
                    void *arg, struct err *err)
{
    size_t i = 0, k = 0;
    enum rc rc = RC_OK;
    while (rc == RC_OK && (i < a->n || k < b->n)) {
        bool first = k == b->n || (i < a->n && slice_cmp(a->at[i].name, b->at[k].name) < 0);
        const struct found *f = first ? &a->at[i++] : &b->at[k++];
        struct type_row row;
        rc = type_row_decode(f->bytes, &row, err);
        if (rc == RC_OK)
            rc = each(c, arg, f->name, &row, err);
    }
    return rc == RC_PENDING ? RC_OK : rc;
}

enum rc lineage_each(struct call *c, struct slice prefix,
                     enum rc (*each)(struct call *, void *, struct slice, const struct type_row *,
                                     struct err *),
                     void *arg, struct err *err)
{
    struct list types = {0}, others = {0};
    if (prefix.len > LIMIT_ID_MAX)
        return RC_OK;
    enum rc rc = collect(c, prefix, &types, &others, err);
    if (rc == RC_OK)
        rc = walk(c, &types, &others, each, arg, err);
    free(types.at);
    free(others.at);
    return rc;
}
