/* bench/codec_sample.c - reading a schema and a record, and what each candidate keeps of them. */
#include "bench/codec_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli.h"

enum { FILE_MAX = 1 << 20 };

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

#ifdef BENCH_SIMDJSON
static void walker_init(struct sample *s)
{
    s->walker = simdjson_walker_new((const char *)s->json.ptr, s->json.len);
    if (!s->walker)
        die("out of memory");
}

static void walker_release(struct sample *s)
{
    simdjson_walker_free(s->walker);
}
#else
static void walker_init(struct sample *s)
{
    (void)s;
}

static void walker_release(struct sample *s)
{
    (void)s;
}
#endif

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

void sample_init(struct sample *s, const char *dir, const char *name)
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
    walker_init(s);
}

void sample_release(struct sample *s)
{
    avro_value_decref(&s->peer_value);
    avro_value_iface_decref(s->peer_class);
    avro_schema_decref(s->peer_schema);
    walker_release(s);
    codec_free(s->codec);
    schema_resolver_free(s->resolver);
    schema_free(s->later);
    schema_free(s->schema);
    buf_release(&s->out);
    buf_release(&s->resolved);
    arena_release(&s->arena);
    arena_release(&s->scratch);
    free((void *)s->schema_text.ptr);
    free((void *)s->json.ptr);
    free((void *)s->avro.ptr);
}
