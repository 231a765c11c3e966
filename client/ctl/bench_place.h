/* client/ctl/bench_place.h - where the server is, for the load generator, which speaks HTTP itself. */
#ifndef CLIENT_CTL_BENCH_PLACE_H
#define CLIENT_CTL_BENCH_PLACE_H

#include "client/ctl/ctl.h"
#include "client/ctl/load.h"

struct bench_place {
    struct load_place place;
    struct buf prefix; /* the path of the url */
    struct buf fields; /* Host and, if somebody is named, Authorization, each with its line break */
};

/* The exit code; what is wrong has been said. bench_place_release either way. */
MUST_USE int bench_place_find(const struct ctl *, struct bench_place *);
void bench_place_release(struct bench_place *);

#endif
