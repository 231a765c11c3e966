/* server/handlers/metrics.c - GET /metrics: collected and printed by a helper. */
#include <stddef.h>

#include "server/catalog.h"
#include "server/handlers/handlers.h"
#include "server/handlers/reply.h"
#include "server/metrics.h"
#include "server/server.h"

/* In the request's arena. */
struct metrics_answer {
    struct buf text; /* owned */
    bool ok;         /* else memory is out */
};

static void print(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct metrics_answer *a = req->state;
    a->ok = metrics_print(req->worker->server, req->hold, &a->text);
}

static void printed(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct metrics_answer *a = req->state;
    struct buf *scratch = &req->worker->scratch;
    if (!a->ok) {
        buf_release(&a->text);
        reply_no_memory(req);
        return;
    }
    buf_release(scratch);
    *scratch = a->text;
    req->response.status = 200;
    req->response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    req->response.body = buf_slice(scratch);
    answer(req);
    reply_scratch_done(req->worker);
}

void metrics_handle(struct request *req)
{
    struct metrics_answer *a = arena_calloc(&req->arena, 1, sizeof *a);
    if (!a || !catalog_enter(req)) {
        reply_no_memory(req);
        return;
    }
    req->state = a;
    req->job = (struct job){.run = print, .done = printed};
    worker_offload_always(req->worker, &req->job); /* most wanted when much waits */
}
