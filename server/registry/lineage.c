/* server/registry/lineage.c - subjects and their versions, wherever their rows stand. */
#include "base/num.h"
#include "server/access/access.h"
#include "server/registry/registry.h"
#include "server/registry/subject_name.h"
#include "server/router.h"
#include "server/words.h"

/* ---- which versions ---- */

enum which which_of(const struct call *c)
{
    if (call_flag(c, PARAM_deletedOnly))
        return WHICH_DELETED;
    return call_flag(c, PARAM_deleted) ? WHICH_ALL : WHICH_LIVE;
}

bool which_has(enum which which, const struct row_version *v)
{
    if (v->state == VERSION_LIVE)
        return which != WHICH_DELETED;
    return v->state == VERSION_DELETED && which != WHICH_LIVE;
}

bool lineage_latest(const struct type_row *row, enum which which, struct row_version *out)
{
    for (uint32_t i = row->nversions; i-- > 0;) {
        *out = type_row_version(row, i);
        if (which_has(which, out))
            return true;
    }
    return false;
}

bool lineage_has(const struct type_row *row, enum which which)
{
    struct row_version v;
    return lineage_latest(row, which, &v);
}

bool lineage_find(const struct type_row *row, uint32_t number, enum which which, struct row_version *out)
{
    for (uint32_t i = 0; i < row->nversions; i++) {
        *out = type_row_version(row, i);
        if (out->number == number)
            return which_has(which, out);
    }
    return false;
}

/* ---- one lineage ---- */

enum rc no_subject(struct slice name, struct err *err)
{
    return subject_unknown(name, err);
}

enum rc no_version(uint32_t number, struct err *err)
{
    if (!number)
        return err_set(err, ERR_NO_VERSION, "Version latest not found.");
    return err_set(err, ERR_NO_VERSION, "Version %u not found.", number);
}

enum space lineage_space(struct slice name)
{
    return router_type_name_fault(name) ? SPACE_SUBJECT : SPACE_TYPE;
}

enum rc lineage_read(struct call *c, struct slice name, struct type_row *row, struct err *err)
{
    struct slice bytes;
    if (!c->sees_all && !access_sees(c->req, name))
        return RC_NOTFOUND;
    enum rc rc = rows_get(c, lineage_space(name), name, &bytes, err);
    return rc == RC_OK ? type_row_decode(bytes, row, err) : rc;
}

enum rc lineage_need(struct call *c, struct slice name, enum which which, struct type_row *row,
                     struct err *err)
{
    enum rc rc = lineage_read(c, name, row, err);
    if (rc == RC_NOTFOUND || (rc == RC_OK && !lineage_has(row, which)))
        return no_subject(name, err);
    return rc;
}

enum rc version_parse(struct slice text, uint32_t *number, struct err *err)
{
    uint64_t n;
    struct words words;
    *number = 0;
    if (slice_eq_nocase(text, SLICE("latest")) || slice_eq(text, SLICE("-1")))
        return RC_OK;
    if (!num_parse_decimal(text, INT32_MAX, &n) || !n)
        return err_set(err, ERR_BAD_VERSION,
                       "'%s' is no version: it is a number from 1 to 2147483647, or latest.",
                       words_of(text, &words));
    *number = (uint32_t)n;
    return RC_OK;
}

enum rc version_of_path(struct call *c, enum which which, struct row_version *out, struct err *err)
{
    struct type_row row;
    uint32_t number;
    if (version_parse(c->req->arg, &number, err) != RC_OK ||
        lineage_need(c, c->subject, which, &row, err) != RC_OK)
        return RC_ERR;
    bool found = number ? lineage_find(&row, number, which, out) : lineage_latest(&row, which, out);
    return found ? RC_OK : no_version(number, err);
}
