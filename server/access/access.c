/* server/access/access.c - the tables of who is who, and how they are replaced while workers use them. A worker holds the newest tables
 * by a hold of its own, and counts in it those of its requests that have begun with them: requests share no counter with other workers. */
#include "server/access/access.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "server/access/control.h"
#include "server/http/edge.h"
#include "server/server.h"

struct access_control {
    const struct options *options;
    struct logins *logins;
    pthread_mutex_t lock;            /* of references to tables */
    _Atomic(struct tables *) newest; /* one reference; changed under the lock */
    uint64_t generations;            /* main thread */
    _Atomic uint32_t address_connections;
    unsigned nworkers;
    struct hold *hold[]; /* each its worker's; NULL: it has begun none yet */
};

static bool is_asked_for(const struct options *o)
{
    return o->passwords || o->tokens || o->access || o->tls_client_ca;
}

/* ---- references ---- */

static void tables_unref(struct access_control *a, struct tables *t)
{
    pthread_mutex_lock(&a->lock);
    bool is_last = --t->refs == 0;
    pthread_mutex_unlock(&a->lock);
    if (is_last)
        tables_free(t);
}

static void hold_free(struct access_control *a, struct hold *h)
{
    if (!h)
        return;
    tables_unref(a, h->tables);
    free(h);
}

/* In place of what the worker has; NULL: memory is out. */
static COLD struct hold *hold_renew(struct access_control *a, struct hold **own)
{
    struct hold *old = *own, *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    pthread_mutex_lock(&a->lock);
    h->tables = atomic_load_explicit(&a->newest, memory_order_relaxed);
    h->tables->refs++;
    pthread_mutex_unlock(&a->lock);
    *own = h;
    if (old && old->requests)
        old->is_old = true;
    else
        hold_free(a, old);
    return h;
}

bool access_begin(struct request *req)
{
    struct access_control *a = req->worker->server->access;
    assert(req->worker->index < a->nworkers);
    struct hold **own = &a->hold[req->worker->index], *h = *own;
    if (unlikely(!h || h->tables != atomic_load_explicit(&a->newest, memory_order_acquire)))
        h = hold_renew(a, own);
    if (unlikely(!h))
        return false;
    h->requests++;
    req->access = h;
    return true;
}

void access_end(struct request *req)
{
    struct hold *h = hold_of(req);
    req->access = NULL;
    if (--h->requests == 0 && unlikely(h->is_old))
        hold_free(req->worker->server->access, h);
}

/* ---- life ---- */

static enum rc load(struct access_control *a, struct tables **out, struct err *err)
{
    const struct tables *old = atomic_load_explicit(&a->newest, memory_order_relaxed);
    if (tables_load(out, a->options, ++a->generations, old, err) != RC_OK)
        return RC_ERR;
    atomic_store_explicit(&a->address_connections, rights_address_connections((*out)->rights),
                          memory_order_relaxed);
    return RC_OK;
}

enum rc access_open(struct access_control **out, const struct options *o, struct err *err)
{
    *out = NULL;
    if (!is_asked_for(o))
        return RC_OK;
    unsigned nworkers = edge_threads(o);
    struct access_control *a = calloc(1, sizeof *a + nworkers * sizeof *a->hold);
    struct tables *tables;
    if (!a)
        return err_oom(err);
    a->options = o;
    a->nworkers = nworkers;
    pthread_mutex_init(&a->lock, NULL);
    if (load(a, &tables, err) != RC_OK) {
        access_free(a);
        return RC_ERR;
    }
    atomic_init(&a->newest, tables);
    if (logins_new(&a->logins, err) != RC_OK) {
        access_free(a);
        return RC_ERR;
    }
    *out = a;
    return RC_OK;
}

enum rc access_check_config(const struct options *o, struct err *err)
{
    struct tables *tables;
    if (!is_asked_for(o))
        return RC_OK;
    if (tables_load(&tables, o, 1, NULL, err) != RC_OK)
        return RC_ERR;
    tables_free(tables);
    return RC_OK;
}

void access_free(struct access_control *a)
{
    if (!a)
        return;
    for (unsigned i = 0; i < a->nworkers; i++)
        hold_free(a, a->hold[i]);
    if (a->newest)
        tables_unref(a, a->newest);
    logins_free(a->logins);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

enum rc access_reload(struct access_control *a, struct err *err)
{
    struct tables *tables;
    if (load(a, &tables, err) != RC_OK)
        return RC_ERR;
    pthread_mutex_lock(&a->lock);
    struct tables *old = atomic_exchange_explicit(&a->newest, tables, memory_order_acq_rel);
    pthread_mutex_unlock(&a->lock);
    tables_unref(a, old);
    return RC_OK;
}

/* ---- what others ask ---- */

struct logins *access_logins(const struct request *req)
{
    return req->worker->server->access->logins;
}

uint32_t access_address_connections(struct access_control *a)
{
    return atomic_load_explicit(&a->address_connections, memory_order_relaxed);
}

uint64_t access_verifying(struct access_control *a)
{
    return logins_verifying(a->logins);
}
