/* tests/conformance/lines.h - a file of data/ line by line, each a case; what all its readers ask of a line. */
#ifndef TESTS_CONFORMANCE_LINES_H
#define TESTS_CONFORMANCE_LINES_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "tests/lib/test.h"

/* Of a struct that has `id` and counts `faults`. */
#define FAULT(r, ...)                                                                                        \
    do {                                                                                                     \
        (r)->faults++;                                                                                       \
        print_error("%s: ", (r)->id);                                                                        \
        print_error(__VA_ARGS__);                                                                            \
        print_error("\n");                                                                                   \
    } while (0)

/* Borrowed from the line. */
static inline struct slice string_of(const json_t *s)
{
    return slice_of(json_string_value(s), json_string_length(s));
}

static inline struct slice member_of(const json_t *line, const char *name)
{
    return string_of(json_object_get(line, name));
}

static inline bool has_text(const json_t *line, const char *name)
{
    return json_is_string(json_object_get(line, name));
}

static inline const char *id_of(const json_t *line)
{
    return json_string_value(json_object_get(line, "id"));
}

static inline struct slice hex_of(struct arena *a, struct slice hex)
{
    uint8_t *out = arena_alloc(a, hex.len / 2 + 1);
    assert_non_null(out);
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        char pair[3] = {(char)hex.ptr[i], (char)hex.ptr[i + 1], 0};
        out[i / 2] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return slice_of(out, hex.len / 2);
}

/* Run each line of data/`name`, which is borrowed for the call. How many there are. */
static inline unsigned lines_each(const char *name, void (*run)(json_t *line, void *arg), void *arg)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/conformance/data/%s", getenv("TEST_DATA"), name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = NULL;
    size_t cap = 0;
    unsigned n = 0;
    for (ssize_t len; (len = getline(&text, &cap, f)) > 0; n++) {
        json_error_t why;
        json_t *line = json_loadb(text, (size_t)len, JSON_ALLOW_NUL, &why);
        if (!line)
            fail_msg("%s, case %u: %s", name, n + 1, why.text);
        run(line, arg);
        json_decref(line);
    }
    free(text);
    fclose(f);
    return n;
}

#endif
