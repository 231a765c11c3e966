/* bench/load_opts.h - what the load generator was told to do. */
#ifndef BENCH_LOAD_OPTS_H
#define BENCH_LOAD_OPTS_H

#include <netdb.h>
#include <sys/types.h>

#include "bench/plan.h"

enum { LOAD_PIDS_MAX = 16 };

/* Texts point into argv or are never freed. */
struct load_opts {
    struct plan_opts plan;
    unsigned connections;
    uint64_t requests;         /* 0: by time */
    int64_t warm_ns, timed_ns; /* 0: none */
    int64_t body_wanted;       /* -1: any */
    pid_t pids[LOAD_PIDS_MAX]; /* whose CPU time is reported too */
    unsigned npids;
    struct addrinfo *address; /* owned: freeaddrinfo */
};

/* Dies with the usage or a sentence if anything is wrong. Cuts up the URL in argv. */
void load_opts_parse(struct load_opts *, int argc, char **argv);

#endif
