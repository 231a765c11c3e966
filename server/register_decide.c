/* server/register_decide.c - a registration inside the writer's transaction: the schema's id, the version, the row.
 * May run more than once: all that it leaves in the registration it sets each time. */
#include <stddef.h>

#include "base/bytes.h"
#include "server/register.h"
#include "server/server.h"

static enum rc numbers_spent(struct err *err)
{
    return err_set(err, ERR_NO_SPACE, "All numbers of types or schemas have been given; start a new store.");
}

static struct slice text_to_keep(const struct registration *r)
{
    return r->normalize ? schema_normal_form(r->parsed) : schema_text(r->parsed);
}

static enum rc references_put(struct registration *r, struct store_txn *txn, struct err *err)
{
    r->references_key[0] = 0;
    r->references_key[1] = SUBJECT_ROW_REFERENCES;
    memcpy(r->references_key + SUBJECT_ROW_PREFIX, r->schema_key, SCHEMA_KEY_BYTES);
    const struct store_key key = {.space = SPACE_SUBJECT,
                                  .id = slice_of(r->references_key, sizeof r->references_key)};
    const struct record row = {.body = r->references_row};
    return txn_put(txn, &key, &row, err);
}

/* The id of our schema in the store, given to it now if it is new there. */
static enum rc schema_id_take(struct registration *r, struct store_txn *txn, uint32_t *id, struct err *err)
{
    const struct store_key by_hash = {.space = SPACE_SCHEMA_HASH,
                                      .id = slice_of(r->digest, sizeof r->digest)};
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
    put_le32(r->schema_id_bytes, *id);
    const struct store_key by_id = {.space = SPACE_SCHEMA, .id = schema_key(*id, r->schema_key)};
    const struct record text = {.body = text_to_keep(r)};
    const struct record number = {.body = slice_of(r->schema_id_bytes, SCHEMA_ID_BYTES)};
    rc = txn_put(txn, &by_id, &text, err);
    if (rc == RC_OK && r->references.len)
        rc = references_put(r, txn, err);
    return rc == RC_OK ? txn_put(txn, &by_hash, &number, err) : rc;
}

static enum rc row_put(struct request *req, struct registration *r, struct store_txn *txn,
                       struct type_row *row, const struct row_version *more, struct err *err)
{
    if (settings_writable(&r->settings, r->name, err) != RC_OK)
        return RC_ERR;
    if (more && r->confirm) {
        enum rc rc = r->confirm(r, txn, err);
        if (rc != RC_OK)
            return rc;
    }
    row->revision = r->revision = txn_revision(txn);
    if (type_row_encode(row, more, &req->arena, &r->row, err) != RC_OK)
        return RC_ERR;
    const struct store_key key = {.space = r->space, .id = r->name};
    const struct record rec = {.body = r->row};
    return txn_put(txn, &key, &rec, err);
}

/* The store keeps to the limit of a type, and has its own note of it. */
static enum rc limit_put(const struct registration *r, struct store_txn *txn, uint64_t before,
                         const struct type_row *row, struct err *err)
{
    if (r->space != SPACE_TYPE || row->options.max_size == before)
        return RC_OK;
    return txn_limit(txn, row->number, row->options.max_size, err);
}

/* What was set for the subject is the type's own option from now on. */
static enum rc level_move(struct registration *r, struct store_txn *txn, struct type_options *options,
                          struct err *err)
{
    struct subject_settings own = r->settings.own;
    if (own.level)
        type_options_set_level(options, own.level - 1);
    else if (r->by_registry)
        type_options_unset_level(options);
    if (r->space != SPACE_TYPE || !own.level)
        return RC_OK;
    own.level = 0;
    const struct store_key key = {.space = SPACE_SUBJECT, .id = settings_key(r->name, r->settings_key)};
    const struct record row = {.body = settings_encode(&own, r->settings_row)};
    return txn_put(txn, &key, own.mode ? &row : NULL, err);
}

static enum rc create(struct request *req, struct registration *r, struct store_txn *txn, struct err *err)
{
    struct row_version first = {.number = 1};
    struct type_row row = {.options = type_options_initial(req->worker->server->options->astore)};
    if (level_move(r, txn, &row.options, err) != RC_OK)
        return RC_ERR;
    type_options_apply(&r->given, &row.options);
    row.number = r->space == SPACE_TYPE ? txn_number(txn, SPACE_TYPE) : 0;
    if (r->space == SPACE_TYPE && !row.number)
        return numbers_spent(err);
    enum rc rc = schema_id_take(r, txn, &first.schema_id, err);
    r->is_new = r->is_first = true;
    r->version = first.number;
    r->schema_id = first.schema_id;
    r->mode = register_level(r, &row.options);
    if (rc == RC_OK)
        rc = register_wanted(r, err);
    if (rc == RC_OK)
        rc = limit_put(r, txn, 0, &row, err);
    return rc == RC_OK ? row_put(req, r, txn, &row, &first, err) : rc;
}

/* The version that has the schema: the latest, or, where that will do, the newest of any, best of all the one that is
 * wanted. */
static bool find_version(const struct registration *r, const struct type_row *row, struct row_version *out)
{
    bool found = false;
    for (uint32_t i = row->nversions; i-- > 0;) {
        const struct row_version v = type_row_version(row, i);
        if (v.state != VERSION_LIVE)
            continue;
        if (v.schema_id == r->schema_id && (!found || v.number == r->wanted_version)) {
            found = true;
            *out = v;
        }
        if (!r->any_version || (found && !r->wanted_version))
            break;
    }
    return found;
}

static enum rc change(struct request *req, struct registration *r, struct store_txn *txn, struct slice old,
                      struct err *err)
{
    struct type_row row;
    struct slice bytes;
    if (!arena_copy(&req->arena, old, &bytes))
        return err_oom(err);
    if (type_row_decode(bytes, &row, err) != RC_OK)
        return RC_ERR;
    struct row_version version;
    uint32_t last = type_row_version(&row, row.nversions - 1).number;
    r->is_first = false;
    r->revision = row.revision;
    r->version = type_row_latest(&row, &version) ? version.number : last;
    if (!condition_holds(&r->condition, row.revision))
        return RC_CONFLICT;
    struct type_options before = row.options;
    type_options_apply(&r->given, &row.options);
    enum rc rc = schema_id_take(r, txn, &r->schema_id, err);
    if (rc != RC_OK)
        return rc;
    r->mode = register_level(r, &row.options);
    r->is_new = !find_version(r, &row, &version);
    if (!r->is_new) {
        r->version = version.number;
        if (register_wanted(r, err) != RC_OK)
            return RC_ERR;
        if (type_options_equal(&before, &row.options))
            return RC_OK;
        rc = limit_put(r, txn, before.max_size, &row, err);
        return rc == RC_OK ? row_put(req, r, txn, &row, NULL, err) : rc;
    }
    if (r->mode != COMPAT_NONE && (r->compared_revision != r->revision || r->compared_mode != r->mode))
        return RC_AGAIN;
    version = (struct row_version){.number = last + 1, .schema_id = r->schema_id};
    r->version = version.number;
    rc = register_wanted(r, err);
    if (rc == RC_OK)
        rc = limit_put(r, txn, before.max_size, &row, err);
    return rc == RC_OK ? row_put(req, r, txn, &row, &version, err) : rc;
}

static enum rc decide(struct request *req, struct registration *r, struct store_txn *txn, struct err *err)
{
    const struct store_key key = {.space = r->space, .id = r->name};
    struct record rec;
    if (settings_txn_get(txn, r->name, &r->settings.own, err) != RC_OK ||
        settings_txn_get(txn, (struct slice){0}, &r->settings.global, err) != RC_OK)
        return RC_ERR;
    enum rc rc = txn_get(txn, &key, &rec, err);
    r->row = (struct slice){0};
    r->revision = 0;
    r->version = 0;
    if (rc == RC_OK)
        return change(req, r, txn, rec.body, err);
    if (rc != RC_NOTFOUND)
        return rc;
    return condition_holds(&r->condition, 0) ? create(req, r, txn, err) : RC_CONFLICT;
}

enum rc register_decide(struct store_write *write, struct store_txn *txn, struct err *err)
{
    struct request *req = CONTAINER_OF(write, struct request, write);
    struct registration *r = req->state;
    enum rc rc = decide(req, r, txn, err);
    return rc == RC_OK && write->idem ? r->note(req, r, write->idem, err) : rc;
}
