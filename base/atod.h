/* base/atod.h - short decimals to floating point, correctly rounded. Pure; inside base/ only. */
#ifndef BASE_ATOD_H
#define BASE_ATOD_H

#include <stdbool.h>
#include <stdint.h>

/* mantissa * 10^exponent (mantissa above 0), rounded to nearest, ties to even. False: this way cannot tell
 * (it is too close to the middle of two, or too small or too large for a normal number). */
bool atod_double(uint64_t mantissa, int64_t exponent, double *out) __attribute__((warn_unused_result));
bool atod_float(uint64_t mantissa, int64_t exponent, float *out) __attribute__((warn_unused_result));

#endif
