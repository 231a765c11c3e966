/* server/http/access_log.h - the access log: workers render lines into a buffer of their own and hand it over at the end of a
 * turn; a thread writes them, so that a slow disk holds up nobody. What exceeds a bounded backlog is dropped and counted,
 * and the error log says how much. */
#ifndef SERVER_HTTP_ACCESS_LOG_H
#define SERVER_HTTP_ACCESS_LOG_H

#include "base/err.h"
#include "server/http/access_line.h"

struct access_log;

/* Open `path` (appended to, made if absent; "-": standard output) and start the thread; the path is borrowed until
 * access_log_close. CONFIG: it cannot be opened. NO_MEMORY. */
MUST_USE enum rc access_log_open(struct access_log **, const char *path, enum access_format, struct err *);
/* Have the path opened anew, for who has moved the file away. Any thread; returns at once. If it cannot be opened the
 * old file is written on, and the error log says so. */
void access_log_reopen(struct access_log *);
/* Lines that were not written, since it was opened. Any thread. */
uint64_t access_log_dropped(const struct access_log *);
/* Write what waits, for a few seconds at most, and end the thread. No worker may add lines any more. */
void access_log_close(struct access_log *);

/* A worker's own: lines that have not been handed over. Zero-initialised with log NULL: off. */
struct access_lines {
    struct access_log *log;
    struct buf text;
    uint64_t n;
    uint64_t lost; /* lines for which there was no memory */
};

void access_lines_add(struct access_lines *, const struct access_entry *);
/* Hand them over. A lock that is held for no longer than copying takes. */
void access_lines_send(struct access_lines *);
void access_lines_release(struct access_lines *);

#endif
