/* client/ctl/problems.c - see problems.h. */
#include "client/ctl/problems.h"

#include <jansson.h>

/* A place in a text, where there is one: the root is "". */
static const char *place_of(const json_t *entry)
{
    static const char *const names[] = {"pointer", "reader"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *place = json_string_value(json_object_get(entry, names[i]));
        if (place)
            return *place ? place : "(the whole)";
    }
    return NULL;
}

static void print_entry(const json_t *entry, FILE *out)
{
    const char *place = place_of(entry), *detail = json_string_value(json_object_get(entry, "detail"));
    const char *direction = json_string_value(json_object_get(entry, "direction"));
    const json_t *version = json_object_get(entry, "version");
    fputs("  ", out);
    if (direction && json_is_integer(version))
        fprintf(out, "%s, version %lld, ", direction, (long long)json_integer_value(version));
    fprintf(out, "%s%s%s\n", place ? place : "", place ? ": " : "", detail ? detail : "");
}

void problems_print(const char *body, size_t len, FILE *out)
{
    static const char *const lists[] = {"errors", "reasons"};
    json_error_t at;
    json_t *tree = json_loadb(body, len, JSON_ALLOW_NUL, &at);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const json_t *list = json_object_get(tree, lists[i]);
        for (size_t k = 0; k < json_array_size(list); k++)
            print_entry(json_array_get(list, k), out);
    }
    if (json_is_true(json_object_get(tree, "truncated")))
        fputs("  and more\n", out);
    json_decref(tree);
}
