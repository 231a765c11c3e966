/* server/http/edge.h - the HTTP edge as main.c sees it: workers, their listeners and connections. */
#ifndef SERVER_HTTP_EDGE_H
#define SERVER_HTTP_EDGE_H

#include "base/err.h"
#include "server/server.h"

struct edge;

enum { EDGE_HELPERS = 3 }; /* threads, each with a reader of the store */

/* How many workers edge_start starts: options->threads, or one a core. */
unsigned edge_threads(const struct options *);
/* Bind (a port in use is CONFIG, in words, whoever has it), start one worker thread a core
 * (or options->threads) and the helpers. Listening beyond loopback needs logins or options->insecure. Sets server->edge;
 * NULL: it has failed. */
MUST_USE enum rc edge_start(struct server *, struct err *);
/* "http://127.0.0.1:8080, https://127.0.0.1:8443, unix:/run/avrod.sock", as bound (port 0 has become a real one). Borrowed until edge_free. */
const char *edge_listening(const struct edge *);
/* What all its workers have in hand. */
struct edge_stats {
    uint64_t bodies_bytes, bodies_max_bytes;   /* see --bodies-budget ... */
    uint64_t answers_bytes, answers_max_bytes; /* ... and --answers-budget */
    uint64_t jobs_waiting, jobs;               /* for helpers; taken up by them since the start */
    uint64_t certificate_ends_s;               /* Unix time; 0: no TLS */
};
/* Any thread. */
void edge_stats(const struct edge *, struct edge_stats *);
/* Have new connections use the files of --tls-cert and its kin as they are now. RC_ERR: they stay with the old ones. RC_NOTFOUND: there
 * is no TLS. Main thread. */
MUST_USE enum rc edge_tls_reload(struct edge *, struct err *);
/* Give back to the kernel what long bodies and answers have taken, unless some are under way. Now and then; any
 * thread, for it may take a while. */
void edge_trim(struct edge *);
/* No new connections; what was read is answered with Connection: close. Main thread; returns at once. */
void edge_drain(struct edge *);
/* Wait until all connections are closed or the deadline has passed, then stop the workers. */
void edge_join(struct edge *, unsigned deadline_ms);
void edge_free(struct edge *);

#endif
