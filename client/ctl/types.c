/* client/ctl/types.c - avroctl types: what GET /schemas tells, as a table. */
#include <jansson.h>
#include <string.h>

#include "client/ctl/ctl.h"

static const struct column {
    const char *title, *member;
} columns[] = {{"TYPE", "name"},       {"VERSION", "version"}, {"SCHEMA", "schema_id"},
               {"RECORDS", "records"}, {"BYTES", "bytes"},     {"COMPATIBILITY", "compatibility"},
               {"MISSING", "missing"}, {"UNKNOWN", "unknown"}, {"TTL", "ttl"}};
enum { CELL_BYTES = 80 };

static void cell_of(const json_t *type, const struct column *c, char out[CELL_BYTES])
{
    const json_t *value = json_object_get(type, c->member);
    if (json_is_string(value))
        snprintf(out, CELL_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(out, CELL_BYTES, "%lld", (long long)json_integer_value(value));
    else
        snprintf(out, CELL_BYTES, "-");
}

static void print_table(const json_t *types)
{
    size_t width[ARRAY_LEN(columns)];
    char cell[CELL_BYTES];
    for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
        width[c] = strlen(columns[c].title);
        for (size_t i = 0; i < json_array_size(types); i++) {
            cell_of(json_array_get(types, i), &columns[c], cell);
            width[c] = strlen(cell) > width[c] ? strlen(cell) : width[c];
        }
    }
    for (size_t i = 0; i <= json_array_size(types); i++) {
        for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
            bool last = c + 1 == ARRAY_LEN(columns);
            if (i)
                cell_of(json_array_get(types, i - 1), &columns[c], cell);
            printf("%-*s%s", last ? 0 : (int)width[c], i ? cell : columns[c].title, last ? "\n" : "  ");
        }
    }
}

static int print_answer(const struct ctl *ctl, const struct avrod_answer *answer)
{
    json_error_t at;
    if (ctl->args->json) {
        bool ends = answer->body_bytes && answer->body[answer->body_bytes - 1] == '\n';
        int code = print_all(ctl, slice_of(answer->body, answer->body_bytes));
        return code || ends ? code : print_all(ctl, SLICE("\n"));
    }
    json_t *types = json_loadb(answer->body, answer->body_bytes, 0, &at);
    bool good = json_is_array(types);
    if (good)
        print_table(types);
    json_decref(types);
    return good ? 0 : fail(ctl, EXIT_NO_ANSWER, "The answer is no list of types.");
}

int command_types(struct ctl *ctl)
{
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    if (avrod_types(ctl->client, &answer, &error) != AVROD_OK)
        return fail_call(ctl, &error);
    int code = print_answer(ctl, &answer);
    avrod_answer_release(&answer);
    return code;
}
