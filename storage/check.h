/* storage/check.h - the inside of a check: one walk a database. One thread. */
#ifndef STORAGE_CHECK_H
#define STORAGE_CHECK_H

#include "base/buf.h"
#include "storage/file.h"
#include "storage/keys.h"
#include "storage/meta.h"

/* Which blobs are referred to: a bit each, of those from `first` on. */
struct blob_marks {
    uint8_t *bits;
    uint64_t first, n;
};

struct checker {
    struct store_check *c;
    const struct engine_ops *ops;
    struct snap *walk, *look; /* one goes from row to row, the other looks things up */
    struct meta_state state;
    struct blob_marks marks;
    struct buf body;
    uint64_t walked, total; /* bytes */
    struct err *err;
};

/* A walk over a database: each row, and what it is about. RC_ERR ends it. */
typedef enum rc check_row(struct checker *, struct slice key, struct slice value);
MUST_USE enum rc check_walk(struct checker *, enum engine_db, check_row *);
/* A row by its key. RC_NOTFOUND. */
MUST_USE enum rc check_get(struct checker *, const struct key *, struct slice *value);
/* Is there a row of this key? As check_get, also where the database may not be there: in a store of an older format. */
MUST_USE enum rc check_has(struct checker *, const struct key *, bool *out);
/* Is the type on its way out: its rows are no one's? */
MUST_USE enum rc check_is_dying(struct checker *, uint32_t type, bool *out);
static inline bool check_lives(struct checker *k, uint32_t type)
{
    return type && k->c->next_type(k->c, type) == type;
}

/* The walks. */
MUST_USE enum rc check_records(struct checker *); /* with their chunks, counts, rows of expiry; marks blobs */
MUST_USE enum rc check_counts(struct checker *);
MUST_USE enum rc check_trash(struct checker *); /* marks blobs, too */
MUST_USE enum rc check_blobs(struct checker *);
MUST_USE enum rc check_expiry(struct checker *);
MUST_USE enum rc check_used(struct checker *);
MUST_USE enum rc check_idem(struct checker *);

/* Nobody refers to any blob, as far as is known: from this one on. False: memory is out. */
MUST_USE bool check_marks_begin(struct checker *, uint64_t first);
/* Somebody refers to it. Of one that is outside of the marks nothing is noted. */
void check_mark_blob(struct checker *, uint64_t blob, uint32_t type, struct slice id);
/* The same once more, of all records, of all of the trash: of blobs in another window. */
MUST_USE enum rc check_mark_records(struct checker *);
MUST_USE enum rc check_mark_trash(struct checker *);

#endif
