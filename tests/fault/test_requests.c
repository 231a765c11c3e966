/* tests/fault/test_requests.c - whole requests, from their routing to their answer, when the n-th allocation
 * fails: the answer is the one that it always is, or 503 with nothing changed. The edge is played by the
 * test, but for what it prints. */
#include "tests/fault/fault.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "server/catalog.h"
#include "server/counts.h"
#include "server/http/worker.h"
#include "server/router.h"
#include "server/server.h"

/* ---- a text of bounded length; its memory does not fail ---- */

struct text {
    size_t len;
    char at[1 << 19];
};

static void text_add(struct text *t, struct slice s)
{
    assert_true(t->len + s.len < sizeof t->at);
    if (s.len)
        memcpy(t->at + t->len, s.ptr, s.len);
    t->len += s.len;
    t->at[t->len] = 0;
}

static void text_add_number(struct text *t, const char *format, uint64_t n)
{
    char digits[64];
    int len = snprintf(digits, sizeof digits, format, (unsigned long long)n);
    text_add(t, slice_of(digits, (size_t)len));
}

/* ---- the edge, as far as requests need it ---- */

static struct {
    unsigned answers, status;
    struct text text; /* status, tag, further header lines, body */
} reply;

/* A request that waits for memory comes back as a job; after so many there is memory again. */
enum { JOBS_MAX = 3 };
static struct job *offloaded;
static unsigned jobs;

/* One that makes its pieces later. */
static struct request *streaming;

/* Takes a part of what is lent, so that some of it is lent again. */
static enum rc take_lent(struct request *req)
{
    struct slice part[3];
    unsigned n = ARRAY_LEN(part);
    enum rc rc;
    while ((rc = req->response.stream->lend(req, part, &n)) != RC_ERR) {
        size_t taken = 0, last = part[n - 1].len;
        part[n - 1].len = last / 2 + 1;
        for (unsigned i = 0; i < n; taken += part[i++].len)
            text_add(&reply.text, part[i]);
        req->response.stream->took(req, taken);
        if (rc == RC_OK && part[n - 1].len == last)
            return rc;
        n = ARRAY_LEN(part);
    }
    return rc;
}

static enum rc stream_on(struct request *req)
{
    static struct buf piece;
    enum rc rc;
    if (req->response.stream->lend)
        return take_lent(req);
    fault_pause(); /* the edge's own memory */
    assert_true(buf_reserve(&piece, 65536));
    fault_resume();
    do {
        piece.len = 0;
        rc = req->response.stream->more(req, &piece, 4096);
        text_add(&reply.text, buf_slice(&piece));
    } while (rc == RC_PENDING);
    return rc;
}

static void stream_end(struct request *req)
{
    streaming = NULL;
    if (req->response.stream->end)
        req->response.stream->end(req);
}

void stream_resume(struct request *req)
{
    assert_ptr_equal(req, streaming);
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

unsigned edge_threads(const struct options *o)
{
    (void)o;
    return 1;
}

void worker_job_done(struct job *job)
{
    (void)job; /* nobody logs in */
}

void edge_stats(const struct edge *e, struct edge_stats *out)
{
    (void)e;
    *out = (struct edge_stats){0};
}

void request_get(struct request *req)
{
    store_get_soon(req->worker->store, &req->get);
    store_gets_run(req->worker->store);
}

void answer(struct request *req)
{
    const struct response *r = &req->response;
    reply.answers++;
    reply.status = r->status;
    reply.text.len = 0;
    text_add_number(&reply.text, "%llu ", r->status);
    text_add_number(&reply.text, "ETag %llu", r->etag_revision);
    text_add_number(&reply.text, "-%llu\n", r->etag_version);
    if (r->content_type)
        text_add(&reply.text, slice_str(r->content_type));
    text_add(&reply.text, SLICE("\n"));
    text_add(&reply.text, r->headers);
    if (r->stream)
        streaming = req;
    else
        text_add(&reply.text, r->body);
}

void worker_offload_always(struct worker *worker, struct job *job)
{
    job->worker = worker;
    job->store = worker->store; /* a helper's own would do the same */
    assert_null(offloaded);
    offloaded = job;
    if (++jobs == JOBS_MAX)
        fault_recover();
}

enum rc worker_offload(struct worker *worker, struct job *job, struct err *err)
{
    (void)err;
    worker_offload_always(worker, job);
    return RC_PENDING;
}

/* A request that waits a moment need not wait here. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted, (void)left;
    return 0;
}

/* ---- a server on the memory engine ---- */

static struct options options;
static struct server server = {.options = &options};
static struct edge edge = {.server = &server};
static struct edge_worker edge_workers[2];
static struct counts counts;
static struct edge_worker *at_work;

static void worker_start(struct edge_worker *w)
{
    struct err err;
    *w = (struct edge_worker){.edge = &edge, .worker = {.server = &server, .random = 1, .counts = &counts}};
    w->limits.bodies_budget = w->limits.answers_budget = UINT64_MAX;
    w->worker.codec = codec_new();
    assert_non_null(w->worker.codec);
    assert_int_equal(store_worker_new(&w->worker.store, server.store, NULL, &err), RC_OK);
}

static void worker_stop(struct edge_worker *w)
{
    store_turn_end(w->worker.store);
    store_worker_free(w->worker.store);
    codec_free(w->worker.codec);
    buf_release(&w->worker.scratch);
    buf_release(&w->worker.resolved);
    buf_release(&w->problem);
}

static void catalog_start(void)
{
    struct store_worker *reader;
    struct err err;
    assert_int_equal(store_worker_new(&reader, server.store, NULL, &err), RC_OK);
    assert_int_equal(catalog_open(&server.catalog, reader, &err), RC_OK);
    store_worker_free(reader);
}

static void server_start(void)
{
    const struct store_opts opts = {.engine = "memory", .workers = 16};
    struct err err;
    options = options_defaults;
    router_init();
    assert_int_equal(store_open(&server.store, &opts, &err), RC_OK);
    catalog_start();
    worker_start(&edge_workers[0]);
    worker_start(&edge_workers[1]);
    at_work = &edge_workers[0];
}

/* Schemas are compiled anew when they are needed. */
static void catalog_restart(void)
{
    catalog_free(server.catalog);
    edge_workers[0].worker.catalog = edge_workers[1].worker.catalog = NULL;
    catalog_start();
}

static void server_stop(void)
{
    worker_stop(&edge_workers[0]);
    worker_stop(&edge_workers[1]);
    store_close(server.store);
    catalog_free(server.catalog);
}

/* ---- requests ---- */

struct ask {
    enum method method;
    const char *target, *body;
    enum header header;
    const char *value; /* of that header; NULL: none */
};

static void request_begin(struct request *req, const struct ask *a)
{
    const char *mark = strchr(a->target, '?');
    *req = (struct request){
        .worker = &at_work->worker, .method = a->method, .body_max = UINT64_MAX, .arena = req->arena};
    req->path = slice_of(a->target, mark ? (size_t)(mark - a->target) : strlen(a->target));
    if (mark)
        req->query = slice_str(mark + 1);
    if (a->value) {
        req->header[a->header] = slice_str(a->value);
        req->headers = 1u << a->header;
    }
    req->body_declared = a->body ? strlen(a->body) : 0;
    reply.answers = jobs = 0;
}

/* Is the answer there, as far as it can come? One that is cut says so. */
static bool is_answered(void)
{
    if (!streaming || offloaded)
        return reply.answers && !offloaded;
    struct request *req = streaming;
    enum rc rc = stream_on(req);
    if (rc == RC_AGAIN)
        return false;
    if (rc == RC_ERR)
        text_add(&reply.text, SLICE("cut"));
    stream_end(req);
    return true;
}

static void wait_for_answer(void)
{
    while (!is_answered()) {
        if (offloaded) {
            struct job *job = offloaded;
            offloaded = NULL;
            job->run(job);
            job->done(job);
            continue;
        }
        struct pollfd p = {.fd = store_worker_fd(at_work->worker.store), .events = POLLIN};
        uint64_t rings;
        poll(&p, 1, -1);
        ssize_t n = read(p.fd, &rings, sizeof rings);
        (void)n;
        store_worker_run(at_work->worker.store);
    }
    assert_int_equal(reply.answers, 1);
}

static void request_go_on(struct request *req, const struct ask *a)
{
    if (a->body)
        req->body = slice_str(a->body);
    router_handle(req);
    wait_for_answer();
}

static void request_end(struct request *req)
{
    router_end(req);
    arena_release(&req->arena);
    store_turn_end(at_work->worker.store);
}

static void ask(const struct ask *a)
{
    static struct request req;
    request_begin(&req, a);
    if (router_begin(&req))
        request_go_on(&req, a);
    request_end(&req);
}

static void ask_ok(enum method method, const char *target, const char *body)
{
    ask(&(struct ask){.method = method, .target = target, .body = body});
    if (reply.status >= 300)
        fail_msg("%s: %s", target, reply.text.at);
}

/* All that is stored, as anybody sees it. */
static void see(struct text *all)
{
    static const char *const targets[] = {"/schemas",
                                          "/getschema/p?version=1",
                                          "/getschema/p?version=2",
                                          "/getschema/n",
                                          "/p/get/1",
                                          "/p/get/2",
                                          "/p/get/a%20b",
                                          "/blob/1",
                                          "/n/get/1",
                                          "/subjects?deleted=true",
                                          "/schemas?deleted=true",
                                          "/config",
                                          "/config/p",
                                          "/mode/a%2Fb"};
    all->len = 0;
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        ask(&(struct ask){.method = METHOD_GET, .target = targets[i]});
        text_add(all, slice_of(reply.text.at, reply.text.len));
        text_add(all, SLICE("\n"));
    }
}

/* ---- one request under fire ---- */

static const char schema[] =
    "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"s\",\"type\":\"string\"},"
    "{\"name\":\"u\",\"type\":[\"null\",\"int\"],\"default\":null},"
    "{\"name\":\"odd\",\"type\":{\"type\":\"string\",\"logicalType\":\"date\"},\"default\":\"x\"}]}";
static const char schema_of_version_2[] =
    "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"s\",\"type\":\"string\"},"
    "{\"name\":\"w\",\"type\":{\"type\":\"long\",\"logicalType\":\"decimal\"},\"default\":7}]}";
static const char schema_incompatible[] =
    "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":\"s\",\"type\":\"bytes\"},"
    "{\"name\":\"m\",\"type\":\"int\"}]}";
static const char schema_of_long[] =
    "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"n\",\"type\":\"int\"},"
    "{\"name\":\"t\",\"type\":\"string\"}]}";
static const char record[] = "{\"u\":5,\"s\":\"one\"}";

struct scene {
    struct ask ask;
    unsigned status;         /* that it gets */
    bool cold;               /* since a start, no schema has been compiled */
    bool streamed;           /* it may fail in the middle: cut, or with an error in place of a record */
    bool evolves;            /* there is a second version of p, since all was put */
    bool has_subjects;       /* ... and what the registry has */
    bool is_repeat;          /* ... and it has been asked before */
    bool has_time;           /* ... and a type with a ttl */
    bool has_long;           /* on the stage is a record, too, that takes a helper, and a blob in chunks */
    void (*meanwhile)(void); /* on another worker, between the head and the body; NULL: nothing */
};

#define SUBJECT_BODY(schema) "{\"schema\":\"" schema "\"}"
#define SUBJECT_ENUM(symbols)                                                                                \
    "{\\\"type\\\":\\\"enum\\\",\\\"name\\\":\\\"E\\\",\\\"symbols\\\":[" symbols "]}"
static const char first_enum[] = SUBJECT_BODY(SUBJECT_ENUM("\\\"A\\\""));
static const char wider_enum[] = SUBJECT_BODY(SUBJECT_ENUM("\\\"A\\\",\\\"B\\\""));
static const char other_enums[] = SUBJECT_BODY(SUBJECT_ENUM("\\\"C\\\""));
static const char chosen_version[] = "{\"schema\":\"\\\"int\\\"\",\"version\":7}";
static const char with_reference[] = "{\"schema\":\"{\\\"type\\\":\\\"array\\\",\\\"items\\\":\\\"E\\\"}\","
                                     "\"references\":[{\"name\":\"E\",\"subject\":\"a/b\",\"version\":1}]}";

static const struct scene *scene;
static struct text usual, seen, seen_before, seen_after;

static void stage(void)
{
    ask_ok(METHOD_POST, "/putschema/p?compatibility=none", schema);
    ask_ok(METHOD_POST, "/putschema/blob", "\"bytes\"");
    ask_ok(METHOD_PUT, "/p/1", record);
    ask_ok(METHOD_PUT, "/p/2", "{\"s\":\"two\"}");
    ask_ok(METHOD_PUT, "/blob/1", "content");
    if (scene->is_repeat)
        ask(&scene->ask);
    if (scene->has_time) {
        ask_ok(METHOD_POST, "/putschema/t?ttl=600", schema);
        ask_ok(METHOD_PUT, "/t/1", record);
    }
    if (scene->has_long) {
        static char text[70000];
        memset(text, 'x', sizeof text - 1);
        ask_ok(METHOD_PUT, "/blob/long", text);
        ask_ok(METHOD_POST, "/putschema/s", "\"string\"");
        ask_ok(METHOD_PUT, "/s/a", "short");
        ask_ok(METHOD_PUT, "/s/b", text);
        ask_ok(METHOD_PUT, "/s/c", "short, too");
        ask_ok(METHOD_POST, "/putschema/l", schema_of_long);
        memcpy(text, "{\"n\":1,\"t\":\"", 12);
        memcpy(text + sizeof text - 3, "\"}", 2);
        ask_ok(METHOD_PUT, "/l/1", text);
    }
    if (scene->has_subjects) {
        ask_ok(METHOD_POST, "/subjects/a%2Fb/versions", first_enum);
        ask_ok(METHOD_POST, "/subjects/a%2Fb/versions", wider_enum);
        ask_ok(METHOD_POST, "/subjects/e/versions", first_enum);
        ask_ok(METHOD_POST, "/subjects/r/versions", with_reference);
        ask_ok(METHOD_DELETE, "/subjects/e", NULL);
        ask_ok(METHOD_PUT, "/mode/a%2Fb", "{\"mode\":\"READWRITE\"}");
    }
    if (scene->evolves)
        ask_ok(METHOD_POST, "/putschema/p?compatibility=none", schema_of_version_2);
    if (fault.nth == 0)
        see(&seen_before);
}

/* Whatever requests before have left for those behind. */
static void forget_memory(void)
{
    struct worker *w = &at_work->worker;
    buf_release(&w->scratch);
    buf_release(&w->resolved);
    buf_release(&at_work->problem);
    codec_free(w->codec);
    w->codec = codec_new();
    assert_non_null(w->codec);
    codec_free(server.writer.codec);
    server.writer.codec = NULL;
    buf_release(&server.writer.resolved);
    buf_release(&server.writer.out);
    if (scene->cold)
        catalog_restart();
}

static void meanwhile(void)
{
    fault_pause();
    at_work = &edge_workers[1];
    scene->meanwhile();
    if (fault.nth == 0)
        see(&seen_before);
    at_work = &edge_workers[0];
    reply.answers = jobs = 0;
    fault_resume();
}

static void ask_under_fire(void)
{
    static struct request req;
    fault_begin();
    request_begin(&req, &scene->ask);
    bool go_on = router_begin(&req);
    if (go_on && scene->meanwhile)
        meanwhile();
    if (go_on)
        request_go_on(&req, &scene->ask);
    request_end(&req);
    fault_end();
}

static void assert_text(const struct text *got, const struct text *want, const char *what)
{
    if (got->len != want->len || memcmp(got->at, want->at, got->len))
        fail_msg("%s, allocation %ld, %s:\ngot  %s\nwant %s", scene->ask.target, (long)fault.nth, what,
                 got->at, want->at);
}

static void assert_refused(void)
{
    if (reply.status != 503 ||
        (!strstr(reply.text.at, "\"code\":\"no_memory\"") &&
         !strstr(reply.text.at, "{\"error_code\":503,")) ||
        !strstr(reply.text.at, "Retry-After: 1\r\n") || !strstr(reply.text.at, "ETag 0-"))
        assert_text(&reply.text, &usual, "neither the usual answer nor 503");
}

static bool is_broken_off(void)
{
    const struct text *t = &reply.text;
    return scene->streamed && reply.status == scene->status &&
           ((t->len > 3 && !memcmp(t->at + t->len - 3, "cut", 3)) ||
            strstr(t->at, "\"error\":{\"status\":503"));
}

static enum rc play(void *arg, struct err *err)
{
    enum rc rc = RC_OK;
    scene = arg;
    server_start();
    stage();
    forget_memory();
    ask_under_fire();
    if (fault.nth == 0) {
        if (reply.status != scene->status)
            fail_msg("%s: %s", scene->ask.target, reply.text.at);
        usual = reply.text;
        see(&seen_after);
    } else if (reply.status == scene->status && !is_broken_off()) {
        assert_text(&reply.text, &usual, "answer");
    } else {
        if (!is_broken_off())
            assert_refused();
        catalog_restart(); /* what the store has counts, not what the catalog knows of it */
        see(&seen);
        assert_text(&seen, &seen_before, "refused, and yet it changed something");
        rc = err_oom(err);
        ask(&scene->ask);
        assert_text(&reply.text, &usual, "answer when memory is there again");
    }
    see(&seen);
    assert_text(&seen, &seen_after, "what is stored");
    server_stop();
    return rc;
}

static void play_each(const struct scene *s)
{
    assert_true(fault_each(play, (void *)(uintptr_t)s, RC_OK, ERR_NONE) > 0);
}

/* ---- scenes ---- */

#define ASK(method_, target_, body_) .ask = {.method = METHOD_##method_, .target = target_, .body = body_}
#define ASK_WITH(method_, target_, body_, header_, value_)                                                   \
    .ask = {.method = METHOD_##method_,                                                                      \
            .target = target_,                                                                               \
            .body = body_,                                                                                   \
            .header = HEADER_##header_,                                                                      \
            .value = value_}

TEST(putschema__registers_whole_or_no_memory)
{
    play_each(&(struct scene){ASK(POST, "/putschema/n?missing=zero&unknown=ignore", schema), .status = 200});
    play_each(&(struct scene){ASK(POST, "/putschema/p", schema), .status = 200}); /* nothing is new */
    play_each(
        &(struct scene){ASK(POST, "/putschema/p?compatibility=none", schema_of_version_2), .status = 200});
    play_each(&(struct scene){ASK(PUT, "/putschema/n?fullname=%50",
                                  "[\"null\",{\"type\":\"fixed\",\"name\":\"P\","
                                  "\"size\":2}]"),
                              .status = 200});
}

TEST(putschema__says_what_would_be_or_no_memory)
{
    play_each(&(struct scene){ASK(POST, "/putschema/p?dry_run=1&compatibility=full", schema_of_version_2),
                              .status = 200, .cold = true});
    play_each(&(struct scene){ASK(POST, "/putschema/n?dry_run=1", schema), .status = 200});
}

TEST(put__of_a_record_with_a_time_or_no_memory)
{
    play_each(&(struct scene){ASK(PUT, "/p/3?ttl=600", record), .status = 201});
    play_each(&(struct scene){ASK(POST, "/p/put/1?ttl=600&dry_run=1", record), .status = 200});
    play_each(&(struct scene){ASK_WITH(PUT, "/blob/2", "x", CACHE_CONTROL, "no-store, max-age=600"),
                              .status = 201});
    play_each(&(struct scene){ASK(PUT, "/t/put/1/s", "\"two\""), .status = 200, .has_time = true});
    play_each(&(struct scene){ASK(GET, "/t/get/1", NULL), .status = 200, .has_time = true});
    play_each(&(struct scene){ASK(GET, "/t", NULL), .status = 200, .has_time = true, .streamed = true});
}

TEST(idem__a_write_with_a_key_or_no_memory)
{
    play_each(&(struct scene){ASK_WITH(PUT, "/p/3", record, IDEMPOTENCY_KEY, "k"), .status = 201});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/put/1/s", "\"two\"", IDEMPOTENCY_KEY, "k"), .status = 200});
    play_each(&(struct scene){ASK_WITH(DELETE, "/p/1", NULL, IDEMPOTENCY_KEY, "k"), .status = 200});
    play_each(&(struct scene){ASK_WITH(DELETE, "/p?prefix=1", NULL, IDEMPOTENCY_KEY, "k"), .status = 200});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/3", record, IDEMPOTENCY_KEY, ""), .status = 400});
}

TEST(idem__a_repeat_or_no_memory)
{
    play_each(&(struct scene){ASK_WITH(PUT, "/p/3", record, IDEMPOTENCY_KEY, "k"), .status = 201,
                              .is_repeat = true});
}

TEST(range_delete__deletes_a_batch_or_no_memory)
{
    play_each(&(struct scene){ASK(DELETE, "/p?prefix=1", NULL), .status = 200});
    play_each(&(struct scene){ASK(DELETE, "/p?prefix=1&dry_run=1", NULL), .status = 200});
    play_each(&(struct scene){ASK(DELETE, "/blob?prefix=%FF", NULL), .status = 200});
    play_each(&(struct scene){ASK(DELETE, "/p?prefix=", NULL), .status = 400});
    play_each(&(struct scene){ASK(PURGE, "/p/1", NULL), .status = 200});
}

TEST(putschema__refuses_as_always_or_no_memory)
{
    play_each(
        &(struct scene){ASK(POST, "/putschema/p?compatibility=full", schema_incompatible), .status = 409});
    play_each(&(struct scene){ASK(POST, "/putschema/p?compatibility=full", schema_incompatible),
                              .status = 409, .cold = true});
    play_each(&(struct scene){ASK(POST, "/putschema/n", "{\"type\":\"strnig\"}"), .status = 422});
    play_each(&(struct scene){ASK(POST, "/putschema/n", "{"), .status = 400});
    play_each(&(struct scene){ASK(POST, "/putschema/ping", schema), .status = 400});
    play_each(&(struct scene){ASK_WITH(POST, "/putschema/p", schema, IF_NONE_MATCH, "*"), .status = 412});
    play_each(&(struct scene){ASK_WITH(POST, "/putschema/n", schema, IF_MATCH, "\"1-1\""), .status = 412});
}

TEST(getschema__shows_or_no_memory)
{
    play_each(&(struct scene){ASK(GET, "/getschema/p", NULL), .status = 200});
    play_each(&(struct scene){ASK(GET, "/getschema/p?version=7", NULL), .status = 404});
    play_each(&(struct scene){ASK(GET, "/schemas", NULL), .status = 200});
}

TEST(delschema__drops_whole_or_no_memory)
{
    play_each(&(struct scene){ASK(POST, "/delschema/p", NULL), .status = 200});
    play_each(&(struct scene){ASK(DELETE, "/delschema/nope", NULL), .status = 404});
}

TEST(put__stores_whole_or_no_memory)
{
    play_each(&(struct scene){ASK(PUT, "/p/1", "{\"s\":\"new\"}"), .status = 200});
    play_each(&(struct scene){ASK(PUT, "/p/a%20b", "{\"s\":\"new\"}"), .status = 201});
    play_each(&(struct scene){ASK(POST, "/p/put/a%20b", "{\"s\":\"new\"}"), .status = 200});
    play_each(&(struct scene){ASK(POST, "/p/put/1", "{\"s\":\"new\"}"), .status = 200, .cold = true});
    play_each(&(struct scene){ASK(PUT, "/p/1/s", NULL), .status = 404});
    play_each(&(struct scene){ASK(POST, "/p/put/1/s", "\"field\""), .status = 200});
    play_each(&(struct scene){ASK(POST, "/p/put/1/u", "6"), .status = 200, .cold = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/blob/1", "image", CONTENT_TYPE, "image/png"), .status = 200});
    play_each(&(struct scene){ASK(POST, "/p/put/1?benchmark_only=5", "{\"s\":\"new\"}"), .status = 200});
}

#define IN_AVRO                                                                                              \
    "\x06"                                                                                                   \
    "new\x02\x0a\x02y"
#define SINGLE                                                                                               \
    "\xc3\x01"                                                                                               \
    "\x94\xfc\x38\x35\xb1\xa2\x3e\xc7" /* the fingerprint of `schema` */

TEST(put__of_each_form_stores_whole_or_no_memory)
{
    play_each(
        &(struct scene){ASK_WITH(PUT, "/p/1", "{\"s\":\"new\",\"u\":{\"int\":5}}", CONTENT_TYPE, "avro/json"),
                        .status = 200});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", IN_AVRO, CONTENT_TYPE, "avro/binary"), .status = 200});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/3", IN_AVRO, CONTENT_TYPE, "avro/binary"), .status = 201,
                              .cold = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", SINGLE IN_AVRO, CONTENT_TYPE, "avro/single-object"),
                              .status = 200, .cold = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", SINGLE IN_AVRO, CONTENT_TYPE, "avro/single-object"),
                              .status = 200, .cold = true, .evolves = true});
    play_each(
        &(struct scene){ASK_WITH(PUT, "/p/1", record, SCHEMA_VERSION, "1"), .status = 200, .evolves = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/blob/1",
                                       "\x06"
                                       "new",
                                       CONTENT_TYPE, "avro/binary"),
                              .status = 200});
}

TEST(put__of_each_form_refuses_as_always_or_no_memory)
{
    play_each(
        &(struct scene){ASK_WITH(PUT, "/p/1", IN_AVRO "!", CONTENT_TYPE, "avro/binary"), .status = 422});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1",
                                       "\x06"
                                       "new\x09",
                                       CONTENT_TYPE, "avro/binary"),
                              .status = 422});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1",
                                       "\xc3\x01"
                                       "12345678" IN_AVRO,
                                       CONTENT_TYPE, "avro/single-object"),
                              .status = 422, .cold = true, .evolves = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", record, SCHEMA_VERSION, "3"), .status = 404});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", IN_AVRO, CONTENT_TYPE, "avro/xml"), .status = 415});
}

TEST(put__says_what_it_would_do_or_no_memory)
{
    play_each(&(struct scene){ASK(PUT, "/p/1?dry_run=1", record), .status = 200});
    play_each(&(struct scene){ASK(PUT, "/p/3?dry_run=1", record), .status = 201, .cold = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1?dry_run=1", record, IF_NONE_MATCH, "*"), .status = 412});
    play_each(&(struct scene){ASK(PUT, "/p/put/1/u?dry_run=1", "6"), .status = 200});
    play_each(&(struct scene){ASK(PUT, "/l/put/1/n?dry_run=1", "6"), .status = 200, .has_long = true});
    play_each(&(struct scene){ASK(PUT, "/p/put/3/u?dry_run=1", "6"), .status = 404});
}

TEST(put__of_a_field_takes_the_way_that_its_record_needs_or_no_memory)
{
    play_each(&(struct scene){ASK(PUT, "/p/put/1/u", "6"), .status = 200});
    play_each(&(struct scene){ASK(PUT, "/p/put/1/u", "6"), .status = 200, .cold = true});
    play_each(&(struct scene){ASK(PUT, "/l/put/1/n", "6"), .status = 200, .has_long = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/l/put/1/n", "6", IF_MATCH, "\"999-1\""), .status = 412,
                              .streamed = true, .has_long = true});
}

TEST(put__refuses_as_always_or_no_memory)
{
    play_each(&(struct scene){ASK(PUT, "/p/1", "{\"s\":5,\"u\":\"no\",\"more\":[]}"), .status = 422});
    play_each(&(struct scene){ASK(PUT, "/p/1", "{\"s\":"), .status = 400});
    play_each(&(struct scene){ASK(POST, "/p/put/1/u", "\"no\""), .status = 422});
    play_each(&(struct scene){ASK(POST, "/p/put/1/zzz", "1"), .status = 404});
    play_each(&(struct scene){ASK(POST, "/p/put/nope/u", "1"), .status = 404});
    play_each(&(struct scene){ASK(PUT, "/nope/1", "1"), .status = 404});
}

TEST(put__shows_the_record_that_a_condition_met_or_no_memory)
{
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", "{\"s\":\"new\"}", IF_MATCH, "\"999-1\", \"998-1\""),
                              .status = 412});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", "{\"s\":\"new\"}", IF_NONE_MATCH, "*"), .status = 412,
                              .cold = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/3", "{\"s\":\"new\"}", IF_MATCH, "*"), .status = 412});
    play_each(&(struct scene){ASK_WITH(POST, "/p/put/1/s", "\"new\"", IF_MATCH, "\"999-1\""), .status = 412});
}

TEST(get__shows_or_no_memory)
{
    play_each(&(struct scene){ASK(GET, "/p/get/1", NULL), .status = 200});
    play_each(&(struct scene){ASK(GET, "/p/1", NULL), .status = 200, .cold = true});
    play_each(&(struct scene){ASK(GET, "/p/get/1/u", NULL), .status = 200});
    play_each(&(struct scene){ASK(GET, "/p/get/1/zzz", NULL), .status = 404});
    play_each(&(struct scene){ASK(GET, "/p/get/%41?benchmark_only=9", NULL), .status = 200, .cold = true});
    play_each(&(struct scene){ASK(GET, "/p/get/%41", NULL), .status = 404});
    play_each(&(struct scene){ASK(GET, "/blob/1", NULL), .status = 200});
    play_each(&(struct scene){ASK_WITH(GET, "/blob/1", NULL, ACCEPT, "avro/json"), .status = 200});
    play_each(&(struct scene){ASK_WITH(GET, "/p/1", NULL, ACCEPT, "image/png"), .status = 406});
    play_each(&(struct scene){ASK_WITH(GET, "/p/1", NULL, IF_MATCH, "\"999-1\""), .status = 412});
}

TEST(get__shows_each_form_or_no_memory)
{
    static const char *const forms[] = {"avro/json", "avro/binary", "avro/single-object",
                                        "application/vnd.confluent.avro"};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        play_each(&(struct scene){ASK_WITH(GET, "/p/1", NULL, ACCEPT, forms[i]), .status = 200});
        play_each(&(struct scene){ASK_WITH(GET, "/p/1", NULL, ACCEPT, forms[i]), .status = 200, .cold = true,
                                  .evolves = true});
        play_each(&(struct scene){ASK_WITH(GET, "/blob/1", NULL, ACCEPT, forms[i]), .status = 200});
        play_each(&(struct scene){ASK_WITH(GET, "/blob/long", NULL, ACCEPT, forms[i]), .status = 200,
                                  .streamed = true, .has_long = true});
    }
    play_each(&(struct scene){ASK_WITH(GET, "/p/get/1/u", NULL, ACCEPT, "avro/json"), .status = 200});
    play_each(&(struct scene){ASK_WITH(GET, "/p/get/1/u", NULL, ACCEPT, "avro/binary"), .status = 406});
}

TEST(get__sends_what_is_long_or_no_memory)
{
    play_each(&(struct scene){ASK_WITH(GET, "/blob/long", NULL, RANGE, "bytes=100-69000"), .status = 206,
                              .streamed = true, .has_long = true});
    play_each(&(struct scene){ASK_WITH(GET, "/blob/long", NULL, RANGE, "bytes=70000-"), .status = 416,
                              .has_long = true});
    play_each(&(struct scene){ASK_WITH(GET, "/s/b", NULL, ACCEPT, "avro/json"), .status = 200,
                              .streamed = true, .has_long = true});
    play_each(&(struct scene){ASK_WITH(GET, "/s/b", NULL, IF_MATCH, "\"999-1\""), .status = 412,
                              .streamed = true, .has_long = true});
}

TEST(scan__shows_all_or_no_memory)
{
    play_each(&(struct scene){ASK(GET, "/p", NULL), .status = 200, .streamed = true});
    play_each(&(struct scene){ASK(GET, "/p", NULL), .status = 200, .streamed = true, .cold = true});
    play_each(&(struct scene){ASK_WITH(GET, "/s?from=a&to=d&limit=3", NULL, ACCEPT, "application/json"),
                              .status = 200, .streamed = true, .has_long = true, .cold = true});
    play_each(
        &(struct scene){ASK(GET, "/p?keys=1&prefix=%31&after=0", NULL), .status = 200, .streamed = true});
    play_each(&(struct scene){ASK(GET, "/p?limit=0", NULL), .status = 400});
}

static void register_version_2_and_put(void)
{
    ask_ok(METHOD_POST, "/putschema/p?compatibility=none", schema_of_version_2);
    ask_ok(METHOD_PUT, "/p/1", "{\"s\":\"of version 2\"}");
}

TEST(get__of_a_record_that_is_newer_than_the_request_shows_or_no_memory)
{
    play_each(
        &(struct scene){ASK(GET, "/p/get/1", NULL), .status = 200, .meanwhile = register_version_2_and_put});
}

TEST(record_of_another_version__is_read_or_no_memory)
{
    play_each(&(struct scene){ASK(GET, "/p/1", NULL), .status = 200, .evolves = true, .cold = true});
    play_each(&(struct scene){ASK(GET, "/p/get/1/w", NULL), .status = 200, .evolves = true, .cold = true});
    play_each(
        &(struct scene){ASK(GET, "/p/1?version=1", NULL), .status = 200, .evolves = true, .cold = true});
    play_each(&(struct scene){ASK_WITH(GET, "/p/1", NULL, ACCEPT_SCHEMA_VERSION, "9"), .status = 404,
                              .evolves = true});
    play_each(&(struct scene){ASK(GET, "/p", NULL), .status = 200, .streamed = true, .evolves = true,
                              .cold = true});
    play_each(&(struct scene){ASK(PUT, "/p/put/1/w", "5"), .status = 200, .evolves = true, .cold = true});
    play_each(&(struct scene){ASK_WITH(PUT, "/p/1", "{\"s\":\"x\"}", IF_NONE_MATCH, "*"), .status = 412,
                              .evolves = true, .cold = true});
}

TEST(putschema__reads_what_is_stored_or_no_memory)
{
    play_each(&(struct scene){ASK(POST, "/putschema/p?dry_run=1&check=stored", schema_incompatible),
                              .status = 200, .evolves = true, .cold = true});
}

#define OPERATION(op, type, id, more) "{\"op\":\"" op "\",\"type\":\"" type "\",\"id\":\"" id "\"" more "}"
#define TRANSACTION(operations)       "{\"operations\":[" operations "]}"
static const char transaction[] = TRANSACTION(
    OPERATION("put", "p", "1", ",\"record\":{\"s\":\"new\"}") "," OPERATION("patch", "p", "2", ",\"merge\":{\"u\":7}") "," OPERATION(
        "delete", "blob", "1",
        "") "," OPERATION("put", "p", "3",
                          ",\"record\":{\"s\":\"three\"},\"if_none_match\":"
                          "\"*\"") "," OPERATION("patch", "p", "3",
                                                 ",\"patch\":[{\"op\":"
                                                 "\"replace\",\"path\":\"/"
                                                 "s\",\"value\":\"drei\"}"
                                                 "]") "," OPERATION("chec"
                                                                    "k",
                                                                    "p", "3",
                                                                    ",\"po"
                                                                    "inter"
                                                                    "\":"
                                                                    "\"/"
                                                                    "s\","
                                                                    "\"is"
                                                                    "\":"
                                                                    "\"="
                                                                    "\","
                                                                    "\"val"
                                                                    "ue\":"
                                                                    "\"dre"
                                                                    "i\"") "," OPERATION("check", "p", "4",
                                                                                         ",\"revision\":0"));
static const char failing_transaction[] =
    TRANSACTION(OPERATION("put", "p", "1", ",\"record\":{\"s\":\"new\"}") "," OPERATION(
        "check", "p", "2", ",\"pointer\":\"/s\",\"is\":\"=\",\"value\":\"three\""));
static const char long_transaction[] =
    TRANSACTION(OPERATION("patch", "l", "1", ",\"merge\":{\"n\":7}") "," OPERATION(
        "patch", "l", "1",
        ",\"merge\":{\"n\":8}") "," OPERATION("patch", "l", "1",
                                              ",\"merge\":{\"n\":9}") "," OPERATION("patch", "l", "1",
                                                                                    ",\"merge\":{\"n\":"
                                                                                    "10}") "," OPERATION("del"
                                                                                                         "et"
                                                                                                         "e",
                                                                                                         "p",
                                                                                                         "1",
                                                                                                         ""));

TEST(txn__does_all_or_no_memory)
{
    play_each(&(struct scene){ASK(POST, "/_txn", transaction), .status = 200});
    play_each(
        &(struct scene){ASK(POST, "/_txn", TRANSACTION(OPERATION("patch", "p", "1", ",\"merge\":{\"w\":9}"))),
                        .status = 200, .cold = true, .evolves = true});
    play_each(&(struct scene){ASK(POST, "/_txn?dry_run=1", transaction), .status = 200});
    play_each(&(struct scene){ASK(POST, "/_txn", long_transaction), .status = 200, .has_long = true});
}

TEST(txn__is_remembered_or_no_memory)
{
    play_each(&(struct scene){ASK_WITH(POST, "/_txn", transaction, IDEMPOTENCY_KEY, "k"), .status = 200});
    play_each(&(struct scene){ASK_WITH(POST, "/_txn", long_transaction, IDEMPOTENCY_KEY, "k"), .status = 200,
                              .has_long = true});
}

TEST(txn__refuses_as_always_or_no_memory)
{
    play_each(&(struct scene){ASK(POST, "/_txn", failing_transaction), .status = 412, .cold = true});
    play_each(&(struct scene){
        ASK(POST, "/_txn", TRANSACTION(OPERATION("put", "p", "1", ",\"record\":{\"s\":5,\"zz\":1}"))),
        .status = 422});
    play_each(&(struct scene){ASK(POST, "/_txn", TRANSACTION(OPERATION("delete", "p", "nope", ""))),
                              .status = 404});
    play_each(
        &(struct scene){ASK(POST, "/_txn", TRANSACTION(OPERATION("delete", "q", "1", ""))), .status = 404});
    play_each(&(struct scene){ASK(POST, "/_txn", TRANSACTION("{\"op\":\"no\"}")), .status = 400});
    play_each(&(struct scene){ASK(POST, "/_txn", "{\"operations\":["), .status = 400});
}

TEST(delete__removes_or_no_memory)
{
    play_each(&(struct scene){ASK(DELETE, "/p/1", NULL), .status = 200});
    play_each(&(struct scene){ASK_WITH(DELETE, "/p/1", NULL, IF_MATCH, "\"999-1\""), .status = 412});
    play_each(&(struct scene){ASK(DELETE, "/p/nope", NULL), .status = 404});
}

#define SUBJECTS(status_, method_, target_, body_)                                                           \
    play_each(&(struct scene){ASK(method_, target_, body_), .status = status_, .has_subjects = true})

TEST(registry__registers_whole_or_no_memory)
{
    SUBJECTS(200, POST, "/subjects/n/versions", first_enum);
    SUBJECTS(200, POST, "/subjects/n%2Fn/versions?normalize=true", other_enums);
    SUBJECTS(200, POST, "/subjects/n/versions", with_reference);
    SUBJECTS(200, POST, "/subjects/a%2Fb/versions", first_enum); /* nothing is new */
}

TEST(registry__refuses_as_always_or_no_memory)
{
    SUBJECTS(409, POST, "/subjects/a%2Fb/versions", other_enums);
    SUBJECTS(422, POST, "/subjects/n/versions", "{\"schema\":\"{}\"}");
    SUBJECTS(400, POST, "/subjects/n/versions", "{");
    SUBJECTS(404, GET, "/subjects/n/versions", NULL);
    SUBJECTS(404, GET, "/subjects/n/n/n", NULL);
    SUBJECTS(405, PATCH, "/subjects", NULL);
    SUBJECTS(422, DELETE, "/subjects/a%2Fb", NULL);
    SUBJECTS(422, DELETE, "/subjects/p", NULL);
    SUBJECTS(422, PUT, "/config", "{\"compatibility\":\"?\"}");
}

TEST(registry__shows_or_no_memory)
{
    SUBJECTS(200, GET, "/subjects", NULL);
    SUBJECTS(200, GET, "/subjects/a%2Fb/versions/latest", NULL);
    SUBJECTS(200, GET, "/subjects/r/versions/1", NULL);
    SUBJECTS(200, GET, "/subjects/a%2Fb/versions/1/referencedby", NULL);
    SUBJECTS(200, GET, "/schemas?latestOnly=true", NULL);
    SUBJECTS(200, GET, "/schemas/ids/1?fetchMaxId=true&format=canonical", NULL);
    SUBJECTS(200, GET, "/schemas/ids/3/versions", NULL);
    SUBJECTS(200, POST, "/subjects/a%2Fb", wider_enum);
    SUBJECTS(200, POST, "/subjects/r", with_reference);
    SUBJECTS(200, POST, "/subjects/a%2Fb?format=canonical", wider_enum);
    SUBJECTS(200, POST, "/compatibility/subjects/a%2Fb/versions/latest?verbose=true", other_enums);
    SUBJECTS(200, POST, "/compatibility/subjects/r/versions", with_reference);
    SUBJECTS(200, GET, "/config/p", NULL);
    SUBJECTS(200, GET, "/mode/p?defaultToGlobal=true", NULL);
}

TEST(registry__changes_whole_or_no_memory)
{
    SUBJECTS(200, DELETE, "/subjects/a%2Fb/versions/2", NULL);
    SUBJECTS(200, DELETE, "/subjects/r", NULL);
    SUBJECTS(200, POST, "/delschema/r", NULL); /* whether others refer to it is looked for */
    SUBJECTS(422, POST, "/subjects/n/versions", chosen_version);
    SUBJECTS(200, DELETE, "/subjects/e?permanent=true", NULL);
    SUBJECTS(200, PUT, "/config", "{\"compatibility\":\"FULL\"}");
    SUBJECTS(200, PUT, "/config/p", "{\"compatibility\":\"FORWARD\"}");
    SUBJECTS(200, DELETE, "/config/p", NULL);
    SUBJECTS(200, PUT, "/mode/n", "{\"mode\":\"READONLY\"}");
    SUBJECTS(200, DELETE, "/mode/a%2Fb", NULL);
}

TEST(options__names_methods_or_no_memory)
{
    play_each(&(struct scene){ASK(OPTIONS, "/p/1", NULL), .status = 204});
    play_each(&(struct scene){ASK(PATCH, "/ping", NULL), .status = 405});
}

TEST_MAIN()
