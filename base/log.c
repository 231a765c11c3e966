/* base/log.c - lines on standard error. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static _Atomic int max_level = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&max_level, (int)level, memory_order_relaxed);
}

void log_line(enum log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warn ", "info ", "debug"};
    if ((int)level > atomic_load_explicit(&max_level, memory_order_relaxed))
        return;

    char text[1024], line[sizeof text * 4 + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);

    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ %s ", now.tv_nsec / 1000000, names[level]);
    for (const char *c = text; *c; c++) {
        if ((uint8_t)*c < 0x20 || *c == 0x7f)
            n += (size_t)snprintf(line + n, sizeof line - n, "\\x%02x", (uint8_t)*c);
        else
            line[n++] = *c;
    }
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        return; /* nowhere left to say so */
}
