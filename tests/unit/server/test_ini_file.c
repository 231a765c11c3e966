/* tests/unit/server/test_ini_file.c - what is taken of a file, and that nothing is cut or passed over. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "server/ini_file.h"

static struct err err;
static struct buf seen;

/* Notes what it gets; refuses the name "bad". */
static enum rc take(void *user, const struct ini_line *line, struct err *why)
{
    (void)user;
    assert_true(buf_printf(&seen, "%u[%s]%s=%s|", line->number, line->section, line->name, line->value));
    return strcmp(line->name, "bad") ? RC_OK : err_set(why, ERR_CONFIG, "bad is bad.");
}

static enum rc read_bytes(const char *text, size_t len)
{
    FILE *stream = len ? fmemopen((char *)(uintptr_t)text, len, "r") : fopen("/dev/null", "r");
    assert_non_null(stream);
    seen.len = 0;
    enum rc rc = ini_stream_read(stream, "f.conf", take, NULL, &err);
    fclose(stream);
    return rc;
}

static void takes(const char *text, const char *lines)
{
    assert_int_equal(read_bytes(text, strlen(text)), RC_OK);
    assert_slice_str(buf_slice(&seen), lines);
    buf_release(&seen);
}

static void refuses(const char *text, const char *message)
{
    assert_int_equal(read_bytes(text, strlen(text)), RC_ERR);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_string_equal(err.message, message);
    buf_release(&seen);
}

TEST(ini_stream_read__gives_each_line_with_its_section_and_number)
{
    takes("", "");
    takes("a = 1", "1[]a=1|");
    takes("# c\n\n; c\na=1\r\n  \t\nb =  x = y; z#\t \n", "4[]a=1|6[]b=x = y; z#|");
    takes("a-b = \n[s t] \n[u]\nc d = :[1]\n", "1[]a-b=|4[u]c d=:[1]|");
    takes("a = \xc3\xa4\xff\n", "1[]a=\xc3\xa4\xff|");
}

/* ---- lists ---- */

static enum rc take_of_list(void *user, const struct ini_line *line, struct err *why)
{
    (void)user, (void)why;
    if (line->name)
        assert_true(
            buf_printf(&seen, "%u%s%s=%s|", line->number, line->is_more ? "+" : "", line->name, line->value));
    else
        assert_true(buf_printf(&seen, "%u[%s]|", line->number, line->section));
    return strcmp(line->section ? line->section : "", "bad") ? RC_OK
                                                             : err_set(why, ERR_CONFIG, "bad is bad.");
}

static enum rc read_lists(const char *text)
{
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    seen.len = 0;
    enum rc rc = ini_stream_read_lists(stream, "f.conf", take_of_list, take_of_list, NULL, &err);
    fclose(stream);
    return rc;
}

TEST(ini_stream_read_lists__tells_each_section_whole_and_what_goes_on)
{
    char name[101] = {0};
    char text[300], want[300];
    assert_int_equal(read_lists("# c\n  # c\n[a]\n[b]\nx = 1,\n  2,\n\n\t3\r\ny = 4\n[ c d ]\n[]\n"), RC_OK);
    assert_slice_str(buf_slice(&seen), "3[a]|4[b]|5x=1,|6+x=2,|8+x=3|9y=4|10[c d]|11[]|");
    memset(name, 'n', 100);
    snprintf(text, sizeof text, "[%s]", name);
    snprintf(want, sizeof want, "1[%s]|", name);
    assert_int_equal(read_lists(text), RC_OK);
    assert_slice_str(buf_slice(&seen), want);
    buf_release(&seen);
}

TEST(ini_stream_read_lists__refuses_what_goes_on_with_nothing)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {" x = 1\n", "f.conf:1: The line begins with a space; there is no list"},
        {"[a]\nx = 1\n[b]\n  2\n", "f.conf:4: The line begins with a space; there is no list"},
        {"[a]\nx = 1\n  2 # 3\n", "f.conf:3: A comment stands"},
        {"[a] b\n", "f.conf:1: A section is"},
        {"\n[bad]\n", "f.conf:2: bad is bad."},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(read_lists(cases[i].text), RC_ERR);
        if (strncmp(err.message, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("%s", err.message);
    }
    buf_release(&seen);
}

/* ---- plain files ---- */

TEST(ini_stream_read__puts_the_place_before_the_words_of_who_refuses)
{
    refuses("a = 1\n\nbad = 2\nc", "f.conf:3: bad is bad.");
}

TEST(ini_stream_read__ends_with_the_first_fault)
{
    assert_int_equal(read_bytes("a=1\nb\nc=1\nbad=1\n", 16), RC_ERR);
    assert_slice_str(buf_slice(&seen), "1[]a=1|");
    buf_release(&seen);
}

TEST(ini_stream_read__refuses_what_libinih_would_cut)
{
    static const char comment[] =
        "f.conf:1: A comment stands on a line of its own: # or ; behind a space would be one here.";
    refuses("data = /a ;b", comment);
    refuses("data = /a\t# b", comment);
    refuses("data = ;b", comment);
    refuses("[a ;b]", comment);
    refuses("[01234567890123456789012345678901234567890123456789]\n",
            "f.conf:1: A section's name has 49 bytes at most.");
    takes("[0123456789012345678901234567890123456789012345678]\na=1\n",
          "2[0123456789012345678901234567890123456789012345678]a=1|");
}

TEST(ini_stream_read__refuses_what_libinih_would_pass_over)
{
    static const char section[] = "f.conf:2: A section is a name in brackets, with nothing behind them.";
    refuses("\n[a] b = 1\n", section);
    refuses("\n[a\n", section);
    refuses("\n[a]]\n", section);
    refuses("\xef\xbb\xbf"
            "a = 1\n",
            "f.conf:1: The file begins with a byte order mark; plain UTF-8 has none.");
    refuses("a = 1\n\xef\xbb\xbf", "f.conf:2: The line is no name = value.");
}

TEST(ini_stream_read__refuses_a_value_that_would_go_on_in_the_next_line)
{
#define SAYS "The line begins with a space; a value ends with its line, and cannot go on in the next."
    refuses("a = 1,\n  2\n", "f.conf:2: " SAYS);
    refuses("\tb = 1\n", "f.conf:1: " SAYS);
#undef SAYS
}

TEST(ini_stream_read__refuses_lines_that_are_no_name_and_value)
{
    refuses("a\n", "f.conf:1: The line is no name = value.");
    refuses("a: 1\n", "f.conf:1: The line is no name = value.");
    refuses("a:b = 1\n", "f.conf:1: The line is no name = value.");
    refuses("= 1\n", "f.conf:1: The line is no name = value.");
}

TEST(ini_stream_read__refuses_control_characters)
{
    static const char control[] = "f.conf:1: There is a control character in it.";
    refuses("a = 1\x01\n", control);
    refuses("a = 1\r2\n", control);
    refuses("# \x7f\n", control);
    assert_int_equal(read_bytes("a = 1\0b\n", 8), RC_ERR);
    assert_string_equal(err.message, control);
    assert_int_equal(read_bytes("\0", 1), RC_ERR);
    assert_string_equal(err.message, control);
    assert_int_equal(seen.len, 0);
}

/* How long a line may be is libinih's; none is cut. */
TEST(ini_stream_read__takes_a_line_whole_or_refuses_it)
{
    char *line = malloc(3 * LIMIT_INI_LINE_MAX);
    assert_non_null(line);
    size_t longest = 0;
    for (size_t len = 100; len < 2 * LIMIT_INI_LINE_MAX; len++) {
        memset(line, 'x', len);
        memcpy(line, "a=", 2);
        enum rc rc = read_bytes(line, len);
        if (rc == RC_OK) {
            assert_int_equal(seen.len, strlen("1[]a=|") + len - 2);
            longest = len;
        } else {
            assert_string_equal(err.message, "f.conf:1: The line is too long.");
            assert_int_equal(seen.len, 0);
        }
    }
    assert_true(longest >= 190 && longest < LIMIT_INI_LINE_MAX);
    /* A comment is no exception, and what is behind it is not taken for a line. */
    memset(line, '#', 2 * LIMIT_INI_LINE_MAX);
    memcpy(line + longest + 1, "a=1", 3);
    assert_int_equal(read_bytes(line, 2 * LIMIT_INI_LINE_MAX), RC_ERR);
    assert_int_equal(seen.len, 0);
    buf_release(&seen);
    free(line);
}

TEST(ini_file_read__says_which_file_cannot_be_read)
{
    assert_int_equal(ini_file_read("/nowhere/x.conf", take, NULL, &err), RC_ERR);
    assert_string_equal(err.message, "/nowhere/x.conf cannot be read: No such file or directory.");
    assert_int_equal(ini_file_read("/", take, NULL, &err), RC_ERR);
    assert_string_equal(err.message, "/ cannot be read: Is a directory.");
}

TEST(ini_place_of__shows_the_end_of_a_long_path)
{
    struct ini_place place;
    char path[200];
    memset(path, 'd', sizeof path);
    memcpy(path + sizeof path - 8, "/a\nconf", 8);
    const char *text = ini_place_of(path, 12, &place);
    assert_memory_equal(text, "...ddd", 6);
    assert_string_equal(text + strlen(text) - 10, "/a?conf:12");
}

/* What may be written so is read as it was. */
TEST(ini_can_hold__is_true_of_what_comes_back_as_it_was)
{
    static const char *const values[] = {"",    "a",    "a b",   "a;b",  "a#b", "/x = y",
                                         " a",  "a ",   "a ;b",  "a #b", "#a",  ";a",
                                         "\ta", "a\nb", "a\x7f", "a\r",  "[a]", "\xef\xbb\xbf"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char text[64], want[64];
        snprintf(text, sizeof text, "v = %s\n", values[i]);
        snprintf(want, sizeof want, "1[]v=%s|", values[i]);
        bool same = read_bytes(text, strlen(text)) == RC_OK && slice_eq(buf_slice(&seen), slice_str(want));
        if (same != ini_can_hold(values[i]))
            fail_msg("'%s' comes back as it was: %d", values[i], same);
    }
    buf_release(&seen);
}

TEST_MAIN()
