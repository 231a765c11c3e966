/* base/num.h - numbers to and from text, without the locale. Pure; any thread. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum { NUM_U64_MAX_CHARS = 20, NUM_I64_MAX_CHARS = 20, NUM_DOUBLE_MAX_CHARS = 40 };

/* Write decimal digits at `out` (room for NUM_*_MAX_CHARS, which may be written beyond the digits; no NUL);
 * how many. */
size_t num_print_u64(uint64_t, uint8_t *out);
size_t num_print_i64(int64_t, uint8_t *out);

/* The shortest decimal text that reads back to the same number (of the same width): "0.1", "1.0", "-0.0",
 * "123456.0", "1e17" and "1.5e-7" style from 1e17 on and below 1e-5. NaN is "NaN", infinities "Infinity",
 * "-Infinity", without quotes: callers who want JSON add them. */
size_t num_print_double(double, uint8_t *out);
size_t num_print_float(float, uint8_t *out);

/* `text` is a number as RFC 8259 spells it (the caller has checked). Correctly rounded to nearest, ties to
 * even, once, whatever the width. False: beyond the type's range (too large).
 * Too small becomes 0 (signed). */
bool num_parse_double(struct slice text, double *out) __attribute__((warn_unused_result));
bool num_parse_float(struct slice text, float *out) __attribute__((warn_unused_result));

/* The value of a RFC 8259 number if it is an integer that fits 64 bits, however it is written ("1.0", "1e2",
 * "10e-1", "-0"): NUM_INTEGER. NUM_FRACTION: not an integer. NUM_HUGE: an integer beyond int64. Linear,
 * whatever the exponent ("1e999999999"). */
enum num_kind { NUM_INTEGER, NUM_FRACTION, NUM_HUGE };
enum num_kind num_parse_i64(struct slice text, int64_t *out);

/* Digits only, no sign, all of the text, at most `max`; false otherwise.
 * For parameters, lengths and options. */
bool num_parse_decimal(struct slice text, uint64_t max, uint64_t *out) __attribute__((warn_unused_result));

#endif
