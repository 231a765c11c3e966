/* tests/fuzz/config.c - any bytes as the file of --config: it is refused with a line that it has, or every line counts whole,
 * and what is printed says the same again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "server/options_file.h"
#include "server/options_print.h"
#include "server/options_value.h"

static enum rc read_options(struct slice text, struct options *out, struct err *err)
{
    FILE *in = text.len ? fmemopen((void *)(uintptr_t)text.ptr, text.len, "r") : fopen("/dev/null", "r");
    CHECK(in, "no stream");
    *out = options_defaults;
    enum rc rc = options_stream_take(out, in, "f", err);
    fclose(in);
    out->config = "f";
    return rc;
}

static struct slice next_line(struct slice *text)
{
    const uint8_t *end = memchr(text->ptr, '\n', text->len);
    struct slice line = slice_of(text->ptr, end ? (size_t)(end - text->ptr) : text->len);
    size_t taken = line.len + (end != NULL);
    *text = slice_of(text->ptr + taken, text->len - taken);
    return line;
}

static struct slice trim(struct slice s)
{
    while (s.len && strchr(" \t\r", s.ptr[s.len - 1]) && s.ptr[s.len - 1])
        s.len--;
    while (s.len && (*s.ptr == ' ' || *s.ptr == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    return s;
}

/* The line plainly read has its effect: the option of that name has the value, and knows the line. */
static void check_line(const struct options *o, struct slice line, unsigned number)
{
    const uint8_t *equals = memchr(line.ptr, '=', line.len);
    CHECK(equals, "line %u: %.*s", number, SHOW(line));
    struct slice name = trim(slice_of(line.ptr, (size_t)(equals - line.ptr)));
    struct slice value = trim(slice_of(equals + 1, line.len - (size_t)(equals + 1 - line.ptr)));
    enum option_id id = option_find(name, FROM_FILE);
    CHECK(id != OPTION_IDS, "line %u: %.*s", number, SHOW(name));
    CHECK(o->source[id].from == FROM_FILE && o->source[id].line == number, "line %u", number);
    if (options_table[id].kind == KIND_TEXT)
        CHECK(slice_eq(slice_str(option_text(o, id, NULL)), value), "line %u: %.*s", number, SHOW(value));
}

static void check_lines(const struct options *o, struct slice text)
{
    unsigned said = 0, set = 0;
    for (unsigned number = 1; text.len; number++) {
        struct slice line = trim(next_line(&text));
        if (!line.len || *line.ptr == '#' || *line.ptr == ';')
            continue;
        check_line(o, line, number);
        said++;
    }
    for (enum option_id id = 0; id < OPTION_IDS; id++)
        set += o->source[id].from != FROM_DEFAULT;
    CHECK(said == set, "%u lines set %u options", said, set);
}

/* "f:N: ", and there is a line N. */
static void check_refusal(const struct err *err, struct slice text)
{
    unsigned long lines = 0;
    char *end;
    CHECK(err->code == ERR_CONFIG && !strncmp(err->message, "f:", 2), "%d: %s", err->code, err->message);
    unsigned long number = strtoul(err->message + 2, &end, 10);
    for (; text.len; lines++)
        next_line(&text);
    CHECK(number >= 1 && number <= lines && !strncmp(end, ": ", 2) && end[2], "%s", err->message);
}

/* Numbers may be written in several ways; they are compared as printed. */
static void check_printed(const struct options *o)
{
    char *text = NULL, was[OPTION_NUMBER_BYTES], is[OPTION_NUMBER_BYTES];
    size_t len = 0;
    struct options again;
    struct err err;
    FILE *out = open_memstream(&text, &len);
    CHECK(out, "no stream");
    options_print_config(o, out);
    fclose(out);
    CHECK(read_options(slice_of(text, len), &again, &err) == RC_OK, "%s\n%s", err.message, text);
    for (enum option_id id = 0; id < OPTION_IDS; id++) {
        bool same = !strcmp(option_text(o, id, was), option_text(&again, id, is));
        CHECK(id == OPTION_ID_config || same || !ini_can_hold(option_text(o, id, was)), "%s: %s",
              options_table[id].name, text);
    }
    options_release(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options options;
    struct err err = {0};
    struct slice text = slice_of(data, size);
    if (read_options(text, &options, &err) != RC_OK) {
        check_refusal(&err, text);
    } else {
        check_lines(&options, text);
        check_printed(&options);
    }
    options_release(&options);
    return 0;
}
