/* bench/codec_peer.c - the codec that the server does without: Jansson's tree, Avro C's values. */
#include <jansson.h>
#include <stdlib.h>

#include "bench/cli.h"
#include "bench/codec_sample.h"

void peer_check(int fault)
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

void peer_from_json(struct sample *s)
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

void peer_to_json(struct sample *s)
{
    avro_reader_t reader = avro_reader_memory((const char *)s->avro.ptr, (int64_t)s->avro.len);
    peer_check(avro_value_reset(&s->peer_value));
    peer_check(avro_value_read(reader, &s->peer_value));
    avro_reader_free(reader);
    char *text = NULL;
    peer_check(avro_value_to_json(&s->peer_value, 1, &text));
    free(text);
}

void jansson_parse(struct sample *s)
{
    json_error_t fault;
    json_t *json = json_loadb((const char *)s->json.ptr, s->json.len, 0, &fault);
    if (!json)
        die("Jansson: %s", fault.text);
    json_decref(json);
}
