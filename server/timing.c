/* server/timing.c - see timing.h. */
#include "server/timing.h"

#include <stdio.h>

#include "base/clock.h"
#include "server/params.h"
#include "server/words.h"

static const char *const stage_names[STAGES] = {
#define STAGE(name, what) #name,
#include "server/stages.def"
#undef STAGE
};

enum rc timing_begin(struct request *req, struct err *err)
{
    const struct slice *value = params_find(req, PARAM_timing);
    if (likely(!value))
        return RC_OK;
    if (!slice_eq(*value, SLICE("1"))) {
        struct words words;
        return err_set(err, ERR_BAD_PARAMETER, "timing is 1 or left out, not '%s'.",
                       words_of(*value, &words));
    }
    req->timing = arena_calloc(&req->arena, 1, sizeof *req->timing);
    if (!req->timing)
        return err_oom(err);
    req->timing->mark_ns = req->begun_ns;
    return RC_OK;
}

void timing_mark_now(struct timing *t)
{
    t->mark_ns = clock_mono_ns();
}

static void add(struct timing *t, enum stage stage, uint64_t ns)
{
    t->ns[stage] += ns;
    t->ran |= 1u << stage;
}

/* Since the mark, which moves on. */
static uint64_t lap(struct timing *t)
{
    int64_t before = t->mark_ns;
    t->mark_ns = clock_mono_ns();
    return (uint64_t)(t->mark_ns - before);
}

void timing_lap_now(struct timing *t, enum stage stage)
{
    add(t, stage, lap(t));
}

void timing_lap_write_now(struct timing *t, const struct store_write *write)
{
    uint64_t all = lap(t), commit = write->commit_ns < all ? write->commit_ns : all;
    add(t, STAGE_store, all - commit);
    if (commit)
        add(t, STAGE_commit, commit);
}

void timing_show_now(struct request *req)
{
    const struct timing *t = req->timing;
    char text[STAGES * 48];
    size_t n = 0;
    req->timing = NULL; /* told once */
    for (unsigned i = 0; i < STAGES; i++) {
        if (!(t->ran & 1u << i))
            continue;
        uint64_t us = (t->ns[i] + 500) / 1000;
        int more = snprintf(text + n, sizeof text - n, "%s%s;dur=%llu.%03u", n ? ", " : "", stage_names[i],
                            (unsigned long long)(us / 1000), (unsigned)(us % 1000));
        if (more < 0 || (size_t)more >= sizeof text - n)
            return;
        n += (size_t)more;
    }
    if (n && !response_header(req, "Server-Timing", slice_of(text, n)))
        return; /* memory is out: the answer goes without it */
}
