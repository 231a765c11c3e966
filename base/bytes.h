/* base/bytes.h - integers to and from bytes, at any alignment. Everything on disk and wire goes
 * through these: big-endian in keys (so that memcmp orders them), little-endian in values. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the loads below assume a little-endian machine"
#endif

static inline uint16_t get_le16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t get_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t get_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* 48 bits: milliseconds since 1970 until the year 10,889. */
static inline uint64_t get_le48(const void *p)
{
    uint64_t v = 0;
    memcpy(&v, p, 6);
    return v;
}

static inline void put_le16(void *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void put_le32(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void put_le64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

static inline void put_le48(void *p, uint64_t v)
{
    memcpy(p, &v, 6);
}

static inline uint64_t get_be48(const void *p)
{
    return __builtin_bswap64(get_le48(p)) >> 16;
}

static inline void put_be48(void *p, uint64_t v)
{
    put_le48(p, __builtin_bswap64(v << 16));
}

static inline uint32_t get_be32(const void *p)
{
    return __builtin_bswap32(get_le32(p));
}

static inline uint64_t get_be64(const void *p)
{
    return __builtin_bswap64(get_le64(p));
}

static inline void put_be32(void *p, uint32_t v)
{
    put_le32(p, __builtin_bswap32(v));
}

static inline void put_be64(void *p, uint64_t v)
{
    put_le64(p, __builtin_bswap64(v));
}

#endif
