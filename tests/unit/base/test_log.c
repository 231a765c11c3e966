/* tests/unit/base/test_log.c - what a line of the error log looks like, whatever the message. */
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/lib/test.h"

static FILE *captured;
static int real_stderr;

static void capture(void)
{
    captured = tmpfile();
    assert_non_null(captured);
    real_stderr = dup(STDERR_FILENO);
    assert_true(real_stderr >= 0);
    assert_true(dup2(fileno(captured), STDERR_FILENO) >= 0);
}

/* What was written since capture, with a NUL behind it. */
static char *release(void)
{
    static char text[16384];
    assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
    close(real_stderr);
    rewind(captured);
    size_t n = fread(text, 1, sizeof text - 1, captured);
    text[n] = 0;
    fclose(captured);
    return text;
}

/* "2026-01-02T03:04:05.678Z warn  message\n": does the text fit this shape, and is the rest `message`? */
static void assert_line(const char *text, const char *level, const char *message)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ ";
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            fail_msg("bad time: %s", text);
    text += sizeof shape - 1;
    assert_memory_equal(text, level, 5);
    assert_int_equal(text[5], ' ');
    size_t n = strlen(message);
    assert_int_equal(strlen(text + 6), n + 1);
    assert_memory_equal(text + 6, message, n);
    assert_int_equal(text[6 + n], '\n');
}

TEST(log_line__has_a_time_a_level_and_the_message)
{
    capture();
    log_warn("disk %s is %d %% full", "sda", 97);
    assert_line(release(), "warn ", "disk sda is 97 % full");
    capture();
    log_error("x");
    assert_line(release(), "error", "x");
}

TEST(log_line__stays_one_line_whatever_is_in_the_message)
{
    capture();
    log_info("a\nb\r\t\x1b[31m\x7f\xc3\xa4");
    assert_line(release(), "info ", "a\\x0ab\\x0d\\x09\\x1b[31m\\x7f\xc3\xa4");
}

TEST(log_line__cuts_long_messages_and_still_ends_the_line)
{
    char *message = malloc(100001);
    assert_non_null(message);
    memset(message, '\n', 100000); /* the longest when escaped */
    message[100000] = 0;
    capture();
    log_error("%s", message);
    char *text = release();
    size_t n = strlen(text);
    assert_true(n > 1000 && n < 8192);
    assert_ptr_equal(strchr(text, '\n'), text + n - 1);
    free(message);
}

TEST(log_set_level__drops_what_is_less_important)
{
    capture();
    log_debug("hidden at first");
    log_set_level(LOG_LEVEL_ERROR);
    log_warn("hidden");
    log_set_level(LOG_LEVEL_DEBUG);
    log_debug("shown");
    char *text = release();
    log_set_level(LOG_LEVEL_INFO);
    assert_line(text, "debug", "shown");
}

TEST_MAIN()
