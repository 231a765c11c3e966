/* server/schema_load.c - see schema_load.h. */
#include "server/schema_load.h"

#include <stddef.h>

#include "base/log.h"
#include "server/timing.h"

/* One load under way, in the request's arena; req->state while it lasts. */
struct load {
    const struct type_version *version;
    void (*then)(struct request *);
    void (*failed)(struct request *, const struct err *);
    void *state; /* the handler's, put back at the end */
    uint8_t key[SCHEMA_KEY_BYTES];
    struct slice text;
    struct schema *schema; /* NULL: somebody else was faster */
    enum rc rc;
    struct err err;
};

static void load_end(struct request *req, struct load *l)
{
    req->state = l->state;
    req->is_away = false;
    timing_lap(req, STAGE_store);
    if (l->rc == RC_OK) {
        if (l->schema)
            type_schema_offer(l->version, l->schema);
        l->then(req);
        return;
    }
    if (err_status(l->err.code) != 503) {
        log_error("schema %u cannot be loaded: %s", l->version->schema_id, l->err.message);
        err_set(&l->err, ERR_INTERNAL, "The type's schema cannot be loaded from the store.");
    }
    l->failed(req, &l->err);
}

static void parse(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct load *l = req->state;
    if (type_schema(l->version)) /* all that came before it was there wait here */
        return;
    l->rc = schema_parse(&l->schema, l->text, (struct slice){0}, &req->arena, &l->err);
}

static void parse_done(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    load_end(req, req->state);
}

static void text_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    struct load *l = req->state;
    l->rc = get->rc;
    if (get->rc ==
        RC_NOTFOUND) /* the type was dropped and nothing else has this schema, or the store is damaged */
        l->rc = err_set(&l->err, ERR_INTERNAL, "its row is missing");
    else if (get->rc != RC_OK)
        l->err = get->err;
    else if (!arena_copy(&req->arena, get->rec.body, &l->text))
        l->rc = err_oom(&l->err);
    if (l->rc != RC_OK) {
        load_end(req, l);
        return;
    }
    req->job = (struct job){.run = parse, .done = parse_done};
    if (worker_offload(req->worker, &req->job, &l->err) == RC_ERR) {
        l->rc = RC_ERR;
        load_end(req, l);
    }
}

void schema_load_or(struct request *req, const struct type_version *version, void (*then)(struct request *),
                    void (*failed)(struct request *, const struct err *))
{
    if (likely(type_schema(version) != NULL)) {
        then(req);
        return;
    }
    struct load *l = arena_alloc(&req->arena, sizeof *l);
    if (!l) {
        struct err err;
        err_oom(&err);
        failed(req, &err);
        return;
    }
    *l = (struct load){.version = version, .then = then, .failed = failed, .state = req->state};
    req->state = l;
    req->is_away = true;
    req->get = (struct store_get){
        .key = {.space = SPACE_SCHEMA, .id = schema_key(version->schema_id, l->key)}, .done = text_read};
    store_get(req->worker->store, &req->get);
}

void schema_load(struct request *req, const struct type_version *version, void (*then)(struct request *))
{
    schema_load_or(req, version, then, answer_err);
}
