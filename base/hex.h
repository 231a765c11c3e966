/* base/hex.h - bytes as hexadecimal digits, two each (RFC 4648, section 8). Pure. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdint.h>

/* The value of a digit of either case, or -1. */
static inline int hex_digit(uint8_t c)
{
    if ((uint8_t)(c - '0') <= 9)
        return c - '0';
    uint8_t letter = (uint8_t)((c | 0x20) - 'a');
    return letter <= 5 ? letter + 10 : -1;
}

/* The byte of the two digits at p, or -1. */
static inline int hex_byte(const uint8_t *p)
{
    int high = hex_digit(p[0]);
    int low = high < 0 ? -1 : hex_digit(p[1]);
    return low < 0 ? -1 : high << 4 | low;
}

/* In small letters; what stands behind. */
static inline uint8_t *hex_put(uint8_t *w, uint8_t byte)
{
    static const char digits[] = "0123456789abcdef";
    *w++ = (uint8_t)digits[byte >> 4];
    *w++ = (uint8_t)digits[byte & 15];
    return w;
}

#endif
