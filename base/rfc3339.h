/* base/rfc3339.h - days, times of day and moments as texts: "2024-02-29", "12:00:00.500", "2024-02-29T12:00:00.5Z",
 * and without an offset. Pure.
 * Source: RFC 3339, section 5.6; full-date, partial-time, date-time, and date-time without time-offset. */
#ifndef BASE_RFC3339_H
#define BASE_RFC3339_H

#include "base/compiler.h"
#include "base/slice.h"

enum rfc3339_kind {
    RFC3339_DATE,  /* days since 1970-01-01 */
    RFC3339_TIME,  /* units since midnight */
    RFC3339_STAMP, /* units since 1970-01-01T00:00:00Z */
    RFC3339_LOCAL, /* units since 1970-01-01T00:00:00 wherever that is: no offset is written */
};

enum rfc3339_fault {
    RFC3339_FITS,
    RFC3339_SYNTAX,
    RFC3339_NO_SUCH, /* a day that the month does not have, an hour of 24 */
    RFC3339_LEAP,    /* a second of 60, for which a count of units has no place */
    RFC3339_DIGITS,  /* more digits behind the second than the unit has; zeros are no matter */
    RFC3339_RANGE,   /* beyond 64 bits */
};

enum { RFC3339_CHARS_MAX = 30 }; /* of what is printed */

/* A unit is 10^-digits seconds (digits 0 to 9; of no matter for dates). An offset that is written is taken off:
 * the result is in UTC. Linear in the text. */
MUST_USE enum rfc3339_fault rfc3339_parse(enum rfc3339_kind, unsigned digits, struct slice text,
                                          int64_t *out);

/* Write the text at `out` (room for RFC3339_CHARS_MAX), with so many digits behind the second, and Z where an
 * offset belongs; how many bytes. 0: there is no such text: the year is not in 0000-9999, or the time not within
 * a day. */
size_t rfc3339_print(enum rfc3339_kind, unsigned digits, int64_t v, uint8_t *out);

#endif
