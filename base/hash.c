/* base/hash.c - SipHash-1-3 and the kernel's random numbers. */
#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>

#include "base/bytes.h"
#include "base/compiler.h"

static uint64_t seed[2];
static atomic_bool seeded; /* so that hashing calls nobody */
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void draw_seed(void)
{
    if (!random_bytes(seed, sizeof seed)) {
        seed[0] = (uint64_t)(uintptr_t)&seed; /* address space randomisation is the next best */
        seed[1] = ~seed[0];
    }
    atomic_store_explicit(&seeded, true, memory_order_release);
}

static inline uint64_t rotl(uint64_t x, int b)
{
    return x << b | x >> (64 - b);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

/* The last s.len % 8 bytes as a number, little-endian. Of eight or more they end a word. */
static uint64_t tail_of(struct slice s)
{
    uint64_t tail = 0;
    size_t rest = s.len % 8;
    if (s.len >= 8)
        return rest ? get_le64(s.ptr + s.len - 8) >> 8 * (8 - rest) : 0;
    for (size_t i = 0; i < rest; i++)
        tail |= (uint64_t)s.ptr[i] << 8 * i;
    return tail;
}

uint64_t hash_bytes(struct slice s)
{
    if (unlikely(!atomic_load_explicit(&seeded, memory_order_acquire)))
        pthread_once(&seed_once, draw_seed);
    uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d, seed[0] ^ 0x6c7967656e657261,
                     seed[1] ^ 0x7465646279746573};
    for (size_t i = 0; i + 8 <= s.len; i += 8) {
        uint64_t m = get_le64(s.ptr + i);
        v[3] ^= m;
        sip_round(v);
        v[0] ^= m;
    }
    uint64_t tail = (uint64_t)s.len << 56 | tail_of(s);
    v[3] ^= tail;
    sip_round(v);
    v[0] ^= tail;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

bool random_bytes(void *out, size_t bytes)
{
    return getrandom(out, bytes, 0) == (ssize_t)bytes;
}
