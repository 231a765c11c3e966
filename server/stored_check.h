/* server/stored_check.h - would a schema read the records that are stored? They are read through, a page of the
 * store at a time, on helpers: others have their turn between two pages. */
#ifndef SERVER_STORED_CHECK_H
#define SERVER_STORED_CHECK_H

#include "server/register.h"

enum { STORED_SHOWN_MAX = 10, STORED_LIMIT_DEFAULT = 10000 };

/* A record that would not be read. In the request's arena. */
struct stored_fault {
    struct slice id;
    uint32_t version; /* that wrote it; 0: none of the type's */
    enum err_code code;
    struct slice pointer, words; /* pointer: into the record, or empty */
};

struct stored_check {
    uint64_t limit; /* given: so many records at most */

    /* Found. */
    enum rc rc; /* RC_OK, or RC_ERR with err: not all could be looked at (IO, NO_MEMORY, INTERNAL) */
    struct err err;
    uint64_t checked, unreadable;
    bool
        is_complete; /* all there are, and not only as many as the limit lets, or as the client has waited for */
    struct stored_fault first[STORED_SHOWN_MAX]; /* of the unreadable ones, in the order of the ids */
    unsigned nfirst;
};

/* Of a registration with a verdict: whose schema is parsed, and whose type the request holds. Then `then`, on the request's
 * worker. Uses the request's operation. */
void stored_check(struct request *, struct registration *,
                  void (*then)(struct request *, struct registration *));

#endif
