/* server/handlers/records/record_dry.c - ?dry_run=1 on puts: what a put would answer, found out by reading, and
 * nothing stored. */
#include <stddef.h>

#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/params.h"
#include "server/server.h"
#include "server/timing.h"

enum rc record_dry_asked(struct request *req, struct record_input *in, struct err *err)
{
    if (likely(!req->nparams))
        return RC_OK;
    if (params_flag(req, PARAM_dry_run, &in->dry_run, err) != RC_OK)
        return RC_ERR;
    if (in->dry_run)
        req->is_away = true; /* it is a read: all writes that stand before it are to be seen */
    return RC_OK;
}

static void record_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    const struct record_input *in = req->state;
    const struct record *old = get->rc == RC_OK ? &get->rec : NULL;
    timing_lap(req, STAGE_store);
    if (get->rc == RC_ERR)
        answer_err(req, &get->err);
    else if (!condition_holds(&in->condition, old ? old->revision : 0))
        record_conflict(req);
    else
        in->found(req, old);
}

void record_dry_read(struct request *req, void (*found)(struct request *, const struct record *))
{
    struct record_input *in = req->state;
    in->found = found;
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = record_read;
    store_get(req->worker->store, &req->get);
}

void record_dry_answer(struct request *req, unsigned status)
{
    if (response_header(req, "Dry-Run", SLICE("1")))
        answer_text(req, status, SLICE("OK"));
    else
        reply_no_memory(req);
}

enum rc record_check_size(const struct request *req, const struct type *type, uint64_t bytes, struct err *err)
{
    uint64_t most = req->worker->server->options->record_max, all = type->options.max_size;
    if (unlikely(bytes > most))
        return err_set(err, ERR_RECORD_TOO_LARGE,
                       "A record has at most %llu bytes of Avro; this one has %llu.",
                       (unsigned long long)most, (unsigned long long)bytes);
    if (unlikely(all && bytes > all))
        return err_set(
            err, ERR_RECORD_TOO_LARGE,
            "All records of this type have at most %llu bytes of Avro together; this one alone has %llu.",
            (unsigned long long)all, (unsigned long long)bytes);
    return RC_OK;
}
