/* server/register.c - the way of a registration: helper, writer, catalog, and round again where the lineage has
 * changed between the first two. */
#include "server/register.h"

#include <assert.h>
#include <stddef.h>

#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/server.h"
#include "server/stored_check.h"
#include "server/timing.h"
#include "server/words.h"

static void check_begin(struct request *, struct registration *);

/* ---- the end ---- */

static void finish(struct request *, struct registration *);

static void finish_again(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    finish(req, req->state);
}

static void finish(struct request *req, struct registration *r)
{
    struct schema *parsed = r->parsed; /* behind done the request may be over */
    if (!r->done(req, r))
        reply_later(req, finish_again);
    else if (parsed)
        schema_free(parsed);
}

static void fail(struct request *req, struct registration *r, const struct err *err)
{
    r->rc = RC_ERR;
    if (err != &r->err)
        r->err = *err;
    finish(req, r);
}

/* ---- publishing ---- */

/* The latest version gets the schema that we have compiled; without memory it is compiled again when it is needed. */
static void give_schema(struct request *req, struct registration *r)
{
    if (!req->hold && !catalog_enter(req))
        return;
    const struct type *type = catalog_find(req->hold, r->name);
    const struct type_version *v = type ? type_version_of_schema(type, r->schema_id) : NULL;
    if (!v)
        return;
    type_schema_offer(v, r->parsed);
    r->parsed = NULL;
    r->schema = type_schema(v); /* lives as long as the hold */
}

/* Make the row visible that was committed, or found as it should be. */
static enum rc publish(struct request *req, struct registration *r, struct err *err)
{
    struct type_row row;
    if (r->space != SPACE_TYPE || !r->row.len)
        return RC_OK;
    if (type_row_decode(r->row, &row, err) != RC_OK ||
        catalog_put(req->worker->server->catalog, r->name, &row, err) != RC_OK)
        return RC_ERR;
    give_schema(req, r);
    return RC_OK;
}

static void committed(struct request *);

static void committed_again(struct job *job)
{
    committed(CONTAINER_OF(job, struct request, job));
}

/* It is in the store, and refused no more. */
static void committed(struct request *req)
{
    struct registration *r = req->state;
    enum rc rc = publish(req, r, &r->err);
    if (rc == RC_ERR && r->err.code == ERR_NO_MEMORY) {
        reply_later(req, committed_again);
        return;
    }
    catalog_change_end(req->worker->server->catalog, &r->change);
    r->rc = rc;
    finish(req, r);
}

/* ---- the writer ---- */

/* It was done before, and is not done again: done has no part in the answer. */
static COLD void replayed(struct request *req, struct registration *r)
{
    struct schema *parsed = r->parsed; /* behind the answer the request may be over */
    catalog_change_end(req->worker->server->catalog, &r->change);
    idem_answer_once_visible(req, &req->write);
    schema_free(parsed);
}

static void written(struct store_write *write)
{
    struct request *req = CONTAINER_OF(write, struct request, write);
    struct registration *r = req->state;
    timing_lap_write(req, write);
    if (write->rc == RC_OK && write->replayed) {
        replayed(req, r);
        return;
    }
    if (write->rc == RC_OK) {
        committed(req);
        return;
    }
    catalog_change_end(req->worker->server->catalog, &r->change);
    switch (write->rc) {
    case RC_AGAIN: check_begin(req, r); break;
    case RC_CONFLICT:
        r->rc = RC_CONFLICT;
        finish(req, r);
        break;
    case RC_ERR: fail(req, r, &write->err); break;
    default:
        err_set(&r->err, ERR_INTERNAL, "The store answered a schema's registration in a way of its own.");
        fail(req, r, &r->err);
    }
}

static void submit(struct request *req, struct registration *r)
{
    struct catalog *catalog = req->worker->server->catalog;
    if (!catalog_change_begin(catalog, &r->change)) {
        err_oom(&r->err);
        fail(req, r, &r->err);
        return;
    }
    reply_write_init(&req->write, WRITE_CALL, written);
    req->write.key = (struct store_key){.space = r->space, .id = r->name};
    req->write.call = register_decide;
    if (idem_attach(req, &req->write, IDEM_TELLS_TAG, &r->err) != RC_OK ||
        store_write(req->worker->store, &req->write, &r->err) != RC_PENDING) {
        catalog_change_end(catalog, &r->change);
        fail(req, r, &r->err);
    }
}

/* ---- the helper ---- */

static void check(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    register_check(req, req->state, job->store);
}

static void checked(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct registration *r = req->state;
    timing_lap(req, STAGE_validate);
    bool has_verdict = r->rc == RC_OK || (r->rc == RC_ERR && r->err.code == ERR_INCOMPATIBLE);
    if (r->stored)
        r->stored->is_complete = r->is_first;
    if (r->stored && r->type && has_verdict) {
        stored_check(req, r, finish);
        return;
    }
    if (req->hold)
        catalog_leave(req);
    r->type = NULL;
    if (r->rc == RC_PENDING)
        submit(req, r);
    else
        finish(req, r);
}

static void check_begin(struct request *req, struct registration *r)
{
    /* Schemas that the catalog has compiled need not be compiled again; without memory they are. */
    bool is_held = r->space == SPACE_TYPE && catalog_enter(req);
    if (!is_held && r->stored) { /* it is by the catalog that records are looked at */
        err_oom(&r->err);
        fail(req, r, &r->err);
        return;
    }
    r->type = is_held ? catalog_find(req->hold, r->name) : NULL;
    req->job = (struct job){.run = check, .done = checked};
    if (worker_offload(req->worker, &req->job, &r->err) != RC_PENDING) {
        if (req->hold)
            catalog_leave(req);
        fail(req, r, &r->err);
    }
}

/* As in Confluent's registry, where only the mode IMPORT lets an id be chosen, and a number be other than the next. */
enum rc register_wanted(const struct registration *r, struct err *err)
{
    struct words words;
    if (r->has_wanted_id && (r->is_new || r->wanted_id != r->schema_id))
        return err_set(
            err, ERR_READ_ONLY,
            "A schema's id is given by the registry; '%s' has no version with this schema and id %u, and "
            "there is no mode IMPORT.",
            words_of(r->name, &words), r->wanted_id);
    if (!r->wanted_version || r->wanted_version == r->version)
        return RC_OK;
    if (r->is_new)
        return err_set(err, ERR_BAD_SCHEMA,
                       "Version is not one more than previous version: the next of '%s' is %u, not %u.",
                       words_of(r->name, &words), r->version, r->wanted_version);
    return err_set(err, ERR_BAD_SCHEMA, "'%s' has this schema as version %u, and not as %u.",
                   words_of(r->name, &words), r->version, r->wanted_version);
}

enum compat_mode register_level(const struct registration *r, const struct type_options *options)
{
    bool has_own = r->space == SPACE_TYPE && !options->follows_level;
    return has_own ? options->compatibility : settings_level(&r->settings);
}

void register_schema(struct request *req, struct registration *r)
{
    assert(req->state == r && !req->hold && r->done);
    assert(r->dry_run || (!r->against && !r->stored));
    check_begin(req, r);
}
