/* tests/client/fault_client.c - libavrod when the n-th allocation fails, libcurl's included, for every n. libcurl keeps a block
 * here and there; what is lost the leak sanitizer tells. */
#include <stdio.h>
#include <string.h>

#include "client/avrod.h"
#include "tests/client/real_server.h"
#include "tests/fault/allocator.h"
#include "tests/lib/test.h"

enum { MOST = 20000 };

static struct real_server server;
static struct allocator_fault fault;

/* What a session has come to. */
struct session {
    enum avrod_code code; /* of the first call that failed */
    char message[512];
    char body[64]; /* of the get */
    unsigned lines;
};

static int count_line(void *user, const char *line, size_t len)
{
    struct session *s = user;
    char id[AVROD_ID_MAX];
    s->lines += avrod_line_id(line, len, id) > 0;
    return 0;
}

static enum avrod_code talk(struct session *s, struct avrod_answer *answer, struct avrod_error *error)
{
    const struct avrod_options options = {.url = server.url, .user = "u", .password = "p", .no_retries = 1};
    avrod_client *client;
    enum avrod_code code = avrod_open(&options, &client, error);
    if (code == AVROD_OK)
        code =
            avrod_put(client, "t", "a/1", 3, "7", 1, &(struct avrod_write){.if_match = "*"}, answer, error);
    if (code == AVROD_OK)
        code = avrod_get(client, "t", "a/1", 3, &(struct avrod_read){.accept = "application/json"}, answer,
                         error);
    if (code == AVROD_OK)
        snprintf(s->body, sizeof s->body, "%s", answer->body);
    if (code == AVROD_OK)
        code = avrod_path(client, "t", "a/1", 3, "select", ".", NULL, 0, NULL, NULL, error);
    if (code == AVROD_OK)
        code = avrod_scan(client, "t", NULL, count_line, s, NULL, error);
    if (code == AVROD_OK) {
        code = avrod_get(client, "none", "1", 1, NULL, answer, error);
        code = code == AVROD_REFUSED ? AVROD_OK : code == AVROD_OK ? AVROD_BROKEN : code;
    }
    s->code = code;
    snprintf(s->message, sizeof s->message, "%s", error->message);
    avrod_close(client);
    return code;
}

static void run(struct session *s, int64_t nth, bool forever)
{
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    *s = (struct session){0};
    fault.failed = 0;
    fault.forever = forever;
    fault.countdown = nth;
    allocator_use(&fault);
    talk(s, &answer, &error);
    avrod_answer_release(&answer);
    avrod_error_release(&error);
    allocator_use(NULL);
    fault.countdown = 0;
}

/* libcurl has other words, too, for memory that is out: no connection, nothing received. */
static bool is_failure(enum avrod_code code)
{
    return code == AVROD_MEMORY || code == AVROD_UNREACHABLE || code == AVROD_BROKEN ||
           code == AVROD_ARGUMENT;
}

static void check(const struct session *s, int64_t nth)
{
    if (s->code == AVROD_OK && (strcmp(s->body, "7") != 0 || s->lines != 1))
        fail_msg("allocation %ld: a wrong answer: '%s', %u lines", (long)nth, s->body, s->lines);
    if (s->code != AVROD_OK && (!fault.failed || !is_failure(s->code) || !*s->message))
        fail_msg("allocation %ld: %s: %s", (long)nth, avrod_code_name(s->code), s->message);
}

static void make_record(void)
{
    struct avrod_error error = {0};
    avrod_client *client;
    assert_int_equal(avrod_open(&(struct avrod_options){.url = server.url}, &client, &error), AVROD_OK);
    assert_int_equal(avrod_schema_put(client, "t", "\"int\"", 5, NULL, NULL, &error), AVROD_OK);
    assert_int_equal(avrod_put(client, "t", "a/1", 3, "7", 1, NULL, NULL, &error), AVROD_OK);
    avrod_error_release(&error);
    avrod_close(client);
}

TEST(client__fails_in_order_when_memory_is_out)
{
    struct session s;
    make_record();
    run(&s, 0, false);
    assert_int_equal(s.code, AVROD_OK);
    int64_t nth = 1;
    for (fault.failed = 1; fault.failed; nth++) {
        run(&s, nth, false);
        check(&s, nth);
        assert_true(nth < MOST);
    }
    for (int64_t n = 1; n < nth; n += 1 + n / 8) {
        run(&s, n, true);
        check(&s, n);
    }
    run(&s, 0, false);
    assert_int_equal(s.code, AVROD_OK);
    print_message("%ld allocations\n", (long)nth - 1);
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
