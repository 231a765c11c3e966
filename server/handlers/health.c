/* server/handlers/health.c - is it there, is it well, does it want requests. */
#include "server/handlers/handlers.h"
#include "server/server.h"

void ping_handle(struct request *req)
{
    answer_text(req, 200, SLICE("pong"));
}

void healthz_handle(struct request *req)
{
    if (!store_broken(req->worker->server->store)) {
        answer_text(req, 200, SLICE("ok\n"));
        return;
    }
    struct err err;
    err_set(&err, ERR_STORE_BROKEN,
            "A flush has failed; writes are refused until the server is started again.");
    answer_err(req, &err);
}

void readyz_handle(struct request *req)
{
    if (!atomic_load_explicit(&req->worker->server->draining, memory_order_relaxed)) {
        answer_text(req, 200, SLICE("ready\n"));
        return;
    }
    struct err err;
    err_set(&err, ERR_DRAINING, "The server is shutting down.");
    answer_err(req, &err);
}
