/* client/lib/records.c - calls about single records, and transactions. */
#include <stdio.h>

#include "client/lib/error.h"
#include "client/lib/send.h"

/* A record may have these ids, but a POST or PUT to /{type}/{one of them} is refused: an id was most likely forgotten. */
static const char *const verbs[] = {"get",    "put",       "select", "update",
                                    "insert", "insertall", "delete", "clear"};

static bool is_verb(struct slice id)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (slice_eq(id, slice_str(verbs[i])))
            return true;
    return false;
}

/* The record a call is about. */
struct record_name {
    const char *type;
    struct slice id;
    const char *field;
};

/* Without a type or an id it would be another route. */
static enum avrod_code check(const struct record_name *n, struct avrod_error *error)
{
    error_begin(error);
    if (!n->type || !*n->type)
        return error_set(error, AVROD_ARGUMENT, "The type is missing.");
    if (!n->id.len)
        return error_set(error, AVROD_ARGUMENT, "The id is missing.");
    if (n->field && !*n->field)
        return error_set(error, AVROD_ARGUMENT, "The name of the field is empty.");
    return AVROD_OK;
}

/* The resource, or the path with the verb where a field or the id needs it. */
static void path_of(struct target *t, const struct record_name *n, struct slice verb, bool by_verb)
{
    target_piece(t, slice_str(n->type));
    if (by_verb || n->field)
        target_piece(t, verb);
    target_piece(t, n->id);
    if (n->field)
        target_piece(t, slice_str(n->field));
}

enum avrod_code avrod_get(avrod_client *client, const char *type, const void *id, size_t id_bytes,
                          const struct avrod_read *how, struct avrod_answer *answer,
                          struct avrod_error *error)
{
    static const struct avrod_read plain;
    const struct record_name name = {type, slice_of(id, id_bytes), how ? how->field : NULL};
    struct target t = {0};
    how = how ? how : &plain;
    if (check(&name, error) != AVROD_OK)
        return error->code;
    path_of(&t, &name, SLICE("get"), false);
    if (how->version)
        target_param_u64(&t, "version", how->version);
    target_param(&t, "fields", how->fields);
    target_query(&t, how->query);
    struct avrod_request request = {
        .method = "GET", .accept = how->accept, .if_none_match = how->if_none_match};
    return send_target(client, &t, &request, answer, error);
}

static void params_of(struct target *t, const struct avrod_write *how)
{
    if (how->ttl_s)
        target_param_u64(t, "ttl", how->ttl_s);
    if (how->dry_run)
        target_param(t, "dry_run", "1");
    target_query(t, how->query);
}

/* All writes: the request's method and body are set. */
static enum avrod_code write_record(avrod_client *client, const struct record_name *name,
                                    const struct avrod_write *how, struct avrod_request *request,
                                    struct avrod_answer *answer, struct avrod_error *error)
{
    static const struct avrod_write plain;
    char version[sizeof "Schema-Version: 4294967295"];
    const char *fields[2] = {0};
    struct target t = {0};
    how = how ? how : &plain;
    if (check(name, error) != AVROD_OK)
        return error->code;
    path_of(&t, name, SLICE("put"),
            request->method[0] == 'P' && request->method[1] == 'U' && is_verb(name->id));
    params_of(&t, how);
    if (how->content_type)
        request->content_type = how->content_type;
    request->if_match = how->if_match;
    request->if_none_match = how->if_none_match;
    request->idempotency_key = how->idempotency_key;
    if (how->schema_version) {
        snprintf(version, sizeof version, "Schema-Version: %u", (unsigned)how->schema_version);
        fields[0] = version;
        request->headers = fields;
    }
    return send_target(client, &t, request, answer, error);
}

enum avrod_code avrod_put(avrod_client *client, const char *type, const void *id, size_t id_bytes,
                          const void *body, size_t body_bytes, const struct avrod_write *how,
                          struct avrod_answer *answer, struct avrod_error *error)
{
    const struct record_name name = {type, slice_of(id, id_bytes), how ? how->field : NULL};
    struct avrod_request request = {.method = "PUT", .body = body ? body : "", .body_bytes = body_bytes};
    return write_record(client, &name, how, &request, answer, error);
}

enum avrod_code avrod_patch(avrod_client *client, const char *type, const void *id, size_t id_bytes,
                            const void *body, size_t body_bytes, const struct avrod_write *how,
                            struct avrod_answer *answer, struct avrod_error *error)
{
    const struct record_name name = {type, slice_of(id, id_bytes), NULL};
    struct avrod_request request = {.method = "PATCH",
                                    .body = body ? body : "",
                                    .body_bytes = body_bytes,
                                    .content_type = "application/merge-patch+json"};
    return write_record(client, &name, how, &request, answer, error);
}

enum avrod_code avrod_delete(avrod_client *client, const char *type, const void *id, size_t id_bytes,
                             const struct avrod_write *how, struct avrod_answer *answer,
                             struct avrod_error *error)
{
    const struct record_name name = {type, slice_of(id, id_bytes), NULL};
    struct avrod_request request = {.method = "DELETE"};
    return write_record(client, &name, how, &request, answer, error);
}

/* A request that is about no single record. */
static enum avrod_code write_many(avrod_client *client, struct target *t, const struct avrod_write *how,
                                  struct avrod_request *request, struct avrod_answer *answer,
                                  struct avrod_error *error)
{
    if (how && how->dry_run)
        target_param(t, "dry_run", "1");
    target_query(t, how ? how->query : NULL);
    request->idempotency_key = how ? how->idempotency_key : NULL;
    return send_target(client, t, request, answer, error);
}

enum avrod_code avrod_delete_prefix(avrod_client *client, const char *type, const void *prefix,
                                    size_t prefix_bytes, const struct avrod_write *how,
                                    struct avrod_answer *answer, struct avrod_error *error)
{
    struct target t = {0};
    struct avrod_request request = {.method = "DELETE"};
    error_begin(error);
    if (!type || !*type)
        return error_set(error, AVROD_ARGUMENT, "The type is missing.");
    if (!prefix_bytes)
        return error_set(error, AVROD_ARGUMENT, "The prefix is empty.");
    target_piece(&t, slice_str(type));
    target_param_bytes(&t, "prefix", slice_of(prefix, prefix_bytes));
    return write_many(client, &t, how, &request, answer, error);
}

enum avrod_code avrod_txn(avrod_client *client, const void *operations, size_t bytes,
                          const struct avrod_write *how, struct avrod_answer *answer,
                          struct avrod_error *error)
{
    struct target t = {0};
    struct avrod_request request = {
        .method = "POST", .body = operations ? operations : "", .body_bytes = bytes};
    target_piece(&t, SLICE("_txn"));
    return write_many(client, &t, how, &request, answer, error);
}
