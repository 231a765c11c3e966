/* server/http/stream.h - answers that are made piece by piece: the edge's side of struct stream (server/handler.h).
 * One worker, but for the budget. */
#ifndef SERVER_HTTP_STREAM_H
#define SERVER_HTTP_STREAM_H

#include <stdbool.h>

struct conn;
struct edge_worker;
struct request;

/* Has the client no other way to see where the body ends? Then nothing may follow. */
bool stream_ends_with_connection(const struct request *);
/* The head is in the output. */
void stream_begin(struct request *);
/* Make pieces while the socket takes them, as far as this turn allows. True: all of it is in the output, and
 * req->response.stream is NULL. False: later more, or the connection is broken. */
bool stream_pump(struct conn *, struct request *);
/* Let it give back what it owns. */
void stream_end(struct request *);

/* Have the streams of a worker had their share of its turn? */
bool stream_share_is_spent(const struct edge_worker *);

#endif
