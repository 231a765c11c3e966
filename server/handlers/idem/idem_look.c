/* server/handlers/idem/idem_look.c - refusals of requests with an idempotency key. That a request cannot be done (the type is gone, the
 * condition fails) may be because it has been done: before that is answered, the writer is asked whether it has. */
#include <stddef.h>

#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/params.h"
#include "server/timing.h"

/* In the request's arena. */
struct idem_looking {
    struct response refusal;
    void (*next)(struct request *); /* if it was not done before */
};

static void answer_refusal(struct request *req)
{
    req->response = req->looking->refusal;
    answer(req);
}

/* May it be refused for having been done? Some refusals no request that was done can meet. */
static bool may_be_wrong(const struct request *req, const struct err *err)
{
    unsigned status = err_status(err->code);
    bool is_dry;
    struct err ignored;
    return status >= 400 && status < 500 && err->code != ERR_BODY_TOO_LARGE &&
           err->code != ERR_NOT_ACCEPTABLE && err->code != ERR_IDEMPOTENCY_MISMATCH &&
           !params_find(req, PARAM_benchmark_only) &&
           params_flag(req, PARAM_dry_run, &is_dry, &ignored) == RC_OK && !is_dry;
}

/* ---- asking the writer ---- */

/* It does nothing, and so nothing is remembered. */
static enum rc do_nothing(struct store_write *w, struct store_txn *txn, struct err *err)
{
    (void)w, (void)txn, (void)err;
    return RC_NOTFOUND;
}

static void looked(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    timing_lap_write(req, w);
    req->look = LOOK_DONE;
    bool is_readable = w->rc == RC_OK && w->idem->first_len && w->idem->first[0] != IDEM_NOTE_BITS;
    if (is_readable && w->idem->first[0] == IDEM_NOTE_WHOLE) {
        idem_answer_once_visible(req, w);
    } else if (is_readable) {
        idem_answer(req, w);
    } else if (w->rc == RC_ERR) {
        struct err err = w->err;
        response_reset(req);
        answer_err(req, &err);
    } else {
        req->looking->next(req);
    }
}

static void ask(struct request *req)
{
    struct err err;
    req->look = LOOK_DONE;
    reply_write_init(&req->write, WRITE_CALL, looked);
    req->write.key = (struct store_key){0};
    req->write.call = do_nothing;
    if (idem_attach(req, &req->write, IDEM_TELLS_TAG, &err) != RC_OK) {
        if (err.code == ERR_BAD_REQUEST) /* there is no such key, and nothing under it */
            req->looking->next(req);
        else
            answer_err(req, &err);
    } else if (store_write(req->worker->store, &req->write, &err) == RC_ERR) {
        answer_err(req, &err);
    }
}

static struct idem_looking *looking_new(struct request *req, void (*next)(struct request *))
{
    struct idem_looking *l = arena_calloc(&req->arena, 1, sizeof *l);
    if (!l)
        return NULL;
    l->next = next;
    req->looking = l;
    return l;
}

/* ---- keeping refusals ---- */

COLD bool idem_keep(struct request *req, const struct err *err)
{
    bool is_now = req->look == LOOK_NOW;
    if ((!is_now && req->look != LOOK_BEHIND_BODY) || !may_be_wrong(req, err))
        return false;
    struct idem_looking *l = looking_new(req, answer_refusal);
    struct slice body = req->response.body;
    if (!l || !arena_copy(&req->arena, body, &req->response.body)) {
        req->look = LOOK_DONE;
        response_reset(req);
        reply_no_memory(req);
        return true;
    }
    l->refusal = req->response;
    req->look = LOOK_KEPT;
    response_reset(req);
    if (is_now)
        ask(req);
    return true;
}

COLD void idem_look(struct request *req)
{
    ask(req);
}

COLD bool idem_look_first(struct request *req, void (*next)(struct request *))
{
    if (req->look != LOOK_NOW)
        return false;
    if (looking_new(req, next))
        ask(req);
    else
        reply_no_memory(req);
    return true;
}
