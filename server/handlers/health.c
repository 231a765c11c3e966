/* server/handlers/health.c - is it there, is it well, does it want requests. */
#include "server/access/access.h"
#include "server/handlers/handlers.h"
#include "server/server.h"

void ping_handle(struct request *req)
{
    answer_text(req, 200, SLICE("pong"));
}

static enum rc check_health(const struct request *req, struct err *err)
{
    if (likely(!store_broken(req->worker->server->store)))
        return RC_OK;
    return err_set(err, ERR_STORE_BROKEN,
                   "A flush has failed; writes are refused until the server is started again.");
}

void healthz_handle(struct request *req)
{
    struct err err;
    if (check_health(req, &err) == RC_OK)
        answer_text(req, 200, SLICE("ok\n"));
    else
        answer_err(req, &err);
}

/* Load balancers ask so, on any path. What they send is not sent back (RFC 9110, 9.3.8, would have it): it may hold secrets. */
COLD void trace_handle(struct request *req)
{
    struct err err;
    if (access_check(req, ROLE_HEALTH, (struct slice){0}, &err) != RC_OK ||
        check_health(req, &err) != RC_OK) {
        answer_err(req, &err);
        return;
    }
    req->response.status = 200;
    answer(req);
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
