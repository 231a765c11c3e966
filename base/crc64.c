/* base/crc64.c - CRC-64-AVRO by table, a byte a step. */
#include "base/crc64.h"

#include <pthread.h>

static uint64_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint64_t i = 0; i < 256; i++) {
        uint64_t fp = i;
        for (int bit = 0; bit < 8; bit++)
            fp = fp >> 1 ^ (fp & 1 ? CRC64_AVRO_EMPTY : 0);
        table[i] = fp;
    }
}

uint64_t crc64_avro(uint64_t fingerprint, struct slice s)
{
    pthread_once(&table_once, make_table);
    for (size_t i = 0; i < s.len; i++)
        fingerprint = fingerprint >> 8 ^ table[(fingerprint ^ s.ptr[i]) & 0xff];
    return fingerprint;
}
