/* storage/engines/lmdb_pages.c - is a data file of LMDB's whole? Every tree in it is walked page by page before LMDB is let near it,
 * which trusts what it reads and would end the process: each page is where it should be, belongs to one tree only, and its keys
 * are in order; what no tree has is free. Pages are read, not mapped, so that a disk that cannot be read is an error.
 * The format is that of LMDB 0.9 on machines of 64 bits, in the order of bytes of the machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "storage/engines/lmdb_file.h"

enum {
    META_MAGIC_AT = 16, /* behind the head that every page has */
    META_BYTES = 136,
    META_PAGES = 2,
    DATA_VERSION = 1,

    AT_PGNO = 0, /* a page's head */
    AT_FLAGS = 10,
    AT_LOWER = 12,
    AT_UPPER = 14,
    AT_RUN = 12, /* of a value's first page: how many pages it has, u32 */
    HEAD_BYTES = 16,
    PAGE_BRANCH = 1,
    PAGE_LEAF = 2,
    PAGE_OVERFLOW = 4,
    PAGE_KINDS = 0x6f, /* and those that must not be here */

    NODE_HEAD = 8,
    NODE_BIG = 1, /* its value has pages of its own */
    NODE_DB = 2,  /* its value is a database */

    DB_BYTES = 48,
    DB_INTEGER_KEYS = 8,
    KEY_BYTES_MAX = 511,
    DEPTH_MAX = 32,
    PSIZE_MIN = 512,
    PSIZE_MAX = 65536,
};
static const uint64_t no_page = UINT64_MAX;
static const uint32_t magic = 0xBEEFC0DE;

/* As it stands in a meta page, or in the tree of names. */
struct db {
    uint16_t flags, depth;
    uint64_t branch, leaf, overflow, entries, root;
};

struct level {
    uint8_t *page;
    uint64_t pgno;
    unsigned at, n; /* which of its nodes is next */
};

struct walk {
    int fd;
    size_t psize;
    uint64_t npages; /* that the file should have */
    uint8_t *marks;  /* a bit a page: it belongs to something */
    uint64_t marked, spare;
    uint8_t *value; /* a page that was read for something else */
    struct level level[DEPTH_MAX];
    void (*fault)(void *, const char *words);
    void *arg;
    struct engine_pages *out;

    /* Of the tree at hand. */
    const char *name;
    const struct db *db;
    struct db found;
    uint8_t last[KEY_BYTES_MAX]; /* the key before */
    unsigned last_len;
    bool is_names, is_spare;
    struct db named[LMDB_DBS_MAX];
    char names[LMDB_DBS_MAX][32];
    unsigned nnamed;
};

static void say(struct walk *w, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(struct walk *w, const char *format, ...)
{
    char words[256];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    w->out->faults++;
    w->fault(w->arg, words);
}

/* ---- numbers, as the machine keeps them ---- */

static uint16_t get16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static struct db db_of(const uint8_t *p)
{
    return (struct db){.flags = get16(p + 4),
                       .depth = get16(p + 6),
                       .branch = get64(p + 8),
                       .leaf = get64(p + 16),
                       .overflow = get64(p + 24),
                       .entries = get64(p + 32),
                       .root = get64(p + 40)};
}

/* ---- pages ---- */

/* RC_NOTFOUND: it cannot be read, which was told. */
static enum rc read_page(struct walk *w, uint64_t pgno, uint8_t *page)
{
    size_t at = 0;
    while (at < w->psize) {
        ssize_t n = pread(w->fd, page + at, w->psize - at, (off_t)(pgno * w->psize + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            say(w, "Page %llu cannot be read: %s.", (unsigned long long)pgno,
                n < 0 ? strerror(errno) : "the file ends before it");
            return RC_NOTFOUND;
        }
        at += (size_t)n;
    }
    return RC_OK;
}

/* It is this tree's, and nobody else's. */
static bool mark(struct walk *w, uint64_t pgno)
{
    if (pgno < META_PAGES || pgno >= w->npages) {
        say(w, "%s: there is no page %llu, which is referred to.", w->name, (unsigned long long)pgno);
        return false;
    }
    uint8_t *byte = &w->marks[pgno / 8], bit = (uint8_t)(1U << pgno % 8);
    if (*byte & bit) {
        say(w, "%s: page %llu is referred to twice.", w->name, (unsigned long long)pgno);
        return false;
    }
    *byte |= bit;
    w->marked++;
    return true;
}

static bool take_page(struct walk *w, uint64_t pgno, uint8_t *page)
{
    if (!mark(w, pgno) || read_page(w, pgno, page) != RC_OK)
        return false;
    if (get64(page + AT_PGNO) == pgno)
        return true;
    say(w, "%s: page %llu says that it is page %llu.", w->name, (unsigned long long)pgno,
        (unsigned long long)get64(page + AT_PGNO));
    return false;
}

/* ---- nodes ---- */

static const uint8_t *node_of(const struct level *l, unsigned i)
{
    return l->page + get16(l->page + HEAD_BYTES + 2 * (size_t)i);
}

static struct slice key_of_node(const uint8_t *node)
{
    return slice_of(node + NODE_HEAD, get16(node + 6));
}

static uint32_t value_bytes(const uint8_t *node)
{
    return get16(node) | (uint32_t)get16(node + 2) << 16;
}

static uint64_t child_of(const uint8_t *node)
{
    return get16(node) | (uint64_t)get16(node + 2) << 16 | (uint64_t)get16(node + 4) << 32;
}

static bool node_fits(const struct walk *w, const struct level *l, unsigned i, unsigned upper, bool is_leaf)
{
    size_t at = get16(l->page + HEAD_BYTES + 2 * (size_t)i);
    if (at < upper || at + NODE_HEAD > w->psize || at % 2)
        return false;
    const uint8_t *node = l->page + at;
    size_t key = get16(node + 6), value = 0, flags = get16(node + 4);
    if (is_leaf) {
        if (flags & ~(size_t)(NODE_BIG | NODE_DB))
            return false;
        value = flags & NODE_BIG ? sizeof(uint64_t) : value_bytes(node);
    }
    return key <= KEY_BYTES_MAX && (key > 0 || (!is_leaf && i == 0)) &&
           at + NODE_HEAD + key + value <= w->psize;
}

/* Is its inside in order? Keys are compared later. */
static bool page_fits(struct walk *w, struct level *l, bool is_leaf)
{
    const uint8_t *p = l->page;
    unsigned lower = get16(p + AT_LOWER), upper = get16(p + AT_UPPER);
    unsigned wanted = is_leaf ? PAGE_LEAF : PAGE_BRANCH;
    bool ok = (get16(p + AT_FLAGS) & PAGE_KINDS) == wanted && lower >= HEAD_BYTES && lower % 2 == 0 &&
              lower <= upper && upper <= w->psize;
    l->at = 0;
    l->n = ok ? (lower - HEAD_BYTES) / 2 : 0;
    ok = ok && l->n >= (is_leaf ? 1 : 2);
    for (unsigned i = 0; ok && i < l->n; i++)
        ok = node_fits(w, l, i, upper, is_leaf);
    if (!ok)
        say(w, "%s: page %llu is damaged: it is no %s of its tree.", w->name, (unsigned long long)l->pgno,
            is_leaf ? "leaf" : "branch");
    return ok;
}

/* Numbers, or bytes. */
static int compare(const struct walk *w, struct slice a, struct slice b)
{
    if (!(w->db->flags & DB_INTEGER_KEYS) || a.len != sizeof(uint64_t) || b.len != sizeof(uint64_t))
        return slice_cmp(a, b);
    uint64_t x = get64(a.ptr), y = get64(b.ptr);
    return x < y ? -1 : x > y;
}

static bool is_behind_last(const struct walk *w, struct slice key)
{
    return w->found.entries == 0 || compare(w, slice_of(w->last, w->last_len), key) < 0;
}

static void remember(struct walk *w, struct slice key)
{
    memcpy(w->last, key.ptr, key.len);
    w->last_len = (unsigned)key.len;
}

/* ---- values ---- */

/* A value with pages of its own; its first is left in w->value. */
static bool take_run(struct walk *w, uint64_t pgno, uint32_t bytes)
{
    uint64_t least = (HEAD_BYTES - 1 + (uint64_t)bytes) / w->psize + 1;
    if (!take_page(w, pgno, w->value))
        return false;
    uint64_t run = get32(w->value + AT_RUN);
    if ((get16(w->value + AT_FLAGS) & PAGE_KINDS) != PAGE_OVERFLOW || run < least || run > w->npages - pgno) {
        say(w, "%s: page %llu is damaged: it does not begin a long value.", w->name,
            (unsigned long long)pgno);
        return false;
    }
    w->found.overflow += run;
    for (uint64_t i = 1; i < run; i++)
        if (!mark(w, pgno + i))
            return false;
    return true;
}

/* The rest of a run is read only to see that it can be. */
static bool read_run(struct walk *w, uint64_t pgno, uint64_t run)
{
    for (uint64_t i = 1; i < run; i++)
        if (read_page(w, pgno + i, w->value) != RC_OK)
            return false;
    return true;
}

static void note_spare(struct walk *w, const uint8_t *list, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (mark(w, get64(list + 8 * i)))
            w->spare++;
}

/* A list of free pages: how many, then each. One that is longer than a page is read anew, whole. */
static void take_spare(struct walk *w, const uint8_t *node, uint64_t pgno)
{
    uint32_t bytes = value_bytes(node);
    uint8_t *whole = NULL;
    const uint8_t *list = node + NODE_HEAD + get16(node + 6);
    if (pgno != no_page) {
        whole = malloc(bytes ? bytes : 1);
        ssize_t n = whole ? pread(w->fd, whole, bytes, (off_t)(pgno * w->psize + HEAD_BYTES)) : -1;
        if (n != (ssize_t)bytes) {
            say(w, "%s: the list in page %llu cannot be read.", w->name, (unsigned long long)pgno);
            free(whole);
            return;
        }
        list = whole;
    }
    if (bytes < 8 || get64(list) > (bytes - 8) / 8)
        say(w, "%s: a list of free pages is damaged.", w->name);
    else
        note_spare(w, list + 8, get64(list));
    free(whole);
}

static void take_name(struct walk *w, const uint8_t *node, struct slice key)
{
    if (!(get16(node + 4) & NODE_DB) || value_bytes(node) != DB_BYTES || key.len >= sizeof w->names[0] ||
        w->nnamed == LMDB_DBS_MAX) {
        say(w, "%s: a row is no database of a store.", w->name);
        return;
    }
    w->named[w->nnamed] = db_of(node + NODE_HEAD + key.len);
    memcpy(w->names[w->nnamed], key.ptr, key.len);
    w->names[w->nnamed++][key.len] = 0;
}

static void take_leaf_node(struct walk *w, const uint8_t *node)
{
    struct slice key = key_of_node(node);
    uint64_t pgno = no_page;
    if (!is_behind_last(w, key))
        say(w, "%s: keys are not in order at row %llu.", w->name, (unsigned long long)w->found.entries + 1);
    remember(w, key);
    w->found.entries++;
    if (get16(node + 4) & NODE_BIG) {
        pgno = get64(node + NODE_HEAD + key.len);
        if (!take_run(w, pgno, value_bytes(node)) || !read_run(w, pgno, get32(w->value + AT_RUN)))
            return;
    }
    if (w->is_spare)
        take_spare(w, node, pgno);
    else if (w->is_names)
        take_name(w, node, key);
}

/* ---- a tree ---- */

static bool enter(struct walk *w, unsigned depth, uint64_t pgno)
{
    struct level *l = &w->level[depth];
    bool is_leaf = depth + 1U == w->db->depth;
    l->pgno = pgno;
    l->at = l->n = 0;
    if (!take_page(w, pgno, l->page) || !page_fits(w, l, is_leaf))
        return false;
    if (!is_leaf) {
        w->found.branch++;
        return true;
    }
    w->found.leaf++;
    for (unsigned i = 0; i < l->n; i++)
        take_leaf_node(w, node_of(l, i));
    return true;
}

/* What is behind the node at hand is not below its key, and what was before is. */
static void check_bounds(struct walk *w, const struct level *l, const uint8_t *node)
{
    struct slice key = key_of_node(node);
    if (l->at == 0)
        return;
    if (!is_behind_last(w, key))
        say(w, "%s: page %llu leads to keys that are not in order.", w->name, (unsigned long long)l->pgno);
}

static void walk_pages(struct walk *w)
{
    unsigned depth = 0;
    if (!enter(w, 0, w->db->root))
        return;
    for (;;) {
        struct level *l = &w->level[depth];
        if (depth + 1U == w->db->depth || l->at == l->n) {
            if (depth-- == 0)
                return;
            continue;
        }
        const uint8_t *node = node_of(l, l->at);
        check_bounds(w, l, node);
        l->at++;
        if (enter(w, depth + 1, child_of(node)))
            depth++;
    }
}

static void walk_tree(struct walk *w, const char *name, const struct db *db)
{
    uint64_t before = w->out->faults;
    w->name = name;
    w->db = db;
    w->found = (struct db){0};
    w->last_len = 0;
    if (db->root == no_page ? db->depth != 0 : db->depth == 0 || db->depth > DEPTH_MAX) {
        say(w, "%s: its tree has %u levels.", name, db->depth);
        return;
    }
    if (db->root != no_page)
        walk_pages(w);
    const struct db *f = &w->found;
    if (before == w->out->faults && (f->branch != db->branch || f->leaf != db->leaf ||
                                     f->overflow != db->overflow || f->entries != db->entries))
        say(w, "%s: it should have %llu rows and has %llu, or its pages are counted wrong.", name,
            (unsigned long long)db->entries, (unsigned long long)f->entries);
}

/* ---- the file ---- */

struct meta {
    bool valid;
    size_t psize;
    struct db spare, names;
    uint64_t last, txn;
};

static struct meta meta_of(const uint8_t *page)
{
    const uint8_t *p = page + META_MAGIC_AT;
    struct meta m = {.valid = get32(p) == magic && get32(p + 4) == DATA_VERSION,
                     .psize = get32(p + 24), /* kept where the first database has no use for it */
                     .spare = db_of(p + 24),
                     .names = db_of(p + 24 + DB_BYTES),
                     .last = get64(p + 24 + 2 * DB_BYTES),
                     .txn = get64(p + 32 + 2 * DB_BYTES)};
    m.valid = m.valid && m.psize >= PSIZE_MIN && m.psize <= PSIZE_MAX && !(m.psize & (m.psize - 1));
    return m;
}

static bool read_meta(int fd, uint64_t at, struct meta *m)
{
    uint8_t page[META_MAGIC_AT + META_BYTES];
    if (pread(fd, page, sizeof page, (off_t)at) != (ssize_t)sizeof page)
        return false;
    *m = meta_of(page);
    return m->valid;
}

static bool memory_take(struct walk *w)
{
    bool ok = (w->marks = calloc(1, w->npages / 8 + 1)) && (w->value = malloc(w->psize));
    for (unsigned i = 0; ok && i < DEPTH_MAX; i++)
        ok = (w->level[i].page = malloc(w->psize));
    return ok;
}

static void memory_give(struct walk *w)
{
    free(w->marks);
    free(w->value);
    for (unsigned i = 0; i < DEPTH_MAX; i++)
        free(w->level[i].page);
}

static void walk_file(struct walk *w, const struct meta *m)
{
    char name[64];
    w->is_spare = true;
    walk_tree(w, "the free pages", &m->spare);
    w->is_spare = false;
    w->is_names = true;
    walk_tree(w, "the databases", &m->names);
    w->is_names = false;
    for (unsigned i = 0; i < w->nnamed; i++) {
        snprintf(name, sizeof name, "%s", w->names[i]);
        walk_tree(w, name, &w->named[i]);
    }
    w->out->spare = w->spare;
    w->out->used = META_PAGES + w->marked - w->spare;
    w->out->lost = w->out->faults ? 0 : w->npages - META_PAGES - w->marked;
}

static enum rc check(struct walk *w, struct err *err)
{
    struct stat st;
    struct meta meta[2];
    if (fstat(w->fd, &st) != 0)
        return err_set(err, ERR_IO, "Cannot look at the data file: %s.", strerror(errno));
    w->out->bytes = (uint64_t)st.st_size;
    if (!S_ISREG(st.st_mode) || !read_meta(w->fd, 0, &meta[0]) ||
        !read_meta(w->fd, meta[0].psize, &meta[1]) || meta[0].psize != meta[1].psize)
        return err_set(err, ERR_STORE_FORMAT, "It is no data file of a store: it does not begin as one.");
    const struct meta *newest = &meta[meta[1].txn > meta[0].txn];
    w->psize = newest->psize;
    w->npages = newest->last + 1;
    w->out->pages = w->npages;
    if (w->npages < META_PAGES || w->npages > w->out->bytes / w->psize) {
        say(w, "The data file is cut short: it has %llu bytes of at least %llu.",
            (unsigned long long)w->out->bytes, (unsigned long long)w->npages * w->psize);
        return RC_OK;
    }
    if (!memory_take(w))
        return err_oom(err);
    walk_file(w, newest);
    return RC_OK;
}

enum rc lmdb_check_pages(const char *path, void (*fault)(void *, const char *words), void *arg,
                         struct engine_pages *out, struct err *err)
{
    *out = (struct engine_pages){0};
    struct walk *w = calloc(1, sizeof *w);
    if (!w)
        return err_oom(err);
    w->fault = fault;
    w->arg = arg;
    w->out = out;
    w->fd = open(path, O_RDONLY | O_CLOEXEC);
    enum rc rc =
        w->fd >= 0 ? check(w, err) : err_set(err, ERR_IO, "Cannot open %s: %s.", path, strerror(errno));
    if (w->fd >= 0)
        close(w->fd);
    memory_give(w);
    free(w);
    return rc;
}
