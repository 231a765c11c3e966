/* bench/simdjson_walk.h - simdjson's On-Demand reader as the codec benchmark calls it: it touches every key and every
 * value of a text, checks no types and writes nothing. */
#ifndef BENCH_SIMDJSON_WALK_H
#define BENCH_SIMDJSON_WALK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct simdjson_walker;

/* Owned; NULL when memory is out. `json` is copied, with the padding that simdjson wants behind it. One thread. */
struct simdjson_walker *simdjson_walker_new(const char *json, size_t len);
void simdjson_walker_free(struct simdjson_walker *);

/* Read the whole text once: how many keys and values, mixed with what they hold, so that no compiler leaves one out.
 * 0: the text is no JSON. */
uint64_t simdjson_walk(struct simdjson_walker *);

/* Which of its kernels simdjson has chosen for this processor. */
const char *simdjson_kernel(void);

#ifdef __cplusplus
}
#endif

#endif
