/* tests/client/test_records.c - libavrod against avrod itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/avrod.h"
#include "tests/client/real_server.h"
#include "tests/lib/test.h"

static struct real_server server;
static avrod_client *client;
static struct avrod_error error;
static struct avrod_answer answer;

static const char person[] =
    "{\"type\":\"record\",\"name\":\"Person\",\"fields\":[{\"name\":\"name\",\"type\":\"string\"},"
    "{\"name\":\"age\",\"type\":\"int\",\"default\":0}]}";

static void open_client(void)
{
    const struct avrod_options options = {.url = server.url};
    assert_int_equal(avrod_open(&options, &client, &error), AVROD_OK);
}

static void make_type(const char *type, const char *schema)
{
    if (avrod_schema_put(client, type, schema, strlen(schema), NULL, &answer, &error) != AVROD_OK)
        fail_msg("%s: %s", type, error.message);
}

static enum avrod_code put(const char *type, const char *id, const char *body, const struct avrod_write *how)
{
    return avrod_put(client, type, id, strlen(id), body, strlen(body), how, &answer, &error);
}

static enum avrod_code get(const char *type, const char *id, const struct avrod_read *how)
{
    return avrod_get(client, type, id, strlen(id), how, &answer, &error);
}

static void release(void)
{
    avrod_answer_release(&answer);
    avrod_error_release(&error);
    avrod_close(client);
    client = NULL;
}

TEST(avrod__puts_gets_and_deletes_a_record)
{
    open_client();
    make_type("person", person);
    assert_int_equal(answer.schema_version, 1);
    assert_int_equal(put("person", "q", "{\"name\":\"Q\"}", NULL), AVROD_OK);
    assert_int_equal(answer.status, 201);
    char etag[64];
    snprintf(etag, sizeof etag, "%s", answer.etag);
    assert_int_equal(get("person", "q", NULL), AVROD_OK);
    assert_string_equal(answer.body, "{\"name\":\"Q\",\"age\":0}");
    assert_int_equal(answer.body_bytes, strlen(answer.body));
    assert_string_equal(answer.etag, etag);
    assert_string_equal(answer.content_type, "application/json");
    assert_string_equal(avrod_answer_header(&answer, "schema-version", 0), "1");
    assert_null(avrod_answer_header(&answer, "schema-version", 1));
    assert_int_equal(avrod_delete(client, "person", "q", 1, NULL, &answer, &error), AVROD_OK);
    assert_int_equal(get("person", "q", NULL), AVROD_REFUSED);
    assert_int_equal(error.status, 404);
    assert_string_equal(error.slug, "no_record");
    assert_string_equal(error.message, "There is no record 'q' of type 'person'.");
    assert_int_equal(error.body_bytes, strlen(error.body));
    assert_int_equal(error.attempts, 1);
    assert_null(answer.body);
    release();
}

TEST(avrod__carries_conditions_and_their_failures)
{
    open_client();
    make_type("cond", person);
    assert_int_equal(put("cond", "a", "{\"name\":\"A\"}", &(struct avrod_write){.if_none_match = "*"}),
                     AVROD_OK);
    char etag[64];
    snprintf(etag, sizeof etag, "%s", answer.etag);
    assert_int_equal(get("cond", "a", &(struct avrod_read){.if_none_match = etag}), AVROD_OK);
    assert_int_equal(answer.status, 304);
    assert_int_equal(answer.body_bytes, 0);
    assert_int_equal(put("cond", "a", "{\"name\":\"B\"}", &(struct avrod_write){.if_none_match = "*"}),
                     AVROD_REFUSED);
    assert_int_equal(error.status, 412);
    assert_string_equal(error.slug, "condition_failed");
    assert_non_null(strstr(error.body, "\"current\":{"));
    assert_int_equal(put("cond", "a", "{\"name\":\"B\"}", &(struct avrod_write){.if_match = etag}), AVROD_OK);
    assert_int_equal(put("cond", "a", "{\"name\":\"C\"}", &(struct avrod_write){.if_match = etag}),
                     AVROD_REFUSED);
    assert_int_equal(
        avrod_delete(client, "cond", "a", 1, &(struct avrod_write){.if_match = etag}, NULL, &error),
        AVROD_REFUSED);
    assert_int_equal(
        avrod_delete(client, "cond", "a", 1, &(struct avrod_write){.if_match = "*"}, NULL, &error), AVROD_OK);
    release();
}

TEST(avrod__carries_forms_fields_versions_and_dry_runs)
{
    static const char binary[] = {2, 'Q', 90};
    const struct avrod_write as_binary = {.content_type = "avro/binary", .schema_version = 1};
    open_client();
    make_type("form", person);
    assert_int_equal(avrod_put(client, "form", "q", 1, binary, sizeof binary, &as_binary, &answer, &error),
                     AVROD_OK);
    assert_int_equal(get("form", "q", &(struct avrod_read){.accept = "avro/binary", .version = 1}), AVROD_OK);
    assert_int_equal(answer.body_bytes, sizeof binary);
    assert_memory_equal(answer.body, binary, sizeof binary);
    assert_int_equal(get("form", "q", &(struct avrod_read){.field = "age"}), AVROD_OK);
    assert_string_equal(answer.body, "45");
    assert_int_equal(put("form", "q", "46", &(struct avrod_write){.field = "age"}), AVROD_OK);
    assert_int_equal(put("form", "q", "47", &(struct avrod_write){.field = "age", .dry_run = 1}), AVROD_OK);
    assert_string_equal(avrod_answer_header(&answer, "Dry-Run", 0), "1");
    assert_int_equal(get("form", "q", &(struct avrod_read){.query = "int64=string"}), AVROD_OK);
    assert_string_equal(answer.body, "{\"name\":\"Q\",\"age\":46}");
    const struct avrod_write unknown_version = {.content_type = "avro/binary", .schema_version = 7};
    assert_int_equal(
        avrod_put(client, "form", "q", 1, binary, sizeof binary, &unknown_version, &answer, &error),
        AVROD_REFUSED);
    assert_string_equal(error.slug, "no_version");
    release();
}

TEST(avrod__is_answered_alike_when_it_repeats_a_key)
{
    const struct avrod_write keyed = {.idempotency_key = "one", .if_none_match = "*"};
    char etag[64];
    open_client();
    make_type("keyed", person);
    assert_int_equal(put("keyed", "a", "{\"name\":\"A\"}", &keyed), AVROD_OK);
    snprintf(etag, sizeof etag, "%s", answer.etag);
    assert_null(avrod_answer_header(&answer, "Idempotency-Replayed", 0));
    assert_int_equal(put("keyed", "a", "{\"name\":\"A\"}", &keyed), AVROD_OK);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.etag, etag);
    assert_non_null(avrod_answer_header(&answer, "Idempotency-Replayed", 0));
    assert_int_equal(put("keyed", "a", "{\"name\":\"B\"}", &keyed), AVROD_REFUSED);
    assert_int_equal(error.status, 422);
    release();
}

TEST(avrod__changes_many_records_at_once)
{
    static const char operations[] =
        "{\"operations\":[{\"op\":\"put\",\"type\":\"many\",\"id\":\"x1\",\"record\":{\"name\":\"a\"}},"
        "{\"op\":\"put\",\"type\":\"many\",\"id\":\"x2\",\"record\":{\"name\":\"b\"}}]}";
    open_client();
    make_type("many", person);
    assert_int_equal(avrod_txn(client, operations, strlen(operations), &(struct avrod_write){.dry_run = 1},
                               &answer, &error),
                     AVROD_OK);
    assert_int_equal(get("many", "x1", NULL), AVROD_REFUSED);
    assert_int_equal(avrod_txn(client, operations, strlen(operations), NULL, &answer, &error), AVROD_OK);
    assert_int_equal(get("many", "x1", &(struct avrod_read){.fields = "name"}), AVROD_OK);
    assert_string_equal(answer.body, "{\"name\":\"a\"}");
    assert_int_equal(avrod_patch(client, "many", "x1", 2, "{\"age\":5}", 9, NULL, &answer, &error), AVROD_OK);
    assert_int_equal(get("many", "x1", &(struct avrod_read){.field = "age"}), AVROD_OK);
    assert_string_equal(answer.body, "5");
    assert_int_equal(avrod_delete_prefix(client, "many", "", 0, NULL, &answer, &error), AVROD_ARGUMENT);
    assert_int_equal(avrod_delete_prefix(client, "many", "x", 1, NULL, &answer, &error), AVROD_OK);
    assert_string_equal(avrod_answer_header(&answer, "Deleted", 0), "2");
    release();
}

/* An id is bytes, whatever they would mean in a path. */
TEST(avrod__takes_any_bytes_as_an_id)
{
    static const struct {
        const char *bytes;
        size_t len;
    } ids[] = {{"a/b", 3},   {"a+b", 3},         {"a b", 3},    {"%41", 3},      {".", 1},
               {"..", 2},    {"a\0b", 3},        {"\xff", 1},   {"get", 3},      {"put", 3},
               {"clear", 5}, {"caf\xc3\xa9", 5}, {"?x=1#y", 6}, {"insertall", 9}};
    open_client();
    make_type("ids", person);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        char body[64];
        int len = snprintf(body, sizeof body, "{\"name\":\"n%zu\",\"age\":%zu}", i, i);
        if (avrod_put(client, "ids", ids[i].bytes, ids[i].len, body, (size_t)len, NULL, &answer, &error) !=
            AVROD_OK)
            fail_msg("id %zu: %s", i, error.message);
    }
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        char want[64];
        snprintf(want, sizeof want, "{\"name\":\"n%zu\",\"age\":%zu}", i, i);
        assert_int_equal(avrod_get(client, "ids", ids[i].bytes, ids[i].len, NULL, &answer, &error), AVROD_OK);
        assert_string_equal(answer.body, want);
        assert_int_equal(avrod_delete(client, "ids", ids[i].bytes, ids[i].len, NULL, NULL, &error), AVROD_OK);
    }
    release();
}

TEST(avrod__refuses_what_would_be_another_request)
{
    open_client();
    make_type("arg", person);
    assert_int_equal(put("arg", "", "{}", NULL), AVROD_ARGUMENT);
    assert_int_equal(put("", "x", "{}", NULL), AVROD_ARGUMENT);
    assert_int_equal(get(NULL, "x", NULL), AVROD_ARGUMENT);
    assert_int_equal(get("arg", "x", &(struct avrod_read){.field = ""}), AVROD_ARGUMENT);
    assert_int_equal(put("arg", "x", "{}", &(struct avrod_write){.if_match = "\"1-1\"\r\nX: y"}),
                     AVROD_ARGUMENT);
    assert_int_equal(put("arg", "x", "{}", &(struct avrod_write){.content_type = "a/b\nX: y"}),
                     AVROD_ARGUMENT);
    assert_int_equal(put("arg", "x", "{}", &(struct avrod_write){.idempotency_key = "a b"}), AVROD_ARGUMENT);
    assert_int_equal(put("arg", "x", "{}", &(struct avrod_write){.idempotency_key = ""}), AVROD_ARGUMENT);
    assert_int_equal(avrod_schema_delete(client, "", &answer, &error), AVROD_ARGUMENT);
    assert_int_equal(avrod_scan(client, "", NULL, NULL, NULL, NULL, &error), AVROD_ARGUMENT);
    assert_int_equal(
        avrod_send(client, &(struct avrod_request){.method = "GET", .target = "ping"}, NULL, &error),
        AVROD_ARGUMENT);
    assert_int_equal(
        avrod_send(client, &(struct avrod_request){.method = "GET", .target = "/a b"}, NULL, &error),
        AVROD_ARGUMENT);
    assert_int_equal(
        avrod_send(client, &(struct avrod_request){.method = "G T", .target = "/ping"}, NULL, &error),
        AVROD_ARGUMENT);
    assert_int_equal(error.attempts, 0);
    release();
}

TEST(avrod_open__refuses_addresses_that_are_none)
{
    static const char *const urls[] = {"127.0.0.1:8080",
                                       "ftp://localhost/",
                                       "http://",
                                       "",
                                       "unix:socket",
                                       "http://localhost/?a=1",
                                       "http://u:p@localhost:80",
                                       "http://localhost:99999999"};
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        avrod_client *none = (avrod_client *)&server;
        if (avrod_open(&(struct avrod_options){.url = urls[i]}, &none, &error) != AVROD_ARGUMENT)
            fail_msg("'%s' was taken", urls[i]);
        assert_null(none);
    }
    assert_int_equal(avrod_open(&(struct avrod_options){.user = "a", .token = "b"}, &client, &error),
                     AVROD_ARGUMENT);
    avrod_error_release(&error);
    avrod_close(NULL);
}

TEST(avrod_schema__is_put_got_checked_listed_and_deleted)
{
    static const char next[] =
        "{\"type\":\"record\",\"name\":\"Person\",\"fields\":[{\"name\":\"name\",\"type\":\"string\"},"
        "{\"name\":\"mail\",\"type\":\"string\"}]}";
    open_client();
    make_type("evolves", person);
    assert_int_equal(avrod_schema_check(client, "evolves", next, strlen(next), NULL, 0, &answer, &error),
                     AVROD_REFUSED);
    assert_int_equal(error.status, 409);
    assert_string_equal(error.slug, "incompatible");
    assert_non_null(strstr(error.body, "\"reasons\":["));
    const struct avrod_schema_put none = {.compatibility = "none", .unknown = "ignore"};
    assert_int_equal(avrod_schema_check(client, "evolves", next, strlen(next), &none, 10, &answer, &error),
                     AVROD_OK);
    assert_non_null(strstr(answer.body, "\"stored\":{\"checked\":0"));
    assert_int_equal(avrod_schema_put(client, "evolves", next, strlen(next), &none, &answer, &error),
                     AVROD_OK);
    assert_int_equal(answer.schema_version, 2);
    assert_int_equal(avrod_schema_get(client, "evolves", 1, &answer, &error), AVROD_OK);
    assert_string_equal(answer.body, person);
    assert_int_equal(avrod_schema_get(client, "evolves", 0, &answer, &error), AVROD_OK);
    assert_string_equal(answer.body, next);
    assert_int_equal(avrod_types(client, &answer, &error), AVROD_OK);
    assert_non_null(strstr(answer.body, "{\"name\":\"evolves\",\"version\":2,"));
    assert_int_equal(avrod_schema_put(client, "evolves", "{", 1, NULL, &answer, &error), AVROD_REFUSED);
    assert_string_equal(error.slug, "bad_json");
    const struct avrod_schema_put only_new = {.if_none_match = "*"};
    assert_int_equal(avrod_schema_put(client, "evolves", person, strlen(person), &only_new, &answer, &error),
                     AVROD_REFUSED);
    assert_int_equal(error.status, 412);
    assert_int_equal(avrod_schema_delete(client, "evolves", &answer, &error), AVROD_OK);
    assert_int_equal(avrod_schema_get(client, "evolves", 0, &answer, &error), AVROD_REFUSED);
    assert_string_equal(error.slug, "no_type");
    release();
}

/* ---- scans ---- */

struct seen {
    unsigned lines, stop_at;
    char ids[64];
    char last_id[AVROD_ID_MAX];
    size_t last_id_bytes;
};

static int see(void *user, const char *line, size_t len)
{
    struct seen *s = user;
    s->last_id_bytes = avrod_line_id(line, len, s->last_id);
    assert_true(s->last_id_bytes > 0);
    assert_true(len > 2 && line[0] == '{' && line[len - 1] == '}');
    size_t at = strlen(s->ids);
    snprintf(s->ids + at, sizeof s->ids - at, "%.*s ", (int)s->last_id_bytes, s->last_id);
    return ++s->lines == s->stop_at;
}

static enum avrod_code scan(const struct avrod_scan *how, struct seen *s, uint64_t *count)
{
    return avrod_scan(client, "scanned", how, see, s, count, &error);
}

TEST(avrod_scan__gives_lines_of_a_range)
{
    static const char *const ids[] = {"a", "b", "ba", "bb", "c"};
    uint64_t count;
    open_client();
    make_type("scanned", person);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(put("scanned", ids[i], "{\"name\":\"x\"}", NULL), AVROD_OK);
    struct seen s = {0};
    assert_int_equal(scan(NULL, &s, &count), AVROD_OK);
    assert_string_equal(s.ids, "a b ba bb c ");
    assert_int_equal(count, 5);
    s = (struct seen){0};
    assert_int_equal(scan(&(struct avrod_scan){.prefix = "b", .prefix_bytes = 1, .limit = 2}, &s, NULL),
                     AVROD_OK);
    assert_string_equal(s.ids, "b ba ");
    s = (struct seen){0};
    assert_int_equal(
        scan(&(struct avrod_scan){.from = "b", .from_bytes = 1, .to = "bb", .to_bytes = 2, .keys = 1}, &s,
             NULL),
        AVROD_OK);
    assert_string_equal(s.ids, "b ba ");
    s = (struct seen){0};
    assert_int_equal(scan(&(struct avrod_scan){.after = "bb", .after_bytes = 2}, &s, NULL), AVROD_OK);
    assert_string_equal(s.ids, "c ");
    s = (struct seen){.stop_at = 2};
    assert_int_equal(scan(NULL, &s, NULL), AVROD_STOPPED);
    assert_string_equal(s.ids, "a b ");
    assert_int_equal(avrod_put(client, "scanned", "\xff\x00", 2, "{\"name\":\"x\"}", 12, NULL, NULL, &error),
                     AVROD_OK);
    s = (struct seen){0};
    assert_int_equal(scan(&(struct avrod_scan){.after = "c", .after_bytes = 1}, &s, NULL), AVROD_OK);
    assert_int_equal(s.last_id_bytes, 2);
    assert_memory_equal(s.last_id, "\xff\x00", 2);
    assert_int_equal(avrod_scan(client, "nothing", NULL, see, &s, &count, &error), AVROD_REFUSED);
    assert_string_equal(error.slug, "no_type");
    assert_int_equal(scan(&(struct avrod_scan){.query = "limit=x"}, &s, NULL), AVROD_REFUSED);
    assert_string_equal(error.slug, "bad_parameter");
    release();
}

static int get_it(void *user, const char *line, size_t len)
{
    char id[AVROD_ID_MAX];
    size_t n = avrod_line_id(line, len, id);
    unsigned *lines = user;
    ++*lines;
    return avrod_get(client, "nested", id, n, NULL, &answer, &error) != AVROD_OK;
}

TEST(avrod_scan__lets_its_callback_use_the_client)
{
    struct avrod_error of_scan = {0};
    unsigned lines = 0;
    open_client();
    make_type("nested", person);
    assert_int_equal(put("nested", "1", "{\"name\":\"x\"}", NULL), AVROD_OK);
    assert_int_equal(put("nested", "2", "{\"name\":\"y\"}", NULL), AVROD_OK);
    assert_int_equal(avrod_scan(client, "nested", NULL, get_it, &lines, NULL, &of_scan), AVROD_OK);
    assert_int_equal(lines, 2);
    assert_non_null(strstr(answer.body, "\"y\""));
    release();
}

/* ---- ways there ---- */

TEST(avrod__speaks_over_a_unix_socket)
{
    assert_int_equal(avrod_open(&(struct avrod_options){.url = server.socket_url}, &client, &error),
                     AVROD_OK);
    assert_int_equal(avrod_ping(client, &error), AVROD_OK);
    release();
}

TEST(avrod__sends_and_gets_long_bodies)
{
    enum { BYTES = 3 << 20 };
    char *body = malloc(BYTES);
    assert_non_null(body);
    for (size_t i = 0; i < BYTES; i++)
        body[i] = (char)(i * 7);
    open_client();
    make_type("blob", "\"bytes\"");
    const struct avrod_write how = {.content_type = "image/png"};
    assert_int_equal(avrod_put(client, "blob", "x", 1, body, BYTES, &how, &answer, &error), AVROD_OK);
    assert_int_equal(get("blob", "x", NULL), AVROD_OK);
    assert_int_equal(answer.body_bytes, BYTES);
    assert_memory_equal(answer.body, body, BYTES);
    assert_string_equal(answer.content_type, "image/png");
    free(body);
    avrod_close(client);
    const struct avrod_options small = {.url = server.url, .answer_bytes_max = 1 << 20};
    assert_int_equal(avrod_open(&small, &client, &error), AVROD_OK);
    assert_int_equal(get("blob", "x", NULL), AVROD_TOO_LARGE);
    assert_int_equal(get("blob", "y", NULL), AVROD_REFUSED);
    release();
}

TEST(avrod__tells_that_a_body_is_too_long)
{
    enum { BYTES = 17 << 20 };
    char *body = calloc(1, BYTES);
    assert_non_null(body);
    open_client();
    make_type("blob2", "\"bytes\"");
    assert_int_equal(avrod_put(client, "blob2", "x", 1, body, BYTES, NULL, &answer, &error), AVROD_REFUSED);
    assert_int_equal(error.status, 413);
    assert_string_equal(error.slug, "body_too_large");
    assert_int_equal(avrod_ping(client, &error), AVROD_OK);
    free(body);
    release();
}

static enum avrod_code path(const char *verb, const char *path_text, const char *value)
{
    return avrod_path(client, "tags", "a/b", 3, verb, path_text, value, value ? strlen(value) : 0, NULL,
                      &answer, &error);
}

TEST(avrod__finds_and_changes_values_by_a_path)
{
    open_client();
    make_type("tags", "{\"type\":\"array\",\"items\":\"string\"}");
    assert_int_equal(put("tags", "a/b", "[\"x\"]", NULL), AVROD_OK);
    assert_int_equal(path("insert", ".", "\"y\""), AVROD_OK);
    assert_non_null(answer.etag);
    assert_int_equal(path("select", ".[-1]", NULL), AVROD_OK);
    assert_string_equal(answer.body, "[\"y\"]");
    assert_int_equal(path("clear", ".", NULL), AVROD_OK);
    assert_int_equal(get("tags", "a/b", NULL), AVROD_OK);
    assert_string_equal(answer.body, "[]");
    assert_int_equal(path("select", ".[", NULL), AVROD_REFUSED);
    assert_string_equal(error.slug, "bad_path");
    release();
}

TEST(avrod__sends_no_path_that_would_be_something_else)
{
    open_client();
    assert_int_equal(path("select", ".a\n1", NULL), AVROD_ARGUMENT);
    assert_int_equal(path("select", "", NULL), AVROD_ARGUMENT);
    assert_int_equal(path("select", NULL, NULL), AVROD_ARGUMENT);
    assert_int_equal(path("select", ".a", "1"), AVROD_ARGUMENT);
    assert_int_equal(path("update", ".a", NULL), AVROD_ARGUMENT);
    assert_int_equal(path("get", ".a", NULL), AVROD_ARGUMENT);
    assert_int_equal(path(NULL, ".a", NULL), AVROD_ARGUMENT);
    assert_int_equal(error.attempts, 0);
    release();
}

struct CMUnitTest tests_all[TESTS_MAX];
size_t tests_count;

int main(void)
{
    real_start(&server);
    int failed = _cmocka_run_group_tests(__FILE__, tests_all, tests_count, NULL, NULL);
    real_stop(&server);
    return failed;
}
