/* schema/edit/edit_path.h - between the files that change what a path finds. */
#ifndef SCHEMA_EDIT_PATH_H
#define SCHEMA_EDIT_PATH_H

#include "schema/edit/edit_faults.h"
#include "schema/edit/edit_kinds.h"
#include "schema/path/path_run.h"

struct path_edit {
    struct edit base;
    enum path_verb verb;
    struct path *path;
    struct slice json; /* checked: RFC 8259 */
};

/* What applying one is about. */
struct path_change {
    struct datum *d;
    struct value **found; /* n of them, in document order */
    uint32_t n;
    struct slice json;
    uint64_t *changed;
    struct err *err;
};

/* Inside of something that has been replaced or taken out already? */
MUST_USE enum rc path_is_out(struct path_change *, const struct value *, bool *out);
/* Open *v, or what is in the union, if it is an array or a map, and not out. */
MUST_USE enum rc path_open_container(struct path_change *, struct value **v, bool *is_open);
/* Put all entries of the object into an open map. */
MUST_USE enum rc path_put_all(struct path_change *, struct value *map);

MUST_USE enum rc path_update(struct path_change *);    /* edit_path_update.c */
MUST_USE enum rc path_insert(struct path_change *);    /* edit_path_insert.c */
MUST_USE enum rc path_insertall(struct path_change *); /* edit_path_insert.c */
MUST_USE enum rc path_delete(struct path_change *);    /* edit_path_delete.c */
MUST_USE enum rc path_clear(struct path_change *);     /* edit_path_delete.c */

#endif
