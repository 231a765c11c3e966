/* server/care/care.c - which action it is, and what all of them share. */
#include "server/care/care.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

enum { PROGRESS_MS = 200 };

bool care_is_asked_for(const struct options *o)
{
    return o->restore || o->compact || o->fsck;
}

int care_run(const struct options *o)
{
    struct err err;
    if (o->fsck)
        return care_fsck(o->fsck, o->json, o->mark_clean);
    enum rc rc = o->restore ? care_restore(o->restore, o->operand, o->accept_dirty, &err)
                            : care_compact(o->compact, o->accept_dirty, &err);
    if (rc == RC_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "avrod: %s\n", err.message);
    return EXIT_FAILURE;
}

/* ---- what they share ---- */

static void tell_fault(void *arg, const char *words)
{
    (void)arg;
    fprintf(stderr, "avrod: %s\n", words);
}

enum rc care_open(struct store_file **out, const char *path, struct err *err)
{
    struct store_pages pages;
    if (store_file_open(out, path, &pages, tell_fault, NULL, err) != RC_OK)
        return RC_ERR;
    if (*out)
        return RC_OK;
    return err_set(err, ERR_STORE_FORMAT, "%s is damaged: %llu faults.", path,
                   (unsigned long long)pages.faults);
}

enum rc care_check_whole(const struct store_summary *s, bool accept_dirty, struct err *err)
{
    if (s->whole || accept_dirty)
        return RC_OK;
    return err_set(err, ERR_STORE_DIRTY,
                   "The store was open in durability `none` when the machine stopped, and may be damaged.");
}

void care_progress_show(struct care_progress *p, uint64_t bytes, uint64_t total)
{
    int64_t now = clock_mono_ms();
    if (now < p->next_ms || !isatty(STDERR_FILENO))
        return;
    p->next_ms = now + PROGRESS_MS;
    p->shown = true;
    if (total)
        fprintf(stderr, "\r%s: %llu of %llu MiB ", p->doing, (unsigned long long)(bytes >> 20),
                (unsigned long long)(total >> 20));
    else
        fprintf(stderr, "\r%s: %llu MiB ", p->doing, (unsigned long long)(bytes >> 20));
}

void care_progress_end(struct care_progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\x1b[K");
    p->shown = false;
}
