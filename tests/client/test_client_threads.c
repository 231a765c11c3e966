/* tests/client/test_client_threads.c - one client, many threads. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "client/avrod.h"
#include "tests/client/real_server.h"
#include "tests/lib/test.h"

enum { THREADS = 8, ROUNDS = 100 };

static struct real_server server;
static avrod_client *client;

struct worker {
    unsigned number, faults, lines;
};

static int count_line(void *user, const char *line, size_t len)
{
    struct worker *w = user;
    (void)line;
    (void)len;
    w->lines++;
    return 0;
}

static void round_of(struct worker *w, unsigned i)
{
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    char id[32], body[64];
    int id_len = snprintf(id, sizeof id, "%u-%u", w->number, i);
    int len = snprintf(body, sizeof body, "{\"n\":%u}", i);
    if (avrod_put(client, "t", id, (size_t)id_len, body, (size_t)len, NULL, &answer, &error) != AVROD_OK ||
        avrod_get(client, "t", id, (size_t)id_len, NULL, &answer, &error) != AVROD_OK ||
        strcmp(answer.body, body) != 0)
        w->faults++;
    if (avrod_get(client, "t", "none", 4, NULL, &answer, &error) != AVROD_REFUSED || error.status != 404)
        w->faults++;
    avrod_answer_release(&answer);
    avrod_error_release(&error);
}

static void *work(void *user)
{
    struct worker *w = user;
    struct avrod_error error = {0};
    char prefix[16];
    for (unsigned i = 0; i < ROUNDS; i++)
        round_of(w, i);
    const struct avrod_scan own = {.prefix = prefix,
                                   .prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, "%u-", w->number)};
    if (avrod_scan(client, "t", &own, count_line, w, NULL, &error) != AVROD_OK || w->lines != ROUNDS)
        w->faults++;
    avrod_error_release(&error);
    return NULL;
}

TEST(client__serves_many_threads)
{
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"T\",\"fields\":[{\"name\":\"n\",\"type\":\"int\"}]}";
    struct worker workers[THREADS] = {0};
    pthread_t threads[THREADS];
    struct avrod_error error = {0};
    const struct avrod_options options = {.url = server.url, .idle_max = 4};
    assert_int_equal(avrod_open(&options, &client, &error), AVROD_OK);
    assert_int_equal(avrod_schema_put(client, "t", schema, strlen(schema), NULL, NULL, &error), AVROD_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].faults, 0);
    }
    avrod_error_release(&error);
    avrod_close(client);
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
