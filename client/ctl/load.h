/* client/ctl/load.h - load on a server: connections that each send a request, check the answer, and send the next. libevent. */
#ifndef CLIENT_CTL_LOAD_H
#define CLIENT_CTL_LOAD_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "client/ctl/latency.h"
#include "client/ctl/reply_check.h"

/* Numbers in requests and bodies have so many digits. */
enum { LOAD_NUMBER_CHARS = 8, LOAD_SLOTS_MAX = 2 };

struct load_place {
    struct sockaddr_storage address;
    socklen_t address_bytes;
};

/* What is sent. The number of a record stands at the slots. */
struct load_request {
    char *bytes; /* owned */
    size_t len;
    size_t slots[LOAD_SLOTS_MAX];
    unsigned nslots;
    struct reply_want want;
    bool number_in_want; /* the body begins with the number */
};

struct load {
    const struct load_place *place;
    const struct load_request *request;
    unsigned connections;
    uint64_t numbers;  /* from 1 to so many */
    uint64_t in_order; /* send so many, 1, 2, 3 ..., and end; 0: random numbers, by time */
    uint32_t warmup_ms, time_ms;
};

struct load_result {
    uint64_t answers, wrong, broken; /* broken: no answer came, or what came was no HTTP */
    uint64_t bytes;                  /* received */
    double seconds;
    bool interrupted;
    char first_fault[160]; /* a sentence on the first wrong or broken one */
    struct latency latency;
};

/* Run it. False: it could not be done; *fault is a sentence. What interrupt.h has noted ends it early. */
bool load_run(const struct load *, struct load_result *, char *fault, size_t room);

#endif
