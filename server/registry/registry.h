/* server/registry/registry.h - what the files of the registry's API share: a call, which is one request on its way, and
 * reading the store from a helper. Inside server/registry/ only; what routes.def names is in handlers.h.
 *
 *   call_run -> helper: run -> (RC_PENDING: writer: decide -> catalog) -> answer
 *
 * All of it stands on the store's rows and not on the catalog: a helper reads them as they are, and what is not asked a
 * thousand times a second need not be faster than that. docs/decisions/0011-subjects-are-lineages.md. */
#ifndef SERVER_REGISTRY_REGISTRY_H
#define SERVER_REGISTRY_REGISTRY_H

#include "server/catalog.h"
#include "server/handlers/records/long_text.h"
#include "server/params.h"
#include "server/subject_settings.h"

/* ---- calls: call.c ---- */

struct call {
    struct request *req;
    struct arena *arena;  /* the request's, or for a while another one */
    struct slice subject; /* without a context; empty: the request is about none */
    enum space space;     /* where its lineage stands: SPACE_TYPE if its name can be a type's */
    const char *media;    /* of the answer; static */

    /* On a helper: read, print to `out`. RC_OK: answer it; RC_ERR: *err. RC_PENDING: the writer is to decide. */
    enum rc (*run)(struct call *, struct err *);
    /* In the writer's transaction, after run; sets all that it leaves behind each time. RC_AGAIN: what run has read is
     * not so any more, and it runs again. What it prints to `out` is the answer; it finds `out` empty. */
    enum rc (*decide)(struct call *, struct store_txn *, struct err *);
    /* On the worker, in place of the answer, after run has said RC_OK; NULL: that is all. */
    void (*then)(struct call *);
    void *state;      /* of run's and decide's own, in the arena */
    bool opens_group; /* decide may drop a type */
    bool
        sees_all; /* also what the caller may not know of: for what must not be overlooked, and is not told */
    bool takes_long;  /* run may take seconds: it walks over all rows, or over all records of a type */
    struct slice row; /* left by decide: the type's row as it is now, for the catalog; empty: as it was ... */
    uint32_t dropped; /* ... or the number of the type that was dropped */
    bool sets_level;  /* left by decide: the level for all is this one now */
    enum compat_mode level;
    uint64_t revision; /* that the change took */

    struct store_worker *store; /* the helper's, while run runs */
    struct long_text out;
    enum rc rc;
    struct err err;
    struct catalog_change change;
    uint8_t key[LIMIT_ID_MAX], bytes[SETTINGS_BYTES]; /* for decide's rows, until it is done */
};

/* The handler: run on a helper, and what follows. After registry_begin. */
void call_run(struct request *, enum rc (*run)(struct call *, struct err *));
static inline struct call *call_of(struct request *req)
{
    return req->state;
}
/* Answer 200 with `out`, or the error. Sets req->state. On the worker. */
void call_answer(struct call *);
void call_fail(struct call *, const struct err *);

static inline struct arena *call_arena(struct call *c)
{
    return c->arena;
}
/* Count what has been printed so far, or grown so far, in the budget of waiting answers. NO_MEMORY. */
MUST_USE enum rc call_count(struct call *, struct err *);

/* A parameter that is true; whatever else it is, it is not. */
bool call_flag(const struct call *, enum param_id);
/* A parameter's value; empty: not given. */
struct slice call_text(const struct call *, enum param_id);

/* ---- what is answered: print.c. False: memory is out ---- */

/* `,` unless it is the first. */
MUST_USE bool print_comma(struct call *, size_t i);
/* `{"name":"word"}`. */
MUST_USE bool print_word(struct call *, const char *name, struct slice word);

/* ---- the store's rows, from a helper: rows.c ---- */

/* A row's bytes, in the arena. RC_NOTFOUND. */
MUST_USE enum rc rows_get(struct call *, enum space, struct slice key, struct slice *out, struct err *);
/* The rows with keys from <= key < upto (empty: to the end), in order; RC_PENDING of `row` ends it. */
MUST_USE enum rc rows_each(struct call *, enum space, struct slice from, struct slice upto,
                           enum rc (*row)(struct call *, void *, struct slice key, struct slice bytes,
                                          struct err *),
                           void *arg, struct err *);
/* The settings of a subject and those for all. */
MUST_USE enum rc rows_settings(struct call *, struct slice subject, struct settings_pair *, struct err *);

/* Is there a row with this key or a later one? */
MUST_USE enum rc rows_from(struct call *, enum space, struct slice key, bool *out, struct err *err);

/* ---- lineages: lineage.c ---- */

/* Which versions: those that are not deleted, those and the deleted, the deleted alone. */
enum which { WHICH_LIVE, WHICH_ALL, WHICH_DELETED };
enum which which_of(const struct call *); /* by the parameters deleted and deletedOnly */
bool which_has(enum which, const struct row_version *);

/* Where a lineage of this name stands. */
enum space lineage_space(struct slice name);
/* Its row. RC_NOTFOUND: it has none, or one that the caller may not know of. */
MUST_USE enum rc lineage_read(struct call *, struct slice name, struct type_row *, struct err *);
/* Those that have such versions: NO_SUBJECT if it has none. */
MUST_USE enum rc lineage_need(struct call *, struct slice name, enum which, struct type_row *, struct err *);
bool lineage_has(const struct type_row *, enum which);
/* The newest such version; by its number. False: none. */
bool lineage_latest(const struct type_row *, enum which, struct row_version *);
bool lineage_find(const struct type_row *, uint32_t number, enum which, struct row_version *);
/* "latest", "-1" or a number from 1: 0 is the latest. BAD_VERSION. */
MUST_USE enum rc version_parse(struct slice text, uint32_t *number, struct err *);
/* The version that the path names. NO_SUBJECT, NO_VERSION, BAD_VERSION. */
MUST_USE enum rc version_of_path(struct call *, enum which, struct row_version *, struct err *);
enum rc no_subject(struct slice name, struct err *);
enum rc no_version(uint32_t number, struct err *);
/* walk.c: all lineages that the caller may know of and whose names begin so, in order of their names, which are borrowed for the call, as the rows are;
 * RC_PENDING of `each` ends it. NO_MEMORY also when what has been printed is more than waiting answers may take. */
MUST_USE enum rc lineage_each(struct call *, struct slice prefix,
                              enum rc (*each)(struct call *, void *, struct slice name,
                                              const struct type_row *, struct err *),
                              void *arg, struct err *);

#endif
