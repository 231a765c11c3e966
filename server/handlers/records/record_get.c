/* server/handlers/records/record_get.c - GET of a record or of one top-level field, on verb and resource paths. */
#include <stddef.h>

#include "server/handlers/bench.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
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
            record_initial(req);
        else
            record_absent(req);
        return;
    }
    record_used(req, &get->rec);
    struct reading reading;
    if (likely(record_reading(req, &get->rec, get_start, &reading) == RC_OK))
        record_show(req, &(struct shown){.reading = &reading, .rec = &get->rec, .again = get_start});
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
    if (unlikely(reading_ask(req, &err) != RC_OK)) {
        reply_read_refused(req, &err);
        return;
    }
    switch (bench_asked(req, &n, &err)) {
    case RC_OK: bench_get(req, n); break;
    case RC_NOTFOUND: get_start(req); break;
    default: answer_err(req, &err); break;
    }
}
