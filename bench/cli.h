/* bench/cli.h - what the benchmark programs share on their command lines: numbers, and how they give up. */
#ifndef BENCH_CLI_H
#define BENCH_CLI_H

#include <stdint.h>

#include "base/compiler.h"

/* "PROGRAM: message" on standard error, exit 2. */
void die(const char *format, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));

/* A decimal number from min to max, all of the text, or die() with the option's name. */
uint64_t cli_number(const char *option, const char *text, uint64_t min, uint64_t max);
/* The same for seconds with a fraction, in nanoseconds. */
int64_t cli_seconds_ns(const char *option, const char *text);

int64_t now_ns(void); /* monotonic */

#endif
