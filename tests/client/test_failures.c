/* tests/client/test_failures.c - libavrod against servers that are gone, slow, full, or talk nonsense. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/avrod.h"
#include "tests/client/fake_server.h"
#include "tests/lib/test.h"

#define OK(body)  "HTTP/1.1 200 OK\r\nContent-Length: " body
#define OK_ANSWER OK("2\r\n\r\nOK")
#define BUSY                                                                                                 \
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 0\r\n"       \
    "Content-Length: 30\r\n\r\n{\"status\":503,\"code\":\"overload\"}"
#define LINES "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"

static struct avrod_error error;
static struct avrod_answer answer;

static avrod_client *open_at(const char *url, struct avrod_options o)
{
    avrod_client *client;
    o.url = url;
    o.backoff_ms = o.backoff_ms ? o.backoff_ms : 1;
    assert_int_equal(avrod_open(&o, &client, &error), AVROD_OK);
    return client;
}

static void release(avrod_client *client)
{
    avrod_close(client);
    avrod_answer_release(&answer);
    avrod_error_release(&error);
}

/* What a call comes to against a script; `requests` came to the server. */
struct outcome {
    enum avrod_code code;
    int status, maybe_done;
    unsigned attempts;
    size_t requests;
};

typedef enum avrod_code (*call_fn)(avrod_client *);

static struct outcome against(const struct fake_step *steps, size_t n, const struct avrod_options *options,
                              call_fn call)
{
    struct fake_server *f = fake_start(steps, n);
    avrod_client *client = open_at(fake_url(f), options ? *options : (struct avrod_options){0});
    enum avrod_code code = call(client);
    struct outcome o = {code, error.status, error.maybe_done, error.attempts, 0};
    release(client);
    fake_stop(f);
    o.requests = fake_requests(f);
    fake_free(f);
    return o;
}

#define AGAINST(call, options, ...)                                                                          \
    against((const struct fake_step[]){__VA_ARGS__},                                                         \
            sizeof((const struct fake_step[]){__VA_ARGS__}) / sizeof(struct fake_step), options, call)

#define assert_outcome(o, code_, attempts_, requests_, maybe_done_)                                          \
    do {                                                                                                     \
        struct outcome o_ = (o);                                                                             \
        assert_int_equal(o_.code, code_);                                                                    \
        assert_int_equal(o_.attempts, attempts_);                                                            \
        assert_int_equal(o_.requests, requests_);                                                            \
        assert_int_equal(o_.maybe_done, maybe_done_);                                                        \
    } while (0)

static enum avrod_code call_get(avrod_client *c)
{
    return avrod_get(c, "t", "1", 1, NULL, &answer, &error);
}

static enum avrod_code call_ping(avrod_client *c)
{
    return avrod_ping(c, &error);
}

static enum avrod_code call_put(avrod_client *c)
{
    return avrod_put(c, "t", "1", 1, "{}", 2, NULL, &answer, &error);
}

static enum avrod_code call_put_if(avrod_client *c)
{
    return avrod_put(c, "t", "1", 1, "{}", 2, &(struct avrod_write){.if_match = "\"1-1\""}, &answer, &error);
}

static enum avrod_code call_patch(avrod_client *c)
{
    return avrod_patch(c, "t", "1", 1, "{}", 2, NULL, &answer, &error);
}

static enum avrod_code call_patch_with_key(avrod_client *c)
{
    return avrod_patch(c, "t", "1", 1, "{}", 2, &(struct avrod_write){.idempotency_key = "k"}, &answer,
                       &error);
}

static enum avrod_code call_select(avrod_client *c)
{
    return avrod_path(c, "t", "1", 1, "select", ".", NULL, 0, NULL, &answer, &error);
}

static enum avrod_code call_clear(avrod_client *c)
{
    return avrod_path(c, "t", "1", 1, "clear", ".", NULL, 0, NULL, &answer, &error);
}

static enum avrod_code call_delete(avrod_client *c)
{
    return avrod_delete(c, "t", "1", 1, NULL, &answer, &error);
}

static enum avrod_code call_txn(avrod_client *c)
{
    return avrod_txn(c, "{}", 2, NULL, &answer, &error);
}

static enum avrod_code call_schema(avrod_client *c)
{
    return avrod_schema_put(c, "t", "\"int\"", 5, NULL, &answer, &error);
}

static enum avrod_code call_schema_check(avrod_client *c)
{
    return avrod_schema_check(c, "t", "\"int\"", 5, NULL, 0, &answer, &error);
}

/* ---- nobody there ---- */

TEST(call__tries_again_where_nobody_listens_and_then_says_so)
{
    struct fake_server *f = fake_start(NULL, 0);
    char url[64];
    snprintf(url, sizeof url, "%s", fake_url(f));
    fake_stop(f);
    fake_free(f);
    avrod_client *client = open_at(url, (struct avrod_options){.retries_max = 2});
    assert_int_equal(call_patch(client), AVROD_UNREACHABLE);
    assert_int_equal(error.attempts, 3);
    assert_int_equal(error.maybe_done, 0);
    assert_int_equal(error.status, 0);
    release(client);
    client = open_at(url, (struct avrod_options){.no_retries = 1});
    assert_int_equal(call_get(client), AVROD_UNREACHABLE);
    assert_int_equal(error.attempts, 1);
    release(client);
    client = open_at("unix:/nowhere/at/all", (struct avrod_options){.no_retries = 1});
    assert_int_equal(call_get(client), AVROD_UNREACHABLE);
    assert_non_null(strstr(error.message, "unix:/nowhere/at/all"));
    release(client);
}

/* ---- full ---- */

TEST(call__tries_again_what_was_refused_with_retry_after_whatever_it_is)
{
    static const call_fn calls[] = {call_get,    call_put, call_put_if, call_patch,
                                    call_delete, call_txn, call_schema, call_patch_with_key};
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        assert_outcome(AGAINST(calls[i], NULL, {BUSY, FAKE_KEEP}, {BUSY, FAKE_CLOSE}, {OK_ANSWER}), AVROD_OK,
                       3, 3, 0);
    assert_outcome(AGAINST(call_get, NULL,
                           {"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"},
                           {OK_ANSWER}),
                   AVROD_OK, 2, 2, 0);
}

TEST(call__ends_with_the_refusal_after_its_retries)
{
    const struct avrod_options one = {.retries_max = 1};
    struct outcome o = AGAINST(call_patch, &one, {BUSY}, {BUSY}, {OK_ANSWER});
    assert_outcome(o, AVROD_REFUSED, 2, 2, 0);
    assert_int_equal(o.status, 503);
}

TEST(call__does_not_try_again_what_retrying_cannot_mend)
{
    assert_outcome(AGAINST(call_get, NULL, {"HTTP/1.1 503 Broken\r\nContent-Length: 0\r\n\r\n"}, {OK_ANSWER}),
                   AVROD_REFUSED, 1, 1, 0);
    assert_outcome(AGAINST(call_get, NULL,
                           {"HTTP/1.1 500 Oops\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"}, {OK_ANSWER}),
                   AVROD_REFUSED, 1, 1, 0);
    assert_outcome(AGAINST(call_get, NULL, {"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"}, {OK_ANSWER}),
                   AVROD_REFUSED, 1, 1, 0);
    assert_outcome(AGAINST(call_get, NULL,
                           {"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"}, {OK_ANSWER}),
                   AVROD_REFUSED, 1, 1, 0);
}

TEST(call__does_not_wait_beyond_its_time)
{
    struct fake_server *f =
        fake_start((const struct fake_step[]){{"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\n"
                                               "Content-Length: 0\r\n\r\n"}},
                   1);
    avrod_client *client = open_at(fake_url(f), (struct avrod_options){0});
    assert_int_equal(call_get(client), AVROD_REFUSED);
    assert_int_equal(error.retry_after_s, 3600);
    assert_int_equal(error.attempts, 1);
    release(client);
    fake_stop(f);
    fake_free(f);
}

/* ---- lost ---- */

TEST(call__tries_again_what_may_be_done_twice)
{
    static const call_fn calls[] = {call_get,          call_put,   call_delete, call_patch_with_key,
                                    call_schema_check, call_select};
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        assert_outcome(AGAINST(calls[i], NULL, {NULL, FAKE_CLOSE}, {OK_ANSWER}), AVROD_OK, 2, 2, 0);
        assert_outcome(AGAINST(calls[i], NULL, {OK("9\r\n\r\nhalf"), FAKE_CLOSE}, {OK_ANSWER}), AVROD_OK, 2,
                       2, 0);
        assert_outcome(AGAINST(calls[i], NULL, {"HTTP/1.1 200 OK\r\nContent-Le", FAKE_CLOSE}, {OK_ANSWER}),
                       AVROD_OK, 2, 2, 0);
    }
}

TEST(call__does_not_send_twice_what_may_not_be_done_twice)
{
    static const call_fn calls[] = {call_put_if, call_patch, call_txn, call_schema, call_clear};
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        assert_outcome(AGAINST(calls[i], NULL, {NULL, FAKE_CLOSE}, {OK_ANSWER}), AVROD_BROKEN, 1, 1, 1);
        assert_outcome(AGAINST(calls[i], NULL, {OK("9\r\n\r\nhalf"), FAKE_CLOSE}, {OK_ANSWER}), AVROD_BROKEN,
                       1, 1, 1);
    }
}

static enum avrod_code get_then_patch(avrod_client *c)
{
    assert_int_equal(call_get(c), AVROD_OK);
    return call_patch(c);
}

/* libcurl itself sends again where a kept connection ends without a byte: not what may not be done twice. */
TEST(call__does_not_send_twice_on_a_kept_connection_that_ends)
{
    assert_outcome(AGAINST(get_then_patch, NULL, {OK_ANSWER, FAKE_KEEP}, {NULL, FAKE_CLOSE}, {OK_ANSWER}),
                   AVROD_BROKEN, 1, 2, 1);
}

static enum avrod_code get_then_get(avrod_client *c)
{
    assert_int_equal(call_get(c), AVROD_OK);
    return call_get(c);
}

TEST(call__reads_again_where_a_kept_connection_ends)
{
    struct outcome o = AGAINST(get_then_get, NULL, {OK_ANSWER, FAKE_KEEP}, {NULL, FAKE_CLOSE}, {OK_ANSWER});
    assert_int_equal(o.code, AVROD_OK);
    assert_int_equal(o.requests, 3);
}

TEST(call__remembers_that_an_attempt_may_have_been_done)
{
    const struct avrod_options one = {.retries_max = 1};
    struct outcome o =
        AGAINST(call_delete, &one, {NULL, FAKE_CLOSE}, {"HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n"});
    assert_outcome(o, AVROD_REFUSED, 2, 2, 1);
}

/* ---- slow ---- */

TEST(call__ends_when_its_time_is_up)
{
    const struct avrod_options brief = {.timeout_ms = 1000};
    assert_outcome(AGAINST(call_get, &brief, {NULL, FAKE_HANG}), AVROD_TIMEOUT, 1, 1, 0);
    assert_outcome(AGAINST(call_put, &brief, {OK("9\r\n\r\nhalf"), FAKE_HANG}), AVROD_TIMEOUT, 1, 1, 1);
}

static enum avrod_code call_scan(avrod_client *c);

TEST(scan__ends_when_nothing_comes)
{
    const struct avrod_options brief = {.stall_timeout_ms = 1000};
    struct outcome o = AGAINST(call_scan, &brief, {LINES "11\r\n{\"id\":\"a\",\"r\":1}\n\r\n", FAKE_HANG});
    assert_outcome(o, AVROD_TIMEOUT, 1, 1, 0);
}

/* ---- nonsense ---- */

TEST(call__knows_what_is_no_http)
{
    const struct avrod_options none = {.no_retries = 1};
    assert_outcome(AGAINST(call_get, &none, {"SSH-2.0-OpenSSH_9.2\r\n", FAKE_CLOSE}), AVROD_BROKEN, 1, 1, 0);
    assert_outcome(
        AGAINST(call_get, &none, {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", FAKE_CLOSE}),
        AVROD_BROKEN, 1, 1, 0);
    assert_outcome(AGAINST(call_ping, &none, {OK_ANSWER}), AVROD_BROKEN, 1, 1, 0);
}

/* A problem document that never ends is cut, and says what its beginning says. */
TEST(call__keeps_the_beginning_of_a_huge_problem)
{
    struct fake_server *f = fake_start(
        (const struct fake_step[]){
            {"HTTP/1.1 422 No\r\nContent-Length: 90000000\r\n\r\n"
             "{\"code\":\"bad_record\",\"detail\":\"caf\\u00e9 \\ud83d\\ude00 \\\"x\\\"\",",
             FAKE_CLOSE, 4 << 20}},
        1);
    avrod_client *client = open_at(fake_url(f), (struct avrod_options){.answer_bytes_max = 1 << 20});
    assert_int_equal(call_put(client), AVROD_REFUSED);
    assert_int_equal(error.status, 422);
    assert_int_equal(error.body_cut, 1);
    assert_int_equal(error.body_bytes, 1 << 20);
    assert_string_equal(error.slug, "bad_record");
    assert_string_equal(error.message, "caf\xc3\xa9 \xf0\x9f\x98\x80 \"x\"");
    assert_int_equal(error.attempts, 1);
    release(client);
    fake_stop(f);
    fake_free(f);
}

TEST(call__tells_a_refusal_whose_body_was_cut)
{
    assert_outcome(
        AGAINST(call_patch, NULL,
                {"HTTP/1.1 422 No\r\nContent-Length: 100\r\n\r\n{\"code\":\"bad_record\"", FAKE_CLOSE}),
        AVROD_REFUSED, 1, 1, 0);
}

TEST(call__makes_do_with_problems_that_are_none)
{
    static const char *const bodies[] = {"",
                                         "[]",
                                         "{",
                                         "<html>",
                                         "{\"code\":7}",
                                         "{\"code\":\"\\ud800\"}",
                                         "{\"detail\":\"\"}",
                                         "{\"a\":{\"code\":\"x\"}}",
                                         "{\"a\":[\"}\",{\"b\":\"\\\"}\"}]"};
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        char text[256];
        snprintf(text, sizeof text, "HTTP/1.1 422 No\r\nContent-Length: %zu\r\n\r\n%s", strlen(bodies[i]),
                 bodies[i]);
        struct fake_server *f = fake_start((const struct fake_step[]){{text}}, 1);
        avrod_client *client = open_at(fake_url(f), (struct avrod_options){0});
        assert_int_equal(call_get(client), AVROD_REFUSED);
        assert_string_equal(error.slug, "");
        assert_string_equal(error.message, "The server answered 422.");
        release(client);
        fake_stop(f);
        fake_free(f);
    }
}

/* libcurl's own bound of a line (100 KiB) is told as memory by some of its versions. */
TEST(call__does_not_take_a_line_without_end)
{
    const struct avrod_options none = {.no_retries = 1};
    struct outcome o = AGAINST(call_get, &none, {"HTTP/1.1 200 OK\r\nX: ", FAKE_CLOSE, 1 << 20});
    assert_true(o.code == AVROD_BROKEN || o.code == AVROD_MEMORY);
    assert_int_equal(o.requests, 1);
}

TEST(call__does_not_take_a_head_without_end)
{
    enum { LINE = 1024, LINES_MANY = 400 };
    const struct avrod_options none = {.no_retries = 1};
    char *head = malloc(64 + LINE * LINES_MANY), *w = head;
    assert_non_null(head);
    w += snprintf(w, 64, "HTTP/1.1 200 OK\r\n");
    for (size_t i = 0; i < LINES_MANY; i++) {
        memset(w, 'x', LINE);
        memcpy(w + 8, ": ", 2);
        memcpy(w + LINE - 2, "\r\n", 2);
        w += LINE;
    }
    *w = 0;
    assert_outcome(AGAINST(call_get, &none, {head, FAKE_CLOSE}), AVROD_BROKEN, 1, 1, 0);
    free(head);
}

/* ---- who asks ---- */

static void check_field(struct avrod_options o, const char *field)
{
    struct fake_server *f = fake_start((const struct fake_step[]){{OK_ANSWER}}, 1);
    avrod_client *client = open_at(fake_url(f), o);
    assert_int_equal(call_get(client), AVROD_OK);
    release(client);
    fake_stop(f);
    if (!strstr(fake_request(f, 0), field))
        fail_msg("no '%s' in %s", field, fake_request(f, 0));
    fake_free(f);
}

TEST(call__says_who_asks)
{
    check_field((struct avrod_options){.user = "Aladdin", .password = "open sesame"},
                "\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n");
    check_field((struct avrod_options){.token = "abc.def"}, "\r\nAuthorization: Bearer abc.def\r\n");
    check_field((struct avrod_options){0}, "\r\nUser-Agent: libavrod/");
    check_field((struct avrod_options){.user_agent = "me/1"}, "\r\nUser-Agent: me/1\r\n");
}

TEST(call__keeps_the_path_of_its_url)
{
    struct fake_server *f = fake_start((const struct fake_step[]){{OK_ANSWER}}, 1);
    char url[96];
    snprintf(url, sizeof url, "%s/store//", fake_url(f));
    avrod_client *client = open_at(url, (struct avrod_options){0});
    assert_int_equal(call_get(client), AVROD_OK);
    release(client);
    fake_stop(f);
    assert_memory_equal(fake_request(f, 0), "GET /store/t/1 HTTP/1.1\r\n", 25);
    fake_free(f);
}

/* ---- scans ---- */

static char lines[256];

static int see(void *user, const char *line, size_t len)
{
    size_t at = strlen(lines);
    (void)user;
    snprintf(lines + at, sizeof lines - at, "%.*s;", (int)len, line);
    return 0;
}

static enum avrod_code call_scan(avrod_client *c)
{
    lines[0] = 0;
    return avrod_scan(c, "t", NULL, see, NULL, NULL, &error);
}

static enum avrod_code call_scan_3(avrod_client *c)
{
    lines[0] = 0;
    return avrod_scan(c, "t", &(struct avrod_scan){.limit = 3}, see, NULL, NULL, &error);
}

/* Two lines and the beginning of a third. */
#define CUT LINES "10\r\n{\"id\":\"a\",\"r\":1}\r\n1\r\n\n\r\n1B\r\n{\"id\":\"b\\/\",\"r\":2}\n{\"id\":\"\r\n"

TEST(scan__goes_on_behind_the_last_line)
{
    const struct fake_step steps[] = {
        {CUT, FAKE_CLOSE}, {NULL, FAKE_CLOSE}, {LINES "11\r\n{\"id\":\"c\",\"r\":3}\n\r\n0\r\n\r\n"}};
    struct fake_server *f = fake_start(steps, ARRAY_LEN(steps));
    avrod_client *client = open_at(fake_url(f), (struct avrod_options){.retries_max = 2});
    if (call_scan_3(client) != AVROD_OK)
        fail_msg("%s after %s", error.message, lines);
    release(client);
    fake_stop(f);
    assert_string_equal(lines, "{\"id\":\"a\",\"r\":1};{\"id\":\"b\\/\",\"r\":2};{\"id\":\"c\",\"r\":3};");
    assert_int_equal(fake_requests(f), 3);
    assert_memory_equal(fake_request(f, 0), "GET /t?limit=3 HTTP/1.1\r\n", 25);
    assert_memory_equal(fake_request(f, 2), "GET /t?after=b%2f&limit=1 HTTP/1.1\r\n", 36);
    fake_free(f);
}

TEST(scan__is_over_when_its_limit_is_reached_before_the_connection_is_lost)
{
    const struct avrod_options none = {.no_retries = 1};
    struct outcome o =
        AGAINST(call_scan_3, &none,
                {LINES "33\r\n{\"id\":\"a\",\"r\":1}\n{\"id\":\"b\",\"r\":1}\n{\"id\":\"c\",\"r\":1}\n\r\n",
                 FAKE_CLOSE});
    assert_outcome(o, AVROD_OK, 1, 1, 0);
}

TEST(scan__does_not_go_on_behind_a_line_without_an_id)
{
    assert_outcome(AGAINST(call_scan, NULL, {LINES "8\r\n{\"x\":1}\n\r\n", FAKE_CLOSE}, {OK_ANSWER}),
                   AVROD_BROKEN, 1, 1, 0);
}

TEST(scan__gives_up_when_no_more_lines_come)
{
    const struct avrod_options two = {.retries_max = 2};
    assert_outcome(AGAINST(call_scan, &two, {CUT, FAKE_CLOSE}, {LINES, FAKE_CLOSE}, {LINES, FAKE_CLOSE}),
                   AVROD_BROKEN, 3, 3, 0);
}

TEST(scan__does_not_keep_a_line_without_end)
{
    const struct avrod_options small = {.answer_bytes_max = 1 << 20};
    assert_outcome(AGAINST(call_scan, &small, {"HTTP/1.1 200 OK\r\n\r\n{", FAKE_CLOSE, 4 << 20}),
                   AVROD_TOO_LARGE, 1, 1, 0);
}

/* ---- backups ---- */

/* "store", whose SHA-256 does not matter here: the library only hands on what the server says. */
#define BACKUP(length)                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Length: " length "\r\n"                                                      \
    "Content-Disposition: attachment; filename=\"avrod-7.backup\"\r\n"                                       \
    "Repr-Digest: sha-256=:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=:\r\n\r\nstore"

static struct avrod_backup about;
static char pieces[64];
static unsigned waits;
static unsigned stop_after_waits; /* 0: never */
static bool stop_at_piece;

static int take_piece(void *user, const void *bytes, size_t len)
{
    size_t at = strlen(pieces);
    (void)user;
    waits += len == 0;
    snprintf(pieces + at, sizeof pieces - at, "%.*s", (int)len, (const char *)bytes);
    return len ? stop_at_piece : waits == stop_after_waits;
}

static enum avrod_code call_backup(avrod_client *c)
{
    pieces[0] = 0;
    waits = 0;
    return avrod_backup(c, take_piece, NULL, &about, &error);
}

TEST(backup__gives_what_comes_behind_what_it_is)
{
    assert_outcome(AGAINST(call_backup, NULL, {BACKUP("5")}), AVROD_OK, 1, 1, 0);
    assert_string_equal(pieces, "store");
    assert_string_equal(about.name, "avrod-7.backup");
    assert_int_equal(about.bytes, 5);
    for (size_t i = 0; i < AVROD_SHA256_BYTES; i++)
        assert_int_equal(about.sha256[i], i + 1);
}

TEST(backup__is_tried_again_only_while_nothing_has_come)
{
    assert_outcome(AGAINST(call_backup, NULL, {BUSY}, {NULL, FAKE_CLOSE}, {BACKUP("5")}), AVROD_OK, 3, 3, 0);
    assert_outcome(AGAINST(call_backup, NULL, {BACKUP("9"), FAKE_CLOSE}, {BACKUP("5")}), AVROD_BROKEN, 1, 1,
                   0);
}

TEST(backup__is_stopped_by_its_callback)
{
    stop_at_piece = true;
    assert_outcome(AGAINST(call_backup, NULL, {BACKUP("5")}, {BACKUP("5")}), AVROD_STOPPED, 1, 1, 0);
    stop_at_piece = false;
    stop_after_waits = 5;
    struct outcome o = AGAINST(call_backup, NULL, {NULL, FAKE_HANG});
    assert_int_equal(o.code, AVROD_STOPPED);
    assert_int_equal(waits, 5);
    stop_after_waits = 0;
}

/* Before the head comes the server is at work, for as long as it takes; then silence is a fault. */
TEST(backup__counts_silence_from_its_head_on)
{
    const struct avrod_options brief = {.stall_timeout_ms = 1000, .timeout_ms = 1000};
    stop_after_waits = 12;
    assert_int_equal(AGAINST(call_backup, &brief, {NULL, FAKE_HANG}).code, AVROD_STOPPED);
    stop_after_waits = 0;
    assert_outcome(AGAINST(call_backup, &brief, {BACKUP("9"), FAKE_HANG}), AVROD_TIMEOUT, 1, 1, 0);
}

TEST(line_id__is_found_or_not)
{
    char id[AVROD_ID_MAX];
    static const struct {
        const char *line;
        size_t len;
    } cases[] = {{"{\"id\":\"a\"}", 1},
                 {"{\"revision\":1,\"id\":\"ab\"}", 2},
                 {"{\"id_base64\":\"/wA=\"}", 2},
                 {"{\"id_base64\":\"/w=\"}", 0},
                 {"{\"id\":7}", 0},
                 {"{\"id\":\"\"}", 0},
                 {"", 0},
                 {"[\"id\"]", 0},
                 {"{\"id\":\"\\u0000\"}", 1},
                 {"{\"record\":{\"id\":\"x\"}}", 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(avrod_line_id(cases[i].line, strlen(cases[i].line), id), cases[i].len);
    char longer[600] = "{\"id\":\"";
    memset(longer + 7, 'x', 481);
    memcpy(longer + 488, "\"}", 3);
    assert_int_equal(avrod_line_id(longer, strlen(longer), id), 0);
    memcpy(longer + 487, "\"}", 3);
    assert_int_equal(avrod_line_id(longer, strlen(longer), id), 480);
}

TEST(encode__leaves_unreserved_characters_alone)
{
    char *text = avrod_encode("aZ0-._~ /%\0\xff+", 13);
    assert_string_equal(text, "aZ0-._~%20%2f%25%00%ff%2b");
    free(text);
    text = avrod_encode("", 0);
    assert_string_equal(text, "");
    free(text);
}

TEST(code_name__names_all)
{
    assert_string_equal(avrod_code_name(AVROD_OK), "ok");
    assert_string_equal(avrod_code_name(AVROD_MEMORY), "memory");
    assert_string_equal(avrod_code_name((enum avrod_code)99), "unknown");
}

TEST_MAIN()
