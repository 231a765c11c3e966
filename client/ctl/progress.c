/* client/ctl/progress.c - see progress.h. */
#include "client/ctl/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

enum { SHOW_MS = 200 };

void progress_begin(struct progress *p, const char *unit, bool quiet)
{
    int64_t now_ms = clock_mono_ms();
    *p = (struct progress){.off = quiet || !isatty(STDERR_FILENO),
                           .begin_ms = now_ms,
                           .next_ms = now_ms + SHOW_MS,
                           .unit = unit};
}

static void show(struct progress *p, uint64_t done, int64_t now_ms)
{
    double seconds = (double)(now_ms - p->begin_ms) / 1e3;
    fprintf(stderr, "\r\033[K%llu", (unsigned long long)done);
    if (p->whole)
        fprintf(stderr, " of %llu", (unsigned long long)p->whole);
    fprintf(stderr, " %s, %.0f/s", p->unit, (double)done / seconds);
    p->shown = true;
}

void progress_tell(struct progress *p, uint64_t done)
{
    if (p->off)
        return;
    int64_t now_ms = clock_coarse_ms();
    if (now_ms < p->next_ms)
        return;
    p->next_ms = now_ms + SHOW_MS;
    show(p, done, now_ms);
}

void progress_say(struct progress *p, const char *text)
{
    if (p->off)
        return;
    fprintf(stderr, "\r\033[K%s", text);
    p->shown = true;
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
    p->shown = false;
}
