/* tests/client/fake_server.h - a server that answers by a script, to see what a client makes of it. */
#ifndef TESTS_CLIENT_FAKE_SERVER_H
#define TESTS_CLIENT_FAKE_SERVER_H

#include <stddef.h>

/* What is done with one request: it is read whole, then answered, or not. */
enum fake_then {
    FAKE_KEEP,  /* the connection goes on: the next step's request comes on it */
    FAKE_CLOSE, /* it ends: the next step's comes on another */
    FAKE_HANG,  /* nothing more is sent until the client has left */
};

struct fake_step {
    const char *answer; /* NULL: nothing is sent */
    enum fake_then then;
    size_t spaces; /* so many spaces are sent behind the answer */
};

struct fake_server;

/* A thread that takes a connection at a time on a free port and goes through the steps, which are borrowed until it is stopped.
 * Behind the last it takes nobody. */
struct fake_server *fake_start(const struct fake_step *, size_t steps);
/* http://127.0.0.1:PORT, borrowed. */
const char *fake_url(const struct fake_server *);
/* Stop listening, and wait for the thread. */
void fake_stop(struct fake_server *);

/* Once it is stopped: how many requests came, and the n-th one, NUL behind; freed by fake_free. */
size_t fake_requests(const struct fake_server *);
const char *fake_request(const struct fake_server *, size_t n);
void fake_free(struct fake_server *);

#endif
