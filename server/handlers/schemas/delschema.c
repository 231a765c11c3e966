/* server/handlers/schemas/delschema.c - a type goes, with all its versions and records, unless schemas of others use its. A helper
 * looks who does; the writer's transaction confirms that nobody else has come. */
#include <stddef.h>

#include "server/catalog.h"
#include "server/conditions.h"
#include "server/handlers/handlers.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/registry/in_use.h"
#include "server/server.h"
#include "server/timing.h"

/* In the request's arena; req->state. */
struct delschema {
    struct condition condition;
    uint64_t links; /* as of when it was looked who refers to it */
    enum rc rc;     /* the helper's */
    struct err err;
    uint64_t revision; /* of the drop; 0: it did nothing */
    struct catalog_change change;
    bool was_gone; /* somebody was faster; whoever that was may not have made it visible yet */
};

bool delschema_begin(struct request *req)
{
    struct err err;
    struct delschema *d = arena_calloc(&req->arena, 1, sizeof *d);
    if (!d) {
        reply_no_memory(req);
        return false;
    }
    struct condition *c = &d->condition;
    req->state = d;
    enum rc rc = condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH],
                                    &req->arena, c, &err);
    /* A type's revision tells nothing of the records, which go with it: a condition on it is not offered, and must not
     * be passed over in silence. */
    if (rc == RC_OK && (c->kind == IF_REVISION_IN || c->kind == IF_REVISION_NOT_IN))
        rc = err_set(&err, ERR_BAD_REQUEST, "delschema takes no condition on a revision; only If-Match: *.");
    if (rc == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- the end ---- */

static void dropped(struct request *);

static void dropped_again(struct job *job)
{
    dropped(CONTAINER_OF(job, struct request, job));
}

/* It is out of the store, and refused no more. */
static void dropped(struct request *req)
{
    struct delschema *d = req->state;
    struct catalog *catalog = req->worker->server->catalog;
    struct err err;
    if (catalog_drop(catalog, req->type_name, req->type->number, &err) != RC_OK) {
        reply_later(req, dropped_again);
        return;
    }
    catalog_change_end(catalog, &d->change);
    if (d->was_gone) {
        reply_no_type(req);
        return;
    }
    req->response.etag_revision = d->revision;
    req->response.etag_version = req->type->latest->number;
    reply_ok(req);
}

/* ---- the writer ---- */

static void look_begin(struct request *);

static enum rc decide(struct store_write *write, struct store_txn *txn, struct err *err)
{
    struct request *req = CONTAINER_OF(write, struct request, write);
    const struct delschema *d = req->state;
    enum rc rc = in_use_confirm(txn, d->links, err);
    if (rc == RC_OK)
        rc = txn_type_drop(txn, req->type_name, req->type->number, err);
    const struct idem_whole whole = {
        .revision = txn_revision(txn), .version = req->type->latest->number, .body = SLICE("OK")};
    return rc == RC_OK && write->idem ? idem_note_whole(req, write->idem, &whole, err) : rc;
}

static void decided(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    struct delschema *d = req->state;
    timing_lap_write(req, w);
    if (w->rc == RC_OK && w->replayed) {
        catalog_change_end(req->worker->server->catalog, &d->change);
        idem_answer_once_visible(req, w);
        return;
    }
    if (w->rc == RC_OK || w->rc == RC_NOTFOUND) {
        d->was_gone = w->rc == RC_NOTFOUND;
        d->revision = w->revision; /* the write's memory is the job's next */
        dropped(req);
        return;
    }
    catalog_change_end(req->worker->server->catalog, &d->change);
    if (w->rc == RC_AGAIN) {
        look_begin(req);
        return;
    }
    if (w->rc == RC_ERR)
        d->err = w->err;
    else
        err_set(&d->err, ERR_INTERNAL, "The store answered the drop of a type in a way of its own.");
    answer_err(req, &d->err);
}

static void submit(struct request *req)
{
    struct delschema *d = req->state;
    struct catalog *catalog = req->worker->server->catalog;
    if (!catalog_change_begin(catalog, &d->change)) {
        reply_no_memory(req);
        return;
    }
    reply_write_init(&req->write, WRITE_CALL, decided);
    req->write.key = (struct store_key){.space = SPACE_TYPE, .type = req->type->number, .id = req->type_name};
    req->write.call = decide;
    req->write.opens_group = true;
    if (idem_attach(req, &req->write, IDEM_TELLS_TAG, &d->err) != RC_OK ||
        store_write(req->worker->store, &req->write, &d->err) != RC_PENDING) {
        catalog_change_end(catalog, &d->change);
        answer_err(req, &d->err);
    }
}

/* ---- the helper ---- */

static void look(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct delschema *d = req->state;
    d->rc = in_use_look(req, job->store, req->type_name, &d->links, &d->err);
    store_turn_end(job->store);
}

static void looked(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct delschema *d = req->state;
    timing_lap(req, STAGE_store);
    if (d->rc == RC_OK)
        submit(req);
    else
        answer_err(req, &d->err);
}

static void look_begin(struct request *req)
{
    struct delschema *d = req->state;
    req->job = (struct job){.is_bulk = true, .run = look, .done = looked};
    if (worker_offload(req->worker, &req->job, &d->err) != RC_PENDING)
        answer_err(req, &d->err);
}

void delschema_handle(struct request *req)
{
    struct delschema *d = req->state;
    if (d->condition.kind != IF_ABSENT) {
        look_begin(req);
        return;
    }
    err_set(&d->err, ERR_CONDITION_FAILED, "The condition failed: the type is there.");
    answer_err(req, &d->err);
}
