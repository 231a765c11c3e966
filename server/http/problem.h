/* server/http/problem.h - struct err as the text of application/problem+json (RFC 9457). Pure. */
#ifndef SERVER_HTTP_PROBLEM_H
#define SERVER_HTTP_PROBLEM_H

#include "base/buf.h"
#include "base/err.h"

/* Append the object to `out`; `member` is one more member, raw JSON ("name": value), or empty. False: memory
 * is out. Bytes that are no UTF-8 become U+FFFD. Linear. */
MUST_USE bool problem_print(struct buf *out, const struct err *, struct slice member);

#endif
