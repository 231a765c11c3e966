/* server/handlers/metrics.c - GET /metrics: collected and printed by a helper, and given however much waits for slow
 * clients: then it is most wanted. So it is a stream, which no budget refuses. */
#include <stddef.h>

#include "server/catalog.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/long_text.h"
#include "server/handlers/reply.h"
#include "server/metrics.h"
#include "server/server.h"

/* In the request's arena. */
struct metrics_answer {
    struct long_text text;
    bool ok; /* else memory is out */
};

static void print(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct metrics_answer *a = req->state;
    a->ok = metrics_print(req->worker->server, req->hold, &a->text.text);
}

static void printed(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct metrics_answer *a = req->state;
    if (!a->ok) {
        long_text_release(&a->text, req->worker);
        reply_no_memory(req);
        return;
    }
    req->response.headers = SLICE("Vary: Accept-Encoding\r\n");
    long_text_count_always(&a->text, req->worker);
    long_text_answer(req, &a->text, "text/plain; version=0.0.4; charset=utf-8");
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
