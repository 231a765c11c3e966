/* tests/unit/server/test_router.c - which request goes where, over a catalog with the type `e`; the edge is
 * played by the test. */
#include "tests/lib/test.h"

#include <string.h>

#include "server/catalog.h"
#include "server/http/edge.h"
#include "server/params.h"
#include "server/router.h"
#include "server/server.h"

/* ---- the edge, as far as the router calls it ---- */

static struct {
    bool answered;
    unsigned status;
    enum err_code code;
    char message[256], allow[128], accept_patch[128];
} got;

void request_get(struct request *req)
{
    (void)req;
    fail_msg("routing reads nothing");
}

void answer(struct request *req)
{
    got.answered = true;
    got.status = req->response.status;
}

void answer_text(struct request *req, unsigned status, struct slice body)
{
    (void)body;
    req->response.status = (uint16_t)status;
    answer(req);
}

void answer_json(struct request *req, struct slice body)
{
    answer_text(req, 200, body);
}

void answer_err_with(struct request *req, const struct err *err, struct slice member)
{
    got.code = err->code;
    memcpy(got.message, err->message, sizeof got.message);
    answer_text(req, err_status(err->code), member);
}

void answer_err(struct request *req, const struct err *err)
{
    answer_err_with(req, err, (struct slice){0});
}

bool response_header(struct request *req, const char *name, struct slice value)
{
    (void)req;
    bool is_allow = !strcmp(name, "Allow");
    char *to = is_allow ? got.allow : got.accept_patch;
    assert_true(is_allow || !strcmp(name, "Accept-Patch"));
    assert_true(value.len < sizeof got.allow);
    memcpy(to, value.ptr, value.len);
    to[value.len] = 0;
    return true;
}

bool response_reserve(struct request *req, size_t bytes)
{
    (void)req, (void)bytes;
    return true;
}

enum rc worker_offload(struct worker *worker, struct job *job, struct err *err)
{
    (void)worker, (void)job, (void)err;
    fail_msg("routing needs no helper");
    return RC_ERR;
}

void worker_offload_always(struct worker *worker, struct job *job)
{
    (void)worker, (void)job;
    fail_msg("routing needs no helper");
}

void response_reset(struct request *req)
{
    req->response = (struct response){0};
}

bool err_print_open(struct buf *out, const struct err *err)
{
    (void)out, (void)err;
    return false;
}

void stream_resume(struct request *req)
{
    (void)req;
}

bool request_is_abandoned(const struct request *req)
{
    (void)req;
    return false;
}

bool answer_memory_take(struct worker *worker, uint64_t bytes)
{
    (void)worker, (void)bytes;
    return true;
}

void answer_memory_take_always(struct worker *worker, uint64_t bytes)
{
    (void)worker, (void)bytes;
}

void answer_memory_give(struct worker *worker, uint64_t bytes)
{
    (void)worker, (void)bytes;
}

void edge_stats(const struct edge *e, struct edge_stats *out)
{
    (void)e;
    *out = (struct edge_stats){0};
}

unsigned edge_threads(const struct options *o)
{
    (void)o;
    return 1;
}

void worker_job_done(struct job *job)
{
    (void)job;
}

/* ---- a server with one type ---- */

static struct options options;
static struct server server = {.options = &options};
static struct worker worker = {.server = &server};
static struct request req;

static void server_start(bool astore)
{
    struct store_worker *reader;
    struct err err;
    const struct store_opts opts = {.engine = "memory", .workers = 1};
    options = options_defaults;
    options.body_max = 1 << 20;
    options.astore = astore;
    router_init();
    assert_int_equal(store_open(&server.store, &opts, &err), RC_OK);
    assert_int_equal(store_worker_new(&reader, server.store, NULL, &err), RC_OK);
    assert_int_equal(catalog_open(&server.catalog, reader, &err), RC_OK);
    store_worker_free(reader);
    static const uint8_t version[] = {1, 0, 0, 0, 1, 0, 0, 0};
    const struct type_row row = {
        .number = 1, .revision = 1, .nversions = 1, .versions = {version, sizeof version}};
    assert_int_equal(catalog_put(server.catalog, SLICE("e"), &row, &err), RC_OK);
}

static void server_stop(void)
{
    catalog_free(server.catalog);
    worker.catalog = NULL;
    store_close(server.store);
    arena_release(&req.arena);
}

/* The pattern that a request leads to, or NULL: then *got says what it was told. */
static const char *route(enum method method, const char *target)
{
    const char *question = strchr(target, '?');
    arena_reset(&req.arena);
    req = (struct request){.worker = &worker, .method = method, .arena = req.arena, .body_max = UINT64_MAX};
    req.path = question ? slice_of(target, (size_t)(question - target)) : slice_str(target);
    req.query = question ? slice_str(question + 1) : (struct slice){0};
    memset(&got, 0, sizeof got);
    /* What the route itself checks is not asked here, so a type's schema need not be there. */
    bool goes_on = router_begin(&req);
    const char *pattern = req.route ? req.route->pattern : NULL;
    assert_int_equal(goes_on, !got.answered);
    router_end(&req);
    return goes_on ? pattern : NULL;
}

#define LEADS_TO(method, target, pattern)                                                                    \
    do {                                                                                                     \
        const char *to_ = route(METHOD_##method, target);                                                    \
        if (!to_)                                                                                            \
            fail_msg("%s: %s", target, got.message);                                                         \
        assert_string_equal(to_, pattern);                                                                   \
    } while (0)

#define REFUSED(method, target, want)                                                                        \
    do {                                                                                                     \
        const char *to_ = route(METHOD_##method, target);                                                    \
        if (to_)                                                                                             \
            fail_msg("%s went to %s", target, to_);                                                          \
        if (got.code != ERR_##want)                                                                          \
            fail_msg("%s: %s, %s", target, err_slug(got.code), got.message);                                 \
    } while (0)

TEST(router_begin__finds_every_route)
{
    server_start(false);
    LEADS_TO(GET, "/", "/");
    LEADS_TO(GET, "/ping", "/ping");
    LEADS_TO(GET, "/ping/", "/ping");
    LEADS_TO(GET, "/%70ing", "/ping");
    LEADS_TO(GET, "/healthz", "/healthz");
    LEADS_TO(GET, "/readyz", "/readyz");
    LEADS_TO(GET, "/metrics", "/metrics");
    LEADS_TO(GET, "/schemas", "/schemas");
    LEADS_TO(POST, "/putschema/new", "/putschema/{type}");
    LEADS_TO(PUT, "/putschema/new", "/putschema/{type}");
    LEADS_TO(GET, "/getschema/e", "/getschema/{type}");
    LEADS_TO(POST, "/delschema/e", "/delschema/{type}");
    LEADS_TO(DELETE, "/delschema/e", "/delschema/{type}");
    LEADS_TO(GET, "/e", "/{type}");
    LEADS_TO(PURGE, "/e/1", "/{type}/{id}");
    LEADS_TO(HEAD, "/e/?limit=5&keys=1", "/{type}");
    LEADS_TO(GET, "/e/get/1", "/{type}/get/{id}");
    LEADS_TO(HEAD, "/e/get/1", "/{type}/get/{id}");
    LEADS_TO(GET, "/e/get/1/name", "/{type}/get/{id}/{field}");
    LEADS_TO(POST, "/e/put/1", "/{type}/put/{id}");
    LEADS_TO(PUT, "/e/put/1/name", "/{type}/put/{id}/{field}");
    LEADS_TO(GET, "/e/1", "/{type}/{id}");
    LEADS_TO(HEAD, "/e/1/", "/{type}/{id}");
    LEADS_TO(PUT, "/e/1", "/{type}/{id}");
    LEADS_TO(POST, "/e/1", "/{type}/{id}");
    LEADS_TO(DELETE, "/e/1", "/{type}/{id}");
    LEADS_TO(POST, "/_txn", "/_txn");
    server_stop();
}

TEST(router_begin__keeps_decoded_segments)
{
    server_start(false);
    LEADS_TO(GET, "/e/get/x%2Fname", "/{type}/get/{id}");
    assert_slice_str(req.id, "x/name");
    LEADS_TO(GET, "/e/a+b", "/{type}/{id}");
    assert_slice_str(req.id, "a+b");
    LEADS_TO(GET, "/e/..", "/{type}/{id}");
    assert_slice_str(req.id, "..");
    LEADS_TO(GET, "/e/get", "/{type}/{id}"); /* a record may bear a verb's name */
    assert_slice_str(req.id, "get");
    LEADS_TO(GET, "/e/get/put/get", "/{type}/get/{id}/{field}");
    assert_slice_str(req.id, "put");
    assert_slice_str(req.field, "get");
    server_stop();
}

TEST(router_begin__answers_404_where_nothing_is)
{
    server_start(false);
    REFUSED(GET, "/e/x/name", NO_ROUTE);
    REFUSED(GET, "/e//1", NO_ROUTE);
    REFUSED(GET, "/e/get/1//", NO_ROUTE);
    REFUSED(GET, "//", NO_ROUTE);
    REFUSED(GET, "/ping/x", NO_ROUTE);
    REFUSED(GET, "/metrics/x", NO_ROUTE);
    REFUSED(GET, "/openapi.json", NO_ROUTE);
    REFUSED(GET, "/schema/x", NO_ROUTE);
    REFUSED(GET, "/subjects/a/b", NO_ROUTE);
    REFUSED(POST, "/_txns", NO_ROUTE);
    REFUSED(GET, "/_x/1", NO_ROUTE);
    REFUSED(GET, "/nope", NO_TYPE);
    REFUSED(POST, "/e", BAD_METHOD);
    REFUSED(PUT, "/e/select/1", BAD_METHOD);
    REFUSED(GET, "/e/get/1/name/x", NO_ROUTE);
    REFUSED(GET, "/e/get/1/name/x/y/z", NO_ROUTE);
    REFUSED(GET, "/nope/1", NO_TYPE);
    REFUSED(GET, "/getschema/9bad", NO_TYPE);
    server_stop();
}

TEST(router_begin__says_that_an_id_is_missing)
{
    server_start(false);
    REFUSED(GET, "/e/get/", BAD_TARGET);
    REFUSED(POST, "/e/put/", BAD_TARGET);
    REFUSED(POST, "/e/put", BAD_TARGET);
    REFUSED(PUT, "/e/select", BAD_TARGET);
    REFUSED(POST, "/nope/get", BAD_TARGET);
    LEADS_TO(DELETE, "/e/put", "/{type}/{id}");
    server_stop();
}

TEST(router_begin__limits_ids)
{
    char target[3 * 481 + 16] = "/e/", *p = target + 3;
    server_start(false);
    for (unsigned i = 0; i < 480; i++, p += 3)
        memcpy(p, "%00", 4);
    LEADS_TO(GET, target, "/{type}/{id}");
    assert_int_equal(req.id.len, 480);
    memcpy(p, "x", 2);
    REFUSED(GET, target, ID_TOO_LONG);
    assert_non_null(strstr(got.message, "480"));
    server_stop();
}

TEST(router_begin__answers_405_with_the_methods_and_204_to_options)
{
    server_start(false);
    LEADS_TO(PATCH, "/e/1", "/{type}/{id}");
    (void)route(METHOD_TRACE, "/any/path/at/all"); /* a health check */
    assert_int_equal(got.status, 200);
    (void)route(METHOD_OPTIONS, "/e/1");
    assert_int_equal(got.status, 204);
    assert_string_equal(got.allow, "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, PURGE");
    REFUSED(POST, "/ping", BAD_METHOD);
    assert_string_equal(got.allow, "GET, HEAD, OPTIONS");
    REFUSED(GET, "/putschema/e", BAD_METHOD);
    REFUSED(GET, "/delschema/e", BAD_METHOD);
    assert_string_equal(got.allow, "POST, DELETE, OPTIONS");
    assert_null(route(METHOD_OPTIONS, "/nope/1"));
    assert_int_equal(got.status, 204);
    assert_string_equal(got.allow, "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, PURGE");
    assert_string_equal(got.accept_patch,
                        "application/merge-patch+json, application/json-patch+json, application/json");
    assert_null(route(METHOD_OPTIONS, "/ping"));
    assert_string_equal(got.accept_patch, "");
    REFUSED(OPTIONS, "/a/b/c/d", NO_ROUTE);
    server_stop();
}

TEST(router_begin__refuses_unknown_and_doubled_parameters)
{
    server_start(false);
    REFUSED(GET, "/e/1?timeout=3", UNKNOWN_PARAMETER);
    assert_non_null(strstr(got.message, "benchmark_only"));
    REFUSED(GET, "/ping?x", UNKNOWN_PARAMETER);
    REFUSED(GET, "/e/1?benchmark_only=1&benchmark_only=1", BAD_PARAMETER);
    REFUSED(GET, "/e/1?benchmark_only=%zz", BAD_TARGET);
    REFUSED(GET, "/e/get/1/name?benchmark_only=1", UNKNOWN_PARAMETER);
    LEADS_TO(GET, "/e/1?", "/{type}/{id}");
    LEADS_TO(GET, "/e/1?&benchmark%5fonly=1+0&", "/{type}/{id}");
    assert_slice_str(*params_find(&req, PARAM_benchmark_only), "1 0");
    assert_null(params_find(&req, PARAM_version));
    server_stop();
}

TEST(router_begin__with_compat_astore_takes_what_astore_took)
{
    server_start(true);
    LEADS_TO(GET, "/delschema/e", "/delschema/{type}");
    REFUSED(HEAD, "/delschema/e", BAD_METHOD);
    LEADS_TO(GET, "/e/1?timeout=3", "/{type}/{id}");
    REFUSED(PATCH, "/delschema/e", BAD_METHOD);
    assert_string_equal(got.allow, "GET, POST, DELETE, OPTIONS");
    server_stop();
}

TEST(router_begin__refuses_a_body_that_is_declared_too_long)
{
    server_start(false);
    req.body_declared = 0;
    LEADS_TO(POST, "/e/put/1", "/{type}/put/{id}");
    assert_int_equal(req.body_max, 1 << 20);
    struct request *r = &req;
    *r = (struct request){.worker = &worker,
                          .method = METHOD_POST,
                          .arena = r->arena,
                          .path = SLICE("/putschema/e"),
                          .body_max = UINT64_MAX,
                          .body_declared = (1 << 20) + 1};
    assert_false(router_begin(r));
    assert_int_equal(got.code, ERR_BODY_TOO_LARGE);
    router_end(r);
    server_stop();
}

TEST(router_type_name_fault__knows_names)
{
    char longest[65];
    memset(longest, 'a', sizeof longest);
    assert_null(router_type_name_fault(slice_of(longest, 64)));
    assert_non_null(router_type_name_fault(slice_of(longest, 65)));
    const char *const good[] = {"a", "Z", "personinfo", "a.b-c_d9", "get", "put"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_null(router_type_name_fault(slice_str(good[i])));
    const char *const bad[] = {"",         "9a",   "_a",      "-a",         "a b", "a/b",
                               "\xc3\xa4", "ping", "schemas", "robots.txt", ".a",  "a\x7f"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_non_null(router_type_name_fault(slice_str(bad[i])));
    assert_non_null(router_type_name_fault(slice_of("a\0b", 3)));
}

TEST_MAIN()
