/* tests/lib/random.h - random numbers for tests, from a seed that is the same each time unless SEED is set. */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

/* Print it with what fails. */
static inline uint64_t random_seed(void)
{
    const char *text = getenv("SEED");
    return text ? strtoull(text, NULL, 10) | 1 : 88172645463325253u;
}

/* xorshift64* (Vigna 2016). */
static inline uint64_t random_u64(void)
{
    static uint64_t state;
    if (!state)
        state = random_seed();
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

/* 0 to n - 1. */
static inline uint32_t random_below(uint32_t n)
{
    return (uint32_t)((random_u64() >> 32) * n >> 32);
}

#endif
