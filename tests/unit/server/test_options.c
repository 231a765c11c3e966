/* tests/unit/server/test_options.c - the command line. */
#include "tests/lib/test.h"

#include "server/options.h"

static struct options options;
static struct err err;

static enum rc parse(const char *const *args)
{
    char *argv[16] = {(char *)(uintptr_t) "avrod"};
    int argc = 1;
    for (; args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    return options_parse(&options, argc, argv, &err);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void refused(enum rc rc, const char *word)
{
    assert_int_equal(rc, RC_ERR);
    assert_int_equal(err.code, ERR_CONFIG);
    if (!strstr(err.message, word))
        fail_msg("'%s' does not say '%s'", err.message, word);
}

TEST(options_parse__has_defaults)
{
    assert_int_equal(PARSE("--data", "d"), RC_OK);
    assert_string_equal(options.data, "d");
    assert_string_equal(options.listen, "127.0.0.1:8080");
    assert_string_equal(options.engine, "lmdb");
    assert_int_equal(options.durability, DURABLE_SYNC);
    assert_int_equal(options.body_max, 16 << 20);
    assert_int_equal(options.connections_max, 10000);
    assert_false(options.astore || options.insecure || options.accept_dirty || options.help);
}

TEST(options_parse__takes_values_behind_a_space_or_an_equals_sign)
{
    assert_int_equal(PARSE("--data=a=b", "--listen", "[::1]:0", "--durability=none", "--threads", "3",
                           "--insecure", "--compat=astore", "--map-max=2GiB", "--body-max", "65536"),
                     RC_OK);
    assert_string_equal(options.data, "a=b");
    assert_string_equal(options.listen, "[::1]:0");
    assert_int_equal(options.durability, DURABLE_NONE);
    assert_int_equal(options.threads, 3);
    assert_true(options.insecure && options.astore);
    assert_int_equal(options.map_max, UINT64_C(2) << 30);
    assert_int_equal(options.body_max, 65536);
}

TEST(options_parse__of_an_option_given_twice_the_last_counts)
{
    assert_int_equal(PARSE("--data", "a", "--data", "b"), RC_OK);
    assert_string_equal(options.data, "b");
}

TEST(options_parse__reads_sizes_in_every_unit_and_refuses_what_overflows)
{
    assert_int_equal(PARSE("--data=d", "--map-max=1TiB"), RC_OK);
    assert_int_equal(options.map_max, UINT64_C(1) << 40);
    assert_int_equal(PARSE("--data=d", "--map-max=7MiB"), RC_OK);
    assert_int_equal(options.map_max, 7 << 20);
    assert_int_equal(PARSE("--data=d", "--map-max=9KiB"), RC_OK);
    assert_int_equal(options.map_max, 9 << 10);
    refused(PARSE("--data=d", "--map-max=16777216TiB"), "--map-max");
    refused(PARSE("--data=d", "--map-max=18446744073709551616"), "--map-max");
    refused(PARSE("--data=d", "--map-max=GiB"), "--map-max");
    refused(PARSE("--data=d", "--map-max="), "--map-max");
    refused(PARSE("--data=d", "--map-max=1gb"), "--map-max");
    refused(PARSE("--data=d", "--map-max=-1"), "--map-max");
}

TEST(options_parse__reads_times_in_every_unit)
{
    assert_int_equal(options_defaults.head_deadline_ms, 10000);
    assert_int_equal(PARSE("--data=d", "--head-deadline=500ms", "--body-deadline=7s", "--write-deadline=2m",
                           "--idle-deadline=1h", "--drain-deadline=0s"),
                     RC_OK);
    assert_int_equal(options.head_deadline_ms, 500);
    assert_int_equal(options.body_deadline_ms, 7000);
    assert_int_equal(options.write_deadline_ms, 120000);
    assert_int_equal(options.idle_deadline_ms, 3600000);
    assert_int_equal(options.drain_deadline_ms, 0);
    refused(PARSE("--data=d", "--head-deadline=10"), "such as 10s");
    refused(PARSE("--data=d", "--head-deadline=s"), "such as 10s");
    refused(PARSE("--data=d", "--head-deadline=1.5s"), "such as 10s");
    refused(PARSE("--data=d", "--head-deadline=18446744073709551616ms"), "such as 10s");
}

TEST(options_parse__keeps_every_limit_in_bounds)
{
    static const struct {
        const char *least, *below, *most, *above, *says_least, *says_most;
    } of[] = {
        {"--head-max=1KiB", "--head-max=1023", "--head-max=1MiB", "--head-max=1048577", "1KiB", "1MiB"},
        {"--headers-max=8", "--headers-max=7", "--headers-max=10000", "--headers-max=10001", "8", "10000"},
        {"--target-max=64", "--target-max=63", "--target-max=1MiB", "--target-max=2MiB", "64", "1MiB"},
        {"--record-max=1KiB", "--record-max=0", "--record-max=16MiB", "--record-max=17MiB", "1KiB", "16MiB"},
        {"--body-max=1", "--body-max=0", "--body-max=256MiB", "--body-max=1GiB", "1", "256MiB"},
        {"--queue-writes-max=1", "--queue-writes-max=0", "--queue-writes-max=16777216",
         "--queue-writes-max=16777217", "1", "16777216"},
        {"--idle-deadline=100ms", "--idle-deadline=99ms", "--idle-deadline=24h", "--idle-deadline=25h",
         "100ms", "24h"},
    };
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        assert_int_equal(PARSE("--data=d", of[i].least), RC_OK);
        assert_int_equal(PARSE("--data=d", of[i].most), RC_OK);
        refused(PARSE("--data=d", of[i].below), "is at least ");
        refused(PARSE("--data=d", of[i].below), of[i].says_least);
        refused(PARSE("--data=d", of[i].above), "is at most ");
        refused(PARSE("--data=d", of[i].above), of[i].says_most);
    }
    refused(PARSE("--data=d", "--bodies-budget=1MiB"), "--body-max");
    assert_int_equal(PARSE("--data=d", "--bodies-budget=1MiB", "--body-max=1MiB"), RC_OK);
}

TEST(options_parse__refuses_in_words)
{
    refused(PARSE("--bogus"), "--bogus");
    refused(PARSE("data"), "'data'");
    refused(PARSE("-h"), "--help");
    refused(PARSE("--data"), "value is missing");
    refused(PARSE("--threads", "x", "--data=d"), "number");
    refused(PARSE("--threads=4294967296", "--data=d"), "at most 1024");
    refused(PARSE("--threads=100000", "--data=d"), "at most");
    refused(PARSE("--durability=fast", "--data=d"), "sync, async or none");
    refused(PARSE("--insecure=yes", "--data=d"), "no value");
    refused(PARSE("--compat=mongo", "--data=d"), "astore");
    refused(PARSE("--help=yes"), "no value");
    refused(PARSE("--listen=127.0.0.1:0"), "--data");
    refused(PARSE("--data="), "empty");
    refused(PARSE("--data=d", "--body-max=0"), "--body-max");
    refused(PARSE("--data=d", "--connections-max=0"), "--connections-max");
}

TEST(options_parse__needs_no_directory_for_help_version_and_the_memory_engine)
{
    assert_int_equal(PARSE("--help"), RC_OK);
    assert_true(options.help);
    assert_int_equal(PARSE("--version"), RC_OK);
    assert_true(options.version);
    assert_int_equal(PARSE("--engine=memory"), RC_OK);
}

TEST_MAIN()
