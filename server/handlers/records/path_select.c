/* server/handlers/records/path_select.c - select: what a path finds in a record. */
#include <stddef.h>

#include "schema/edit.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/path_body.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/timing.h"

static void select_start(struct request *);

bool path_select_begin(struct request *req)
{
    struct err err;
    if (negotiate_json_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING], &err) ==
        RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* The path is checked against the version in which the record is shown. */
static enum rc parse(struct request *req, const struct schema *schema, struct shown *s, struct err *err)
{
    struct slice rest;
    struct path *path;
    path_body_split(req->body, &s->path_text, &rest);
    if (path_body_check_rest(req, rest, err) != RC_OK ||
        path_parse(&path, schema, s->path_text, &req->arena, err) != RC_OK)
        return RC_ERR;
    s->path = path;
    return RC_OK;
}

static void show(struct request *req, const struct reading *reading, const struct record *rec, bool lasts)
{
    struct err err;
    struct shown s = {.reading = reading, .rec = rec, .lasts = lasts, .again = select_start};
    if (parse(req, type_schema(reading->reader), &s, &err) == RC_OK)
        record_show(req, &s);
    else
        reply_read_refused(req, &err);
}

/* For who is used to astore: a record that is not there is the initial one. */
static void show_initial(struct request *req)
{
    const struct type_version *v = reading_reader(req);
    const struct reading reading = {.writer = v, .reader = v};
    struct slice avro = schema_initial(type_schema(v));
    const struct record rec = {.body = slice_not_null(avro), .body_bytes = avro.len};
    show(req, &reading, &rec, true);
}

static void absent(struct request *req)
{
    if (req->worker->server->options->astore)
        schema_load(req, reading_reader(req), show_initial);
    else
        record_absent(req);
}

static void select_done(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    struct reading reading;
    timing_lap(req, STAGE_store);
    if (get->rc == RC_ERR)
        answer_err(req, &get->err);
    else if (get->rc != RC_OK)
        absent(req);
    else {
        record_used(req, &get->rec);
        if (record_reading(req, &get->rec, select_start, &reading) == RC_OK)
            show(req, &reading, &get->rec, false);
    }
}

static void select_start(struct request *req)
{
    req->get.key = (struct store_key){.space = SPACE_RECORD, .type = req->type->number, .id = req->id};
    req->get.done = select_done;
    request_get(req);
}

void path_select_handle(struct request *req)
{
    struct err err;
    if (reading_ask(req, &err) == RC_OK)
        select_start(req);
    else
        reply_read_refused(req, &err);
}
