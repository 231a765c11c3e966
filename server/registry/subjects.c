/* server/registry/subjects.c - which subjects there are, and which versions of one. */
#include "base/json_quote.h"
#include "base/num.h"
#include "server/registry/handlers.h"
#include "server/registry/page.h"
#include "server/registry/registry.h"
#include "server/registry/subject_name.h"

/* ---- /subjects ---- */

struct listing {
    struct page page;
    enum which which;
};

static enum rc list_subject(struct call *c, void *arg, struct slice name, const struct type_row *row,
                            struct err *err)
{
    struct listing *l = arg;
    struct row_version v;
    bool is_live = lineage_latest(row, WHICH_LIVE, &v);
    /* A deleted subject is one that has no version left, not one that has lost some. */
    if (l->which == WHICH_DELETED ? is_live || !lineage_has(row, WHICH_ALL) : !lineage_has(row, l->which))
        return RC_OK;
    if (!page_takes(&l->page))
        return page_is_over(&l->page) ? RC_PENDING : RC_OK;
    bool ok = print_comma(c, l->page.printed++) && json_quote(name, &c->out.text);
    return ok ? RC_OK : err_oom(err);
}

static enum rc list(struct call *c, struct err *err)
{
    struct listing l = {.which = which_of(c)};
    if (page_read(c, &l.page, err) != RC_OK)
        return RC_ERR;
    if (!buf_append_byte(&c->out.text, '['))
        return err_oom(err);
    struct slice prefix = subject_prefix(call_text(c, PARAM_subjectPrefix));
    if (lineage_each(c, prefix, list_subject, &l, err) != RC_OK)
        return RC_ERR;
    return buf_append_byte(&c->out.text, ']') ? RC_OK : err_oom(err);
}

void registry_subjects_handle(struct request *req)
{
    call_of(req)->takes_long = true;
    call_run(req, list);
}

/* ---- /subjects/{subject}/versions ---- */

static enum rc versions(struct call *c, struct err *err)
{
    struct type_row row;
    enum which which = which_of(c);
    struct page page;
    if (page_read(c, &page, err) != RC_OK ||
        lineage_need(c, c->subject, which == WHICH_LIVE ? WHICH_LIVE : WHICH_ALL, &row, err) != RC_OK)
        return RC_ERR;
    bool ok = buf_append_byte(&c->out.text, '[');
    for (uint32_t i = 0; ok && i < row.nversions; i++) {
        const struct row_version v = type_row_version(&row, i);
        if (which_has(which, &v) && page_takes(&page))
            ok = print_comma(c, page.printed++) && buf_printf(&c->out.text, "%u", v.number);
    }
    return ok && buf_append_byte(&c->out.text, ']') ? RC_OK : err_oom(err);
}

void registry_versions_handle(struct request *req)
{
    call_run(req, versions);
}

/* ---- /schemas/types, /contexts ---- */

static enum rc types(struct call *c, struct err *err)
{
    return buf_append(&c->out.text, SLICE("[\"AVRO\"]")) ? RC_OK : err_oom(err);
}

void registry_types_handle(struct request *req)
{
    call_run(req, types);
}

static enum rc contexts(struct call *c, struct err *err)
{
    return buf_append(&c->out.text, SLICE("[\".\"]")) ? RC_OK : err_oom(err);
}

void registry_contexts_handle(struct request *req)
{
    call_run(req, contexts);
}
