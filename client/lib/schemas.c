/* client/lib/schemas.c - calls about types and their schemas. */
#include "client/lib/error.h"
#include "client/lib/send.h"

enum avrod_code avrod_types(avrod_client *client, struct avrod_answer *answer, struct avrod_error *error)
{
    return avrod_send(client, &(struct avrod_request){.method = "GET", .target = "/schemas"}, answer, error);
}

/* /{verb}/{type}. False: no type is given, which would be another route; the error is set. */
static bool path_of(struct target *t, struct slice verb, const char *type, struct avrod_error *error)
{
    error_begin(error);
    if (!type || !*type) {
        error_set(error, AVROD_ARGUMENT, "The type is missing.");
        return false;
    }
    target_piece(t, verb);
    target_piece(t, slice_str(type));
    return true;
}

static void params_of(struct target *t, const struct avrod_schema_put *put)
{
    target_param(t, "missing", put->missing);
    target_param(t, "unknown", put->unknown);
    target_param(t, "compatibility", put->compatibility);
    target_param(t, "ttl", put->ttl);
    target_param(t, "logical", put->logical);
    target_param(t, "bytes", put->bytes);
    target_param(t, "int64", put->int64);
    target_param(t, "fullname", put->fullname);
    target_query(t, put->query);
}

/* Registered twice it would change nothing, but somebody else's version may have come between: so only a dry run repeats. */
static enum avrod_code put_schema(avrod_client *client, struct target *t, bool dry, struct slice schema,
                                  const struct avrod_schema_put *put, struct avrod_answer *answer,
                                  struct avrod_error *error)
{
    if (put)
        params_of(t, put);
    struct avrod_request request = {.method = "PUT",
                                    .body = slice_not_null(schema).ptr,
                                    .body_bytes = schema.len,
                                    .if_match = put ? put->if_match : NULL,
                                    .if_none_match = put ? put->if_none_match : NULL,
                                    .once = !dry};
    return send_target(client, t, &request, answer, error);
}

enum avrod_code avrod_schema_put(avrod_client *client, const char *type, const void *schema,
                                 size_t schema_bytes, const struct avrod_schema_put *put,
                                 struct avrod_answer *answer, struct avrod_error *error)
{
    struct target t = {0};
    if (!path_of(&t, SLICE("putschema"), type, error))
        return error->code;
    return put_schema(client, &t, false, slice_of(schema, schema_bytes), put, answer, error);
}

enum avrod_code avrod_schema_check(avrod_client *client, const char *type, const void *schema,
                                   size_t schema_bytes, const struct avrod_schema_put *put,
                                   uint64_t check_stored, struct avrod_answer *answer,
                                   struct avrod_error *error)
{
    struct target t = {0};
    if (!path_of(&t, SLICE("putschema"), type, error))
        return error->code;
    target_param(&t, "dry_run", "1");
    if (check_stored) {
        target_param(&t, "check", "stored");
        target_param_u64(&t, "limit", check_stored);
    }
    return put_schema(client, &t, true, slice_of(schema, schema_bytes), put, answer, error);
}

enum avrod_code avrod_schema_get(avrod_client *client, const char *type, uint32_t version,
                                 struct avrod_answer *answer, struct avrod_error *error)
{
    struct target t = {0};
    if (!path_of(&t, SLICE("getschema"), type, error))
        return error->code;
    if (version)
        target_param_u64(&t, "version", version);
    return send_target(client, &t, &(struct avrod_request){.method = "GET"}, answer, error);
}

enum avrod_code avrod_schema_delete(avrod_client *client, const char *type, struct avrod_answer *answer,
                                    struct avrod_error *error)
{
    struct target t = {0};
    if (!path_of(&t, SLICE("delschema"), type, error))
        return error->code;
    return send_target(client, &t, &(struct avrod_request){.method = "DELETE"}, answer, error);
}
