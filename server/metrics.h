/* server/metrics.h - the text of GET /metrics: all rows of metrics.def. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "base/buf.h"
#include "server/catalog.h"
#include "server/server.h"

/* Append it. The types are those of the hold, which the caller keeps. Takes a millisecond or more: for a helper.
 * False: memory is out. */
MUST_USE bool metrics_print(struct server *, const struct catalog_hold *, struct buf *out);

#endif
