/* base/log.h - the error log: one line an event on standard error. Any thread; a line is one write(2).
 * For the server and the engines; the pure layers never log. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/compiler.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines less important than this are dropped; INFO at the start. */
void log_set_level(enum log_level);

/* "2026-01-02T03:04:05.678Z warn  message\n"; bytes below 0x20 and 0x7f of the message are written
 * as \xNN. */
void log_line(enum log_level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
