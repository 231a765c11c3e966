/* server/registry/remove.c - deleting versions and subjects. First they are only hidden, then, with permanent, gone as
 * far as the registry is concerned. What records or other schemas use stays. A helper looks who does; the writer's
 * transaction confirms that nobody else has come. */
#include <stdlib.h>

#include "server/access/access.h"
#include "server/registry/handlers.h"
#include "server/registry/references.h"
#include "server/words.h"

struct removal {
    bool permanent, whole;    /* whole: all versions of the subject */
    uint32_t number;          /* of the version, else */
    uint64_t revision, links; /* as of when it was looked who uses them */
};

/* Does it go? */
static bool goes(const struct removal *r, const struct row_version *v)
{
    enum version_state before = r->permanent ? VERSION_DELETED : VERSION_LIVE;
    return v->state == before && (r->whole || v->number == r->number);
}

/* ---- is it there? ---- */

static enum rc check_version(struct call *c, const struct type_row *row, struct removal *r, struct err *err)
{
    struct row_version v;
    uint32_t number;
    struct words words;
    words_of(c->subject, &words);
    if (version_parse(c->req->arg, &number, err) != RC_OK)
        return RC_ERR;
    bool found = number ? lineage_find(row, number, WHICH_ALL, &v)
                        : lineage_latest(row, r->permanent ? WHICH_DELETED : WHICH_LIVE, &v);
    if (!found)
        return no_version(number, err);
    r->number = v.number;
    if (!r->permanent && v.state == VERSION_DELETED)
        return err_set(
            err, ERR_VERSION_DELETED,
            "Version %u of subject '%s' was soft deleted. Set permanent=true to delete permanently", v.number,
            words.text);
    if (r->permanent && v.state == VERSION_LIVE)
        return err_set(err, ERR_VERSION_NOT_DELETED,
                       "Version %u of subject '%s' was not deleted first before being permanently deleted",
                       v.number, words.text);
    return RC_OK;
}

static enum rc check_subject(struct call *c, const struct type_row *row, const struct removal *r,
                             struct err *err)
{
    bool is_live = lineage_has(row, WHICH_LIVE);
    struct words words;
    words_of(c->subject, &words);
    if (!r->permanent && !is_live)
        return err_set(err, ERR_SUBJECT_DELETED,
                       "Subject '%s' was soft deleted. Set permanent=true to delete permanently", words.text);
    if (r->permanent && is_live)
        return err_set(err, ERR_SUBJECT_NOT_DELETED,
                       "Subject '%s' was not deleted first before being permanently deleted", words.text);
    return RC_OK;
}

/* ---- who uses it? ---- */

/* Is there anybody at all? Most subjects have none, and then one walk over the rows says so. */
static enum rc any_referrers(struct call *c, const struct removal *r, bool *out, struct err *err)
{
    struct referrers found;
    *out = false;
    if (!r->links)
        return RC_OK;
    if (referrers_find(c, c->subject, r->number, r->permanent ? WHICH_ALL : WHICH_LIVE,
                       r->whole ? c->subject : (struct slice){0}, &found, err) != RC_OK)
        return RC_ERR;
    *out = found.n;
    free(found.id);
    return RC_OK;
}

static enum rc check_referrers(struct call *c, const struct type_row *row, const struct removal *r,
                               struct err *err)
{
    struct words words;
    bool any;
    if (any_referrers(c, r, &any, err) != RC_OK)
        return RC_ERR;
    for (uint32_t i = 0; any && i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        struct referrers found;
        if (!goes(r, &v))
            continue;
        /* Of a subject that goes as a whole those among its own versions do not count. */
        if (referrers_find(c, c->subject, v.number, r->permanent ? WHICH_ALL : WHICH_LIVE,
                           r->whole ? c->subject : (struct slice){0}, &found, err) != RC_OK)
            return RC_ERR;
        uint32_t first = found.n ? found.id[0] : 0;
        free(found.id);
        if (first)
            return err_set(err, ERR_IN_USE, "Schema %u refers to version %u of subject '%s'.", first,
                           v.number, words_of(c->subject, &words));
    }
    return RC_OK;
}

struct look {
    struct store_scan scan;
    uint32_t schema_id;
    bool found;
};

static enum rc look_at_record(struct store_scan *scan, struct slice id, const struct record *rec)
{
    struct look *l = CONTAINER_OF(scan, struct look, scan);
    (void)id;
    l->found = rec && rec->schema_id == l->schema_id;
    return l->found ? RC_PENDING : RC_OK;
}

static void look_done(struct store_scan *scan)
{
    (void)scan; /* records_use looks at scan->rc */
}

/* Has the type a record that was written with this schema? */
static enum rc records_use(struct call *c, uint32_t type, uint32_t schema_id, bool *out, struct err *err)
{
    struct look l = {.scan = {.space = SPACE_RECORD,
                              .type = type,
                              .keys_only = true,
                              .row = look_at_record,
                              .done = look_done},
                     .schema_id = schema_id};
    do
        store_scan(c->store, &l.scan);
    while (l.scan.rc == RC_PENDING && !l.found);
    *out = l.found;
    if (l.scan.rc == RC_ERR)
        *err = l.scan.err;
    return l.scan.rc == RC_ERR ? RC_ERR : RC_OK;
}

static enum rc in_use(const struct call *c, struct err *err)
{
    struct words words;
    return err_set(err, ERR_IN_USE,
                   "Records of the type '%s' use it: they are removed by delschema, and not by the registry.",
                   words_of(c->subject, &words));
}

/* A schema that another live version has too is not lost. */
static bool has_twin(const struct type_row *row, const struct row_version *v)
{
    for (uint32_t i = 0; i < row->nversions; i++) {
        const struct row_version other = type_row_version(row, i);
        if (other.number != v->number && other.state == VERSION_LIVE && other.schema_id == v->schema_id)
            return true;
    }
    return false;
}

/* A whole subject's records are counted in the transaction. */
static enum rc check_records(struct call *c, const struct type_row *row, const struct removal *r,
                             struct err *err)
{
    struct row_version v;
    bool found;
    if (c->space != SPACE_TYPE || r->whole || !lineage_find(row, r->number, WHICH_ALL, &v) ||
        has_twin(row, &v))
        return RC_OK;
    if (records_use(c, row->number, v.schema_id, &found, err) != RC_OK)
        return RC_ERR;
    return found ? in_use(c, err) : RC_OK;
}

/* ---- the writer's transaction ---- */

/* A type's lineage does not go while there is any record, in whichever version it was written. */
static enum rc check_count(struct call *c, struct store_txn *txn, const struct type_row *row, struct err *err)
{
    struct store_count count;
    if (c->space != SPACE_TYPE)
        return RC_OK;
    if (txn_count(txn, row->number, &count, err) != RC_OK)
        return RC_ERR;
    return count.records ? in_use(c, err) : RC_OK;
}

/* Nothing is left that the registry could show: the lineage goes. */
static enum rc vanish(struct call *c, struct store_txn *txn, const struct type_row *row, struct err *err)
{
    const struct store_key key = {.space = SPACE_SUBJECT, .id = c->subject};
    if (c->space == SPACE_SUBJECT)
        return txn_put(txn, &key, NULL, err);
    if (check_count(c, txn, row, err) != RC_OK)
        return RC_ERR;
    c->dropped = row->number;
    return txn_type_drop(txn, c->subject, row->number, err);
}

static enum rc settings_drop(struct call *c, struct store_txn *txn, struct err *err)
{
    const struct store_key key = {.space = SPACE_SUBJECT, .id = settings_key(c->subject, c->key)};
    enum rc rc = txn_put(txn, &key, NULL, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

static enum rc row_put(struct call *c, struct store_txn *txn, struct slice bytes, struct err *err)
{
    const struct store_key key = {.space = c->space, .id = c->subject};
    const struct record rec = {.body = bytes};
    if (c->space == SPACE_TYPE)
        c->row = bytes;
    return txn_put(txn, &key, &rec, err);
}

/* The row with the versions deleted; prints which. */
static enum rc mark(struct call *c, struct store_txn *txn, struct type_row *row, const struct removal *r,
                    struct slice *bytes, struct err *err)
{
    size_t n = 0;
    bool ok = !r->whole || buf_append_byte(&c->out.text, '[');
    row->revision = txn_revision(txn);
    if (type_row_encode(row, NULL, call_arena(c), bytes, err) != RC_OK)
        return RC_ERR;
    for (uint32_t i = 0; ok && i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        if (!goes(r, &v))
            continue;
        type_row_set_state(*bytes, i, r->permanent ? VERSION_GONE : VERSION_DELETED);
        ok = print_comma(c, n++) && buf_printf(&c->out.text, "%u", v.number);
    }
    ok = ok && (!r->whole || buf_append_byte(&c->out.text, ']'));
    return ok ? RC_OK : err_oom(err);
}

static enum rc remove_versions(struct call *c, struct store_txn *txn, struct type_row *row, struct err *err)
{
    const struct removal *r = c->state;
    struct slice bytes;
    struct type_row after;
    if (mark(c, txn, row, r, &bytes, err) != RC_OK || type_row_decode(bytes, &after, err) != RC_OK)
        return RC_ERR;
    if (lineage_has(&after, WHICH_ALL))
        return row_put(c, txn, bytes, err);
    enum rc rc = vanish(c, txn, row, err);
    return rc == RC_OK ? settings_drop(c, txn, err) : rc;
}

static enum rc decide(struct call *c, struct store_txn *txn, struct err *err)
{
    const struct removal *r = c->state;
    const struct store_key key = {.space = c->space, .id = c->subject};
    struct settings_pair settings;
    struct record rec;
    struct type_row row;
    struct slice copy;
    uint64_t links;
    if (settings_txn_get(txn, c->subject, &settings.own, err) != RC_OK ||
        settings_txn_get(txn, (struct slice){0}, &settings.global, err) != RC_OK ||
        settings_writable(&settings, c->subject, err) != RC_OK || links_txn_get(txn, &links, err) != RC_OK)
        return RC_ERR;
    enum rc rc = txn_get(txn, &key, &rec, err);
    if (rc == RC_NOTFOUND)
        return RC_AGAIN;
    if (rc != RC_OK)
        return rc;
    if (!arena_copy(call_arena(c), rec.body, &copy))
        return err_oom(err);
    if (type_row_decode(copy, &row, err) != RC_OK)
        return RC_ERR;
    if (row.revision != r->revision || links != r->links)
        return RC_AGAIN;
    if (r->whole && check_count(c, txn, &row, err) != RC_OK)
        return RC_ERR;
    return remove_versions(c, txn, &row, err);
}

/* ---- the call ---- */

/* What is only hidden can be had back by who may register schemas; what is gone cannot. */
bool registry_delete_begin(struct request *req)
{
    struct err err;
    if (!registry_begin(req))
        return false;
    const struct call *c = call_of(req);
    if (!call_flag(c, PARAM_permanent) || access_check(req, ROLE_ADMIN, c->subject, &err) == RC_OK)
        return true;
    answer_err(req, &err);
    return false;
}

static enum rc look(struct call *c, bool whole, struct err *err)
{
    struct type_row row;
    struct removal *r = arena_calloc(call_arena(c), 1, sizeof *r);
    if (!r)
        return err_oom(err);
    c->state = r;
    c->decide = decide;
    r->whole = whole;
    r->permanent = call_flag(c, PARAM_permanent);
    c->sees_all = true; /* who refers to it is counted, and not told */
    c->opens_group = r->permanent && c->space == SPACE_TYPE;
    if (links_read(c, &r->links, err) != RC_OK || lineage_need(c, c->subject, WHICH_ALL, &row, err) != RC_OK)
        return RC_ERR;
    r->revision = row.revision;
    enum rc rc = whole ? check_subject(c, &row, r, err) : check_version(c, &row, r, err);
    if (rc != RC_OK || check_referrers(c, &row, r, err) != RC_OK || check_records(c, &row, r, err) != RC_OK)
        return RC_ERR;
    return RC_PENDING;
}

static enum rc look_at_version(struct call *c, struct err *err)
{
    return look(c, false, err);
}

void registry_version_delete_handle(struct request *req)
{
    call_of(req)->takes_long = true;
    call_run(req, look_at_version);
}

static enum rc look_at_subject(struct call *c, struct err *err)
{
    return look(c, true, err);
}

void registry_subject_delete_handle(struct request *req)
{
    call_of(req)->takes_long = true;
    call_run(req, look_at_subject);
}
