/* server/helpers.c - two queues under a mutex, and the threads that empty them. */
#include "server/helpers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "server/handler.h"

struct helper {
    struct helpers *all;
    struct store_worker *store; /* or NULL */
    pthread_t thread;
};

struct queue {
    struct job *first, *last;
};

struct helpers {
    pthread_mutex_t lock;
    pthread_cond_t more; /* a job came or may be taken now, or the end */
    struct queue prompt, bulk;
    unsigned njobs;                /* that wait */
    unsigned at_bulk, at_bulk_max; /* threads */
    uint64_t taken;
    bool ending;
    void (*finished)(struct job *);
    unsigned n; /* that have started */
    struct helper helper[];
};

/* ---- the queues, under the lock ---- */

static void queue_add(struct queue *q, struct job *job)
{
    job->next = NULL;
    if (q->first)
        q->last->next = job;
    else
        q->first = job;
    q->last = job;
}

/* The queue from which a job may be taken now, or NULL. */
static struct queue *queue_due(struct helpers *h)
{
    if (h->prompt.first)
        return &h->prompt;
    return h->bulk.first && h->at_bulk < h->at_bulk_max ? &h->bulk : NULL;
}

static struct job *queue_take(struct helpers *h, struct queue *q)
{
    struct job *job = q->first;
    q->first = job->next;
    h->njobs--;
    h->taken++;
    h->at_bulk += job->is_bulk;
    return job;
}

/* ---- the threads ---- */

/* NULL: the end. */
static struct job *next_job(struct helpers *h)
{
    struct queue *q;
    pthread_mutex_lock(&h->lock);
    while (!(q = queue_due(h)) && !(h->ending && !h->njobs))
        pthread_cond_wait(&h->more, &h->lock);
    struct job *job = q ? queue_take(h, q) : NULL;
    pthread_mutex_unlock(&h->lock);
    return job;
}

/* Who was kept from it may go on. */
static void bulk_is_over(struct helpers *h)
{
    pthread_mutex_lock(&h->lock);
    h->at_bulk--;
    pthread_cond_broadcast(&h->more);
    pthread_mutex_unlock(&h->lock);
}

static void *helper_main(void *arg)
{
    struct helper *self = arg;
    struct job *job;
    thread_name("avrod-helper");
    while ((job = next_job(self->all))) {
        bool is_bulk = job->is_bulk; /* once it is finished it may be gone */
        job->store = self->store;
        job->run(job);
        if (self->store)
            store_turn_end(self->store);
        self->all->finished(job);
        if (is_bulk)
            bulk_is_over(self->all);
    }
    return NULL;
}

static enum rc start(struct helpers *h, struct store *store, struct err *err)
{
    struct helper *self = &h->helper[h->n];
    self->all = h;
    if (store && store_worker_new(&self->store, store, NULL, err) != RC_OK)
        return RC_ERR;
    int error = pthread_create(&self->thread, NULL, helper_main, self);
    if (error) {
        store_worker_free(self->store);
        return err_set(err, ERR_NO_MEMORY, "A helper thread cannot be started: %s.", strerror(error));
    }
    h->n++;
    return RC_OK;
}

enum rc helpers_new(struct helpers **out, unsigned threads, struct store *store,
                    void (*finished)(struct job *), struct err *err)
{
    struct helpers *h = calloc(1, sizeof *h + threads * sizeof h->helper[0]);
    if (!h)
        return err_oom(err);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->more, NULL);
    h->finished = finished;
    h->at_bulk_max = threads > 1 ? threads - 1 : 1;
    while (h->n < threads) {
        if (start(h, store, err) != RC_OK) {
            helpers_free(h);
            return RC_ERR;
        }
    }
    *out = h;
    return RC_OK;
}

bool helpers_submit(struct helpers *h, struct job *job, unsigned jobs_max)
{
    pthread_mutex_lock(&h->lock);
    assert(!h->ending);
    bool ok = h->njobs < jobs_max;
    if (ok) {
        queue_add(job->is_bulk ? &h->bulk : &h->prompt, job);
        h->njobs++;
        pthread_cond_signal(&h->more);
    }
    pthread_mutex_unlock(&h->lock);
    return ok;
}

void helpers_stats(struct helpers *h, uint64_t *waiting, uint64_t *taken)
{
    pthread_mutex_lock(&h->lock);
    *waiting = h->njobs;
    *taken = h->taken;
    pthread_mutex_unlock(&h->lock);
}

void helpers_free(struct helpers *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->ending = true;
    pthread_cond_broadcast(&h->more);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; i < h->n; i++) {
        pthread_join(h->helper[i].thread, NULL);
        store_worker_free(h->helper[i].store);
    }
    pthread_cond_destroy(&h->more);
    pthread_mutex_destroy(&h->lock);
    free(h);
}
