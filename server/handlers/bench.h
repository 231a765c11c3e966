/* server/handlers/bench.h - ?benchmark_only=N on whole records: all of the path but storage. */
#ifndef SERVER_HANDLERS_BENCH_H
#define SERVER_HANDLERS_BENCH_H

#include "server/handler.h"

/* RC_NOTFOUND: the parameter is not given. Fails with BAD_PARAMETER: N is no integer from 1. */
MUST_USE enum rc bench_asked(const struct request *, uint64_t *n, struct err *);
/* Answer the type's initial record, printed from its Avro binary, under an id drawn from 1..n. */
void bench_get(struct request *, uint64_t n);
/* Check and encode the body, drop it, answer. req->state: a struct record_input, filled in. */
void bench_put(struct request *, uint64_t n);

#endif
