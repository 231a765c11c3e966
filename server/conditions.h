/* server/conditions.h - entity tags and what If-Match and If-None-Match ask. Pure.
 * A record's tag is "REV-V": its revision and the version it is shown in, perhaps with a suffix.
 * Source: RFC 9110, sections 8.8.3 and 13. */
#ifndef SERVER_CONDITIONS_H
#define SERVER_CONDITIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "server/coding.h"
#include "storage/storage.h"

enum { TAG_MAX = 72 }; /* bytes of a tag of ours, quotes included */

/* Write the tag at `out` (room for TAG_MAX); suffix: "" or for instance "-json". */
struct slice tag_print(uint64_t revision, uint32_t version, struct slice suffix, enum coding, uint8_t *out);

/* What a write asks of the revision that it finds. */
struct condition {
    enum { IF_ANY, IF_ABSENT, IF_PRESENT, IF_REVISION_IN, IF_REVISION_NOT_IN } kind;
    const uint64_t *revisions; /* in the arena */
    unsigned nrevisions;
};

/* ptr NULL: the header is absent; an empty one is not, and whoever sent it meant a condition. Weak tags and
 * tags that are not ours match nothing. Fails with BAD_REQUEST (not a list of tags; both headers at once),
 * NO_MEMORY. */
MUST_USE enum rc condition_of_write(struct slice if_match, struct slice if_none_match, struct arena *,
                                    struct condition *, struct err *err);
/* Let storage decide it. */
void condition_attach(const struct condition *, struct store_write *);
/* Decide it here: may a write go on that finds this revision (0: absent)? */
bool condition_holds(const struct condition *, uint64_t revision);

enum read_verdict { READ_GO, READ_NOT_MODIFIED, READ_FAILED };
/* The tags of what a read would show; empty: nothing is there. */
struct read_tags {
    struct slice plain;
    struct slice coded; /* as the client takes it compressed, if that pays; empty: it does not take it so */
};
/* The condition of such a read. If-Match compares strongly, If-None-Match weakly, both the whole tag. *is_coded: it is
 * READ_NOT_MODIFIED of what is compressed. Fails with BAD_REQUEST. */
MUST_USE enum rc condition_of_read(struct slice if_match, struct slice if_none_match,
                                   const struct read_tags *, enum read_verdict *, bool *is_coded,
                                   struct err *);

#endif
