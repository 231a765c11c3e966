/* tests/conformance/test_resolve.c - every case of resolve.jsonl against the resolver: the reader's bytes
 * where the case has them, an error of the right kind where it has none; docs/policies.md settles what the
 * case leaves open. */
#include "schema/schema.h"
#include "tests/conformance/lines.h"

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

static struct schema *parse(struct run *r, const char *name)
{
    struct schema *s = NULL;
    if (schema_parse(&s, member_of(r->line, name), slice_of(NULL, 0), &r->arena, &r->err) != RC_OK)
        FAULT(r, "%s refused: %s", name, r->err.message);
    return s;
}

/* first_or_same, first_or_closest: where the case has other bytes besides, avrod writes the first. */
static struct slice wanted(struct run *r)
{
    return hex_of(&r->arena, member_of(r->line, "reader_hex"));
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
        FAULT(r, "read, but %s", member_of(r->line, "why").ptr);
        return;
    }
    const struct problem *p = r->err.first;
    if (r->err.code != ERR_OTHER_VERSION || err_status(r->err.code) != 409 || !p || !p->detail.len)
        FAULT(r, "another error: %s", r->err.message);
    assert_int_equal(r->out.len, 0);
}

static void check_case(struct run *r)
{
    struct slice avro = hex_of(&r->arena, member_of(r->line, "writer_hex"));
    enum rc rc = codec_resolve(r->resolver, avro, &r->out, &r->arena, &r->err);
    bool is_schema_error = slice_eq(member_of(r->line, "error"), SLICE("schema"));
    if (schema_resolver_reads_any(r->resolver) == (is_schema_error && !is_lazy(r)))
        FAULT(r, "whether anything can be read");
    if (schema_resolver_reads_all(r->resolver) != json_is_true(json_object_get(r->line, "compatible")))
        FAULT(r, "whether everything can be read");
    if (has_text(r->line, "error"))
        check_error(r, rc);
    else
        check_value(r, rc);
}

static void run_line(json_t *line, void *faults)
{
    struct run r = {.line = line, .id = id_of(line)};
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
    *(unsigned *)faults += r.faults;
}

TEST(codec_resolve__reads_every_conformance_case_or_says_why_not)
{
    unsigned faults = 0;
    assert_int_equal(lines_each("resolve.jsonl", run_line, &faults), 176);
    assert_int_equal(faults, 0);
}

TEST_MAIN()
