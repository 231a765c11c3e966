/* client/ctl/schema.c - avroctl schema put, get, check and delete. */
#include <jansson.h>
#include <string.h>

#include "client/ctl/ctl.h"
#include "client/ctl/json_text.h"
#include "client/ctl/schema.h"

/* ---- put ---- */

static struct avrod_schema_put options_of(const struct args *a)
{
    return (struct avrod_schema_put){.missing = a->missing,
                                     .unknown = a->unknown,
                                     .compatibility = a->compatibility,
                                     .fullname = a->fullname,
                                     .if_match = a->if_match,
                                     .if_none_match = a->if_none_match};
}

static int print_json_put(const struct ctl *ctl, const struct avrod_answer *answer)
{
    struct json_text t = {0};
    const char *warning;
    json_text_begin(&t);
    json_text_string(&t, "type", ctl->args->words[0]);
    json_text_u64(&t, "version", answer->schema_version);
    json_text_u64(&t, "schema_id", answer->schema_id);
    json_text_string(&t, "etag", answer->etag);
    json_text_open(&t, "warnings", '[');
    for (unsigned i = 0; (warning = avrod_answer_header(answer, "Schema-Warning", i)); i++)
        json_text_string(&t, NULL, warning);
    json_text_close(&t, ']');
    json_text_end(&t);
    return print_json_line(ctl, &t);
}

static int print_put(const struct ctl *ctl, const struct avrod_answer *answer)
{
    const char *warning;
    if (ctl->args->json)
        return print_json_put(ctl, answer);
    for (unsigned i = 0; (warning = avrod_answer_header(answer, "Schema-Warning", i)); i++)
        fprintf(stderr, "avroctl: warning: %s\n", warning);
    printf("%s: version %u, schema id %u\n", ctl->args->words[0], (unsigned)answer->schema_version,
           (unsigned)answer->schema_id);
    return 0;
}

int command_schema_put(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    struct avrod_schema_put put = options_of(a);
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    struct buf schema = {0}, query = {0};
    char ttl[24];
    if (a->ttl) {
        snprintf(ttl, sizeof ttl, "%llu", (unsigned long long)a->ttl);
        put.ttl = ttl;
    }
    int code = file_read(ctl, a->words[1], &schema);
    if (code == 0)
        code = query_of(ctl, &query, &put.query);
    if (code == 0 &&
        avrod_schema_put(ctl->client, a->words[0], schema.ptr, schema.len, &put, &answer, &error))
        code = fail_call(ctl, &error);
    else if (code == 0)
        code = print_put(ctl, &answer);
    buf_release(&query);
    buf_release(&schema);
    avrod_answer_release(&answer);
    return code;
}

/* ---- get ---- */

static int write_text(const struct ctl *ctl, const struct avrod_answer *answer)
{
    struct output out;
    int code = output_open(ctl, &out);
    if (code)
        return code;
    fwrite(answer->body, 1, answer->body_bytes, out.file);
    fputc('\n', out.file);
    return output_close(ctl, &out, true);
}

static int print_json_schema(const struct ctl *ctl, const struct avrod_answer *answer)
{
    struct json_text t = {0};
    json_text_begin(&t);
    json_text_string(&t, "type", ctl->args->words[0]);
    json_text_u64(&t, "version", answer->schema_version);
    json_text_u64(&t, "schema_id", answer->schema_id);
    json_text_string(&t, "fingerprint", avrod_answer_header(answer, "Schema-Fingerprint", 0));
    json_text_string(&t, "etag", answer->etag);
    json_text_raw(&t, "schema", slice_of(answer->body, answer->body_bytes));
    json_text_end(&t);
    return print_json_line(ctl, &t);
}

/* avrod_schema_get with --canonical. */
static enum avrod_code get_canonical(const struct ctl *ctl, struct avrod_answer *answer,
                                     struct avrod_error *error)
{
    struct buf target = {0};
    char *type = avrod_encode(ctl->args->words[0], strlen(ctl->args->words[0]));
    enum avrod_code code = AVROD_MEMORY;
    bool good = type && buf_printf(&target, "/getschema/%s?format=canonical", type);
    if (good && ctl->args->schema_version)
        good = buf_printf(&target, "&version=%llu", (unsigned long long)ctl->args->schema_version);
    if (good && buf_append_byte(&target, 0))
        code = avrod_send(ctl->client,
                          &(struct avrod_request){.method = "GET", .target = (const char *)target.ptr},
                          answer, error);
    error->code = code;
    free(type);
    buf_release(&target);
    return code;
}

int command_schema_get(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    enum avrod_code rc = a->canonical ? get_canonical(ctl, &answer, &error)
                                      : avrod_schema_get(ctl->client, a->words[0],
                                                         (uint32_t)a->schema_version, &answer, &error);
    if (rc != AVROD_OK)
        return fail_call(ctl, &error);
    int code = a->json ? print_json_schema(ctl, &answer) : write_text(ctl, &answer);
    avrod_answer_release(&answer);
    return code;
}

/* ---- check ---- */

enum avrod_code schema_ask_verdict(const struct ctl *ctl, const struct buf *schema, const char *query,
                                   struct avrod_answer *answer, struct avrod_error *error)
{
    const struct args *a = ctl->args;
    struct avrod_schema_put put = options_of(a);
    put.if_match = put.if_none_match = NULL;
    put.query = query;
    return avrod_schema_check(ctl->client, a->words[0], schema->ptr, schema->len, &put, a->check_stored,
                              answer, error);
}

static void print_stored(const json_t *stored)
{
    const json_t *first = json_object_get(stored, "first");
    if (!json_is_object(stored))
        return;
    printf("of %lld stored records%s %lld could not be read\n",
           (long long)json_integer_value(json_object_get(stored, "checked")),
           json_is_true(json_object_get(stored, "complete")) ? "" : " (not all)",
           (long long)json_integer_value(json_object_get(stored, "unreadable")));
    for (size_t i = 0; i < json_array_size(first); i++) {
        const json_t *entry = json_array_get(first, i);
        const char *id = json_string_value(json_object_get(entry, "id"));
        const char *pointer = json_string_value(json_object_get(entry, "pointer"));
        const char *detail = json_string_value(json_object_get(entry, "detail"));
        printf("  %s %s: %s\n", id ? id : "(id is no text)", pointer ? pointer : "", detail ? detail : "");
    }
}

int schema_print_verdict(const struct ctl *ctl, const char *body, size_t len)
{
    json_error_t at;
    json_t *verdict = json_loadb(body, len, 0, &at), *warnings = json_object_get(verdict, "warnings");
    if (!verdict)
        return fail(ctl, EXIT_NO_ANSWER, "The answer is no verdict.");
    const char *mode = json_string_value(json_object_get(verdict, "compatibility"));
    printf("compatible (%s): %s version %lld\n", mode ? mode : "?",
           json_is_true(json_object_get(verdict, "is_new")) ? "it would be" : "it is",
           (long long)json_integer_value(json_object_get(verdict, "version")));
    for (size_t i = 0; i < json_array_size(warnings); i++)
        printf("warning: %s\n", json_string_value(json_array_get(warnings, i)));
    print_stored(json_object_get(verdict, "stored"));
    json_decref(verdict);
    return 0;
}

/* With --json the verdict is printed as it came, whichever it is. */
static int print_json_verdict(const struct ctl *ctl, const char *body, size_t len, int code)
{
    int printed = print_all(ctl, slice_of(body, len));
    if (printed == 0)
        printed = print_all(ctl, SLICE("\n"));
    return printed ? printed : code;
}

int command_schema_check(struct ctl *ctl)
{
    struct avrod_answer answer = {0};
    struct avrod_error error = {0};
    struct buf schema = {0}, query_text = {0};
    const char *query = NULL;
    int code = file_read(ctl, ctl->args->words[1], &schema);
    if (code == 0)
        code = query_of(ctl, &query_text, &query);
    if (code == 0 && schema_ask_verdict(ctl, &schema, query, &answer, &error) != AVROD_OK) {
        if (ctl->args->json && error.status == 409 && error.body) {
            code = print_json_verdict(ctl, error.body, error.body_bytes, EXIT_REFUSED);
            avrod_error_release(&error);
        } else {
            code = fail_call(ctl, &error);
        }
    } else if (code == 0 && ctl->args->json) {
        code = print_json_verdict(ctl, answer.body, answer.body_bytes, 0);
    } else if (code == 0) {
        code = schema_print_verdict(ctl, answer.body, answer.body_bytes);
    }
    buf_release(&query_text);
    buf_release(&schema);
    avrod_answer_release(&answer);
    return code;
}

/* ---- delete ---- */

int command_schema_delete(struct ctl *ctl)
{
    struct avrod_error error = {0};
    if (avrod_schema_delete(ctl->client, ctl->args->words[0], NULL, &error) != AVROD_OK)
        return fail_call(ctl, &error);
    printf("%s\n", ctl->args->json ? "{\"deleted\":true}" : "deleted");
    return 0;
}
