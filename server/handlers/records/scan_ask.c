/* server/handlers/records/scan_ask.c - see scan_ask.h. */
#include "server/handlers/records/scan_ask.h"

#include "base/num.h"
#include "server/negotiate.h"
#include "server/params.h"
#include "server/words.h"

static struct slice value_of(const struct request *req, enum param_id id)
{
    const struct slice *value = params_find(req, id);
    return value ? *value : (struct slice){0};
}

/* ---- the range ---- */

/* The smallest id above `after`. */
static enum rc raise_above(struct request *req, struct slice after, struct slice *from, struct err *err)
{
    uint8_t *next = arena_alloc(&req->arena, after.len + 1);
    if (!next)
        return err_oom(err);
    if (after.len)
        memcpy(next, after.ptr, after.len);
    next[after.len] = 0;
    struct slice above = slice_of(next, after.len + 1);
    if (slice_cmp(above, *from) > 0)
        *from = above;
    return RC_OK;
}

enum rc scan_prefix_end(struct request *req, struct slice prefix, struct slice *out, struct err *err)
{
    while (prefix.len && prefix.ptr[prefix.len - 1] == 0xff)
        prefix.len--;
    *out = (struct slice){0};
    if (!prefix.len)
        return RC_OK;
    if (!arena_copy(&req->arena, prefix, out))
        return err_oom(err);
    ((uint8_t *)(uintptr_t)out->ptr)[out->len - 1]++;
    return RC_OK;
}

static enum rc ask_prefix(struct request *req, struct scan_ask *a, struct err *err)
{
    struct slice prefix = value_of(req, PARAM_prefix), end;
    if (!prefix.len)
        return RC_OK;
    if (slice_cmp(prefix, a->from) > 0)
        a->from = prefix;
    if (scan_prefix_end(req, prefix, &end, err) != RC_OK)
        return RC_ERR;
    if (end.len && (!a->upto.len || slice_cmp(end, a->upto) < 0))
        a->upto = end;
    return RC_OK;
}

static enum rc ask_range(struct request *req, struct scan_ask *a, struct err *err)
{
    const struct slice *to = params_find(req, PARAM_to), *after = params_find(req, PARAM_after);
    if (to && !to->len)
        return err_set(err, ERR_BAD_PARAMETER,
                       "to is the id before which the scan ends; no id is before an empty one.");
    a->from = value_of(req, PARAM_from);
    a->upto = to ? *to : (struct slice){0};
    if (after && after->len && raise_above(req, *after, &a->from, err) != RC_OK)
        return RC_ERR;
    if (ask_prefix(req, a, err) != RC_OK)
        return RC_ERR;
    a->is_empty = a->upto.len && slice_cmp(a->from, a->upto) >= 0;
    return RC_OK;
}

/* ---- how much of it ---- */

static enum rc ask_limit(const struct request *req, struct scan_ask *a, struct err *err)
{
    const struct slice *limit = params_find(req, PARAM_limit);
    struct words words;
    a->limit = UINT64_MAX;
    if (!limit || (num_parse_decimal(*limit, UINT64_MAX, &a->limit) && a->limit))
        return RC_OK;
    return err_set(err, ERR_BAD_PARAMETER, "limit is an integer from 1, not '%s'.", words_of(*limit, &words));
}

/* ---- the form ---- */

static enum rc ask_form(const struct request *req, struct scan_ask *a, struct err *err)
{
    struct slice accept = req->header[HEADER_ACCEPT];
    unsigned lines = negotiate_quality(accept, SLICE("application/x-ndjson"));
    unsigned array = negotiate_quality(accept, SLICE("application/json"));
    a->array = array > lines;
    if (lines || array)
        return RC_OK;
    return err_set(
        err, ERR_NOT_ACCEPTABLE,
        "The Accept of this request leaves nothing; offered are application/x-ndjson, application/json.");
}

enum rc scan_ask(struct request *req, struct scan_ask *out, struct err *err)
{
    *out = (struct scan_ask){0};
    if (ask_range(req, out, err) != RC_OK || ask_limit(req, out, err) != RC_OK ||
        params_flag(req, PARAM_keys, &out->keys, err) != RC_OK)
        return RC_ERR;
    if (out->keys && params_find(req, PARAM_fields))
        return err_set(err, ERR_BAD_PARAMETER, "Give keys or fields: with keys no record is shown.");
    return ask_form(req, out, err);
}
