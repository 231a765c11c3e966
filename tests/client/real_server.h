/* tests/client/real_server.h - avrod itself, on a free port and a socket in a temporary directory. */
#ifndef TESTS_CLIENT_REAL_SERVER_H
#define TESTS_CLIENT_REAL_SERVER_H

#include <sys/types.h>

struct real_server {
    pid_t pid;
    char url[64];        /* http://127.0.0.1:PORT */
    char socket_url[96]; /* unix:/PATH */
    char folder[64];
};

/* Starts $AVROD with the memory engine, and waits until it says that it is ready. Fails the test if it is not. */
void real_start(struct real_server *);
/* Ends it, and fails the test if it does not end with 0. */
void real_stop(struct real_server *);

#endif
