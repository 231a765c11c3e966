/* server/handlers/record_get.c - GET of a record or of one top-level field, on verb and resource paths. */
#include <stddef.h>

#include "server/handlers/bench.h"
#include "server/handlers/handlers.h"
#include "server/handlers/record.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/timing.h"

static void get_start(struct request *);

static void get_done(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    timing_lap(req, STAGE_store);
    if (get->rc == RC_ERR) {
        answer_err(req, &get->err);
        return;
    }
    if (get->rc != RC_OK) {
        if (req->worker->server->options->astore)
            schema_load(req, req->type->latest, record_show_initial);
        else
            record_absent(req);
        return;
    }
    const struct type_version *v = record_version(req, &get->rec);
    if (!v)
        return;
    if (likely(type_schema(v)))
        record_show(req, &(struct shown){.version = v, .rec = &get->rec, .again = get_start});
    else /* the record is dead by the time that its schema is there: read it again */
        schema_load(req, v, get_start);
}

static void get_start(struct request *req)
{
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = get_done;
    request_get(req);
}

void record_get_handle(struct request *req)
{
    uint64_t n;
    struct err err;
    switch (bench_asked(req, &n, &err)) {
    case RC_OK: bench_get(req, n); break;
    case RC_NOTFOUND: get_start(req); break;
    default: answer_err(req, &err); break;
    }
}
