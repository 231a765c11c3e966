/* server/register_check.c - a registration on a helper: the schema is parsed, and compared with the versions of its
 * lineage that its compatibility asks for. What it reads is one snapshot's or newer; the writer's transaction
 * confirms that the lineage is still the same. */
#include "base/bytes.h"
#include "server/register.h"
#include "server/schema_rows.h"
#include "server/server.h"
#include "server/words.h"

/* ---- the schema itself ---- */

bool register_digest(const struct schema *schema, struct slice references, uint8_t digest[SHA256_BYTES])
{
    struct slice normal = schema_normal_form(schema);
    struct buf both = {0};
    if (references.len) {
        if (!buf_append(&both, normal) || !buf_append_byte(&both, 0) || !buf_append(&both, references)) {
            buf_release(&both);
            return false;
        }
        normal = buf_slice(&both);
    }
    sha256(normal, digest);
    buf_release(&both);
    return true;
}

/* A type none of whose records could be stored is of no use to anybody. */
static enum rc check_initial(const struct request *req, const struct schema *schema, struct err *err)
{
    uint64_t most = req->worker->server->options->record_max;
    size_t initial = schema_initial(schema).len;
    if (initial <= most)
        return RC_OK;
    return err_set(
        err, ERR_BAD_SCHEMA,
        "The initial record, every field its default or zero, takes %zu bytes; --record-max of this "
        "server is %llu.",
        initial, (unsigned long long)most);
}

static enum rc parse(struct request *req, struct registration *r)
{
    if (r->parsed)
        return RC_OK;
    enum rc rc = r->nknown
                     ? schema_parse_known(&r->parsed, r->text, r->known, r->nknown, &req->arena, &r->err)
                     : schema_parse(&r->parsed, r->text, r->fullname, &req->arena, &r->err);
    if (rc != RC_OK)
        return RC_ERR;
    r->schema = r->parsed;
    if (!register_digest(r->parsed, r->references, r->digest))
        return err_oom(&r->err);
    return check_initial(req, r->parsed, &r->err);
}

/* 0: the store does not know it. */
static enum rc find_id(struct request *req, struct registration *r, struct store_worker *store, uint32_t *id)
{
    const struct store_key key = {.space = SPACE_SCHEMA_HASH, .id = slice_of(r->digest, sizeof r->digest)};
    struct slice row;
    enum rc rc = schema_row_read(store, &key, &req->arena, &row, &r->err);
    *id = 0;
    if (rc == RC_OK && row.len != SCHEMA_ID_BYTES)
        return err_set(&r->err, ERR_INTERNAL, "A row of schema ids is damaged.");
    if (rc == RC_OK)
        *id = get_le32(row.ptr);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* ---- comparing ---- */

static void add_reasons(struct compat *all, const struct compat *more, uint32_t version)
{
    for (struct compat_reason *reason = more->first; reason;) {
        struct compat_reason *next = reason->next;
        if (all->n == COMPAT_REASONS_MAX) {
            all->truncated = true;
            return;
        }
        reason->version = version;
        reason->next = NULL;
        *(all->last ? &all->last->next : &all->first) = reason;
        all->last = reason;
        all->n++;
        reason = next;
    }
    all->truncated |= more->truncated;
}

static enum rc compare(struct request *req, struct registration *r, struct store_worker *store,
                       const struct row_version *version)
{
    const struct schema *schema;
    struct schema *own;
    struct compat compat;
    if (schema_row_load(store, r->type, version->schema_id, &req->arena, &schema, &own, &r->err) != RC_OK)
        return RC_ERR;
    enum rc rc = compat_check(r->mode, r->parsed, &schema, 1, &req->arena, &compat, &r->err);
    if (own)
        schema_free(own);
    if (rc == RC_OK)
        add_reasons(&r->compat, &compat, version->number);
    return rc;
}

static enum rc compare_lineage(struct request *req, struct registration *r, struct store_worker *store,
                               const struct type_row *row)
{
    struct row_version latest;
    if (!type_row_latest(row, &latest))
        return RC_OK;
    if (!compat_mode_is_transitive(r->mode))
        return compare(req, r, store, &latest);
    for (uint32_t i = 0; i < row->nversions && !r->compat.truncated; i++) {
        const struct row_version version = type_row_version(row, i);
        if (version.state == VERSION_LIVE && compare(req, r, store, &version) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static enum rc compare_one(struct request *req, struct registration *r, struct store_worker *store,
                           const struct type_row *row)
{
    struct words words;
    for (uint32_t i = 0; i < row->nversions; i++) {
        const struct row_version version = type_row_version(row, i);
        if (version.number == r->against && version.state == VERSION_LIVE)
            return compare(req, r, store, &version);
    }
    return err_set(&r->err, ERR_NO_VERSION, "There is no version %u of '%s'.", r->against,
                   words_of(r->name, &words));
}

/* ---- what becomes of it ---- */

static COLD enum rc refuse(struct registration *r)
{
    const struct compat_reason *first = r->compat.first;
    struct words words;
    int shown = first->words.len < 120 ? (int)first->words.len : 120;
    words_of(r->name, &words);
    if (r->compat.n == 1)
        return err_set(&r->err, ERR_INCOMPATIBLE,
                       "This schema cannot follow version %u of '%s', whose compatibility is %s: %.*s",
                       first->version, words.text, compat_mode_name(r->mode), shown,
                       (const char *)first->words.ptr);
    return err_set(&r->err, ERR_INCOMPATIBLE,
                   "This schema cannot follow the versions of '%s', whose compatibility is %s, for %u "
                   "reasons; the first: "
                   "%.*s",
                   words.text, compat_mode_name(r->mode), r->compat.n, shown, (const char *)first->words.ptr);
}

/* The version that has it: the latest, or any, best of all the one that is wanted. False: none. */
static bool find_version(const struct registration *r, const struct type_row *row, uint32_t id,
                         uint32_t *number)
{
    bool found = false;
    for (uint32_t i = row->nversions; id && i-- > 0;) {
        const struct row_version version = type_row_version(row, i);
        if (version.state != VERSION_LIVE)
            continue;
        if (!found)
            *number = version.number;
        if (version.schema_id == id && (!found || version.number == r->wanted_version)) {
            found = true;
            *number = version.number;
        }
        if (!r->any_version || (found && !r->wanted_version))
            break;
    }
    return found;
}

/* Where the registry asks whether a schema would fit, the mode is no answer. */
static enum rc check_mode(struct registration *r)
{
    return r->dry_run && r->by_registry ? RC_OK : settings_writable(&r->settings, r->name, &r->err);
}

static enum rc check_row(struct request *req, struct registration *r, struct store_worker *store,
                         const struct type_row *row)
{
    uint32_t last = type_row_version(row, row->nversions - 1).number;
    struct row_version latest;
    struct type_options options = row->options;
    r->revision = row->revision;
    r->version = type_row_latest(row, &latest) ? latest.number : last;
    if (!condition_holds(&r->condition, row->revision))
        return RC_CONFLICT;
    type_options_apply(&r->given, &options);
    r->mode = r->compared_mode = register_level(r, &options);
    r->is_new = !find_version(r, row, r->schema_id, &r->version);
    if (r->is_new)
        r->version = last + 1;
    if (register_wanted(r, &r->err) != RC_OK)
        return RC_ERR;
    r->compared_revision = row->revision;
    bool changes = r->is_new || !type_options_equal(&row->options, &options);
    if (changes && check_mode(r) != RC_OK)
        return RC_ERR;
    enum rc rc = RC_OK;
    if (r->against)
        rc = compare_one(req, r, store, row);
    else if (r->is_new && r->mode != COMPAT_NONE)
        rc = compare_lineage(req, r, store, row);
    return rc == RC_OK && r->compat.n ? refuse(r) : rc;
}

static enum rc read_settings(struct request *req, struct registration *r, struct store_worker *store,
                             struct slice subject, struct subject_settings *out)
{
    struct slice bytes;
    const struct store_key key = {.space = SPACE_SUBJECT, .id = settings_key(subject, r->settings_key)};
    enum rc rc = schema_row_read(store, &key, &req->arena, &bytes, &r->err);
    *out = (struct subject_settings){0};
    if (rc == RC_OK)
        return settings_decode(bytes, out, &r->err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

static enum rc check_lineage(struct request *req, struct registration *r, struct store_worker *store)
{
    const struct store_key key = {.space = r->space, .id = r->name};
    struct slice bytes;
    struct type_row row;
    if (read_settings(req, r, store, r->name, &r->settings.own) != RC_OK ||
        read_settings(req, r, store, (struct slice){0}, &r->settings.global) != RC_OK)
        return RC_ERR;
    enum rc rc = schema_row_read(store, &key, &req->arena, &bytes, &r->err);
    if (rc == RC_OK)
        rc = type_row_decode(bytes, &row, &r->err);
    if (rc == RC_OK)
        return check_row(req, r, store, &row);
    if (rc != RC_NOTFOUND)
        return rc;
    struct type_options options = type_options_initial(req->worker->server->options->astore);
    type_options_apply(&r->given, &options);
    r->mode = register_level(r, &options);
    r->is_new = r->is_first = true;
    r->version = r->revision = r->compared_revision = 0;
    if (!condition_holds(&r->condition, 0))
        return RC_CONFLICT;
    r->version = 1;
    return register_wanted(r, &r->err) == RC_OK ? check_mode(r) : RC_ERR;
}

void register_check(struct request *req, struct registration *r, struct store_worker *store)
{
    r->compat = (struct compat){0};
    r->is_new = r->is_first = false;
    r->rc = parse(req, r);
    if (r->rc == RC_OK)
        r->rc = find_id(req, r, store, &r->schema_id);
    if (r->rc == RC_OK)
        r->rc = check_lineage(req, r, store);
    if (r->rc == RC_OK && !r->dry_run)
        r->rc = RC_PENDING;
}
