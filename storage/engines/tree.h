/* storage/engines/tree.h - an ordered map whose every version stays readable: a balanced tree (AVL) that
 * copies the path it changes. Versions share what they have in common; nodes and items of old versions are
 * handed out as garbage, to be freed once nobody reads them. Readers need no lock. */
#ifndef STORAGE_ENGINES_TREE_H
#define STORAGE_ENGINES_TREE_H

#include "base/compiler.h"
#include "base/slice.h"

enum { TREE_DEPTH_MAX = 96 }; /* AVL: 1.44 log2(n) */

struct tree_item {
    size_t key_len, val_len;
    uint8_t bytes[]; /* key, then value */
};

struct tree_node {
    struct tree_node *child[2]; /* smaller, greater */
    struct tree_item *item;
    uint64_t version; /* that made this node: only its own edit may change it */
    int height;
};

/* Pointers to free. */
struct tree_list {
    void **ptr;
    size_t n, cap;
};

/* From one version to the next. Zero but for version and root at the start; one thread. */
struct tree_edit {
    uint64_t version;
    struct tree_node *root;
    struct tree_list fresh; /* made by this edit */
    struct tree_list old;   /* no more part of it, but of versions before, or made by it in passing */
};

/* A new item of `bytes` for a value; the caller fills the value in before anyone sees it. */
struct tree_item *tree_item_new(struct slice key, size_t val_len);
static inline struct slice tree_key(const struct tree_item *i)
{
    return slice_of(i->bytes, i->key_len);
}
static inline struct slice tree_val(const struct tree_item *i)
{
    return slice_of(i->bytes + i->key_len, i->val_len);
}

/* False: memory is out, and the edit can only be abandoned. tree_put takes the item, in either case. */
bool tree_put(struct tree_edit *, struct tree_item *) MUST_USE;
bool tree_delete(struct tree_edit *, struct slice key) MUST_USE; /* nothing, if absent */
void tree_abandon(struct tree_edit *);                           /* frees what the edit made */

const struct tree_item *tree_find(const struct tree_node *root, struct slice key);

/* In order, from a key on. */
struct tree_cursor {
    const struct tree_node *up[TREE_DEPTH_MAX]; /* nodes whose item and greater side are still to come */
    unsigned depth;
};
void tree_seek(struct tree_cursor *, const struct tree_node *root, struct slice from);
const struct tree_item *tree_next(struct tree_cursor *); /* NULL: at the end */

void tree_list_free(struct tree_list *);    /* the list and all that it points to */
void tree_list_release(struct tree_list *); /* the list alone */
void tree_free_all(struct tree_node *root); /* every node and item; nobody may read */

#endif
