/* server/router.c - compiles routes.def to tables and finds a request's row: the key word of the path (its
 * reserved first segment, its verb, or none) and the number of segments lead to a pattern, the pattern and
 * the method to the row. */
#include "server/router.h"

#include <assert.h>

#include "base/limits.h"
#include "server/access/access.h"
#include "server/catalog.h"
#include "server/handlers/handlers.h"
#include "server/handlers/idem/idem.h"
#include "server/json_form.h"
#include "server/negotiate.h"
#include "server/params.h"
#include "server/reading.h"
#include "server/registry/handlers.h"
#include "server/registry/subject_name.h"
#include "server/server.h"
#include "server/target.h"
#include "server/timing.h"

/* A GET has no use for a body; one that comes all the same is read over up to this length. */
enum { BODY_NONE = 65536 };
#define BODY_CONFIGURED UINT64_MAX

#define M(name) (1u << METHOD_##name)
#define P(name) (UINT64_C(1) << PARAM_##name)
enum { ROWS_BEFORE = __COUNTER__ };
static const struct route routes[] = {
#define RESERVED(word)
#define VERB(word)
#define ROUTE(methods_, pattern_, begin_, handle_, params_, body_, flags_, role_)                            \
    {.pattern = pattern_,                                                                                    \
     .begin = begin_,                                                                                        \
     .handle = handle_,                                                                                      \
     .body_bytes_max = body_,                                                                                \
     .methods = methods_,                                                                                    \
     .params = params_,                                                                                      \
     .flags = flags_,                                                                                        \
     .role = role_,                                                                                          \
     .row = __COUNTER__ - ROWS_BEFORE},
#include "server/routes.def"
#undef ROUTE
#undef VERB
#undef RESERVED
};
#undef M
#undef P

unsigned router_routes(void)
{
    return ARRAY_LEN(routes);
}

const char *router_pattern(unsigned row)
{
    return routes[row - 1].pattern;
}

/* ---- words: reserved first segments and verbs ---- */

enum word_kind { WORD_RESERVED = 1, WORD_VERB = 2 };

static const struct word {
    struct slice text;
    enum word_kind kind;
} words_list[] = {
#define RESERVED(word) {{(const uint8_t *)word, sizeof word - 1}, WORD_RESERVED},
#define VERB(word)     {{(const uint8_t *)word, sizeof word - 1}, WORD_VERB},
#define ROUTE(...)
#include "server/routes.def"
#undef ROUTE
#undef VERB
#undef RESERVED
};

enum { KEYS = 1 + ARRAY_LEN(words_list), KEY_TYPE = 0, WORD_SLOTS = 128 };
_Static_assert(KEYS < WORD_SLOTS / 2, "words are found in a step or two");

static uint8_t word_slots[WORD_SLOTS]; /* key, 0: free */

static unsigned word_hash(struct slice s)
{
    return (unsigned)(s.ptr[0] * 5u + s.ptr[s.len - 1] * 3u + s.len * 11u) % WORD_SLOTS;
}

/* The key of a word, or KEY_TYPE. */
static unsigned word_find(struct slice s, enum word_kind kind)
{
    if (!s.len)
        return KEY_TYPE;
    for (unsigned i = word_hash(s); word_slots[i]; i = (i + 1) % WORD_SLOTS) {
        const struct word *w = &words_list[word_slots[i] - 1];
        if (w->kind == kind && slice_eq(w->text, s))
            return word_slots[i];
    }
    return KEY_TYPE;
}

static void words_compile(void)
{
    for (unsigned key = 1; key < KEYS; key++) {
        unsigned i = word_hash(words_list[key - 1].text);
        while (word_slots[i])
            i = (i + 1) % WORD_SLOTS;
        word_slots[i] = (uint8_t)key;
    }
}

/* ---- patterns ---- */

enum part { PART_LITERAL, PART_TYPE, PART_ID, PART_FIELD, PART_ARG };

struct pattern {
    struct pattern *next; /* same key, same number of segments */
    const char *text;
    unsigned n;
    enum part part[TARGET_SEGMENTS_MAX];
    struct slice literal[TARGET_SEGMENTS_MAX];
    bool is_registry;                              /* ROUTE_REGISTRY, as all its rows */
    const struct route *by_method[METHODS];        /* without ROUTE_ASTORE */
    const struct route *by_method_astore[METHODS]; /* with --compat astore */
};

static struct pattern patterns[ARRAY_LEN(routes)];
static unsigned npatterns;
static struct pattern *pattern_lists[KEYS][TARGET_SEGMENTS_MAX + 1];
static bool key_is_registry[KEYS]; /* what is found nowhere below this word the registry has not */

static enum part part_of(struct slice s)
{
    if (slice_eq(s, SLICE("{type}")) || slice_eq(s, SLICE("{subject}")))
        return PART_TYPE;
    if (slice_eq(s, SLICE("{id}")))
        return PART_ID;
    if (slice_eq(s, SLICE("{field}")))
        return PART_FIELD;
    if (slice_eq(s, SLICE("{arg}")) || slice_eq(s, SLICE("{version}")))
        return PART_ARG;
    assert(s.ptr[0] != '{');
    return PART_LITERAL;
}

static unsigned pattern_key(const struct pattern *p)
{
    unsigned key = KEY_TYPE;
    if (p->n && p->part[0] == PART_LITERAL)
        key = word_find(p->literal[0], WORD_RESERVED);
    else if (p->n >= 3)
        key = word_find(p->literal[1], WORD_VERB);
    else
        return KEY_TYPE;
    assert(key != KEY_TYPE); /* the row's literal is not RESERVED, or not a VERB */
    return key;
}

static struct pattern *pattern_compile(const char *text)
{
    for (unsigned i = 0; i < npatterns; i++)
        if (!strcmp(patterns[i].text, text))
            return &patterns[i];
    struct pattern *p = &patterns[npatterns++];
    p->text = text;
    for (const char *at = text; at[1];) {
        size_t len = strcspn(at + 1, "/");
        assert(p->n < TARGET_SEGMENTS_MAX && len);
        p->literal[p->n] = slice_of(at + 1, len);
        p->part[p->n] = part_of(p->literal[p->n]);
        p->n++;
        at += 1 + len;
        if (!*at)
            break;
    }
    struct pattern **list = &pattern_lists[pattern_key(p)][p->n];
    p->next = *list;
    *list = p;
    return p;
}

static void route_enter(struct pattern *p, const struct route *r)
{
    assert(r->role < ROLE_WRITE || r->methods == 1u << METHOD_GET ||
           route_changes(r)); /* the flag is missing */
    if (r->flags & ROUTE_REGISTRY)
        p->is_registry = key_is_registry[pattern_key(p)] = true;
    for (unsigned m = 0; m < METHODS; m++) {
        bool is_safe = !route_changes(r); /* a HEAD that changes things would surprise anybody */
        bool takes = r->methods & 1u << m || (m == METHOD_HEAD && is_safe && r->methods & 1u << METHOD_GET);
        if (!takes)
            continue;
        assert(!p->by_method_astore[m]);
        p->by_method_astore[m] = r;
        if (!(r->flags & ROUTE_ASTORE))
            p->by_method[m] = r;
    }
}

void router_init(void)
{
    if (npatterns)
        return;
    words_compile();
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        assert(__builtin_popcountll(routes[i].params) <= PARAMS_MAX); /* each finds a place in the request */
        route_enter(pattern_compile(routes[i].pattern), &routes[i]);
    }
}

/* ---- finding a request's row ---- */

static bool pattern_fits(const struct pattern *p, const struct target *t)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->part[i] == PART_LITERAL && !slice_eq(p->literal[i], t->segment[i]))
            return false;
    return true;
}

static bool is_reserved(struct slice first)
{
    return first.len && (first.ptr[0] == '_' || word_find(first, WORD_RESERVED));
}

/* Does the registry's API say that there is nothing? The target may have been read as far as it can be. */
static COLD bool registry_has_none(const struct target *t)
{
    return t->n && key_is_registry[word_find(t->segment[0], WORD_RESERVED)];
}

static inline const struct pattern *pattern_find(const struct target *t)
{
    if (t->empty_segment || t->n > TARGET_SEGMENTS_MAX)
        return NULL;
    unsigned key = t->n ? word_find(t->segment[0], WORD_RESERVED) : KEY_TYPE;
    if (key == KEY_TYPE && t->n) {
        if (t->segment[0].ptr[0] == '_')
            return NULL;
        if (t->n >= 3) {
            key = word_find(t->segment[1], WORD_VERB);
            if (key == KEY_TYPE)
                return NULL;
        }
    }
    const struct pattern *p = pattern_lists[key][t->n];
    while (p && !pattern_fits(p, t))
        p = p->next;
    return p;
}

static enum rc captures_keep(struct request *req, const struct pattern *p, const struct target *t,
                             struct err *err)
{
    for (unsigned i = 0; i < p->n; i++) {
        switch (p->part[i]) {
        case PART_LITERAL: break;
        case PART_TYPE: req->type_name = t->segment[i]; break;
        case PART_ID: req->id = t->segment[i]; break;
        case PART_FIELD: req->field = t->segment[i]; break;
        case PART_ARG: req->arg = t->segment[i]; break;
        }
    }
    if (req->id.len > LIMIT_ID_MAX)
        return err_set(err, ERR_ID_TOO_LONG, "The id has %zu bytes; the limit is %d.", req->id.len,
                       LIMIT_ID_MAX);
    return RC_OK;
}

/* `/{type}/{verb}/`, or POST and PUT to `/{type}/{verb}`: somebody forgot the id. */
static bool lacks_id(const struct request *req, const struct target *t)
{
    if (t->n != 2 || t->empty_segment || is_reserved(t->segment[0]) || !word_find(t->segment[1], WORD_VERB))
        return false;
    return t->trailing_slash || req->method == METHOD_POST || req->method == METHOD_PUT;
}

/* Names with commas between; OPTIONS goes everywhere. Returns how many bytes. */
enum { METHODS_TEXT_BYTES = 96 };
static size_t methods_print(uint32_t methods, uint8_t out[METHODS_TEXT_BYTES])
{
    size_t n = 0;
    methods |= 1u << METHOD_OPTIONS;
    for (unsigned m = 0; m < METHODS; m++) {
        if (!(methods >> m & 1))
            continue;
        struct slice name = slice_str(method_name((enum method)m));
        assert(n + name.len + 2 <= METHODS_TEXT_BYTES);
        memcpy(out + n, name.ptr, name.len);
        memcpy(out + n + name.len, ", ", 2);
        n += name.len + 2;
    }
    return n - 2;
}

static uint32_t methods_of(const struct request *req, const struct pattern *p)
{
    bool astore = req->worker->server->options->astore;
    const struct route *const *by_method = astore ? p->by_method_astore : p->by_method;
    uint32_t methods = 0;
    for (unsigned m = 0; m < METHODS; m++)
        methods |= by_method[m] ? 1u << m : 0;
    return methods;
}

/* What is allowed, and what a patch may be (RFC 5789, section 3.1). */
static bool add_methods(struct request *req, uint32_t methods, struct slice list)
{
    return response_header(req, "Allow", list) &&
           (!(methods >> METHOD_PATCH & 1) || response_header(req, "Accept-Patch", SLICE(PATCH_TYPES)));
}

static COLD enum rc refuse_method(struct request *req, const struct pattern *p, struct err *err)
{
    uint8_t list[METHODS_TEXT_BYTES];
    uint32_t methods = methods_of(req, p);
    size_t n = methods_print(methods, list);
    if (!add_methods(req, methods, slice_of(list, n)))
        return err_oom(err);
    if (req->method == METHOD_OPTIONS)
        return RC_PENDING;
    return err_set(err, ERR_BAD_METHOD, "%s is not for this resource; these are: %.*s.",
                   method_name(req->method), (int)n, (const char *)list);
}

COLD void router_options(struct request *req)
{
    struct err err;
    uint8_t list[METHODS_TEXT_BYTES];
    uint32_t methods = 0;
    for (unsigned i = 0; i < npatterns; i++)
        methods |= methods_of(req, &patterns[i]);
    req->response.status = 204;
    if (response_header(req, "Allow", slice_of(list, methods_print(methods, list)))) {
        answer(req);
        return;
    }
    err_oom(&err);
    answer_err(req, &err);
}

COLD bool router_is_registry(struct request *req)
{
    struct target t;
    struct err unread;
    if (!req->path.len || req->path.ptr[0] != '/')
        return false;
    enum rc rc = target_split(req->path, &req->arena, &t, &unread);
    if (!registry_has_none(&t))
        return false;
    const struct pattern *p = rc == RC_OK ? pattern_find(&t) : NULL;
    return !p || p->is_registry || registry_is_asked_for_schemas(req);
}

/* RC_OK: req->route is set; RC_PENDING: OPTIONS, and the Allow header is there. */
static enum rc route_find(struct request *req, struct err *err)
{
    struct target t;
    if (!req->path.len || req->path.ptr[0] != '/')
        return err_set(err, ERR_BAD_TARGET, "The path of a request begins with a slash.");
    if (target_split(req->path, &req->arena, &t, err) != RC_OK) {
        req->is_registry = registry_has_none(&t);
        return RC_ERR;
    }
    if (lacks_id(req, &t))
        return err_set(err, ERR_BAD_TARGET, "The id is missing: the path goes on with /{id}.");
    const struct pattern *p = pattern_find(&t);
    if (!p) {
        req->is_registry = registry_has_none(&t);
        return err_set(err, ERR_NO_ROUTE, "There is nothing at this path.");
    }
    req->is_registry = p->is_registry;
    const struct route *const *by_method =
        req->worker->server->options->astore ? p->by_method_astore : p->by_method;
    if (unlikely(!by_method[req->method]))
        return refuse_method(req, p, err);
    req->route = by_method[req->method];
    return captures_keep(req, p, &t, err);
}

static enum rc type_find(struct request *req, struct err *err)
{
    if (!catalog_enter(req))
        return err_oom(err);
    req->type = catalog_find(req->hold, req->type_name);
    if (req->type)
        return RC_OK;
    return catalog_no_type(req->type_name, err);
}

/* Of a route that is the registry's only if the request asks for it: so is what it passes over. */
static COLD enum rc params_parse_either(struct request *req, bool ignore_unknown, struct err *err)
{
    enum rc rc = params_parse(req, req->route->params, true, err);
    req->is_registry = registry_is_asked_for_schemas(req);
    if (rc != RC_OK || req->is_registry || ignore_unknown)
        return rc;
    req->nparams = req->params_given = 0;
    return params_parse(req, req->route->params, false, err);
}

static enum rc query_parse(struct request *req, bool ignore_unknown, struct err *err)
{
    enum rc rc = likely(!(req->route->flags & ROUTE_EITHER))
                     ? params_parse(req, req->route->params, ignore_unknown, err)
                     : params_parse_either(req, ignore_unknown, err);
    if (rc != RC_OK || timing_begin(req, err) != RC_OK)
        return RC_ERR;
    if (likely(!(req->params_given & JSON_FORM_PARAMS)))
        return RC_OK;
    return json_form_parse(req, &req->form_asked, &req->form_mask, err);
}

static inline bool is_keyed_write(const struct request *req)
{
    return idem_asked(req) && route_changes(req->route);
}

/* Before it is known whether there is such a type. */
static COLD enum rc authorize(struct request *req, struct err *err)
{
    struct slice type = req->type_name;
    struct err ignored;
    if (req->route->flags & ROUTE_REGISTRY)
        type = subject_without_context(type);
    if (access_check(req, (enum role)req->route->role, type, err) == RC_OK)
        return RC_OK;
    if (req->route->flags & ROUTE_EITHER && params_parse_either(req, true, &ignored) != RC_OK)
        req->is_registry = registry_is_asked_for_schemas(req);
    return RC_ERR;
}

static enum rc prepare(struct request *req, struct err *err)
{
    enum rc rc = route_find(req, err);
    if (rc != RC_OK)
        return rc;
    if (unlikely(req->worker->server->access) && authorize(req, err) != RC_OK)
        return RC_ERR;
    rc = req->route->flags & ROUTE_TYPE ? type_find(req, err) : RC_OK;
    if (unlikely(rc != RC_OK) && !is_keyed_write(req))
        return RC_ERR;
    if (unlikely(req->route->flags & ROUTE_EITHER))
        req->is_registry = registry_is_asked_for_schemas(req);
    const struct options *o = req->worker->server->options;
    struct err query_err;
    if (req->query.len && query_parse(req, o->astore || req->is_registry, &query_err) != RC_OK) {
        *err = query_err;
        return RC_ERR;
    }
    uint64_t limit = req->route->body_bytes_max < o->body_max ? req->route->body_bytes_max : o->body_max;
    if (req->body_max > limit)
        req->body_max = limit;
    timing_lap(req, STAGE_parse);
    if (unlikely(is_keyed_write(req)))
        req->look = LOOK_BEHIND_BODY;
    return rc;
}

static inline bool body_fits(struct request *req)
{
    if (req->body_declared == UINT64_MAX || req->body_declared <= req->body_max)
        return true;
    struct err err;
    err_set(&err, ERR_BODY_TOO_LARGE, "The body has %llu bytes; the limit here is %llu.",
            (unsigned long long)req->body_declared, (unsigned long long)req->body_max);
    answer_err(req, &err);
    return false;
}

/* It was refused. Is that kept back until the body is there? */
static COLD bool is_kept(struct request *req)
{
    return req->look == LOOK_KEPT && body_fits(req);
}

bool router_begin(struct request *req)
{
    struct err err;
    req->route = NULL;
    req->type = NULL;
    req->hold = NULL;
    req->reader = NULL;
    req->own_reading = NULL;
    req->state = NULL;
    req->timing = NULL;
    req->nparams = req->params_given = 0;
    req->type_name = req->id = req->field = req->arg = (struct slice){0};
    if (unlikely(req->method == METHOD_TRACE)) {
        trace_handle(req);
        return false;
    }
    switch (prepare(req, &err)) {
    case RC_OK: break;
    case RC_PENDING:
        req->response.status = 204;
        answer(req);
        return false;
    default: answer_err(req, &err); return is_kept(req);
    }
    if (req->route->begin && !req->route->begin(req))
        return is_kept(req);
    req->look = LOOK_NEVER; /* until its body is there, refusals are the edge's */
    return body_fits(req);
}

static COLD void handle_keyed(struct request *req)
{
    if (req->look == LOOK_KEPT) {
        idem_look(req);
        return;
    }
    req->look = LOOK_NOW;
    req->route->handle(req);
}

void router_handle(struct request *req)
{
    timing_mark(req); /* its body may have come long after its head */
    if (unlikely(is_keyed_write(req)))
        handle_keyed(req);
    else
        req->route->handle(req);
}

void router_end(struct request *req)
{
    if (unlikely(req->own_reading))
        reading_release(req); /* before the type whose schemas it leads to */
    if (req->hold)
        catalog_leave(req);
}

const char *router_type_name_fault(struct slice name)
{
    if (!name.len || name.len > LIMIT_TYPE_NAME_MAX)
        return "A type's name has 1 to 64 bytes.";
    if (is_reserved(name))
        return "This name is reserved.";
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i], low = c | 0x20;
        bool letter = low >= 'a' && low <= 'z';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-')))
            return "A type's name is a letter, then letters, digits, '_', '.' and '-'.";
    }
    return NULL;
}
