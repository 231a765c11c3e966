/* server/handlers/metrics.c - GET /metrics: collected and printed by a helper, and given however much waits for slow
 * clients: then it is most wanted. So it is a stream, which no budget refuses. */
#include <stddef.h>

#include "server/catalog.h"
#include "server/handlers/handlers.h"
#include "server/handlers/reply.h"
#include "server/metrics.h"
#include "server/server.h"

/* In the request's arena. */
struct metrics_answer {
    struct buf text; /* owned */
    size_t sent;
    uint64_t counted; /* in the budget of waiting answers */
    bool ok;          /* else memory is out */
};

static void print(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct metrics_answer *a = req->state;
    a->ok = metrics_print(req->worker->server, req->hold, &a->text);
}

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    struct metrics_answer *a = req->state;
    size_t left = a->text.len - a->sent, n = left < room ? left : room;
    if (!buf_append(out, slice_of(a->text.ptr + a->sent, n)))
        return RC_ERR;
    a->sent += n;
    return n == left ? RC_OK : RC_PENDING;
}

static void end(struct request *req)
{
    struct metrics_answer *a = req->state;
    buf_release(&a->text);
    answer_memory_give(req->worker, a->counted);
}

static void printed(struct job *job)
{
    static const struct stream stream = {.more = more, .end = end};
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct metrics_answer *a = req->state;
    if (!a->ok) {
        buf_release(&a->text);
        reply_no_memory(req);
        return;
    }
    a->counted = a->text.cap;
    answer_memory_take_always(req->worker, a->counted);
    req->response.status = 200;
    req->response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    req->response.stream = &stream;
    req->response.stream_bytes = a->text.len;
    answer(req);
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
