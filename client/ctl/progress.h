/* client/ctl/progress.h - a line on the terminal that tells how far something long has come. */
#ifndef CLIENT_CTL_PROGRESS_H
#define CLIENT_CTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Shown on standard error, if that is a terminal, a few times a second. */
struct progress {
    bool shown; /* something stands there */
    bool off;
    int64_t begin_ms, next_ms;
    const char *unit;
    uint64_t whole; /* how many there are; 0: not known */
};

void progress_begin(struct progress *, const char *unit, bool quiet);
void progress_tell(struct progress *, uint64_t done);
/* A text in place of a number. */
void progress_say(struct progress *, const char *text);
/* Take it away. */
void progress_end(struct progress *);

#endif
