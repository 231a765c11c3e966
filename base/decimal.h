/* base/decimal.h - exact decimal numbers: texts as RFC 8259 spells numbers, and two's complement, most significant
 * byte first. A number of scale s is that whole number times 10^-s. Pure; never by way of floating point.
 * Source: Avro 1.12 specification, "Decimal". */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/compiler.h"
#include "base/limits.h"
#include "base/slice.h"

enum { DECIMAL_BYTES_MAX = 416 }; /* of LIMIT_DECIMAL_DIGITS_MAX digits and a sign */

struct decimal_type {
    uint32_t precision; /* digits at the most: 1 to LIMIT_DECIMAL_DIGITS_MAX */
    uint32_t scale;     /* of these behind the point */
};

enum decimal_fault {
    DECIMAL_FITS,
    DECIMAL_SYNTAX,
    DECIMAL_SCALE,     /* more digits behind the point; zeros at the end are no matter */
    DECIMAL_PRECISION, /* more digits before it than precision and scale leave */
};

/* The bytes of the number, the fewest that do, at `out`, *n of them. Linear in the text, but for the digits that
 * the type has. */
MUST_USE enum decimal_fault decimal_parse(struct slice text, struct decimal_type,
                                          uint8_t out[DECIMAL_BYTES_MAX], size_t *n);

/* Write the text at `out` (room for the type's precision and 3), all digits of the scale behind the point; how many
 * bytes. 0: there are no bytes, or the number has more digits than the type. Linear in the bytes, but for the digits
 * that the type has. */
size_t decimal_print(struct slice bytes, struct decimal_type, uint8_t *out);

#endif
