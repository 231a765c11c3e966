/* tests/conformance/test_resolve.c - every case of resolve.jsonl against the resolver: the reader's bytes
 * where the case has them, an error of the right kind where it has none; docs/policies.md settles what the
 * case leaves open. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/schema.h"
#include "tests/lib/test.h"

struct run {
    json_t *line;
    const char *id;
    struct arena arena;
    struct schema *writer, *reader;
    struct resolver *resolver;
    struct buf out;
    struct err err;
    unsigned faults;
};

#define FAULT(r, ...)                                                                                        \
    do {                                                                                                     \
        (r)->faults++;                                                                                       \
        print_error("%s: ", (r)->id);                                                                        \
        print_error(__VA_ARGS__);                                                                            \
        print_error("\n");                                                                                   \
    } while (0)

static struct slice string_of(const json_t *s)
{
    return slice_of(json_string_value(s), json_string_length(s));
}

static struct slice member(const struct run *r, const char *name)
{
    return string_of(json_object_get(r->line, name));
}

static bool has(const struct run *r, const char *name)
{
    return json_is_string(json_object_get(r->line, name));
}

static struct slice hex_of(struct arena *a, struct slice hex)
{
    uint8_t *out = arena_alloc(a, hex.len / 2 + 1);
    assert_non_null(out);
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        char pair[3] = {(char)hex.ptr[i], (char)hex.ptr[i + 1], 0};
        out[i / 2] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return slice_of(out, hex.len / 2);
}

static struct schema *parse(struct run *r, const char *name)
{
    struct schema *s = NULL;
    if (schema_parse(&s, member(r, name), slice_of(NULL, 0), &r->arena, &r->err) != RC_OK)
        FAULT(r, "%s refused: %s", name, r->err.message);
    return s;
}

/* first_or_same, first_or_closest: where the case has other bytes besides, avrod writes the first. */
static struct slice wanted(struct run *r)
{
    return hex_of(&r->arena, member(r, "reader_hex"));
}

/* lazy_error (docs/policies.md): the case calls it an error of the schemas, but an empty array could be
 * read. */
static bool is_lazy(const struct run *r)
{
    return strcmp(r->id, "res-047") == 0;
}

static void show(const struct run *r)
{
    struct buf text = {0};
    assert_true(schema_print_resolver(r->resolver, &text));
    print_error("%.*s", (int)text.len, (const char *)text.ptr);
    buf_release(&text);
}

static void check_value(struct run *r, enum rc rc)
{
    if (rc != RC_OK) {
        FAULT(r, "not read: %s", r->err.message);
        return;
    }
    if (!slice_eq(buf_slice(&r->out), wanted(r))) {
        FAULT(r, "other bytes, %zu", r->out.len);
        show(r);
    }
    struct buf json = {0};
    if (codec_to_json(r->reader, JSON_AVRO, buf_slice(&r->out), &json, &r->err) != RC_OK)
        FAULT(r, "no data of the reader's: %s", r->err.message);
    buf_release(&json);
}

static void check_error(struct run *r, enum rc rc)
{
    if (rc == RC_OK) {
        FAULT(r, "read, but %s", member(r, "why").ptr);
        return;
    }
    const struct problem *p = r->err.first;
    if (r->err.code != ERR_OTHER_VERSION || err_status(r->err.code) != 409 || !p || !p->detail.len)
        FAULT(r, "another error: %s", r->err.message);
    assert_int_equal(r->out.len, 0);
}

static void check_case(struct run *r)
{
    struct slice avro = hex_of(&r->arena, member(r, "writer_hex"));
    enum rc rc = codec_resolve(r->resolver, avro, &r->out, &r->arena, &r->err);
    bool is_schema_error = slice_eq(member(r, "error"), SLICE("schema"));
    if (schema_resolver_reads_any(r->resolver) == (is_schema_error && !is_lazy(r)))
        FAULT(r, "whether anything can be read");
    if (schema_resolver_reads_all(r->resolver) != json_is_true(json_object_get(r->line, "compatible")))
        FAULT(r, "whether everything can be read");
    if (has(r, "error"))
        check_error(r, rc);
    else
        check_value(r, rc);
}

static unsigned run_line(const char *text, size_t len)
{
    struct run r = {.line = json_loadb(text, len, JSON_ALLOW_NUL, NULL)};
    assert_non_null(r.line);
    r.id = json_string_value(json_object_get(r.line, "id"));
    r.writer = parse(&r, "writer");
    r.reader = parse(&r, "reader");
    if (r.writer && r.reader) {
        if (schema_resolver_new(&r.resolver, r.writer, r.reader, &r.err) == RC_OK)
            check_case(&r);
        else
            FAULT(&r, "no resolver: %s", r.err.message);
    }
    schema_resolver_free(r.resolver);
    schema_free(r.writer);
    schema_free(r.reader);
    buf_release(&r.out);
    arena_release(&r.arena);
    json_decref(r.line);
    return r.faults;
}

TEST(codec_resolve__reads_every_conformance_case_or_says_why_not)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/conformance/data/resolve.jsonl", getenv("TEST_DATA"));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *line = NULL;
    size_t cap = 0;
    unsigned cases = 0, faults = 0;
    for (ssize_t len; (len = getline(&line, &cap, f)) > 0; cases++)
        faults += run_line(line, (size_t)len);
    free(line);
    fclose(f);
    assert_int_equal(cases, 176);
    assert_int_equal(faults, 0);
}

TEST_MAIN()
