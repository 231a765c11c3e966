/* server/registry/walk.c - all lineages, in order of their names, out of the two spaces that they stand in: a page of each
 * at a time, so that it takes no more memory where there are many. */
#include <stddef.h>
#include <stdlib.h>

#include "server/access/access.h"
#include "server/registry/registry.h"

struct found {
    struct slice name, bytes;
};

/* The rows of one space. */
struct cursor {
    struct store_scan scan;
    struct arena arena; /* of the page */
    struct found *at;   /* owned */
    size_t n, cap, i;   /* those from i on are due */
};

static enum rc keep(struct store_scan *scan, struct slice name, const struct record *rec)
{
    struct cursor *k = CONTAINER_OF(scan, struct cursor, scan);
    if (k->n == k->cap) {
        size_t cap = k->cap ? k->cap * 2 : 64;
        struct found *p = reallocarray(k->at, cap, sizeof *p);
        if (!p)
            return err_oom(&scan->err);
        k->at = p;
        k->cap = cap;
    }
    struct found *f = &k->at[k->n];
    if (!arena_copy(&k->arena, name, &f->name) || !arena_copy(&k->arena, rec->body, &f->bytes))
        return err_oom(&scan->err);
    k->n++;
    return RC_OK;
}

static void kept(struct store_scan *scan)
{
    (void)scan; /* peek looks at scan->rc */
}

static void cursor_init(struct cursor *k, enum space space, struct slice from, struct slice upto)
{
    *k = (struct cursor){
        .scan = {.space = space, .from = from, .upto = upto, .row = keep, .done = kept, .rc = RC_PENDING}};
}

static void cursor_release(struct cursor *k)
{
    free(k->at);
    arena_release(&k->arena);
}

/* The row that is due; NULL with RC_OK: there is none left. What was due before is dead. */
static enum rc peek(struct call *c, struct cursor *k, const struct found **out, struct err *err)
{
    while (k->i == k->n && k->scan.rc == RC_PENDING) {
        k->i = k->n = 0;
        arena_reset(&k->arena);
        store_scan(c->store, &k->scan);
    }
    *out = k->i < k->n ? &k->at[k->i] : NULL;
    if (k->scan.rc == RC_ERR)
        *err = k->scan.err;
    return k->scan.rc == RC_ERR ? RC_ERR : RC_OK;
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

/* RC_NOTFOUND: that was all. */
static enum rc step(struct call *c, struct cursor *a, struct cursor *b,
                    enum rc (*each)(struct call *, void *, struct slice, const struct type_row *,
                                    struct err *),
                    void *arg, struct err *err)
{
    const struct found *of_a, *of_b;
    struct type_row row;
    if (peek(c, a, &of_a, err) != RC_OK || peek(c, b, &of_b, err) != RC_OK)
        return RC_ERR;
    if (!of_a && !of_b)
        return RC_NOTFOUND;
    bool first = !of_b || (of_a && slice_cmp(of_a->name, of_b->name) < 0);
    const struct found *f = first ? of_a : of_b;
    bool is_hidden = !c->sees_all && !access_sees(c->req, f->name);
    enum rc rc = type_row_decode(f->bytes, &row, err);
    if (rc == RC_OK && !is_hidden)
        rc = each(c, arg, f->name, &row, err);
    (first ? a : b)->i++;
    return rc == RC_OK ? call_count(c, err) : rc;
}

enum rc lineage_each(struct call *c, struct slice prefix,
                     enum rc (*each)(struct call *, void *, struct slice, const struct type_row *,
                                     struct err *),
                     void *arg, struct err *err)
{
    struct cursor types, others;
    uint8_t room[LIMIT_ID_MAX];
    if (prefix.len > sizeof room)
        return RC_OK;
    struct slice upto = behind(prefix, room);
    /* Keys that begin with 00 are other rows. */
    struct slice from = prefix.len ? prefix : SLICE("\x01");
    cursor_init(&types, SPACE_TYPE, from, upto);
    cursor_init(&others, SPACE_SUBJECT, from, upto);
    enum rc rc;
    do
        rc = step(c, &types, &others, each, arg, err);
    while (rc == RC_OK);
    cursor_release(&types);
    cursor_release(&others);
    return rc == RC_ERR ? RC_ERR : RC_OK;
}
