/* storage/engines/tree.c - AVL insertion and deletion on copied paths, without recursion. */
#include "storage/engines/tree.h"

#include <assert.h>
#include <stdlib.h>

/* ---- lists of what to free ---- */

static bool list_add(struct tree_list *l, void *p)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        void **ptr = realloc(l->ptr, cap * sizeof *ptr);
        if (!ptr)
            return false;
        l->ptr = ptr;
        l->cap = cap;
    }
    l->ptr[l->n++] = p;
    return true;
}

void tree_list_release(struct tree_list *l)
{
    free(l->ptr);
    *l = (struct tree_list){0};
}

void tree_list_free(struct tree_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->ptr[i]);
    tree_list_release(l);
}

void tree_abandon(struct tree_edit *e)
{
    tree_list_free(&e->fresh);
    tree_list_release(&e->old);
}

/* ---- nodes ---- */

struct tree_item *tree_item_new(struct slice key, size_t val_len)
{
    struct tree_item *i = malloc(sizeof *i + key.len + val_len);
    if (!i)
        return NULL;
    i->key_len = key.len;
    i->val_len = val_len;
    memcpy(i->bytes, key.ptr, key.len);
    return i;
}

static struct tree_node *node_new(struct tree_edit *e, const struct tree_node *like)
{
    struct tree_node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    if (!list_add(&e->fresh, n)) {
        free(n);
        return NULL;
    }
    *n = *like;
    n->version = e->version;
    return n;
}

/* Make the node behind a link this edit's own. NULL: memory is out. */
static struct tree_node *own(struct tree_edit *e, struct tree_node **link)
{
    struct tree_node *n = *link;
    if (n->version == e->version)
        return n;
    struct tree_node *copy = node_new(e, n);
    if (!copy || !list_add(&e->old, n))
        return NULL;
    *link = copy;
    return copy;
}

static int height(const struct tree_node *n)
{
    return n ? n->height : 0;
}

static void set_height(struct tree_node *n)
{
    int a = height(n->child[0]), b = height(n->child[1]);
    n->height = 1 + (a > b ? a : b);
}

/* ---- balance ---- */

/* Lift the child on `side` above its parent; both are the edit's own. */
static void rotate(struct tree_node **link, int side)
{
    struct tree_node *n = *link, *up = n->child[side];
    n->child[side] = up->child[!side];
    up->child[!side] = n;
    set_height(n);
    set_height(up);
    *link = up;
}

/* Mend the node behind a link, whose subtrees are balanced and differ by at most two. */
static bool rebalance(struct tree_edit *e, struct tree_node **link)
{
    struct tree_node *n = *link;
    int lean = height(n->child[1]) - height(n->child[0]);
    if (lean >= -1 && lean <= 1) {
        set_height(n);
        return true;
    }
    int heavy = lean > 0;
    struct tree_node *c = own(e, &n->child[heavy]);
    if (!c)
        return false;
    if (height(c->child[!heavy]) > height(c->child[heavy])) {
        if (!own(e, &c->child[!heavy]))
            return false;
        rotate(&n->child[heavy], !heavy);
    }
    rotate(link, heavy);
    return true;
}

/* The links from the root down to a place in the tree; their nodes are the edit's own. */
struct path {
    struct tree_node **link[TREE_DEPTH_MAX];
    unsigned n;
};

static bool path_rebalance(struct tree_edit *e, struct path *p)
{
    while (p->n > 0)
        if (!rebalance(e, p->link[--p->n]))
            return false;
    return true;
}

/* Own the node behind a link and note it. */
static struct tree_node *path_add(struct tree_edit *e, struct path *p, struct tree_node **link)
{
    assert(p->n < TREE_DEPTH_MAX);
    struct tree_node *n = own(e, link);
    if (n)
        p->link[p->n++] = link;
    return n;
}

/* ---- put ---- */

bool tree_put(struct tree_edit *e, struct tree_item *item)
{
    if (!list_add(&e->fresh, item)) {
        free(item);
        return false;
    }
    struct path path = {.n = 0};
    struct tree_node **link = &e->root;
    while (*link) {
        struct tree_node *n = path_add(e, &path, link);
        if (!n)
            return false;
        int c = slice_cmp(tree_key(item), tree_key(n->item));
        if (c == 0) {
            bool noted = list_add(&e->old, n->item);
            n->item = item;
            return noted;
        }
        link = &n->child[c > 0];
    }
    *link = node_new(e, &(struct tree_node){.item = item, .height = 1});
    return *link && path_rebalance(e, &path);
}

/* ---- delete ---- */

/* Take out the node behind the path's last link, which lacks a child. */
static bool unlink_last(struct tree_edit *e, struct path *p)
{
    struct tree_node **link = p->link[--p->n], *n = *link;
    *link = n->child[0] ? n->child[0] : n->child[1];
    return list_add(&e->old, n) && path_rebalance(e, p);
}

bool tree_delete(struct tree_edit *e, struct slice key)
{
    if (!tree_find(e->root, key))
        return true;
    struct path path = {.n = 0};
    struct tree_node *n = path_add(e, &path, &e->root);
    for (int c; n && (c = slice_cmp(key, tree_key(n->item))) != 0;)
        n = path_add(e, &path, &n->child[c > 0]);
    if (!n || !list_add(&e->old, n->item))
        return false;
    if (!n->child[0] || !n->child[1])
        return unlink_last(e, &path);
    /* Its successor's item moves here, and the successor's node goes. */
    struct tree_node *next = path_add(e, &path, &n->child[1]);
    while (next && next->child[0])
        next = path_add(e, &path, &next->child[0]);
    if (!next)
        return false;
    n->item = next->item;
    return unlink_last(e, &path);
}

/* ---- reading ---- */

const struct tree_item *tree_find(const struct tree_node *n, struct slice key)
{
    while (n) {
        int c = slice_cmp(key, tree_key(n->item));
        if (c == 0)
            return n->item;
        n = n->child[c > 0];
    }
    return NULL;
}

static void push(struct tree_cursor *c, const struct tree_node *n)
{
    assert(c->depth < TREE_DEPTH_MAX);
    c->up[c->depth++] = n;
}

void tree_seek(struct tree_cursor *c, const struct tree_node *n, struct slice from)
{
    c->depth = 0;
    while (n) {
        bool smaller = slice_cmp(tree_key(n->item), from) < 0;
        if (!smaller)
            push(c, n);
        n = n->child[smaller];
    }
}

const struct tree_item *tree_next(struct tree_cursor *c)
{
    if (c->depth == 0)
        return NULL;
    const struct tree_node *n = c->up[--c->depth];
    for (const struct tree_node *below = n->child[1]; below; below = below->child[0])
        push(c, below);
    return n->item;
}

void tree_free_all(struct tree_node *root)
{
    struct tree_node *stack[TREE_DEPTH_MAX];
    unsigned depth = 0;
    if (root)
        stack[depth++] = root;
    while (depth) {
        struct tree_node *n = stack[--depth];
        for (int side = 0; side < 2; side++)
            if (n->child[side]) {
                assert(depth < TREE_DEPTH_MAX);
                stack[depth++] = n->child[side];
            }
        free(n->item);
        free(n);
    }
}
