/* tests/unit/server/test_options.c - what the server is told, in three ways. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "server/options_file.h"
#include "server/options_print.h"
#include "server/options_value.h"

static struct options options;
static struct err err;

static char *no_environment[] = {NULL};
static char **environment = no_environment;

static enum rc parse(const char *const *args)
{
    char *argv[16] = {(char *)(uintptr_t) "avrod"};
    int argc = 1;
    for (; args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    options_release(&options);
    return options_parse(&options, argc, argv, environment, &err);
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
    refused(PARSE("--insecure=maybe", "--data=d"), "--insecure is on or off, not 'maybe'.");
    refused(PARSE("--insecure", "yes", "--data=d"), "'yes'");
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

/* ---- the file and the environment ---- */

static char conf_path[] = "/tmp/avrod-test-XXXXXX";

/* The options with a file of texts[0], and the rest on the command line. */
static enum rc parse_file(const char *const *texts)
{
    const char *args[8] = {"--config", conf_path};
    memcpy(conf_path + strlen(conf_path) - 6, "XXXXXX", 6);
    int fd = mkstemp(conf_path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, texts[0], strlen(texts[0])), strlen(texts[0]));
    close(fd);
    for (size_t i = 1; texts[i]; i++)
        args[1 + i] = texts[i];
    enum rc rc = parse(args);
    unlink(conf_path);
    return rc;
}

#define PARSE_FILE(...) parse_file((const char *const[]){__VA_ARGS__, NULL})

/* One environment for the calls of a test. */
#define ENVIRONMENT(...)                                                                                     \
    const char *variables[] = {__VA_ARGS__, NULL};                                                           \
    environment = (char **)variables

static void refused_so(enum rc rc, const char *message)
{
    assert_int_equal(rc, RC_ERR);
    assert_int_equal(err.code, ERR_CONFIG);
    /* The path ends in letters by chance. */
    const char *place = strstr(err.message, conf_path);
    assert_string_equal(place ? place + strlen(conf_path) : err.message, message);
}

TEST(options_parse__takes_the_command_line_before_the_environment_before_the_file_before_the_default)
{
    ENVIRONMENT("AVROD_TARGET_MAX=3KiB", "AVROD_HEADERS_MAX=30", "HOME=/x", "AVROD_DATA=e");
    assert_int_equal(PARSE_FILE("head-max = 2KiB\ntarget-max = 2KiB\nheaders-max = 20\ndata = f\n",
                                "--headers-max=40", "--data", "c"),
                     RC_OK);
    assert_int_equal(options.body_max, LIMIT_BODY_MAX);
    assert_int_equal(options.head_max, 2048);
    assert_int_equal(options.target_max, 3072);
    assert_int_equal(options.headers_max, 40);
    assert_string_equal(options.data, "c");
    assert_int_equal(options.source[OPTION_ID_body_max].from, FROM_DEFAULT);
    assert_int_equal(options.source[OPTION_ID_head_max].from, FROM_FILE);
    assert_int_equal(options.source[OPTION_ID_head_max].line, 1);
    assert_int_equal(options.source[OPTION_ID_target_max].from, FROM_ENVIRONMENT);
    assert_int_equal(options.source[OPTION_ID_headers_max].from, FROM_COMMAND_LINE);
    environment = no_environment;
}

TEST(options_parse__takes_the_same_value_of_every_kind_from_everywhere)
{
    static const struct {
        const char *name, *variable, *value;
        enum option_id id;
    } of[] = {
        {"--listen", "AVROD_LISTEN", "[::1]:80,unix:/x y", OPTION_ID_listen},
        {"--headers-max", "AVROD_HEADERS_MAX", "31", OPTION_ID_headers_max},
        {"--body-max", "AVROD_BODY_MAX", "5MiB", OPTION_ID_body_max},
        {"--idle-deadline", "AVROD_IDLE_DEADLINE", "7m", OPTION_ID_idle_deadline_ms},
        {"--durability", "AVROD_DURABILITY", "async", OPTION_ID_durability},
        {"--insecure", "AVROD_INSECURE", "on", OPTION_ID_insecure},
    };
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        char line[64], variable[64], argument[64], number[OPTION_NUMBER_BYTES];
        snprintf(line, sizeof line, "%s = %s\n", of[i].name + 2, of[i].value);
        snprintf(variable, sizeof variable, "%s=%s", of[i].variable, of[i].value);
        snprintf(argument, sizeof argument, "%s=%s", of[i].name, of[i].value);
        assert_int_equal(PARSE_FILE(line, "--data=d"), RC_OK);
        assert_string_equal(option_text(&options, of[i].id, number), of[i].value);
        assert_int_equal(options.source[of[i].id].from, FROM_FILE);
        ENVIRONMENT(variable);
        assert_int_equal(PARSE("--data=d"), RC_OK);
        assert_string_equal(option_text(&options, of[i].id, number), of[i].value);
        assert_int_equal(options.source[of[i].id].from, FROM_ENVIRONMENT);
        environment = no_environment;
        assert_int_equal(PARSE("--data=d", argument), RC_OK);
        assert_string_equal(option_text(&options, of[i].id, number), of[i].value);
        assert_int_equal(options.source[of[i].id].from, FROM_COMMAND_LINE);
    }
}

TEST(options_parse__finds_each_option_by_each_of_its_names)
{
    for (enum option_id id = 0; id < OPTION_IDS; id++) {
        struct option_name name;
        bool action = option_is_action(id);
        option_name(id, FROM_COMMAND_LINE, &name);
        assert_string_equal(name.text, options_table[id].name); /* none is cut */
        assert_int_equal(option_find(slice_str(name.text), FROM_COMMAND_LINE), id);
        option_name(id, FROM_ENVIRONMENT, &name);
        assert_int_equal(option_find(slice_str(name.text), FROM_ENVIRONMENT), action ? OPTION_IDS : id);
        /* Kubernetes sets these for a service that is called avrod. */
        assert_false(!strncmp(name.text, "AVROD_PORT", 10) || !strncmp(name.text, "AVROD_SERVICE", 13));
        option_name(id, FROM_FILE, &name);
        assert_int_equal(option_find(slice_str(name.text), FROM_FILE),
                         action || id == OPTION_ID_config ? OPTION_IDS : id);
    }
}

TEST(options_parse__says_of_a_wrong_value_where_it_stands)
{
    static const char *const says = "takes a number of bytes, such as 16MiB, not '64KB'.";
    char words[128];
    snprintf(words, sizeof words, "--head-max %s", says);
    refused_so(PARSE("--data=d", "--head-max=64KB"), words);
    snprintf(words, sizeof words, ":2: head-max %s", says);
    refused_so(PARSE_FILE("\nhead-max = 64KB\n", "--data=d"), words);
    ENVIRONMENT("AVROD_HEAD_MAX=64KB");
    snprintf(words, sizeof words, "AVROD_HEAD_MAX %s", says);
    refused_so(PARSE("--data=d"), words);
    environment = no_environment;
}

TEST(options_parse__refuses_what_is_wrong_also_where_it_is_overridden)
{
    refused_so(PARSE_FILE("threads = x\n", "--data=d", "--threads=1"),
               ":1: threads takes a number, not 'x'.");
    ENVIRONMENT("AVROD_THREADS=x");
    refused_so(PARSE("--data=d", "--threads=1"), "AVROD_THREADS takes a number, not 'x'.");
    environment = no_environment;
    refused_so(PARSE("--data=d", "--threads=x", "--threads=1"), "--threads takes a number, not 'x'.");
}

TEST(options_parse__says_of_what_fits_only_together_where_it_stands)
{
    refused_so(PARSE_FILE("#\ncompat = mongo\n", "--data=d"), ":2: compat is astore, not 'mongo'.");
    refused_so(PARSE_FILE("data =\n"), ":1: data is empty; it names a directory.");
    ENVIRONMENT("AVROD_ACCESS_LOG_FORMAT=xml", "AVROD_DATA=d");
    refused_so(PARSE_FILE("\n"), "AVROD_ACCESS_LOG_FORMAT is json or combined, not 'xml'.");
    environment = no_environment;
    refused_so(PARSE_FILE("bodies-budget = 1MiB", "--data=d"),
               ":1: bodies-budget is less than --body-max: a body of that length could never come.");
}

TEST(options_parse__refuses_lines_of_a_file_that_are_no_options)
{
    refused_so(PARSE_FILE("data = d\ndatum = e\n"), ":2: Unknown option 'datum'; avrod --help lists all.");
    refused_so(PARSE_FILE("data = d\nthreads = 1\n\ndata = d\n"), ":4: data stands on line 1 already.");
    refused_so(PARSE_FILE("[server]\ndata = d\n"), ":1: This file has no sections.");
    refused_so(PARSE_FILE("data = d\n[server] \n"), ":2: This file has no sections.");
    refused_so(PARSE_FILE("data = d\n e\n"), ":2: The line begins with a space; a value ends with its line.");
    refused_so(PARSE_FILE("--data = d\n"), ":1: Here it is written without dashes: data.");
    refused_so(PARSE_FILE("help = on\n"), ":1: Unknown option 'help'; avrod --help lists all.");
    refused_so(PARSE_FILE("config = /x\n"), ":1: Unknown option 'config'; avrod --help lists all.");
    refused_so(PARSE_FILE("data = d ; the data\n"),
               ":1: A comment stands on a line of its own: # or ; behind a space would be one here.");
}

TEST(options_parse__names_a_file_by_the_environment_too_and_reads_none_by_itself)
{
    ENVIRONMENT("AVROD_CONFIG=/nowhere/a.conf");
    refused_so(PARSE("--data=d"), "/nowhere/a.conf cannot be read: No such file or directory.");
    refused_so(PARSE("--data=d", "--config=/nowhere/b.conf"),
               "/nowhere/b.conf cannot be read: No such file or directory.");
    assert_int_equal(PARSE_FILE("data = d\n"), RC_OK);
    environment = no_environment;
    assert_int_equal(PARSE("--data=d"), RC_OK);
    assert_null(options.config);
}

TEST(options_parse__takes_words_for_options_without_an_argument)
{
    static const char *const yes[] = {"on", "yes", "true", "1"}, *const no[] = {"off", "no", "false", "0"};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        char variable[32], argument[32], line[32];
        snprintf(argument, sizeof argument, "--insecure=%s", no[i]);
        snprintf(variable, sizeof variable, "AVROD_INSECURE=%s", yes[i]);
        snprintf(line, sizeof line, "insecure = %s", no[i]);
        ENVIRONMENT(variable);
        assert_int_equal(PARSE_FILE(line, "--data=d"), RC_OK);
        assert_true(options.insecure);
        assert_int_equal(PARSE("--data=d", argument), RC_OK);
        assert_false(options.insecure);
        assert_int_equal(PARSE("--data=d", argument, "--insecure"), RC_OK);
        assert_true(options.insecure);
    }
    environment = no_environment;
    refused_so(PARSE_FILE("insecure =\n", "--data=d"), ":1: insecure is on or off, not ''.");
    refused_so(PARSE_FILE("insecure = On\n", "--data=d"), ":1: insecure is on or off, not 'On'.");
}

TEST(options_parse__helps_also_where_the_rest_is_wrong)
{
    ENVIRONMENT("AVROD_CONFIG=/nowhere", "AVROD_THREADS=x");
    assert_int_equal(PARSE("--help"), RC_OK);
    assert_true(options.help);
    environment = no_environment;
}

TEST(options_stray__names_variables_that_are_no_options)
{
    ENVIRONMENT("AVROD=/bin/avrod", "AVROD_THREADS=1", "AVROD_HEADMAX=1", "AVROD_URL=x", "AVROD_HELP=1",
                "XAVROD_Y=1", "AVROD_CONFIG=", "AVROD_THREADS_=1");
    char *const *at = environment;
    assert_slice_str(options_stray(&at), "AVROD_HEADMAX");
    assert_slice_str(options_stray(&at), "AVROD_HELP");
    assert_slice_str(options_stray(&at), "AVROD_THREADS_");
    assert_int_equal(options_stray(&at).len, 0);
    assert_int_equal(options_stray(&at).len, 0);
    environment = no_environment;
}

static char *printed(size_t *len)
{
    char *text;
    FILE *out = open_memstream(&text, len);
    assert_non_null(out);
    options_print_config(&options, out);
    fclose(out);
    return text;
}

TEST(options_print_config__prints_a_file_that_says_the_same)
{
    size_t len, len_again;
    ENVIRONMENT("AVROD_CORS_ORIGIN=https://a.example,https://b.example");
    assert_int_equal(
        PARSE("--data=/a b=c", "--insecure", "--durability=none", "--idle-deadline=90s", "--map-max=3GiB"),
        RC_OK);
    char *text = printed(&len);
    environment = no_environment;
    assert_non_null(strstr(text, "# AVROD_CORS_ORIGIN\ncors-origin = https://a.example,https://b.example\n"));
    assert_non_null(strstr(text, "# --durability\ndurability = none\n"));
    assert_non_null(strstr(text, "# default\n#compat = \n"));
    struct options before = options;
    options = (struct options){0};
    FILE *in = fmemopen(text, len, "r");
    assert_non_null(in);
    options = options_defaults;
    assert_int_equal(options_stream_take(&options, in, "printed", &err), RC_OK);
    fclose(in);
    for (enum option_id id = 0; id < OPTION_IDS; id++) {
        char was[OPTION_NUMBER_BYTES], is[OPTION_NUMBER_BYTES];
        assert_string_equal(option_text(&options, id, is), option_text(&before, id, was));
        assert_int_equal(option_is_none(&options, id), option_is_none(&before, id));
    }
    options.config = "printed";
    char *again = printed(&len_again);
    assert_non_null(strstr(again, "# printed:2\ndata = /a b=c\n"));
    free(again);
    free(text);
    options_release(&options);
}

TEST(options_print_config__leaves_out_what_no_file_can_hold)
{
    size_t len;
    assert_int_equal(PARSE("--data=/a\nthreads = 3", "--access-log=/b #c"), RC_OK);
    char *text = printed(&len);
    assert_non_null(strstr(text, "#data = /a?threads = 3\n"));
    assert_non_null(strstr(text, "#access-log = /b #c\n"));
    free(text);
}

TEST_MAIN()
