/* bench/ids.h - record ids that stand in no order: sixteen hexadecimal digits for each number, no two alike. The load
 * generator and the bare loops make the same ones, so that both meet the same records. */
#ifndef BENCH_IDS_H
#define BENCH_IDS_H

#include <stdint.h>

enum { ID_KEY_BYTES = 16 };

/* The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
 * Every step can be undone, so different numbers stay different. */
static inline uint64_t id_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* The next of a sequence of random numbers from 1 to max; *state is its seed. */
static inline uint64_t id_random(uint64_t *state, uint64_t max)
{
    uint64_t z = id_mix(*state += 0x9e3779b97f4a7c15);
    return (uint64_t)(((unsigned __int128)z * max) >> 64) + 1;
}

/* The key of number n. No NUL behind it. */
static inline void id_key(uint64_t n, char out[ID_KEY_BYTES])
{
    uint64_t z = id_mix(n);
    for (unsigned i = ID_KEY_BYTES; i-- > 0; z >>= 4)
        out[i] = "0123456789abcdef"[z & 15];
}

#endif
