/* server/params.c - see params.h. */
#include "server/params.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/num.h"
#include "server/target.h"
#include "server/words.h"

static const struct slice names[] = {
#define PARAM(name) [PARAM_##name] = {(const uint8_t *)#name, sizeof #name - 1},
#include "server/params.def"
#undef PARAM
};
_Static_assert((int)PARAM_IDS <= 64, "each parameter has its bit");

static COLD enum rc refuse_unknown(struct slice name, uint64_t known, struct err *err)
{
    char list[200] = "";
    size_t n = 0;
    for (unsigned id = 0; id < PARAM_IDS; id++) {
        if (!(known & UINT64_C(1) << id))
            continue;
        int more = snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", (const char *)names[id].ptr);
        if (more < 0 || (size_t)more >= sizeof list - n)
            break;
        n += (size_t)more;
    }
    struct words words;
    words_of(name, &words);
    if (!n)
        return err_set(err, ERR_UNKNOWN_PARAMETER, "Unknown parameter '%s': this resource takes none.",
                       words.text);
    return err_set(err, ERR_UNKNOWN_PARAMETER, "Unknown parameter '%s': known here: %s.", words.text, list);
}

static const struct slice *known_name(struct slice name, uint64_t known)
{
    for (; known; known &= known - 1) {
        const struct slice *candidate = &names[__builtin_ctzll(known)];
        if (slice_eq(*candidate, name))
            return candidate;
    }
    return NULL;
}

static const struct slice *find(const struct request *req, const struct slice *name)
{
    for (unsigned i = 0; i < req->nparams; i++)
        if (req->param[i].name.ptr == name->ptr) /* params_parse keeps the table's own name */
            return &req->param[i].value;
    return NULL;
}

struct query {
    uint64_t known; /* bits 1 << PARAM_x */
    bool ignore_unknown;
    bool is_plain; /* there is nothing to decode in it */
};

static enum rc decode(struct request *req, const struct query *q, struct slice raw, struct slice *out,
                      struct err *err)
{
    if (likely(q->is_plain)) {
        *out = raw;
        return RC_OK;
    }
    return target_decode(raw, true, &req->arena, out, err);
}

static enum rc parse_one(struct request *req, const struct query *q, struct slice piece, struct err *err)
{
    const uint8_t *eq = memchr(piece.ptr, '=', piece.len);
    struct slice raw_name = slice_of(piece.ptr, eq ? (size_t)(eq - piece.ptr) : piece.len);
    struct slice raw_value =
        eq ? slice_of(eq + 1, (size_t)(piece.ptr + piece.len - eq - 1)) : slice_of(eq, 0);
    struct slice name, value;
    if (decode(req, q, raw_name, &name, err) != RC_OK || decode(req, q, raw_value, &value, err) != RC_OK)
        return RC_ERR;
    const struct slice *own = known_name(name, q->known);
    if (!own)
        return q->ignore_unknown ? RC_OK : refuse_unknown(name, q->known, err);
    if (req->params_given & UINT64_C(1) << (own - names))
        return err_set(err, ERR_BAD_PARAMETER, "The parameter %s is given twice.", (const char *)own->ptr);
    req->param[req->nparams++] = (struct param){*own, value};
    req->params_given |= UINT64_C(1) << (own - names);
    return RC_OK;
}

enum rc params_parse(struct request *req, uint64_t known, bool ignore_unknown, struct err *err)
{
    struct slice query = slice_not_null(req->query);
    const uint8_t *at = query.ptr, *end = query.ptr + query.len;
    const struct query q = {.known = known,
                            .ignore_unknown = ignore_unknown,
                            .is_plain = !memchr(at, '%', query.len) && !memchr(at, '+', query.len)};
    while (at < end) {
        const uint8_t *amp = memchr(at, '&', (size_t)(end - at));
        struct slice piece = slice_of(at, (size_t)((amp ? amp : end) - at));
        if (piece.len && parse_one(req, &q, piece, err) != RC_OK)
            return RC_ERR;
        if (!amp)
            break;
        at = amp + 1;
    }
    return RC_OK;
}

const struct slice *params_find(const struct request *req, enum param_id id)
{
    return req->params_given & UINT64_C(1) << id ? find(req, &names[id]) : NULL;
}

enum rc params_flag(const struct request *req, enum param_id id, bool *out, struct err *err)
{
    const struct slice *value = params_find(req, id);
    struct words words;
    *out = value && slice_eq(*value, SLICE("1"));
    if (!value || *out || slice_eq(*value, SLICE("0")))
        return RC_OK;
    return err_set(err, ERR_BAD_PARAMETER, "%s is 1 or 0, not '%s'.", (const char *)names[id].ptr,
                   words_of(*value, &words));
}

enum rc params_ttl(struct slice value, const char *else_what, uint32_t *seconds, struct err *err)
{
    uint64_t n;
    struct words words;
    if (!num_parse_decimal(value, LIMIT_TTL_MAX, &n) || n == 0)
        return err_set(err, ERR_BAD_PARAMETER, "ttl is a number of seconds from 1 to %d%s, not '%s'.",
                       LIMIT_TTL_MAX, else_what, words_of(value, &words));
    *seconds = (uint32_t)n;
    return RC_OK;
}
