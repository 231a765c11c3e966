/* tests/unit/schema/test_spelling_threads.c - the program of a form is made by whoever asks first, while others ask. */
#include <pthread.h>

#include "schema/program/program.h"
#include "schema/schema.h"
#include "tests/lib/test.h"

enum { THREADS = 4, ROUNDS = 50 };

static struct schema *schema;
static pthread_barrier_t barrier;
static const struct program *seen[THREADS][JSON_FORMS];

static void *ask(void *arg)
{
    unsigned me = *(unsigned *)arg;
    struct buf out = {0};
    struct err err;
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < JSON_AVRO; i++) {
        unsigned form = (i + me * 3) % JSON_AVRO;
        seen[me][form] = schema_program_of(schema, form);
        out.len = 0;
        if (!seen[me][form] || codec_to_json(schema, (enum json_form)form, SLICE("\x02\x04"), &out, &err))
            seen[me][form] = NULL;
    }
    buf_release(&out);
    return NULL;
}

TEST(schema_program_of__is_the_same_for_all_threads)
{
    static const char text[] = "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"d\",\"type\":{"
                               "\"type\":\"int\",\"logicalType\":"
                               "\"date\"}},{\"name\":\"n\",\"type\":\"long\"}]}";
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        struct arena arena = {0};
        struct err err;
        pthread_t threads[THREADS];
        unsigned numbers[THREADS];
        assert_int_equal(schema_parse(&schema, slice_str(text), SLICE(""), &arena, &err), RC_OK);
        for (unsigned t = 0; t < THREADS; t++) {
            numbers[t] = t;
            assert_int_equal(pthread_create(&threads[t], NULL, ask, &numbers[t]), 0);
        }
        for (unsigned t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
        for (unsigned form = 0; form < JSON_AVRO; form++)
            for (unsigned t = 0; t < THREADS; t++) {
                assert_non_null(seen[t][form]);
                assert_ptr_equal(seen[t][form], seen[0][form]);
            }
        schema_free(schema);
        arena_release(&arena);
    }
    pthread_barrier_destroy(&barrier);
}

TEST_MAIN()
