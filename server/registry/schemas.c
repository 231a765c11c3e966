/* server/registry/schemas.c - schemas by their ids, and all versions of all subjects. */
#include "base/bytes.h"
#include "base/json_quote.h"
#include "base/num.h"
#include "server/access/access.h"
#include "server/registry/handlers.h"
#include "server/registry/media.h"
#include "server/registry/page.h"
#include "server/registry/schema_text.h"
#include "server/registry/subject_name.h"
#include "server/words.h"

/* ---- by id ---- */

struct seen {
    uint32_t id;
    bool is_seen;
};

static enum rc no_schema(struct slice id, struct err *err)
{
    struct words words;
    return err_set(err, ERR_NO_SCHEMA, "Schema %s not found", words_of(id, &words));
}

static enum rc look_for_id(struct call *c, void *arg, struct slice name, const struct type_row *row,
                           struct err *err)
{
    struct seen *s = arg;
    (void)c, (void)name, (void)err;
    for (uint32_t i = 0; !s->is_seen && i < row->nversions; i++)
        s->is_seen = type_row_version(row, i).schema_id == s->id;
    return s->is_seen ? RC_PENDING : RC_OK;
}

/* A schema is seen by who sees a type or subject that has it, or has had it. */
static enum rc sees(struct call *c, uint32_t id, bool *out, struct err *err)
{
    struct seen s = {.id = id, .is_seen = access_sees_all(c->req)};
    if (!s.is_seen && lineage_each(c, (struct slice){0}, look_for_id, &s, err) != RC_OK)
        return RC_ERR;
    *out = s.is_seen;
    return RC_OK;
}

/* The id of the path. NO_SCHEMA: it is none, or not there, or not for the caller. */
static enum rc show(struct call *c, struct schema_shown *out, uint32_t *id, struct err *err)
{
    uint64_t n;
    struct slice text = c->req->arg;
    if (!num_parse_decimal(text, UINT32_MAX, &n) || !n)
        return no_schema(text, err);
    *id = (uint32_t)n;
    bool is_seen;
    if (sees(c, *id, &is_seen, err) != RC_OK)
        return RC_ERR;
    if (!is_seen)
        return no_schema(text, err);
    enum rc rc = schema_show(c, *id, call_text(c, PARAM_format), out, err);
    return rc == RC_NOTFOUND ? no_schema(text, err) : rc;
}

/* The greatest id: that there is one from some id on is asked once a bit of it. */
static enum rc most_id(struct call *c, uint32_t *out, struct err *err)
{
    uint8_t key[SCHEMA_KEY_BYTES];
    bool is_there;
    *out = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit; bit >>= 1) {
        if (rows_from(c, SPACE_SCHEMA, schema_key(*out | bit, key), &is_there, err) != RC_OK)
            return RC_ERR;
        if (is_there)
            *out |= bit;
    }
    return RC_OK;
}

static enum rc by_id(struct call *c, struct err *err)
{
    struct schema_shown shown;
    uint32_t id, most = 0;
    struct buf *out = &c->out.text;
    bool wants_most = call_flag(c, PARAM_fetchMaxId);
    if (show(c, &shown, &id, err) != RC_OK || (wants_most && most_id(c, &most, err) != RC_OK))
        return RC_ERR;
    bool ok = buf_append(out, SLICE("{\"schema\":")) && json_quote(shown.text, out) &&
              references_print(c, &shown.refs) && (!wants_most || buf_printf(out, ",\"maxId\":%u", most)) &&
              buf_append_byte(out, '}');
    return ok ? RC_OK : err_oom(err);
}

void registry_schema_handle(struct request *req)
{
    call_of(req)->takes_long = !access_sees_all(req);
    call_run(req, by_id);
}

static enum rc text_by_id(struct call *c, struct err *err)
{
    struct schema_shown shown;
    uint32_t id;
    if (show(c, &shown, &id, err) != RC_OK)
        return RC_ERR;
    return buf_append(&c->out.text, shown.text) ? RC_OK : err_oom(err);
}

void registry_schema_text_handle(struct request *req)
{
    call_of(req)->takes_long = !access_sees_all(req);
    call_run(req, text_by_id);
}

/* ---- whose versions they are ---- */

struct uses {
    uint32_t id;
    struct slice subject; /* empty: any */
    enum which which;
    bool names_only;
    struct page page;
};

static enum rc print_use(struct call *c, const struct uses *u, struct slice name, const struct row_version *v,
                         struct err *err)
{
    struct buf *out = &c->out.text;
    bool ok = print_comma(c, u->page.printed);
    if (u->names_only)
        ok = ok && json_quote(name, out);
    else
        ok = ok && buf_append(out, SLICE("{\"subject\":")) && json_quote(name, out) &&
             buf_printf(out, ",\"version\":%u}", v->number);
    return ok ? RC_OK : err_oom(err);
}

static enum rc look_for_use(struct call *c, void *arg, struct slice name, const struct type_row *row,
                            struct err *err)
{
    struct uses *u = arg;
    if (u->subject.len && !slice_eq(u->subject, name))
        return RC_OK;
    for (uint32_t i = 0; i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        if (v.schema_id != u->id || !which_has(u->which, &v))
            continue;
        if (page_takes(&u->page)) {
            if (print_use(c, u, name, &v, err) != RC_OK)
                return RC_ERR;
            u->page.printed++;
        }
        if (u->names_only)
            break;
    }
    return RC_OK;
}

static enum rc print_uses(struct call *c, bool names_only, struct err *err)
{
    struct schema_shown shown;
    struct uses u = {.subject = call_text(c, PARAM_subject),
                     .which = call_flag(c, PARAM_deleted) ? WHICH_ALL : WHICH_LIVE,
                     .names_only = names_only};
    if (page_read(c, &u.page, err) != RC_OK || show(c, &shown, &u.id, err) != RC_OK)
        return RC_ERR;
    if (!buf_append_byte(&c->out.text, '['))
        return err_oom(err);
    if (lineage_each(c, (struct slice){0}, look_for_use, &u, err) != RC_OK)
        return RC_ERR;
    return buf_append_byte(&c->out.text, ']') ? RC_OK : err_oom(err);
}

static enum rc subjects_of(struct call *c, struct err *err)
{
    return print_uses(c, true, err);
}

void registry_schema_subjects_handle(struct request *req)
{
    call_of(req)->takes_long = true;
    call_run(req, subjects_of);
}

static enum rc versions_of(struct call *c, struct err *err)
{
    return print_uses(c, false, err);
}

void registry_schema_versions_handle(struct request *req)
{
    call_of(req)->takes_long = true;
    call_run(req, versions_of);
}

/* ---- all versions ---- */

struct all {
    enum which which;
    bool latest_only;
    struct page page;
    struct arena arena; /* of one version */
};

/* Each version's text is as long as it likes, and of no use once it is printed. */
static enum rc print_one(struct call *c, struct all *a, struct slice name, const struct row_version *v,
                         struct err *err)
{
    struct arena *before = c->arena;
    c->arena = &a->arena;
    enum rc rc = schema_print_version(c, name, v, (struct slice){0}, err);
    c->arena = before;
    arena_reset(&a->arena);
    return rc == RC_OK ? call_count(c, err) : rc;
}

static enum rc print_all_of(struct call *c, void *arg, struct slice name, const struct type_row *row,
                            struct err *err)
{
    struct all *a = arg;
    struct row_version latest;
    bool has_latest = lineage_latest(row, a->which, &latest);
    for (uint32_t i = 0; has_latest && i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        if (!which_has(a->which, &v) || (a->latest_only && v.number != latest.number) ||
            !page_takes(&a->page))
            continue;
        if (!print_comma(c, a->page.printed++))
            return err_oom(err);
        if (print_one(c, a, name, &v, err) != RC_OK)
            return RC_ERR;
    }
    return page_is_over(&a->page) ? RC_PENDING : RC_OK;
}

static enum rc all_schemas(struct call *c, struct err *err)
{
    struct all a = {.which = call_flag(c, PARAM_deleted) ? WHICH_ALL : WHICH_LIVE,
                    .latest_only = call_flag(c, PARAM_latestOnly)};
    if (page_read(c, &a.page, err) != RC_OK)
        return RC_ERR;
    if (!buf_append_byte(&c->out.text, '['))
        return err_oom(err);
    struct slice prefix = subject_prefix(call_text(c, PARAM_subjectPrefix));
    enum rc rc = lineage_each(c, prefix, print_all_of, &a, err);
    arena_release(&a.arena);
    if (rc != RC_OK)
        return RC_ERR;
    return buf_append_byte(&c->out.text, ']') ? RC_OK : err_oom(err);
}

bool registry_is_asked_for_schemas(const struct request *req)
{
    static const enum param_id own[] = {PARAM_subjectPrefix, PARAM_latestOnly, PARAM_deleted, PARAM_offset,
                                        PARAM_limit};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (params_find(req, own[i]))
            return true;
    return media_is_named(req->header[HEADER_ACCEPT]);
}

void registry_schemas_handle(struct request *req)
{
    if (!registry_begin(req))
        return;
    call_of(req)->takes_long = true;
    call_run(req, all_schemas);
}
