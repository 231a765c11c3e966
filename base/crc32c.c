/* base/crc32c.c - by the SSE 4.2 instruction where the processor has it, else by table. */
#include "base/crc32c.h"

#include <pthread.h>

#include "base/bytes.h"

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0x82f63b78 : c >> 1; /* the polynomial, reflected */
        table[i] = c;
    }
}

static uint32_t crc_portable(uint32_t crc, struct slice s)
{
    pthread_once(&table_once, make_table);
    for (size_t i = 0; i < s.len; i++)
        crc = crc >> 8 ^ table[(crc ^ s.ptr[i]) & 0xff];
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, struct slice s)
{
    uint64_t c = crc;
    size_t i = 0;
    for (; i + 8 <= s.len; i += 8)
        c = __builtin_ia32_crc32di(c, get_le64(s.ptr + i));
    for (; i < s.len; i++)
        c = __builtin_ia32_crc32qi((uint32_t)c, s.ptr[i]);
    return (uint32_t)c;
}
#endif

uint32_t crc32c(uint32_t crc, struct slice s)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_sse42(~crc, s);
#endif
    return ~crc_portable(~crc, s);
}
