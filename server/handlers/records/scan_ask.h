/* server/handlers/records/scan_ask.h - what a scan is asked for: its parameters and its form. */
#ifndef SERVER_HANDLERS_SCAN_ASK_H
#define SERVER_HANDLERS_SCAN_ASK_H

#include "server/handler.h"

struct scan_ask {
    struct slice from, upto; /* from <= id < upto; upto empty: to the end. In the arena, or the target */
    uint64_t limit;          /* UINT64_MAX: none */
    bool is_empty;           /* no id is in the range */
    bool keys;               /* without the records */
    bool array;              /* a JSON array, not a line for each */
};

/* Fails with BAD_PARAMETER, NOT_ACCEPTABLE, NO_MEMORY. */
MUST_USE enum rc scan_ask(struct request *, struct scan_ask *out, struct err *);
/* The smallest id above all that begin with `prefix`, in the arena; empty: there is none, it is all 0xff. NO_MEMORY. */
MUST_USE enum rc scan_prefix_end(struct request *, struct slice prefix, struct slice *out, struct err *);

#endif
