/* bench/cli.c - numbers on a command line, and how the benchmark programs give up. */
#include "bench/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

uint64_t cli_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || n < min || n > max)
        die("%s wants a number from %llu to %llu, not \"%s\"", option, (unsigned long long)min,
            (unsigned long long)max, text);
    return n;
}

int64_t cli_seconds_ns(const char *option, const char *text)
{
    char *end;
    errno = 0;
    double seconds = strtod(text, &end);
    if (errno || end == text || *end || !(seconds > 0 && seconds <= 86400))
        die("%s wants seconds, more than 0 and at most 86400, not \"%s\"", option, text);
    return (int64_t)(seconds * 1e9);
}

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
