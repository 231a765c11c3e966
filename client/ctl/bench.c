/* client/ctl/bench.c - avroctl bench: the tables, a row for each number of connections. */
#include <stdlib.h>
#include <string.h>

#include "client/ctl/bench_place.h"
#include "client/ctl/ctl.h"
#include "client/ctl/interrupt.h"
#include "client/ctl/json_text.h"
#include "client/ctl/progress.h"

enum {
    LIST_MAX = 16,
    CONNECTIONS_MAX = 10000,
    SIZE_MAX_BYTES = 16 << 20,
    NUMBERS_MAX = 99999999, /* LOAD_NUMBER_CHARS digits */
    IDS = 10240,
    BLOBS = 1000,
    TIME_MS = 2000,
    WARMUP_MS = 500,
    FILL_CONNECTIONS = 50,
};

#define RECORD_TYPE "avroctl-bench"
#define BLOB_TYPE   "avroctl-bench-blob"

/* The record of astore's benchmark page. */
static const char record_schema[] = "{\"type\":\"record\",\"name\":\"PersonInfo\",\"namespace\":\"astore\","
                                    "\"fields\":[{\"name\":\"name\",\"type\":\"string\"},"
                                    "{\"name\":\"age\",\"type\":\"int\"},{\"name\":\"gender\",\"type\":{"
                                    "\"type\":\"enum\",\"name\":\"GenderType\",\"symbols\":["
                                    "\"Female\",\"Male\",\"Unknown\"]},\"default\":\"Unknown\"},{\"name\":"
                                    "\"emails\",\"type\":{\"type\":\"array\",\"items\":"
                                    "\"string\"},\"default\":[]}]}";
static const char record[] = "{\"name\":\"James Bond\",\"age\":60}";
static const char initial_record[] = "{\"name\":\"\",\"age\":0,\"gender\":\"Unknown\",\"emails\":[]}";

struct bench {
    struct ctl *ctl;
    struct bench_place place;
    uint64_t connections[LIST_MAX], sizes[LIST_MAX];
    size_t nconnections, nsizes;
    uint64_t ids, blobs;
    uint32_t time_ms, warmup_ms;
    bool record_type, blob_type; /* made here, to be removed */
    bool wrong;                  /* some answer was */
    bool any;                    /* a row has been printed */
    struct json_text json;
    struct progress progress;
};

/* ---- requests ---- */

/* The head, a number at the end of the path where `numbered`, and the body. False: memory is out. */
static bool request_make(const struct bench *b, const char *method, const char *path, bool numbered,
                         const char *query, struct slice body, bool has_body, struct load_request *out)
{
    struct buf text = {0};
    bool good = buf_printf(&text, "%s %.*s%s", method, (int)b->place.prefix.len,
                           b->place.prefix.len ? (const char *)b->place.prefix.ptr : "", path);
    *out = (struct load_request){0};
    if (numbered)
        out->slots[out->nslots++] = text.len;
    good = good && buf_printf(&text, "%s%s HTTP/1.1\r\n", numbered ? "00000000" : "", query) &&
           buf_append(&text, buf_slice(&b->place.fields));
    if (has_body)
        good = good && buf_printf(&text, "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n",
                                  body.len);
    good = good && buf_append(&text, SLICE("\r\n"));
    if (numbered && has_body)
        out->slots[out->nslots++] = text.len;
    good = good && buf_append(&text, body);
    out->bytes = (char *)text.ptr;
    out->len = text.len;
    return good;
}

/* ---- rows ---- */

static void print_title(struct bench *b)
{
    if (!b->any && !b->ctl->args->json)
        printf("%-6s %8s %6s %10s %10s %10s %10s %10s\n", "table", "bytes", "conns", "req/s", "p50 us",
               "p99 us", "p99.9 us", "MB/s in");
    b->any = true;
}

static double us_at(const struct load_result *r, double share)
{
    return (double)latency_at(&r->latency, share) / 1e3;
}

static void print_json_row(struct bench *b, const char *name, uint64_t bytes, unsigned connections,
                           const struct load_result *r)
{
    struct json_text *t = &b->json;
    json_text_open(t, NULL, '{');
    json_text_string(t, "table", name);
    if (bytes)
        json_text_u64(t, "bytes", bytes);
    json_text_u64(t, "connections", connections);
    json_text_u64(t, "answers", r->answers);
    json_text_real(t, "seconds", r->seconds);
    json_text_real(t, "per_second", (double)r->answers / r->seconds);
    json_text_real(t, "p50_us", us_at(r, 0.5));
    json_text_real(t, "p99_us", us_at(r, 0.99));
    json_text_real(t, "p999_us", us_at(r, 0.999));
    json_text_real(t, "max_us", (double)r->latency.max_ns / 1e3);
    json_text_u64(t, "received_bytes", r->bytes);
    json_text_u64(t, "wrong", r->wrong);
    json_text_u64(t, "broken", r->broken);
    if (r->first_fault[0])
        json_text_string(t, "first_fault", r->first_fault);
    json_text_close(t, '}');
}

static void print_row(struct bench *b, const char *name, uint64_t bytes, unsigned connections,
                      const struct load_result *r)
{
    char size[24] = "";
    b->wrong |= r->wrong || r->broken;
    if (b->ctl->args->json) {
        print_json_row(b, name, bytes, connections, r);
        return;
    }
    if (bytes)
        snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
    printf("%-6s %8s %6u %10.0f %10.1f %10.1f %10.1f %10.2f\n", name, size, connections,
           (double)r->answers / r->seconds, us_at(r, 0.5), us_at(r, 0.99), us_at(r, 0.999),
           (double)r->bytes / 1e6 / r->seconds);
    if (r->first_fault[0])
        printf("       %llu wrong, %llu without an answer; the first: %s\n", (unsigned long long)r->wrong,
               (unsigned long long)r->broken, r->first_fault);
    fflush(stdout);
}

static int run_load(struct bench *b, const struct load *load, struct load_result *r)
{
    char fault[256];
    bool good = load_run(load, r, fault, sizeof fault);
    progress_end(&b->progress);
    if (!good)
        return fail(b->ctl, EXIT_NO_CONNECTION, "%s", fault);
    return 0;
}

static int run_row(struct bench *b, const char *name, uint64_t bytes, const struct load_request *request,
                   uint64_t numbers, unsigned connections)
{
    struct load_result *r = malloc(sizeof *r);
    char what[64];
    struct load load = {.place = &b->place.place,
                        .request = request,
                        .connections = connections,
                        .numbers = numbers,
                        .warmup_ms = b->warmup_ms,
                        .time_ms = b->time_ms};
    if (!r)
        return fail_memory(b->ctl);
    snprintf(what, sizeof what, "%s, %u connections ...", name, connections);
    progress_say(&b->progress, what);
    int code = run_load(b, &load, r);
    if (code == 0)
        print_title(b);
    if (code == 0 && !r->interrupted)
        print_row(b, name, bytes, connections, r);
    free(r);
    return code;
}

static int run_rows(struct bench *b, const char *name, uint64_t bytes, const struct load_request *request,
                    uint64_t numbers)
{
    int code = 0;
    for (size_t i = 0; code == 0 && !interrupt_came() && i < b->nconnections; i++)
        code = run_row(b, name, bytes, request, numbers, (unsigned)b->connections[i]);
    return code;
}

/* ---- types ---- */

/* Only if it is not there: what somebody else has under this name is not ours to fill and remove. */
static int make_type(struct bench *b, const char *type, const char *schema, bool *made)
{
    struct avrod_schema_put new_only = {.if_none_match = "*"};
    struct avrod_error error = {0};
    if (*made)
        return 0;
    if (avrod_schema_put(b->ctl->client, type, schema, strlen(schema), &new_only, NULL, &error) == AVROD_OK) {
        *made = true;
        return 0;
    }
    if (error.status != 412)
        return fail_call(b->ctl, &error);
    avrod_error_release(&error);
    return fail(b->ctl, EXIT_REFUSED, "There is a type '%s' already: avroctl schema delete %s removes it.",
                type, type);
}

static int remove_type(struct bench *b, const char *type, bool made)
{
    struct avrod_error error = {0};
    if (!made || avrod_schema_delete(b->ctl->client, type, NULL, &error) == AVROD_OK)
        return 0;
    return fail_call(b->ctl, &error);
}

/* ---- tables ---- */

static int table_ping(struct bench *b)
{
    struct load_request request;
    int code = EXIT_HERE;
    if (request_make(b, "GET", "/ping", false, "", SLICE(""), false, &request)) {
        request.want = (struct reply_want){.status = 200, .body = SLICE("pong")};
        code = run_rows(b, "ping", 0, &request, 1);
    } else {
        code = fail_memory(b->ctl);
    }
    free(request.bytes);
    return code;
}

static int table_record(struct bench *b, const char *name, const char *method, struct slice body,
                        bool has_body, struct slice want)
{
    struct load_request request;
    char path[64], query[64];
    int code = make_type(b, RECORD_TYPE, record_schema, &b->record_type);
    if (code)
        return code;
    snprintf(path, sizeof path, "/" RECORD_TYPE "/%s/1", name);
    snprintf(query, sizeof query, "?benchmark_only=%llu", (unsigned long long)b->ids);
    if (request_make(b, method, path, false, query, body, has_body, &request)) {
        request.want = (struct reply_want){.status = 200, .body = want};
        code = run_rows(b, name, 0, &request, 1);
    } else {
        code = fail_memory(b->ctl);
    }
    free(request.bytes);
    return code;
}

static int table_get(struct bench *b)
{
    return table_record(b, "get", "GET", SLICE(""), false, slice_str(initial_record));
}

static int table_put(struct bench *b)
{
    return table_record(b, "put", "POST", slice_str(record), true, SLICE("OK"));
}

/* Every record once, so that each get finds one. */
static int fill(struct bench *b, const struct load_request *put)
{
    struct load_result *r = malloc(sizeof *r);
    struct load load = {.place = &b->place.place,
                        .request = put,
                        .connections = b->blobs < FILL_CONNECTIONS ? (unsigned)b->blobs : FILL_CONNECTIONS,
                        .numbers = b->blobs,
                        .in_order = b->blobs};
    if (!r)
        return fail_memory(b->ctl);
    progress_say(&b->progress, "storing the bodies ...");
    int code = run_load(b, &load, r);
    if (code == 0 && !r->interrupted && (r->wrong || r->broken))
        code = fail(b->ctl, EXIT_REFUSED, "The bodies cannot be stored: %s", r->first_fault);
    free(r);
    return code;
}

static int run_size(struct bench *b, struct slice body)
{
    struct load_request put = {0}, get = {0};
    int code = 0;
    if (!request_make(b, "PUT", "/" BLOB_TYPE "/", true, "", body, true, &put) ||
        !request_make(b, "GET", "/" BLOB_TYPE "/", true, "", SLICE(""), false, &get))
        code = fail_memory(b->ctl);
    put.want = (struct reply_want){.status = 200, .or_status = 201, .body = SLICE("OK")};
    get.want = (struct reply_want){.status = 200, .body = body};
    get.number_in_want = true;
    if (code == 0)
        code = fill(b, &put);
    if (code == 0)
        code = run_rows(b, "put", body.len, &put, b->blobs);
    if (code == 0)
        code = run_rows(b, "get", body.len, &get, b->blobs);
    free(put.bytes);
    free(get.bytes);
    return code;
}

static int table_sizes(struct bench *b)
{
    int code = make_type(b, BLOB_TYPE, "\"bytes\"", &b->blob_type);
    for (size_t i = 0; code == 0 && !interrupt_came() && i < b->nsizes; i++) {
        uint8_t *bytes = malloc(b->sizes[i]);
        for (size_t k = 0; bytes && k < b->sizes[i]; k++)
            bytes[k] = (uint8_t)(k * 131 + k / 251);
        code = bytes ? run_size(b, slice_of(bytes, b->sizes[i])) : fail_memory(b->ctl);
        free(bytes);
    }
    return code;
}

static const struct table {
    const char *name;
    int (*run)(struct bench *);
    bool unless_named; /* run where no table is named */
} tables[] = {{"ping", table_ping, true},
              {"get", table_get, true},
              {"put", table_put, true},
              {"sizes", table_sizes, false}};

/* ---- the command ---- */

static int take_list(struct bench *b, const char *option, const char *text, uint64_t least, uint64_t most,
                     uint64_t *out, size_t *n)
{
    *n = args_numbers(text, most, out, LIST_MAX);
    for (size_t i = 0; i < *n; i++)
        if (out[i] < least)
            *n = 0;
    if (*n)
        return 0;
    return fail(b->ctl, EXIT_USAGE,
                "%s takes at most %d numbers from %llu to %llu with commas between, not '%s'.", option,
                LIST_MAX, (unsigned long long)least, (unsigned long long)most, text);
}

static int take_options(struct bench *b)
{
    const struct args *a = b->ctl->args;
    int code = take_list(b, "--connections", a->connections ? a->connections : "10,100", 1, CONNECTIONS_MAX,
                         b->connections, &b->nconnections);
    if (code == 0)
        code = take_list(b, "--sizes", a->sizes ? a->sizes : "128,512,4096,65536", LOAD_NUMBER_CHARS,
                         SIZE_MAX_BYTES, b->sizes, &b->nsizes);
    b->ids = a->ids ? a->ids : IDS;
    b->blobs = a->ids ? a->ids : BLOBS;
    b->time_ms = a->time_ms ? a->time_ms : TIME_MS;
    b->warmup_ms = a->warmup_ms ? a->warmup_ms : WARMUP_MS;
    if (code == 0 && b->ids > NUMBERS_MAX)
        code = fail(b->ctl, EXIT_USAGE, "--ids is at most %d.", NUMBERS_MAX);
    for (unsigned i = 0; code == 0 && i < a->nwords; i++) {
        bool known = false;
        for (size_t k = 0; k < ARRAY_LEN(tables); k++)
            known |= strcmp(tables[k].name, a->words[i]) == 0;
        if (!known)
            code = fail(b->ctl, EXIT_USAGE, "There is no table '%s': ping, get, put, sizes.", a->words[i]);
    }
    return code;
}

static bool is_wanted(const struct args *a, const struct table *t)
{
    for (unsigned i = 0; i < a->nwords; i++)
        if (strcmp(a->words[i], t->name) == 0)
            return true;
    return a->nwords == 0 && t->unless_named;
}

static int run_tables(struct bench *b)
{
    int code = 0;
    json_text_begin(&b->json);
    json_text_open(&b->json, "rows", '[');
    for (size_t i = 0; code == 0 && !interrupt_came() && i < ARRAY_LEN(tables); i++)
        if (is_wanted(b->ctl->args, &tables[i]))
            code = tables[i].run(b);
    json_text_close(&b->json, ']');
    json_text_end(&b->json);
    return code;
}

int command_bench(struct ctl *ctl)
{
    struct bench b = {.ctl = ctl};
    int code = take_options(&b);
    if (code == 0)
        code = bench_place_find(ctl, &b.place);
    if (code == 0) {
        interrupt_watch();
        progress_begin(&b.progress, "", ctl->args->quiet);
        code = run_tables(&b);
        int removed = remove_type(&b, RECORD_TYPE, b.record_type);
        removed = removed ? removed : remove_type(&b, BLOB_TYPE, b.blob_type);
        code = code ? code : removed;
    }
    if (code == 0 && ctl->args->json)
        code = print_json_line(ctl, &b.json);
    json_text_release(&b.json);
    bench_place_release(&b.place);
    return code ? code : b.wrong || interrupt_came() ? EXIT_REFUSED : 0;
}
