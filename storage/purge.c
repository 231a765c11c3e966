/* storage/purge.c - one step: each sweep in turn until the step is full; and when the next one is due. */
#include "storage/purge.h"

#include "base/clock.h"
#include "base/log.h"
#include "storage/sweep.h"

enum {
    RETRY_MS = 1000,            /* after a step that failed */
    PRESSED_MS = 10,            /* between two looks while room is short and somebody reads */
    BLOBS_SHARE = 32,           /* between two looks passes this part of the time that a dead blob stays */
    EXPIRED_MS = 1000,          /* between two looks, so that many times in a row are not a step each */
    EXPIRED_AWAY_MS = 60 * 1000 /* a longer wait is cut into such: the clock may be set */
};

static enum rc (*const sweep_run[SWEEP_KINDS])(struct sweep *) = {
    [SWEEP_TYPES] = sweep_types, [SWEEP_BLOBS] = sweep_blobs, [SWEEP_EXPIRED] = sweep_expired,
    [SWEEP_INDEX] = sweep_index, [SWEEP_EVICT] = sweep_evict,
};

static const struct sweep_state sweep_begin = {.next_ms = INT64_MAX};

static void pass_begin(struct purge_pass *pass)
{
    *pass = (struct purge_pass){.ended = false};
    for (unsigned i = 0; i < SWEEP_KINDS; i++)
        pass->sweep[i] = sweep_begin;
}

void purge_init(struct purge *p)
{
    *p = (struct purge){.op = {.kind = WRITE_PURGE}, .noted_ms = INT64_MAX};
    pass_begin(&p->pass);
}

/* ---- a step ---- */

enum rc purge_decide(struct decider *d, struct purge *p)
{
    struct sweep s = {.d = d, .err = &p->op.err, .why = p->next.why};
    bool over[SWEEP_KINDS];
    p->next = p->pass;
    p->next.ended = true;
    p->op.count = 0;
    p->evicted = 0;
    for (unsigned i = 0; i < SWEEP_KINDS; i++) {
        unsigned kind = (p->first + i) % SWEEP_KINDS;
        s.state = &p->next.sweep[kind];
        s.looks = 0;
        s.expired = s.evicted = 0;
        enum rc rc = sweep_run[kind](&s);
        if (rc == RC_ERR)
            return rc;
        over[kind] = rc == RC_OK;
        p->op.count += s.expired;
        p->evicted += s.evicted;
        p->next.ended &= over[kind];
    }
    /* While one goes on, those that are through look anew: what dies meanwhile does not wait for it. */
    for (unsigned kind = 0; kind < SWEEP_KINDS && !p->next.ended; kind++)
        if (over[kind])
            p->next.sweep[kind] = sweep_begin;
    return RC_OK;
}

/* ---- when ---- */

static void due_at(struct purge *p, int64_t mono_ms)
{
    if (mono_ms < p->due_ms)
        p->due_ms = mono_ms;
}

static int64_t expired_wait_ms(int64_t time_ms)
{
    int64_t wait = time_ms - clock_wall_ms();
    return wait < EXPIRED_MS ? EXPIRED_MS : wait > EXPIRED_AWAY_MS ? EXPIRED_AWAY_MS : wait;
}

static int64_t blobs_wait_ms(const struct decider *d, int64_t time_ms)
{
    int64_t wait = time_ms - trash_clock_ms(d), least = d->blob_keep_ms / BLOBS_SHARE;
    return wait > least ? wait : least;
}

static void pass_ended(struct purge *p, const struct decider *d, int64_t now)
{
    unsigned set_aside = 0;
    for (unsigned i = 0; i < SWEEP_KINDS; i++)
        set_aside += p->pass.sweep[i].set_aside;
    if (set_aside > p->set_aside)
        log_warn("the purge leaves %u damaged rows where they are: %s", set_aside, p->pass.why);
    p->set_aside = set_aside;
    int64_t blobs = p->pass.sweep[SWEEP_BLOBS].next_ms, expired = p->pass.sweep[SWEEP_EXPIRED].next_ms;
    if (blobs != INT64_MAX)
        due_at(p, now + (purge_is_pressed(p, now) ? PRESSED_MS : blobs_wait_ms(d, blobs)));
    if (expired != INT64_MAX)
        due_at(p, now + expired_wait_ms(expired));
    due_at(p, p->noted_ms);
    p->noted_ms = INT64_MAX;
    pass_begin(&p->pass);
}

static void note_outcome(struct purge *p)
{
    bool failed = p->op.rc != RC_OK;
    if (failed && !p->failing)
        log_warn("a step of the purge failed, and is tried again: %s", p->op.err.message);
    if (!failed && p->failing)
        log_info("the purge goes on");
    p->failing = failed;
}

void purge_stepped(struct purge *p, const struct decider *d)
{
    int64_t now = clock_mono_ms();
    p->first = (p->first + 1) % SWEEP_KINDS;
    note_outcome(p);
    if (p->op.rc != RC_OK) {
        due_at(p, now + RETRY_MS);
        return;
    }
    p->pass = p->next;
    if (p->pass.ended)
        pass_ended(p, d, now);
    else
        due_at(p, now);
}

bool purge_is_pressed(const struct purge *p, int64_t now_mono_ms)
{
    return now_mono_ms < p->pressed_ms;
}

static void note(struct purge *p, int64_t mono_ms)
{
    if (mono_ms < p->noted_ms)
        p->noted_ms = mono_ms;
    due_at(p, mono_ms);
}

void purge_wake(struct purge *p)
{
    note(p, clock_mono_ms());
}

void purge_note(struct purge *p, const struct decider *d)
{
    int64_t now = clock_mono_ms();
    if (d->dropped || d->crowded)
        note(p, now);
    if (d->trashed)
        note(p, now + (purge_is_pressed(p, now) ? 0 : d->blob_keep_ms));
    if (d->expires_ms)
        note(p, now + expired_wait_ms(d->expires_ms));
}

void purge_press(struct purge *p, const struct decider *d)
{
    int64_t now = clock_mono_ms();
    if (!purge_is_pressed(p, now))
        note(p, now);
    p->pressed_ms = now + d->blob_keep_ms;
}
