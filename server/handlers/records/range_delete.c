/* server/handlers/records/range_delete.c - DELETE of all records whose ids begin with a prefix: one write after the other, each
 * a bounded transaction, until the end of the range, or until nobody waits for it any more. */
#include <assert.h>
#include <stddef.h>

#include "base/num.h"
#include "server/handlers/handlers.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record.h"
#include "server/handlers/records/scan_ask.h"
#include "server/handlers/reply.h"
#include "server/params.h"
#include "server/server.h"
#include "server/timing.h"

/* Pages of a scan that a helper counts before somebody looks whether the client has left. */
enum { PAGES_A_JOB = 64 };
enum { LINES_MAX = 192 }; /* header lines of the answer */

/* In the request's arena. */
struct range_delete {
    struct slice from, upto;
    struct store_idem *idem;    /* of all its writes; NULL: none yet */
    uint64_t deleted, revision; /* so far; revision: of the last batch, 0: none */
    uint32_t version;           /* for the tag */
    bool dry_run;
    struct store_scan page; /* of a dry run */
    struct job job;
    struct request *req;
    uint8_t next[LIMIT_ID_MAX]; /* where the batch at hand begins */
};

/* ---- what is asked ---- */

static enum rc begin(struct request *req, struct range_delete *r, struct err *err)
{
    const struct slice *prefix = params_find(req, PARAM_prefix);
    if (!prefix || !prefix->len)
        return err_set(
            err, ERR_BAD_PARAMETER,
            "A delete of many records takes the parameter prefix, which is not empty: what their ids "
            "begin with. DELETE /delschema/{type} removes a type with all of them.");
    if (req->header[HEADER_IF_MATCH].ptr || req->header[HEADER_IF_NONE_MATCH].ptr)
        return err_set(err, ERR_BAD_REQUEST, "A delete of many records takes no condition.");
    if (params_flag(req, PARAM_dry_run, &r->dry_run, err) != RC_OK)
        return RC_ERR;
    r->req = req;
    r->from = *prefix;
    if (scan_prefix_end(req, *prefix, &r->upto, err) != RC_OK)
        return RC_ERR;
    return response_reserve(req, LINES_MAX) ? RC_OK : err_oom(err);
}

bool range_delete_begin(struct request *req)
{
    struct err err;
    struct range_delete *r = arena_calloc(&req->arena, 1, sizeof *r);
    req->state = r;
    if (!r)
        err_oom(&err);
    else if (begin(req, r, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- the answer ---- */

/* How many are gone is told whatever the answer is. */
static void tell(struct request *req)
{
    const struct range_delete *r = req->state;
    bool ok = (!r->dry_run || response_header(req, "Dry-Run", SLICE("1"))) &&
              reply_header_u64(req, "Deleted", r->deleted);
    assert(ok); /* it was reserved */
    req->response.etag_revision = r->revision;
    req->response.etag_version = r->version;
}

static void fail(struct request *req, const struct err *err)
{
    tell(req);
    answer_err(req, err);
}

static void finish(struct request *req)
{
    tell(req);
    reply_ok(req);
}

/* Nobody waits for it, or nobody may any longer. */
static enum rc check_waited_for(const struct request *req, struct err *err)
{
    if (atomic_load_explicit(&req->worker->server->draining, memory_order_relaxed))
        return err_set(err, ERR_DRAINING,
                       "The server is shutting down. Some records may be left: ask again.");
    if (request_is_abandoned(req))
        return err_set(err, ERR_INTERRUPTED, "The client has left. Some records may be left: ask again.");
    return RC_OK;
}

/* ---- deleting ---- */

static void batch_done(struct store_write *);

/* Once: a delete may take any number of batches, and the request's memory grows with each key that is digested. */
static enum rc attach_key(struct request *req, struct range_delete *r, struct err *err)
{
    struct store_write *w = &req->write;
    enum rc rc = RC_OK;
    if (!r->idem) {
        rc = idem_attach(req, w, IDEM_TELLS_DELETED, err);
        r->idem = w->idem;
    }
    w->idem = r->idem;
    return rc;
}

static void next_batch(struct request *req)
{
    struct range_delete *r = req->state;
    struct store_write *w = &req->write;
    struct err err;
    reply_write_init(w, WRITE_RANGE_DELETE, batch_done);
    w->key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = r->from};
    w->upto = r->upto;
    w->count_before = r->deleted;
    w->revision_before = r->revision;
    if (attach_key(req, r, &err) != RC_OK || store_write(req->worker->store, w, &err) == RC_ERR)
        fail(req, &err);
}

/* There is more: from where this batch has come to. */
static void go_on(struct request *req)
{
    struct range_delete *r = req->state;
    const struct store_write *w = &req->write;
    struct err err;
    assert(w->resume_len <= sizeof r->next);
    memcpy(r->next, w->resume, w->resume_len);
    r->from = slice_of(r->next, w->resume_len);
    if (check_waited_for(req, &err) == RC_OK)
        next_batch(req);
    else
        fail(req, &err);
}

static void batch_done(struct store_write *w)
{
    struct request *req = CONTAINER_OF(w, struct request, write);
    struct range_delete *r = req->state;
    timing_lap_write(req, w);
    if (w->rc == RC_ERR) {
        fail(req, &w->err);
        return;
    }
    if (w->rc != RC_OK) { /* dropped meanwhile */
        tell(req);
        reply_no_type(req);
        return;
    }
    if (w->replayed) {
        idem_answer(req, w);
        return;
    }
    r->version = req->type->latest->number;
    r->deleted += w->count;
    r->revision = w->revision ? w->revision : r->revision;
    if (w->resume_len)
        go_on(req);
    else
        finish(req);
}

/* ---- counting ---- */

static enum rc count_row(struct store_scan *page, struct slice id, const struct record *rec)
{
    struct range_delete *r = CONTAINER_OF(page, struct range_delete, page);
    (void)id, (void)rec; /* one that cannot be read is there all the same */
    r->deleted++;
    return RC_OK;
}

static void count_page_done(struct store_scan *page)
{
    (void)page; /* count_some() looks at page->rc */
}

static void count_some(struct job *job)
{
    struct range_delete *r = CONTAINER_OF(job, struct range_delete, job);
    for (int i = 0; i < PAGES_A_JOB; i++) {
        store_scan(job->store, &r->page);
        store_turn_end(job->store);
        if (r->page.rc != RC_PENDING)
            break;
    }
}

static void count_begin(struct range_delete *);

static void counted(struct job *job)
{
    struct range_delete *r = CONTAINER_OF(job, struct range_delete, job);
    struct request *req = r->req;
    struct err err;
    timing_lap(req, STAGE_store);
    if (r->page.rc == RC_OK)
        finish(req);
    else if (r->page.rc == RC_ERR)
        fail(req, &r->page.err);
    else if (check_waited_for(req, &err) == RC_OK)
        count_begin(r);
    else
        fail(req, &err);
}

static void count_begin(struct range_delete *r)
{
    struct err err;
    r->job = (struct job){.is_bulk = true, .run = count_some, .done = counted};
    if (worker_offload(r->req->worker, &r->job, &err) != RC_PENDING)
        fail(r->req, &err);
}

void range_delete_handle(struct request *req)
{
    struct range_delete *r = req->state;
    if (!r->dry_run) {
        next_batch(req);
        return;
    }
    r->page = (struct store_scan){.space = SPACE_RECORD,
                                  .type = req->type->number,
                                  .from = r->from,
                                  .upto = r->upto,
                                  .keys_only = true,
                                  .row = count_row,
                                  .done = count_page_done};
    count_begin(r);
}
