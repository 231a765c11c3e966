/* base/dtoa.h - the shortest decimal that reads back to the same floating-point number. Pure; inside base/
 * only. */
#ifndef BASE_DTOA_H
#define BASE_DTOA_H

#include <stdint.h>

/* The number digits * 10^exponent, digits below 10^17. Zeros at the end of the digits are not taken off. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Of all decimals that round to the number (to nearest, ties to even) one with the fewest digits, and of
 * those the one closest to it. The number is finite and above zero. */
struct decimal dtoa_double(double);
struct decimal dtoa_float(float);

#endif
