/* server/handlers/putschema.c - registering a schema: parsed on a helper thread, decided inside the writer's
 * transaction, published in the catalog before it is answered. */
#include <stddef.h>

#include "base/bytes.h"
#include "base/sha256.h"
#include "server/catalog.h"
#include "server/conditions.h"
#include "server/handlers/handlers.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/params.h"
#include "server/router.h"
#include "server/server.h"
#include "server/timing.h"
#include "server/type_options.h"
#include "server/words.h"

struct putschema {
    struct type_options_given given;
    struct slice fullname;
    struct condition condition;

    /* What the helper has found. */
    struct schema *schema;
    uint8_t digest[SHA256_BYTES];
    enum rc rc;
    struct err err;

    struct catalog_change change;

    /* What the writer's transaction has decided, last. */
    struct slice row;  /* the type's row as it is now */
    uint64_t revision; /* the type's before, with its latest version; 0: there was none */
    uint32_t version;
    uint8_t schema_key[SCHEMA_KEY_BYTES], schema_id[SCHEMA_ID_BYTES];
};

/* ---- before the body ---- */

static enum rc begin(struct request *req, struct putschema *p, struct err *err)
{
    const char *fault = router_type_name_fault(req->type_name);
    if (fault) {
        struct words words;
        return err_set(err, ERR_BAD_TYPE_NAME, "'%s' cannot name a type. %s",
                       words_of(req->type_name, &words), fault);
    }
    const struct slice *fullname = params_find(req, PARAM_fullname);
    if (fullname) {
        if (!fullname->len)
            return err_set(err, ERR_BAD_PARAMETER,
                           "fullname is empty; it is the full name of a type in the union.");
        p->fullname = *fullname;
    }
    if (type_options_parse(req, &p->given, err) != RC_OK ||
        negotiate_whole_body(req->header[HEADER_CONTENT_RANGE], err) != RC_OK ||
        negotiate_json_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING], err) !=
            RC_OK)
        return RC_ERR;
    return condition_of_write(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &req->arena,
                              &p->condition, err);
}

bool putschema_begin(struct request *req)
{
    struct err err;
    struct putschema *p = arena_calloc(&req->arena, 1, sizeof *p);
    if (!p) {
        reply_no_memory(req);
        return false;
    }
    req->state = p;
    if (begin(req, p, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

/* ---- the writer's transaction ---- */

static enum rc numbers_spent(struct err *err)
{
    return err_set(err, ERR_NO_SPACE, "All numbers of types or schemas have been given; start a new store.");
}

/* The id of our schema in the store, given to it now if it is new there. */
static enum rc schema_id_take(struct putschema *p, struct store_txn *txn, uint32_t *id, struct err *err)
{
    const struct store_key by_hash = {.space = SPACE_SCHEMA_HASH,
                                      .id = slice_of(p->digest, sizeof p->digest)};
    struct record rec;
    enum rc rc = txn_get(txn, &by_hash, &rec, err);
    if (rc == RC_OK && rec.body.len != SCHEMA_ID_BYTES)
        return err_set(err, ERR_INTERNAL, "A row of schema ids is damaged.");
    if (rc == RC_OK)
        *id = get_le32(rec.body.ptr);
    if (rc != RC_NOTFOUND)
        return rc;
    *id = txn_number(txn, SPACE_SCHEMA);
    if (!*id)
        return numbers_spent(err);
    put_le32(p->schema_id, *id);
    const struct store_key by_id = {.space = SPACE_SCHEMA, .id = schema_key(*id, p->schema_key)};
    const struct record text = {.body = schema_text(p->schema)};
    const struct record number = {.body = slice_of(p->schema_id, SCHEMA_ID_BYTES)};
    rc = txn_put(txn, &by_id, &text, err);
    return rc == RC_OK ? txn_put(txn, &by_hash, &number, err) : rc;
}

static enum rc row_put(struct request *req, struct store_txn *txn, struct type_row *row,
                       const struct row_version *more, struct err *err)
{
    struct putschema *p = req->state;
    row->revision = txn_revision(txn);
    if (type_row_encode(row, more, &req->arena, &p->row, err) != RC_OK)
        return RC_ERR;
    const struct store_key key = {.space = SPACE_TYPE, .id = req->type_name};
    const struct record rec = {.body = p->row};
    return txn_put(txn, &key, &rec, err);
}

static enum rc create(struct request *req, struct store_txn *txn, struct err *err)
{
    struct putschema *p = req->state;
    struct row_version first = {.number = 1};
    struct type_row row = {.options = type_options_initial(req->worker->server->options->astore)};
    type_options_apply(&p->given, &row.options);
    row.number = txn_number(txn, SPACE_TYPE);
    if (!row.number)
        return numbers_spent(err);
    enum rc rc = schema_id_take(p, txn, &first.schema_id, err);
    return rc == RC_OK ? row_put(req, txn, &row, &first, err) : rc;
}

static enum rc change(struct request *req, struct store_txn *txn, struct slice old, struct err *err)
{
    struct putschema *p = req->state;
    struct type_row row;
    struct words words;
    if (!arena_copy(&req->arena, old, &p->row))
        return err_oom(err);
    if (type_row_decode(p->row, &row, err) != RC_OK)
        return RC_ERR;
    struct row_version latest = type_row_version(&row, row.nversions - 1),
                       more = {.number = latest.number + 1};
    p->revision = row.revision;
    p->version = latest.number;
    if (!condition_holds(&p->condition, row.revision))
        return RC_CONFLICT;
    struct type_options before = row.options;
    type_options_apply(&p->given, &row.options);
    enum rc rc = schema_id_take(p, txn, &more.schema_id, err);
    if (rc != RC_OK)
        return rc;
    bool same_schema = more.schema_id == latest.schema_id;
    if (same_schema && type_options_equal(&before, &row.options))
        return RC_OK;
    if (!same_schema && row.options.compatibility != COMPATIBILITY_NONE)
        return err_set(err, ERR_INCOMPATIBLE,
                       "This schema differs from version %u of '%s', whose compatibility is %s; only with "
                       "?compatibility=none can it become a new version.",
                       latest.number, words_of(req->type_name, &words),
                       compatibility_name(row.options.compatibility));
    return row_put(req, txn, &row, same_schema ? NULL : &more, err);
}

static enum rc decide(struct store_write *write, struct store_txn *txn, struct err *err)
{
    struct request *req = CONTAINER_OF(write, struct request, write);
    struct putschema *p = req->state;
    const struct store_key key = {.space = SPACE_TYPE, .id = req->type_name};
    struct record rec;
    enum rc rc = txn_get(txn, &key, &rec, err);
    p->revision = 0;
    if (rc == RC_OK)
        return change(req, txn, rec.body, err);
    if (rc != RC_NOTFOUND)
        return rc;
    return condition_holds(&p->condition, 0) ? create(req, txn, err) : RC_CONFLICT;
}

/* ---- after it ---- */

static enum rc headers_add(struct request *req, const struct row_version *latest, struct err *err)
{
    struct putschema *p = req->state;
    bool ok = reply_header_u64(req, "Schema-Version", latest->number) &&
              reply_header_u64(req, "Schema-Id", latest->schema_id);
    for (size_t i = 0; ok && i < schema_warnings(p->schema); i++)
        ok = response_header(req, "Schema-Warning", schema_warning(p->schema, i));
    return ok ? RC_OK : err_oom(err);
}

/* Make the committed row visible, and give its latest version the schema that we have compiled. */
static enum rc publish(struct request *req, const struct type_row *row, const struct row_version *latest,
                       struct err *err)
{
    struct putschema *p = req->state;
    if (catalog_put(req->worker->server->catalog, req->type_name, row, err) != RC_OK)
        return RC_ERR;
    if (!catalog_enter(req))
        return RC_OK; /* it is compiled again when it is needed */
    const struct type *type = catalog_find(req->hold, req->type_name);
    const struct type_version *version = type ? type_version_of_schema(type, latest->schema_id) : NULL;
    if (version) {
        type_schema_offer(version, p->schema);
        p->schema = NULL;
    }
    return RC_OK;
}

static enum rc settle(struct request *req, struct err *err)
{
    struct putschema *p = req->state;
    struct type_row row;
    if (type_row_decode(p->row, &row, err) != RC_OK)
        return RC_ERR;
    struct row_version latest = type_row_version(&row, row.nversions - 1);
    /* The lines first, while the schema is still ours. */
    if (headers_add(req, &latest, err) != RC_OK || publish(req, &row, &latest, err) != RC_OK)
        return RC_ERR;
    req->response.etag_revision = row.revision;
    req->response.etag_version = latest.number;
    return RC_OK;
}

static void refuse(struct request *req, struct err *err)
{
    const struct putschema *p = req->state;
    struct words words;
    words_of(req->type_name, &words);
    if (req->write.rc == RC_CONFLICT) {
        req->response.etag_revision = p->revision;
        req->response.etag_version = p->version;
    }
    if (req->write.rc == RC_ERR)
        *err = req->write.err;
    else if (req->write.rc != RC_CONFLICT)
        err_set(err, ERR_INTERNAL, "The store answered a schema's registration in a way of its own.");
    else if (!p->revision)
        err_set(err, ERR_CONDITION_FAILED, "The condition failed: there is no type '%s'.", words.text);
    else
        err_set(err, ERR_CONDITION_FAILED, "The condition failed: the type '%s' is there, in another state.",
                words.text);
}

static void finish(struct request *req, const struct err *err)
{
    struct putschema *p = req->state;
    if (p->schema)
        schema_free(p->schema);
    p->schema = NULL;
    if (err)
        answer_err(req, err);
    else
        reply_ok(req);
}

static void committed(struct request *);

static void committed_again(struct job *job)
{
    committed(CONTAINER_OF(job, struct request, job));
}

/* It is in the store, and refused no more. */
static void committed(struct request *req)
{
    struct putschema *p = req->state;
    struct err err;
    enum rc rc = settle(req, &err);
    if (rc == RC_ERR && err.code == ERR_NO_MEMORY) {
        req->response.headers.len = 0;
        reply_later(req, committed_again);
        return;
    }
    catalog_change_end(req->worker->server->catalog, &p->change);
    finish(req, rc == RC_OK ? NULL : &err);
}

static void written(struct store_write *write)
{
    struct request *req = CONTAINER_OF(write, struct request, write);
    struct putschema *p = req->state;
    struct err err;
    timing_lap_write(req, write);
    if (write->rc == RC_OK) {
        committed(req);
        return;
    }
    refuse(req, &err);
    catalog_change_end(req->worker->server->catalog, &p->change);
    finish(req, &err);
}

/* ---- the schema ---- */

/* A type none of whose records could be stored is of no use to anybody. */
static enum rc check_initial(const struct request *req, struct err *err)
{
    const struct putschema *p = req->state;
    uint64_t most = req->worker->server->options->record_max;
    size_t initial = schema_initial(p->schema).len;
    if (initial <= most)
        return RC_OK;
    return err_set(
        err, ERR_BAD_SCHEMA,
        "The initial record, every field its default or zero, takes %zu bytes; --record-max of this "
        "server is %llu.",
        initial, (unsigned long long)most);
}

static void parse(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct putschema *p = req->state;
    p->rc = schema_parse(&p->schema, req->body, p->fullname, &req->arena, &p->err);
    if (p->rc == RC_OK)
        p->rc = check_initial(req, &p->err);
    if (p->rc == RC_OK)
        sha256(schema_normal_form(p->schema), p->digest);
}

static void parsed(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct putschema *p = req->state;
    struct catalog *catalog = req->worker->server->catalog;
    timing_lap(req, STAGE_validate);
    if (p->rc != RC_OK) {
        finish(req, &p->err);
        return;
    }
    if (!catalog_change_begin(catalog, &p->change)) {
        err_oom(&p->err);
        finish(req, &p->err);
        return;
    }
    reply_write_init(&req->write, WRITE_CALL, written);
    req->write.key = (struct store_key){.space = SPACE_TYPE, .id = req->type_name};
    req->write.call = decide;
    if (store_write(req->worker->store, &req->write, &p->err) != RC_PENDING) {
        catalog_change_end(catalog, &p->change);
        finish(req, &p->err);
    }
}

void putschema_handle(struct request *req)
{
    struct putschema *p = req->state;
    if (!req->body.len) {
        err_set(&p->err, ERR_BAD_JSON, "The body is empty; it is the text of an Avro schema.");
        p->err.line = p->err.column = 1;
        answer_err(req, &p->err);
        return;
    }
    req->job = (struct job){.run = parse, .done = parsed};
    if (worker_offload(req->worker, &req->job, &p->err) == RC_ERR)
        answer_err(req, &p->err);
}
