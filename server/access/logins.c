/* server/access/logins.c - see logins.h.
 *
 * A verification belongs to the first request that came with a login, its leader, and is that request's job. Others that come with the same
 * login meanwhile join it. One helper at a time verifies (LIMIT_VERIFICATIONS_RUN_MAX), or guessing would take them all; what does not fit
 * waits in a list, from which the leader of the one before takes it. All under one lock, which nobody holds for long. */
#include "server/access/logins.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/secret.h"
#include "server/access/failed_logins.h"
#include "server/access/password_hash.h"
#include "server/access/remembered.h"
#include "server/counts.h"
#include "server/server.h"

struct verification {
    struct verification *next; /* that waits */
    struct login *leader;      /* NULL: free */
    struct login *joined;      /* a list */
    uint8_t digest[SHA256_BYTES];
    char password[PASSWORD_MAX + 1];
};

struct logins {
    pthread_mutex_t lock;
    struct remembered *remembered;
    struct failed_logins *failed;
    struct verification *first, *last; /* that wait for a helper */
    unsigned running;
    struct verification verification[LIMIT_VERIFICATIONS_MAX];
};

enum rc logins_new(struct logins **out, struct err *err)
{
    struct logins *l = calloc(1, sizeof *l);
    if (!l)
        return err_oom(err);
    pthread_mutex_init(&l->lock, NULL);
    if (remembered_new(&l->remembered, err) != RC_OK || failed_logins_new(&l->failed, err) != RC_OK) {
        logins_free(l);
        return RC_ERR;
    }
    *out = l;
    return RC_OK;
}

void logins_free(struct logins *l)
{
    if (!l)
        return;
    remembered_free(l->remembered);
    failed_logins_free(l->failed);
    pthread_mutex_destroy(&l->lock);
    secret_wipe(l->verification, sizeof l->verification);
    free(l);
}

unsigned logins_verifying(struct logins *l)
{
    unsigned n = 0;
    pthread_mutex_lock(&l->lock);
    for (unsigned i = 0; i < LIMIT_VERIFICATIONS_MAX; i++)
        n += l->verification[i].leader != NULL;
    pthread_mutex_unlock(&l->lock);
    return n;
}

/* ---- outcomes ---- */

static enum rc wrong(struct err *err)
{
    return err_set(err, ERR_UNAUTHORIZED, "The user's name or the password is wrong.");
}

static COLD enum rc slowed(struct login *login, uint64_t wait_ms, const char *sentence, struct err *err)
{
    login->retry_after_s = (unsigned)((wait_ms + 999) / 1000);
    count(login->req->worker->counts, COUNT_logins_slowed, 1);
    return err_set(err, ERR_LOGINS_SLOWED, "%s", sentence);
}

static enum rc too_soon(struct login *login, uint64_t wait_ms, struct err *err)
{
    return slowed(login, wait_ms, "A login from this address has failed; the next one has to wait.", err);
}

/* ---- on the helper ---- */

static void wipe(struct verification *v)
{
    secret_wipe(v->password, sizeof v->password);
    v->leader = v->joined = NULL;
}

/* Under the lock: what becomes of it is known, and it is nobody's any more. Returns those that have joined. */
static struct login *settle(struct logins *l, struct verification *v, enum rc rc)
{
    const struct login *leader = v->leader;
    struct login *joined = v->joined;
    if (rc == RC_OK)
        remembered_add(l->remembered, v->digest);
    if (rc == RC_NOTFOUND)
        failed_logins_wrong(l->failed, leader->address, clock_mono_ms());
    else
        failed_logins_right(l->failed, leader->address);
    wipe(v);
    return joined;
}

static void tell(struct login *login, enum rc rc, const struct err *err)
{
    login->rc = rc;
    if (rc == RC_ERR)
        login->err = *err;
}

static void verify(struct job *job)
{
    struct login *leader = CONTAINER_OF(job, struct request, job)->state;
    struct verification *v = leader->verification;
    struct logins *l = leader->logins;
    struct err err;
    enum rc rc = password_hash_verify((const char *)leader->user->hash.ptr, v->password, &err);
    if (rc == RC_OK && leader->is_nobody)
        rc = RC_NOTFOUND;
    pthread_mutex_lock(&l->lock);
    struct login *joined = settle(l, v, rc);
    pthread_mutex_unlock(&l->lock);
    tell(leader, rc, &err);
    while (joined) { /* once it is told it may be gone */
        struct login *login = joined;
        joined = login->next;
        tell(login, rc, &err);
        worker_job_done(&login->req->job);
    }
}

/* ---- on a worker again ---- */

static void go_on(struct login *login)
{
    struct counts *counts = login->req->worker->counts;
    struct err err = login->err;
    if (login->rc == RC_NOTFOUND)
        login->rc = wrong(&err);
    if (login->verification && login->rc == RC_OK)
        count(counts, COUNT_logins_right, 1);
    else if (login->verification && err.code == ERR_UNAUTHORIZED)
        count(counts, COUNT_logins_wrong, 1);
    login->then(login, login->rc == RC_OK ? NULL : &err);
}

static void joined_is_done(struct job *job)
{
    go_on(CONTAINER_OF(job, struct request, job)->state);
}

/* Under the lock: the next of those that wait has the helper's place. */
static void run_next(struct logins *l)
{
    struct verification *v = l->first;
    l->running--;
    if (!v)
        return;
    l->first = v->next;
    l->running++;
    worker_offload_always(v->leader->req->worker, &v->leader->req->job);
}

static void leader_is_done(struct job *job)
{
    struct login *leader = CONTAINER_OF(job, struct request, job)->state;
    struct logins *l = leader->logins;
    pthread_mutex_lock(&l->lock);
    run_next(l);
    pthread_mutex_unlock(&l->lock);
    go_on(leader);
}

/* ---- beginning, under the lock ---- */

static void set_job(struct login *login, void (*done)(struct job *))
{
    struct request *req = login->req;
    req->state = login;
    req->job = (struct job){.worker = req->worker, .is_bulk = true, .run = verify, .done = done};
}

static bool join(struct logins *l, struct login *login, const uint8_t digest[SHA256_BYTES])
{
    for (unsigned i = 0; i < LIMIT_VERIFICATIONS_MAX; i++) {
        struct verification *v = &l->verification[i];
        if (!v->leader || !secret_eq(v->digest, digest, SHA256_BYTES))
            continue;
        set_job(login, joined_is_done);
        login->next = v->joined;
        v->joined = login;
        return true;
    }
    return false;
}

/* A free one; NULL: there is none. *of_address: how many are under way from there. */
static struct verification *find_free(struct logins *l, uint64_t address, unsigned *of_address)
{
    struct verification *found = NULL;
    *of_address = 0;
    for (unsigned i = 0; i < LIMIT_VERIFICATIONS_MAX; i++) {
        struct verification *v = &l->verification[i];
        if (!v->leader)
            found = v;
        else
            *of_address += v->leader->address == address;
    }
    return found;
}

static void wait_in_line(struct logins *l, struct verification *v)
{
    if (l->first)
        l->last->next = v;
    else
        l->first = v;
    l->last = v;
}

static enum rc run_or_wait(struct logins *l, struct verification *v, struct err *err)
{
    struct request *req = v->leader->req;
    if (l->running == LIMIT_VERIFICATIONS_RUN_MAX) {
        wait_in_line(l, v);
        return RC_PENDING;
    }
    if (worker_offload(req->worker, &req->job, err) != RC_PENDING)
        return RC_ERR;
    l->running++;
    return RC_PENDING;
}

static enum rc begin(struct logins *l, struct login *login, const uint8_t digest[SHA256_BYTES],
                     struct err *err)
{
    int64_t now_ms = clock_mono_ms();
    uint64_t wait_ms = failed_logins_wait_ms(l->failed, login->address, now_ms);
    unsigned of_address;
    if (wait_ms)
        return too_soon(login, wait_ms, err);
    struct verification *v = find_free(l, login->address, &of_address);
    if (of_address >= LIMIT_VERIFICATIONS_OF_ADDRESS_MAX)
        return slowed(login, 1000, "Too many logins from this address wait to be looked at.", err);
    if (!v)
        return err_set(err, ERR_HELPERS_BUSY, "Too many logins wait to be looked at; try again.");
    *v = (struct verification){.leader = login};
    memcpy(v->digest, digest, SHA256_BYTES);
    memcpy(v->password, login->password.ptr, login->password.len); /* it is shorter, and a NUL is behind it */
    login->verification = v;
    set_job(login, leader_is_done);
    enum rc rc = run_or_wait(l, v, err);
    if (rc == RC_PENDING)
        failed_logins_try(l->failed, login->address, now_ms);
    else
        wipe(v);
    return rc;
}

enum rc logins_check(struct logins *l, struct login *login, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    enum rc rc = RC_PENDING;
    assert(login->password.len <= PASSWORD_MAX);
    login->logins = l;
    /* Of nobody there is no hash, whosever takes part in looking at the password. */
    struct slice hash = login->is_nobody ? (struct slice){0} : login->user->hash;
    remembered_digest(l->remembered, hash, login->name, login->password, digest);
    pthread_mutex_lock(&l->lock);
    if (remembered_has(l->remembered, digest))
        rc = RC_OK;
    else if (!join(l, login, digest))
        rc = begin(l, login, digest, err);
    pthread_mutex_unlock(&l->lock);
    return rc;
}

enum rc logins_wrong(struct logins *l, struct login *login, const char *sentence, struct err *err)
{
    int64_t now_ms = clock_mono_ms();
    pthread_mutex_lock(&l->lock);
    uint64_t wait_ms = failed_logins_wait_ms(l->failed, login->address, now_ms);
    if (!wait_ms)
        failed_logins_wrong(l->failed, login->address, now_ms);
    pthread_mutex_unlock(&l->lock);
    if (wait_ms)
        return too_soon(login, wait_ms, err);
    count(login->req->worker->counts, COUNT_logins_wrong, 1);
    return err_set(err, ERR_UNAUTHORIZED, "%s", sentence);
}
