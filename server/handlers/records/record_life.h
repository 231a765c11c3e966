/* server/handlers/records/record_life.h - how long a record lives: what a put asks for, what becomes of it with an edit, and how it
 * is told. Whoever writes records goes by this. */
#ifndef SERVER_HANDLERS_RECORD_LIFE_H
#define SERVER_HANDLERS_RECORD_LIFE_H

#include "server/catalog.h"
#include "server/handler.h"

/* The life that the put of a whole record asks for, in seconds; 0: none, and the type's option decides. ?ttl, else
 * Cache-Control: max-age (RFC 9111, 5.2). For begin, before the body is there. BAD_PARAMETER. */
MUST_USE enum rc record_life_ask_other(const struct request *, uint32_t *seconds, struct err *);
MUST_USE static inline enum rc record_life_ask(const struct request *req, uint32_t *seconds, struct err *err)
{
    *seconds = 0;
    if (likely(!req->nparams && !(req->headers & 1u << HEADER_CACHE_CONTROL)))
        return RC_OK;
    return record_life_ask_other(req, seconds, err);
}

/* A record that begins so many seconds of life now: struct record.expires_ms; 0: for ever. Any thread. */
int64_t record_life_end(uint32_t seconds);

/* When a record ends that is put now, having asked for so much. */
static inline int64_t record_life_of_put(const struct request *req, uint32_t asked_s)
{
    uint32_t seconds = asked_s ? asked_s : req->type->options.ttl_s;
    return likely(!seconds) ? 0 : record_life_end(seconds);
}

/* When it ends once it has been edited; old: as it was, or NULL: the edit makes it. It keeps its time, but the
 * type's option, which counts from the last write, begins anew. Any thread. */
static inline int64_t record_life_of_edit(const struct request *req, const struct record *old)
{
    uint32_t seconds = req->type->options.ttl_s;
    return unlikely(seconds) ? record_life_end(seconds) : old ? old->expires_ms : 0;
}

/* How many seconds are left, rounded up, at least 1. */
uint64_t record_life_left(int64_t expires_ms);

/* The line `TTL: seconds` of an answer (the name is that of RFC 8030, 5.2) at `out`; how many bytes. */
enum { RECORD_LIFE_LINE_MAX = 5 + 20 + 2 };
size_t record_life_print(int64_t expires_ms, uint8_t out[RECORD_LIFE_LINE_MAX]);

/* Add `TTL: seconds` to the response ; nothing for a record that stays. False: memory is out. */
MUST_USE bool record_life_tell_other(struct request *, int64_t expires_ms);
MUST_USE static inline bool record_life_tell(struct request *req, int64_t expires_ms)
{
    return likely(!expires_ms) || record_life_tell_other(req, expires_ms);
}

#endif
