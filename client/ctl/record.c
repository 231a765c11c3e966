/* client/ctl/record.c - avroctl get, put, patch and delete. */
#include <string.h>

#include "client/ctl/ctl.h"
#include "client/ctl/json_text.h"

/* ---- get ---- */

static bool is_json(const char *content_type)
{
    return content_type &&
           (strncmp(content_type, "application/json", 16) == 0 || strcmp(content_type, "avro/json") == 0);
}

static int write_record(const struct ctl *ctl, const struct avrod_answer *answer)
{
    struct output out;
    if (answer->status == 304) {
        printf("not modified\n");
        return 0;
    }
    int code = output_open(ctl, &out);
    if (code)
        return code;
    fwrite(answer->body, 1, answer->body_bytes, out.file);
    if (is_json(answer->content_type) && !out.path)
        fputc('\n', out.file);
    return output_close(ctl, &out, true);
}

static int print_json_record(const struct ctl *ctl, const struct avrod_answer *answer)
{
    struct json_text t = {0};
    struct slice body = slice_of(answer->body, answer->body_bytes);
    json_text_begin(&t);
    json_text_u64(&t, "status", (uint64_t)answer->status);
    json_text_string(&t, "etag", answer->etag);
    if (answer->status != 304)
        json_text_string(&t, "content_type", answer->content_type);
    if (answer->schema_version)
        json_text_u64(&t, "schema_version", answer->schema_version);
    if (answer->schema_id)
        json_text_u64(&t, "schema_id", answer->schema_id);
    if (answer->status != 304 && is_json(answer->content_type))
        json_text_raw(&t, "record", body);
    else if (answer->status != 304)
        json_text_bytes(&t, "body_base64", body);
    json_text_end(&t);
    return print_json_line(ctl, &t);
}

int command_get(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    struct avrod_read how = {.accept = a->accept,
                             .version = (uint32_t)a->schema_version,
                             .field = a->field,
                             .fields = a->fields,
                             .if_none_match = a->if_none_match};
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    struct buf id = {0}, query = {0};
    int code = id_of(ctl, a->words[1], &id);
    if (code == 0)
        code = query_of(ctl, &query, &how.query);
    if (code == 0 && avrod_get(ctl->client, a->words[0], id.ptr, id.len, &how, &answer, &error) != AVROD_OK)
        code = fail_call(ctl, &error);
    else if (code == 0)
        code = a->json ? print_json_record(ctl, &answer) : write_record(ctl, &answer);
    avrod_answer_release(&answer);
    buf_release(&query);
    buf_release(&id);
    return code;
}

/* ---- writes ---- */

int print_written(const struct ctl *ctl, const struct avrod_answer *answer)
{
    static const char *const fields[][2] = {
        {"Changed", "changed"}, {"TTL", "ttl"}, {"Idempotency-Replayed", "replayed"}, {"Dry-Run", "dry_run"}};
    struct json_text t = {0};
    if (!ctl->args->json) {
        printf("%s\n", answer->etag ? answer->etag : "OK");
        return 0;
    }
    json_text_begin(&t);
    json_text_u64(&t, "status", (uint64_t)answer->status);
    json_text_string(&t, "etag", answer->etag);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const char *value = avrod_answer_header(answer, fields[i][0], 0);
        if (value)
            json_text_string(&t, fields[i][1], value);
    }
    json_text_end(&t);
    return print_json_line(ctl, &t);
}

typedef enum avrod_code (*write_fn)(avrod_client *, const char *type, const void *id, size_t id_bytes,
                                    const void *body, size_t body_bytes, const struct avrod_write *,
                                    struct avrod_answer *, struct avrod_error *);

static enum avrod_code delete_without_body(avrod_client *client, const char *type, const void *id,
                                           size_t id_bytes, const void *body, size_t body_bytes,
                                           const struct avrod_write *how, struct avrod_answer *answer,
                                           struct avrod_error *error)
{
    (void)body;
    (void)body_bytes;
    return avrod_delete(client, type, id, id_bytes, how, answer, error);
}

/* The body is there, if there is one. */
static int send_write(struct ctl *ctl, write_fn send, const struct buf *body)
{
    const struct args *a = ctl->args;
    struct avrod_write how = {.content_type = a->json_patch ? "application/json-patch+json" : a->content_type,
                              .schema_version = (uint32_t)a->schema_version,
                              .field = a->field,
                              .if_match = a->if_match,
                              .if_none_match = a->if_none_match,
                              .idempotency_key = a->idempotency_key,
                              .ttl_s = a->ttl,
                              .dry_run = a->dry_run};
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    struct buf id = {0}, query = {0};
    int code = id_of(ctl, a->words[1], &id);
    if (code == 0)
        code = query_of(ctl, &query, &how.query);
    if (code == 0 && send(ctl->client, a->words[0], id.ptr, id.len, body->ptr, body->len, &how, &answer,
                          &error) != AVROD_OK)
        code = fail_call(ctl, &error);
    else if (code == 0)
        code = print_written(ctl, &answer);
    avrod_answer_release(&answer);
    buf_release(&query);
    buf_release(&id);
    return code;
}

static int read_and_send(struct ctl *ctl, write_fn send)
{
    struct buf body = {0};
    int code = file_read(ctl, ctl->args->words[2], &body);
    if (code == 0)
        code = send_write(ctl, send, &body);
    buf_release(&body);
    return code;
}

int command_put(struct ctl *ctl)
{
    return read_and_send(ctl, avrod_put);
}

int command_patch(struct ctl *ctl)
{
    return read_and_send(ctl, avrod_patch);
}

/* ---- many ---- */

static struct avrod_write write_of(const struct args *a, const char *query)
{
    return (struct avrod_write){.idempotency_key = a->idempotency_key, .dry_run = a->dry_run, .query = query};
}

static int print_deleted(const struct ctl *ctl, const struct avrod_answer *answer)
{
    const char *deleted = avrod_answer_header(answer, "Deleted", 0);
    struct json_text t = {0};
    if (!ctl->args->json) {
        printf("%s %s\n", deleted ? deleted : "?", ctl->args->dry_run ? "would be deleted" : "deleted");
        return 0;
    }
    json_text_begin(&t);
    json_text_raw(&t, "deleted", slice_str(deleted ? deleted : "null"));
    json_text_string(&t, "etag", answer->etag);
    json_text_raw(&t, "dry_run", ctl->args->dry_run ? SLICE("true") : SLICE("false"));
    json_text_end(&t);
    return print_json_line(ctl, &t);
}

static int delete_prefix(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    struct avrod_write how = write_of(a, a->query);
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    if (a->if_match || a->if_none_match || a->id_base64 || a->nwords > 1)
        return fail(ctl, EXIT_USAGE, "With --prefix there is no ID, and no condition.");
    if (avrod_delete_prefix(ctl->client, a->words[0], a->prefix, strlen(a->prefix), &how, &answer, &error) !=
        AVROD_OK)
        return fail_call(ctl, &error);
    int code = print_deleted(ctl, &answer);
    avrod_answer_release(&answer);
    return code;
}

int command_delete(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    if (a->prefix)
        return delete_prefix(ctl);
    if (a->nwords < 2)
        return fail(ctl, EXIT_USAGE, "The id is missing: avroctl delete TYPE ID, or --prefix.");
    if (a->dry_run)
        return fail(ctl, EXIT_USAGE, "--dry-run goes with --prefix.");
    return send_write(ctl, delete_without_body, &(struct buf){0});
}

/* ---- transactions ---- */

int command_txn(struct ctl *ctl)
{
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    struct buf body = {0}, query_text = {0};
    const char *query = NULL;
    int code = file_read(ctl, ctl->args->words[0], &body);
    if (code == 0)
        code = query_of(ctl, &query_text, &query);
    struct avrod_write how = write_of(ctl->args, query);
    if (code == 0 && avrod_txn(ctl->client, body.ptr, body.len, &how, &answer, &error) != AVROD_OK)
        code = fail_call(ctl, &error);
    else if (code == 0)
        code = print_all(ctl, slice_of(answer.body, answer.body_bytes));
    if (code == 0)
        code = print_all(ctl, SLICE("\n"));
    avrod_answer_release(&answer);
    buf_release(&query_text);
    buf_release(&body);
    return code;
}
