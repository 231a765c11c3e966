/* client/lib/call.h - a call of the library: a request that is tried until there is an answer, or no more to be hoped. */
#ifndef CLIENT_LIB_CALL_H
#define CLIENT_LIB_CALL_H

#include "client/lib/exchange.h"

/* Its first group is set by the caller, who releases `exchange`. */
struct call {
    struct exchange exchange;
    int64_t retries_until_ms; /* no attempt begins behind it, on clock_mono_ms; 0: no bound */

    unsigned attempts, failures; /* failures in a row: who makes progress sets it to 0 */
    bool maybe_done;             /* an attempt that may change something ended without an answer */
};

/* Whether the request is sound; AVROD_ARGUMENT with the error set if it is not. */
MUST_USE enum avrod_code call_check(const struct avrod_request *, struct avrod_error *);

/* May it be sent again once it has left and nobody knows what became of it? */
bool call_repeats(const struct avrod_request *);

/* Try once, and say how that ended: AVROD_OK with a good answer in the exchange, else the error is set. */
MUST_USE enum avrod_code call_try(struct call *, struct avrod_error *);

/* After a failure: wait and return true if it is to be tried again. */
MUST_USE bool call_waits(struct call *, const struct avrod_error *);

#endif
