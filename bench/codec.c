/* bench/codec.c - nanoseconds a record: avrod's codec beside Jansson + Avro C, same process, interleaved
 * rounds.
 *
 *   codec [--rounds N] [--data DIR]      DIR holds small.avsc, small.json, big.avsc, big.json */
#include <avro.h>
#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli.h"
#include "schema/schema.h"

enum { ROUNDS_MAX = 101, ROUND_NS = 50 * 1000 * 1000, FILE_MAX = 1 << 20, DATUM_MAX = 1 << 16 };

/* One schema and one record, in every form that the candidates need. */
struct sample {
    const char *name;
    struct slice schema_text, json, avro; /* owned */
    struct schema *schema;
    avro_schema_t peer_schema;
    avro_value_iface_t *peer_class;
    avro_value_t peer_value;   /* reused, as a server would */
    struct schema *later;      /* the same, but for a field more and an int that became a double */
    struct resolver *resolver; /* which reads the one with the other */
    struct codec *codec;
    struct buf out, resolved;
    struct arena arena;
};

/* ---- avrod ---- */

static void ours_from_json(struct sample *s)
{
    struct err err;
    s->out.len = 0;
    if (codec_from_json(s->codec, s->schema, &(struct codec_opts){0}, s->json, &s->out, &s->arena, &err) !=
        RC_OK)
        die("%s: %s", s->name, err.message);
}

static void ours_to_json(struct sample *s)
{
    struct err err;
    s->out.len = 0;
    if (codec_to_json(s->schema, JSON_PLAIN, s->avro, &s->out, &err) != RC_OK)
        die("%s: %s", s->name, err.message);
}

static void ours_resolve(struct sample *s)
{
    struct err err;
    s->resolved.len = 0;
    if (codec_resolve(s->resolver, s->avro, &s->resolved, &s->arena, &err) != RC_OK)
        die("%s: %s", s->name, err.message);
}

static void ours_resolve_to_json(struct sample *s)
{
    struct err err;
    ours_resolve(s);
    s->out.len = 0;
    if (codec_to_json(s->later, JSON_PLAIN, buf_slice(&s->resolved), &s->out, &err) != RC_OK)
        die("%s: %s", s->name, err.message);
}

/* ---- Jansson and Avro C ---- */

static void peer_check(int fault)
{
    if (fault)
        die("Avro C: %s", avro_strerror());
}

static void peer_fill(json_t *json, avro_value_t *out);

static void peer_fill_record(json_t *json, avro_value_t *out)
{
    size_t n = 0;
    peer_check(avro_value_get_size(out, &n));
    for (size_t i = 0; i < n; i++) {
        avro_value_t field;
        const char *name;
        peer_check(avro_value_get_by_index(out, i, &field, &name));
        peer_fill(json_object_get(json, name), &field);
    }
}

static void peer_fill_array(json_t *json, avro_value_t *out)
{
    size_t i;
    json_t *item;
    json_array_foreach(json, i, item)
    {
        avro_value_t slot;
        peer_check(avro_value_append(out, &slot, NULL));
        peer_fill(item, &slot);
    }
}

static void peer_fill_map(json_t *json, avro_value_t *out)
{
    const char *key;
    json_t *item;
    json_object_foreach(json, key, item)
    {
        avro_value_t slot;
        peer_check(avro_value_add(out, key, &slot, NULL, NULL));
        peer_fill(item, &slot);
    }
}

/* Only what the samples use: null or a string, tagged. */
static void peer_fill_union(json_t *json, avro_value_t *out)
{
    avro_value_t branch;
    peer_check(avro_value_set_branch(out, json_is_null(json) ? 0 : 1, &branch));
    peer_fill(json_is_null(json) ? json : json_object_get(json, "string"), &branch);
}

static void peer_fill_enum(json_t *json, avro_value_t *out)
{
    peer_check(avro_value_set_enum(
        out, avro_schema_enum_get_by_name(avro_value_get_schema(out), json_string_value(json))));
}

/* Recursion goes as deep as the samples' own schemas. */
static void peer_fill(json_t *json, avro_value_t *out)
{
    switch (avro_value_get_type(out)) {
    case AVRO_RECORD: peer_fill_record(json, out); break;
    case AVRO_ARRAY: peer_fill_array(json, out); break;
    case AVRO_MAP: peer_fill_map(json, out); break;
    case AVRO_UNION: peer_fill_union(json, out); break;
    case AVRO_ENUM: peer_fill_enum(json, out); break;
    case AVRO_STRING:
        peer_check(avro_value_set_string_len(out, json_string_value(json), json_string_length(json) + 1));
        break;
    case AVRO_INT32: peer_check(avro_value_set_int(out, (int32_t)json_integer_value(json))); break;
    case AVRO_INT64: peer_check(avro_value_set_long(out, json_integer_value(json))); break;
    case AVRO_DOUBLE: peer_check(avro_value_set_double(out, json_number_value(json))); break;
    case AVRO_BOOLEAN: peer_check(avro_value_set_boolean(out, json_is_true(json))); break;
    case AVRO_NULL: peer_check(avro_value_set_null(out)); break;
    default: die("the samples have no other types");
    }
}

static void peer_from_json(struct sample *s)
{
    json_error_t fault;
    json_t *json = json_loadb((const char *)s->json.ptr, s->json.len, 0, &fault);
    if (!json)
        die("Jansson: %s", fault.text);
    peer_check(avro_value_reset(&s->peer_value));
    peer_fill(json, &s->peer_value);
    json_decref(json);
    s->out.len = 0;
    if (!buf_reserve(&s->out, DATUM_MAX))
        die("out of memory");
    avro_writer_t writer = avro_writer_memory((char *)s->out.ptr, DATUM_MAX);
    peer_check(avro_value_write(writer, &s->peer_value));
    s->out.len = (size_t)avro_writer_tell(writer);
    avro_writer_free(writer);
}

static void peer_to_json(struct sample *s)
{
    avro_reader_t reader = avro_reader_memory((const char *)s->avro.ptr, (int64_t)s->avro.len);
    peer_check(avro_value_reset(&s->peer_value));
    peer_check(avro_value_read(reader, &s->peer_value));
    avro_reader_free(reader);
    char *text = NULL;
    peer_check(avro_value_to_json(&s->peer_value, 1, &text));
    free(text);
}

static void jansson_parse(struct sample *s)
{
    json_error_t fault;
    json_t *json = json_loadb((const char *)s->json.ptr, s->json.len, 0, &fault);
    if (!json)
        die("Jansson: %s", fault.text);
    json_decref(json);
}

/* ---- the samples ---- */

static struct slice file_read(const char *dir, const char *name, const char *suffix)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s.%s", dir, name, suffix);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "rb") : NULL;
    if (!f)
        die("%s cannot be read", path);
    uint8_t *bytes = malloc(FILE_MAX);
    if (!bytes)
        die("out of memory");
    size_t len = fread(bytes, 1, FILE_MAX, f);
    fclose(f);
    return slice_of(bytes, len);
}

static const uint8_t *find(struct slice text, const char *what)
{
    const uint8_t *at = memmem(text.ptr, text.len, what, strlen(what));
    if (!at)
        die("a schema without %s", what);
    return at;
}

/* The next version: the first record has a field more, before all others; the last int is a double. */
static void sample_make_later(struct sample *s)
{
    static const char fields[] = "\"fields\": [", number[] = "\"type\": \"int\"";
    struct buf text = {0};
    struct slice t = s->schema_text;
    struct err err;
    const uint8_t *first = find(t, fields) + strlen(fields), *last = NULL, *end = t.ptr + t.len;
    for (const uint8_t *p = find(t, number); p;
         p = memmem(p + 1, (size_t)(end - p - 1), number, strlen(number)))
        last = p;
    bool ok = buf_append(&text, slice_of(t.ptr, (size_t)(first - t.ptr))) &&
              buf_printf(&text, "{\"name\": \"added\", \"type\": \"string\", \"default\": \"new\"}, ") &&
              buf_append(&text, slice_of(first, (size_t)(last - first))) &&
              buf_printf(&text, "\"type\": \"double\"") &&
              buf_append(&text, slice_of(last + strlen(number), (size_t)(end - last) - strlen(number)));
    if (!ok)
        die("out of memory");
    if (schema_parse(&s->later, buf_slice(&text), slice_of(NULL, 0), &s->arena, &err) != RC_OK ||
        schema_resolver_new(&s->resolver, s->schema, s->later, &err) != RC_OK)
        die("%s, the next version: %s", s->name, err.message);
    buf_release(&text);
}

static void sample_init(struct sample *s, const char *dir, const char *name)
{
    *s = (struct sample){.name = name};
    s->schema_text = file_read(dir, name, "avsc");
    s->json = file_read(dir, name, "json");
    struct err err;
    if (schema_parse(&s->schema, s->schema_text, slice_of(NULL, 0), &s->arena, &err) != RC_OK)
        die("%s.avsc: %s", name, err.message);
    sample_make_later(s);
    s->codec = codec_new();
    if (!s->codec)
        die("out of memory");
    peer_check(
        avro_schema_from_json_length((const char *)s->schema_text.ptr, s->schema_text.len, &s->peer_schema));
    s->peer_class = avro_generic_class_from_schema(s->peer_schema);
    peer_check(avro_generic_value_new(s->peer_class, &s->peer_value));
}

static void sample_release(struct sample *s)
{
    avro_value_decref(&s->peer_value);
    avro_value_iface_decref(s->peer_class);
    avro_schema_decref(s->peer_schema);
    codec_free(s->codec);
    schema_resolver_free(s->resolver);
    schema_free(s->later);
    schema_free(s->schema);
    buf_release(&s->out);
    buf_release(&s->resolved);
    arena_release(&s->arena);
    free((void *)s->schema_text.ptr);
    free((void *)s->json.ptr);
    free((void *)s->avro.ptr);
}

/* Both sides must produce the same bytes, or the comparison means nothing. */
static void sample_check(struct sample *s)
{
    ours_from_json(s);
    uint8_t *avro = malloc(s->out.len);
    if (!avro)
        die("out of memory");
    memcpy(avro, s->out.ptr, s->out.len);
    s->avro = slice_of(avro, s->out.len);
    peer_from_json(s);
    if (!slice_eq(s->avro, buf_slice(&s->out)))
        die("%s: the two encoders disagree (%zu and %zu bytes)", s->name, s->avro.len, s->out.len);
}

/* ---- the rounds ---- */

static const struct candidate {
    const char *name;
    void (*run)(struct sample *);
} candidates[] = {
    {"avrod JSON to Avro", ours_from_json},
    {"Jansson + Avro C JSON to Avro", peer_from_json},
    {"Jansson parse and free", jansson_parse},
    {"avrod Avro to JSON", ours_to_json},
    {"Avro C Avro to JSON", peer_to_json},
    {"avrod resolve", ours_resolve},
    {"avrod resolve, Avro to JSON", ours_resolve_to_json},
};
enum { CANDIDATES = ARRAY_LEN(candidates) };

static double round_ns(const struct candidate *c, struct sample *s)
{
    int64_t start = now_ns(), now = start;
    uint64_t done = 0;
    while (now - start < ROUND_NS) {
        for (unsigned i = 0; i < 16; i++)
            c->run(s);
        done += 16;
        now = now_ns();
    }
    return (double)(now - start) / (double)done;
}

static int double_cmp(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sample_measure(struct sample *s, unsigned rounds)
{
    static double ns[CANDIDATES][ROUNDS_MAX];
    for (unsigned r = 0; r < rounds; r++)
        for (unsigned c = 0; c < CANDIDATES; c++)
            ns[c][r] = round_ns(&candidates[c], s);
    printf("%s: %zu bytes of JSON, %zu of Avro\n", s->name, s->json.len, s->avro.len);
    for (unsigned c = 0; c < CANDIDATES; c++) {
        qsort(ns[c], rounds, sizeof ns[c][0], double_cmp);
        printf("  %-32s %9.0f ns  (%.0f..%.0f)\n", candidates[c].name, ns[c][rounds / 2], ns[c][0],
               ns[c][rounds - 1]);
    }
}

int main(int argc, char **argv)
{
    static const struct option table[] = {
        {"rounds", required_argument, NULL, 'r'}, {"data", required_argument, NULL, 'd'}, {0}};
    static const char *const names[] = {"small", "big"};
    const char *dir = BENCH_DATA;
    unsigned rounds = 11;
    for (int o; (o = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (o) {
        case 'r': rounds = (unsigned)cli_number("--rounds", optarg, 1, ROUNDS_MAX); break;
        case 'd': dir = optarg; break;
        default: die("codec [--rounds N] [--data DIR]");
        }
    }
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        struct sample s;
        sample_init(&s, dir, names[i]);
        sample_check(&s);
        sample_measure(&s, rounds);
        sample_release(&s);
    }
}
