/* client/lib/paths.c - values inside of a record, found by a path. */
#include <string.h>

#include "client/lib/error.h"
#include "client/lib/send.h"

static const struct verb {
    const char *name;
    bool reads, wants_value;
} verbs[] = {{"select", true, false},    {"update", false, true},  {"insert", false, true},
             {"insertall", false, true}, {"delete", false, false}, {"clear", false, false}};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(verbs); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

/* A line break would end the path, and begin the value. */
static enum avrod_code check(const char *type, size_t id_bytes, const struct verb *verb, const char *path,
                             const void *value, struct avrod_error *error)
{
    error_begin(error);
    if (!type || !*type)
        return error_set(error, AVROD_ARGUMENT, "The type is missing.");
    if (!id_bytes)
        return error_set(error, AVROD_ARGUMENT, "The id is missing.");
    if (!verb)
        return error_set(error, AVROD_ARGUMENT,
                         "A path is for select, update, insert, insertall, delete or clear.");
    if (!path || !*path || strpbrk(path, "\r\n"))
        return error_set(error, AVROD_ARGUMENT, "A path is one line, and not empty.");
    if (verb->wants_value != (value != NULL))
        return error_set(error, AVROD_ARGUMENT, "%s takes %s value.", verb->name,
                         verb->wants_value ? "a" : "no");
    return AVROD_OK;
}

enum avrod_code avrod_path(avrod_client *client, const char *type, const void *id, size_t id_bytes,
                           const char *verb_name, const char *path, const void *value, size_t value_bytes,
                           const struct avrod_write *how, struct avrod_answer *answer,
                           struct avrod_error *error)
{
    static const struct avrod_write plain;
    const struct verb *verb = find_verb(verb_name);
    struct target t = {0};
    struct buf body = {0};
    if (check(type, id_bytes, verb, path, value, error) != AVROD_OK)
        return error->code;
    how = how ? how : &plain;
    if (!buf_append(&body, slice_str(path)) || (value && !buf_append_byte(&body, '\n')) ||
        !buf_append(&body, slice_of(value, value_bytes))) {
        buf_release(&body);
        return error_memory(error);
    }
    target_piece(&t, slice_str(type));
    target_piece(&t, slice_str(verb->name));
    target_piece(&t, slice_of(id, id_bytes));
    if (how->schema_version)
        target_param_u64(&t, "version", how->schema_version);
    if (how->dry_run)
        target_param(&t, "dry_run", "1");
    target_query(&t, how->query);
    struct avrod_request request = {.method = "POST",
                                    .body = body.ptr,
                                    .body_bytes = body.len,
                                    .if_match = how->if_match,
                                    .if_none_match = how->if_none_match,
                                    .idempotency_key = how->idempotency_key,
                                    .safe = verb->reads};
    enum avrod_code code = send_target(client, &t, &request, answer, error);
    buf_release(&body);
    return code;
}
