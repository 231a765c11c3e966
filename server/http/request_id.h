/* server/http/request_id.h - X-Request-Id: the name under which a request is found again in logs, the client's own or one of
 * ours. Pure; any thread. */
#ifndef SERVER_HTTP_REQUEST_ID_H
#define SERVER_HTTP_REQUEST_ID_H

#include "base/slice.h"

struct request;

enum { REQUEST_ID_MAX = 128, REQUEST_ID_MADE_BYTES = 16 };

/* Where the numbers of a worker begin. `random` is any; no two workers (of up to 1,024) ever have the same number. */
uint64_t request_id_start(unsigned worker, uint64_t random);

/* What the client sent if it is 1 to REQUEST_ID_MAX visible ASCII characters; else 16 hexadecimal digits, made from
 * request.edge.number in `text`. The same for each call. Borrowed as request.header is, and `text`. */
struct slice request_id(const struct request *, uint8_t text[REQUEST_ID_MADE_BYTES]);

#endif
