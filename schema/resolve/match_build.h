/* schema/resolve/match_build.h - what the files that make a match share: match.c (the pairs), match_names.c (names
 * and branches), match_verdict.c (what of them can be read). */
#ifndef SCHEMA_MATCH_BUILD_H
#define SCHEMA_MATCH_BUILD_H

#include "schema/model/names.h"
#include "schema/resolve/match.h"

struct match_builder {
    struct match *match;
    struct arena scratch;
    struct name_table names;  /* full names and aliases of the reader's types: struct type */
    struct name_table shorts; /* names without namespace: struct bearer */
    uint32_t *memo;           /* (writer, reader) -> pair + 1; open addressing */
    uint32_t memo_mask;
    int64_t budget;
    struct err *err;
};

/* ---- match_names.c ---- */

MUST_USE bool match_names_make(struct match_builder *);
/* Does the reader's type bear the writer's name: in full, by an alias, or without the namespace? */
bool match_names_fit(const struct match_builder *, const struct type *writer, const struct type *reader);
/* Add the edges for the branches of the reader's union that may take the writer's type. */
MUST_USE enum rc match_branches(struct match_builder *, uint32_t writer, uint32_t reader);
/* May a reader of this kind read what was written as that, by promotion? */
bool match_promotes(enum type_kind writer, enum type_kind reader);

/* ---- match.c ---- */

/* So many steps more. RC_ERR: there were too many. */
MUST_USE enum rc match_pay(struct match_builder *, uint64_t steps);
/* Add an edge to the pair of these types. */
MUST_USE enum rc match_add_edge(struct match_builder *, uint32_t writer, uint32_t reader, uint32_t index);

/* ---- match_verdict.c ---- */

/* is_full, is_possible, is_same and chosen, from what the pairs say of themselves. False: memory is out. */
MUST_USE bool match_judge(struct match_builder *);

#endif
