/* server/http/accept.h - a worker's listeners: new connections are taken, refused, or made to wait while file descriptors are
 * short. The worker's own thread, or before it starts. */
#ifndef SERVER_HTTP_ACCEPT_H
#define SERVER_HTTP_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>

struct edge_worker;
struct listeners;

/* Take over one file descriptor for each listener; -1: there is none. */
void accept_listen(struct edge_worker *, const struct listeners *, const int *fds);
/* Watch them. False: memory is out, or there are none. */
bool accept_begin(struct edge_worker *);
/* Again, if file descriptors were short; they may still be. */
void accept_resume(struct edge_worker *);
/* A connection from this address (address_group) is gone: there may be a file descriptor for the listeners again. */
void accept_conn_gone(struct edge_worker *, uint64_t address);
/* Take who has connected already, then close. */
void accept_end(struct edge_worker *);
void accept_close(struct edge_worker *);

#endif
