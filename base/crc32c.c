/* base/crc32c.c - by the SSE 4.2 instruction where the processor has it, else by table. The instruction takes three
 * cycles and a core begins one each cycle: long input goes through it in three lanes, put together afterwards. */
#include "base/crc32c.h"

#include <pthread.h>

#include "base/bytes.h"
#include "base/compiler.h"

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
#define SSE42 __attribute__((target("sse4.2")))

enum { LANE_BYTES = 1024, LANES = 3 };

/* What becomes of a register when LANE_BYTES zeros follow. That is linear: the xor of what becomes of its bytes. */
static uint32_t zeros[4][256];
static pthread_once_t zeros_once = PTHREAD_ONCE_INIT;

SSE42 static void make_zeros(void)
{
    for (unsigned place = 0; place < 4; place++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint64_t c = byte << (8 * place);
            for (unsigned i = 0; i < LANE_BYTES / 8; i++)
                c = __builtin_ia32_crc32di(c, 0);
            zeros[place][byte] = (uint32_t)c;
        }
}

static uint32_t over_a_lane(uint64_t c)
{
    return zeros[0][c & 0xff] ^ zeros[1][c >> 8 & 0xff] ^ zeros[2][c >> 16 & 0xff] ^ zeros[3][c >> 24];
}

/* Of the next LANES * LANE_BYTES. */
SSE42 static uint32_t crc_lanes(uint32_t crc, const uint8_t *at)
{
    uint64_t a = crc, b = 0, c = 0;
    for (unsigned i = 0; i < LANE_BYTES; i += 8) {
        a = __builtin_ia32_crc32di(a, get_le64(at + i));
        b = __builtin_ia32_crc32di(b, get_le64(at + LANE_BYTES + i));
        c = __builtin_ia32_crc32di(c, get_le64(at + 2 * LANE_BYTES + i));
    }
    return over_a_lane(over_a_lane(a) ^ b) ^ (uint32_t)c;
}

/* Of as much as fills the lanes; *i goes behind it. */
SSE42 static __attribute__((noinline)) uint32_t crc_long(uint32_t crc, struct slice s, size_t *i)
{
    pthread_once(&zeros_once, make_zeros);
    for (; *i + LANES * LANE_BYTES <= s.len; *i += LANES * LANE_BYTES)
        crc = crc_lanes(crc, s.ptr + *i);
    return crc;
}

SSE42 static uint32_t crc_sse42(uint32_t crc, struct slice s)
{
    size_t i = 0;
    uint64_t c = unlikely(s.len >= LANES * LANE_BYTES) ? crc_long(crc, s, &i) : crc;
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
