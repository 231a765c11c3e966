/* bench/codec.c - nanoseconds a record: avrod's codec beside Jansson + Avro C and simdjson's reader, same process,
 * interleaved rounds.
 *
 *   codec [--rounds N] [--data DIR] [--json]     DIR holds small.avsc, small.json, big.avsc, big.json */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli.h"
#include "bench/codec_sample.h"

enum { ROUNDS_MAX = 101, ROUND_NS = 50 * 1000 * 1000 };

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

/* A plain get of the same answer: it was put under the later schema. */
static void ours_later_to_json(struct sample *s)
{
    struct err err;
    if (!s->later_avro.len) {
        ours_resolve(s);
        if (!arena_copy(&s->arena, buf_slice(&s->resolved), &s->later_avro))
            die("out of memory");
    }
    s->out.len = 0;
    if (codec_to_json(s->later, JSON_PLAIN, s->later_avro, &s->out, &err) != RC_OK)
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

static void make_edit(struct sample *s)
{
    struct err err;
    struct slice value;
    struct projection_list list;
    int field = schema_field(s->schema, slice_str(s->field));
    if (field < 0 || codec_field_span(s->schema, field, s->avro, &value, &err) != RC_OK ||
        edit_of_field(&s->edit, s->schema, NULL, field, value, &s->arena, &err) != RC_OK ||
        projection_list_parse(&list, slice_str(s->field), &s->arena, &err) != RC_OK ||
        projection_new(&s->projection, s->schema, &list, &s->arena, &err) != RC_OK)
        die("%s: %s cannot be edited", s->name, s->field);
}

static void ours_edit(struct sample *s)
{
    struct err err;
    uint64_t changed;
    if (!s->edit)
        make_edit(s);
    s->out.len = 0;
    if (edit_apply(s->edit, s->codec, true, s->avro, &s->out, &changed, &s->scratch, &err) != RC_OK)
        die("%s: %s", s->name, err.message);
    arena_reset(&s->scratch);
}

/* What an edit would take that goes by way of the record's JSON, but for changing that. */
static void ours_there_and_back(struct sample *s)
{
    ours_to_json(s);
    ours_from_json(s);
}

static void ours_project(struct sample *s)
{
    struct err err;
    if (!s->edit)
        make_edit(s);
    s->out.len = 0;
    if (projection_print(s->projection, JSON_PLAIN, SIZE_MAX / 2, s->avro, &s->out, &err) != RC_OK)
        die("%s: %s", s->name, err.message);
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

/* ---- simdjson ---- */

#ifdef BENCH_SIMDJSON
static void simdjson_read(struct sample *s)
{
    if (simdjson_walk(s->walker) == 0)
        die("simdjson: %s.json is no JSON", s->name);
}
#endif

/* ---- the rounds ---- */

static const struct candidate {
    const char *key, *name;
    void (*run)(struct sample *);
} candidates[] = {
    {"ours_from_json", "avrod JSON to Avro", ours_from_json},
    {"peer_from_json", "Jansson + Avro C JSON to Avro", peer_from_json},
    {"jansson_parse", "Jansson parse and free", jansson_parse},
#ifdef BENCH_SIMDJSON
    {"simdjson_walk", "simdjson On-Demand walk", simdjson_read},
#endif
    {"ours_to_json", "avrod Avro to JSON", ours_to_json},
    {"peer_to_json", "Avro C Avro to JSON", peer_to_json},
    {"ours_later_to_json", "avrod Avro to JSON, later schema", ours_later_to_json},
    {"ours_resolve", "avrod resolve", ours_resolve},
    {"ours_resolve_to_json", "avrod resolve, Avro to JSON", ours_resolve_to_json},
    {"ours_edit", "avrod edit of the last field", ours_edit},
    {"ours_there_and_back", "avrod Avro to JSON to Avro", ours_there_and_back},
    {"ours_project", "avrod Avro to JSON, last field", ours_project},
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

/* Each candidate's rounds, sorted. */
static void sample_measure(struct sample *s, unsigned rounds, double ns[CANDIDATES][ROUNDS_MAX])
{
    for (unsigned r = 0; r < rounds; r++)
        for (unsigned c = 0; c < CANDIDATES; c++)
            ns[c][r] = round_ns(&candidates[c], s);
    for (unsigned c = 0; c < CANDIDATES; c++)
        qsort(ns[c], rounds, sizeof ns[c][0], double_cmp);
}

static void print_text(const struct sample *s, unsigned rounds, double ns[CANDIDATES][ROUNDS_MAX])
{
    printf("%s: %zu bytes of JSON, %zu of Avro\n", s->name, s->json.len, s->avro.len);
    for (unsigned c = 0; c < CANDIDATES; c++)
        printf("  %-32s %9.0f ns  (%.0f..%.0f)\n", candidates[c].name, ns[c][rounds / 2], ns[c][0],
               ns[c][rounds - 1]);
}

/* One line a sample. */
static void print_json(const struct sample *s, unsigned rounds, double ns[CANDIDATES][ROUNDS_MAX])
{
    printf("{\"sample\":\"%s\",\"json_bytes\":%zu,\"avro_bytes\":%zu", s->name, s->json.len, s->avro.len);
    for (unsigned c = 0; c < CANDIDATES; c++)
        printf(",\"%s\":{\"median\":%.1f,\"min\":%.1f,\"max\":%.1f}", candidates[c].key, ns[c][rounds / 2],
               ns[c][0], ns[c][rounds - 1]);
    printf("}\n");
}

static void sample_run(const char *dir, const char *name, const char *field, unsigned rounds, bool json)
{
    static double ns[CANDIDATES][ROUNDS_MAX];
    struct sample s;
    sample_init(&s, dir, name);
    s.field = field;
    sample_check(&s);
    sample_measure(&s, rounds, ns);
    (json ? print_json : print_text)(&s, rounds, ns);
    sample_release(&s);
}

int main(int argc, char **argv)
{
    static const struct option table[] = {{"rounds", required_argument, NULL, 'r'},
                                          {"data", required_argument, NULL, 'd'},
                                          {"json", no_argument, NULL, 'j'},
                                          {0}};
    static const char *const names[] = {"small", "big"}, *const last_fields[] = {"emails", "note"};
    const char *dir = BENCH_DATA;
    unsigned rounds = 11;
    bool json = false;
    for (int o; (o = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (o) {
        case 'r': rounds = (unsigned)cli_number("--rounds", optarg, 1, ROUNDS_MAX); break;
        case 'd': dir = optarg; break;
        case 'j': json = true; break;
        default: die("codec [--rounds N] [--data DIR] [--json]");
        }
    }
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        sample_run(dir, names[i], last_fields[i], rounds, json);
}
