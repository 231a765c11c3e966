/* server/params.h - the query parameters of a request: those a route knows, each at most once. */
#ifndef SERVER_PARAMS_H
#define SERVER_PARAMS_H

#include "server/handler.h"

enum param_id {
#define PARAM(name) PARAM_##name,
#include "server/params.def"
#undef PARAM
    PARAM_IDS
};

/* Parse req->query into req->param. known: bits 1 << PARAM_x, at most PARAMS_MAX of them. Fails with BAD_TARGET (percent-encoding),
 * UNKNOWN_PARAMETER (unless ignore_unknown), BAD_PARAMETER (twice the same), NO_MEMORY. */
MUST_USE enum rc params_parse(struct request *, uint64_t known, bool ignore_unknown, struct err *);

/* The value, decoded, in the arena or the target; NULL: not given. */
const struct slice *params_find(const struct request *, enum param_id);
/* One that is 1 or 0; not given: 0. BAD_PARAMETER. */
MUST_USE enum rc params_flag(const struct request *, enum param_id, bool *out, struct err *err);
/* The value of ttl: seconds from 1 to LIMIT_TTL_MAX. else_what: what it may be besides, for the message. BAD_PARAMETER. */
MUST_USE enum rc params_ttl(struct slice value, const char *else_what, uint32_t *seconds, struct err *err);

#endif
