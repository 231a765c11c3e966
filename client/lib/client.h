/* client/lib/client.h - what stands behind avrod_client: its options as they are needed, and connections that rest. */
#ifndef CLIENT_LIB_CLIENT_H
#define CLIENT_LIB_CLIENT_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "client/avrod.h"

/* One of libcurl's handles with its own cache of connections, of which it has one at most. One thread at a time. */
struct link {
    struct link *next;
    CURL *easy;
};

/* All but the pool is fixed once it is open. */
struct avrod_client {
    char *base;    /* "http://localhost:8080": targets stand behind it */
    char *socket;  /* the path of a unix socket, or NULL */
    char *userpwd; /* "user:password", or NULL */
    char *token;   /* or NULL */
    char *ca_file, *cert_file, *key_file, *user_agent;
    uint32_t connect_timeout_ms, timeout_ms, stall_timeout_ms, retries_max, backoff_ms, idle_max;
    uint64_t answer_bytes_max;

    pthread_mutex_t lock; /* of these two */
    struct link *idle;
    unsigned nidle;
};

/* A link that is the caller's until it is given back, its options all at their defaults. NULL: memory is out. */
MUST_USE struct link *client_take(struct avrod_client *);
void client_give(struct avrod_client *, struct link *);

#endif
