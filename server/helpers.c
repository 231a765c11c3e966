/* server/helpers.c - a queue under a mutex, and the threads that empty it. */
#include "server/helpers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/handler.h"

struct helpers {
    pthread_mutex_t lock;
    pthread_cond_t more; /* a job came, or the end */
    struct job *first, *last;
    bool ending;
    void (*finished)(struct job *);
    unsigned nthreads;
    pthread_t threads[];
};

/* NULL: the end. */
static struct job *next_job(struct helpers *h)
{
    pthread_mutex_lock(&h->lock);
    while (!h->first && !h->ending)
        pthread_cond_wait(&h->more, &h->lock);
    struct job *job = h->first;
    if (job)
        h->first = job->next;
    pthread_mutex_unlock(&h->lock);
    return job;
}

static void *helper_main(void *arg)
{
    struct helpers *h = arg;
    struct job *job;
    while ((job = next_job(h))) {
        job->run(job);
        h->finished(job);
    }
    return NULL;
}

enum rc helpers_new(struct helpers **out, unsigned threads, void (*finished)(struct job *), struct err *err)
{
    struct helpers *h = calloc(1, sizeof *h + threads * sizeof h->threads[0]);
    if (!h)
        return err_oom(err);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->more, NULL);
    h->finished = finished;
    for (; h->nthreads < threads; h->nthreads++) {
        int error = pthread_create(&h->threads[h->nthreads], NULL, helper_main, h);
        if (error) {
            helpers_free(h);
            return err_set(err, ERR_NO_MEMORY, "A helper thread cannot be started: %s.", strerror(error));
        }
    }
    *out = h;
    return RC_OK;
}

void helpers_submit(struct helpers *h, struct job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&h->lock);
    assert(!h->ending);
    if (h->first)
        h->last->next = job;
    else
        h->first = job;
    h->last = job;
    pthread_cond_signal(&h->more);
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
    for (unsigned i = 0; i < h->nthreads; i++)
        pthread_join(h->threads[i], NULL);
    pthread_cond_destroy(&h->more);
    pthread_mutex_destroy(&h->lock);
    free(h);
}
