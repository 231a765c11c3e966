/* tests/fault/test_resolve.c - reading with another schema, and comparing two, when the n-th allocation
 * fails: the outcome is NO_MEMORY or the one that it always is. */
#include "tests/fault/fault.h"

#include <stdio.h>
#include <stdlib.h>

#include "schema/schema.h"

#define RECORD(name, fields)   "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define FIELD(name, type)      "{\"name\":\"" name "\",\"type\":" type "}"
#define ALSO(name, type, more) "{\"name\":\"" name "\",\"type\":" type "," more "}"
#define ENUM(name, symbols)    "{\"type\":\"enum\",\"name\":\"" name "\",\"symbols\":[" symbols "]}"
#define KIDS                   FIELD("kids", "{\"type\":\"array\",\"items\":\"T\"}")

/* Records in records whose fields come in another order, unions, enums, aliases, a default. */
#define OLD_E FIELD("e", ENUM("E", "\"A\",\"B\",\"C\""))
#define OLD_U FIELD("u", "[\"null\",\"int\",\"T\"]")
#define NEW_U ALSO("u", "[\"T\",\"long\",\"null\"]", "\"aliases\":[\"v\"]")
#define NEW_E FIELD("e", ENUM("n.E", "\"B\",\"A\""))
#define NEW_X ALSO("x", "\"string\"", "\"default\":\"new\"")
static const char old[] = RECORD("T", FIELD("id", "\"int\"") "," KIDS "," OLD_E "," OLD_U);
static const char new[] = RECORD("T", NEW_U "," KIDS "," FIELD("id", "\"double\"") "," NEW_E "," NEW_X);
static const char other[] = RECORD("T", FIELD("id", "\"string\"") "," FIELD("y", "\"int\"") "," KIDS);

struct job {
    struct schema *writer, *reader;
    struct resolver *resolver;
    struct slice avro;
    uint8_t *first; /* what came out when nothing failed */
    size_t nfirst;
};

static struct schema *schema_of(const char *text)
{
    struct arena arena = {0};
    struct schema *schema;
    struct err err;
    if (schema_parse(&schema, slice_str(text), SLICE(""), &arena, &err) != RC_OK)
        fail_msg("%s", err.message);
    arena_release(&arena);
    return schema;
}

static struct job job_of(const char *writer, const char *reader)
{
    struct job j = {.writer = schema_of(writer), .reader = schema_of(reader)};
    struct err err;
    assert_int_equal(schema_resolver_new(&j.resolver, j.writer, j.reader, &err), RC_OK);
    return j;
}

static void job_release(struct job *j)
{
    schema_resolver_free(j->resolver);
    schema_free(j->writer);
    schema_free(j->reader);
    free(j->first);
}

/* The same as when nothing failed. */
static void compare(struct job *j, struct slice got)
{
    if (!j->first) {
        j->first = malloc(got.len + 1);
        assert_non_null(j->first);
        memcpy(j->first, got.ptr, got.len);
        j->nfirst = got.len;
    }
    assert_true(slice_eq(got, slice_of(j->first, j->nfirst)));
}

/* ---- schema_resolver_new ---- */

static enum rc make(void *arg, struct err *err)
{
    struct job *j = arg;
    struct resolver *r = NULL;
    struct buf text = {0};
    fault_begin();
    enum rc rc = schema_resolver_new(&r, j->writer, j->reader, err);
    fault_end();
    if (rc == RC_OK) {
        assert_true(schema_print_resolver(r, &text));
        compare(j, buf_slice(&text));
    }
    schema_resolver_free(rc == RC_OK ? r : NULL);
    buf_release(&text);
    return rc;
}

TEST(schema_resolver_new__is_whole_or_no_memory)
{
    const char *const texts[] = {old, new, other};
    for (unsigned i = 0; i < 9; i++) {
        struct job j = job_of(texts[i / 3], texts[i % 3]);
        assert_true(fault_each(make, &j, RC_OK, ERR_NONE) > 0);
        job_release(&j);
    }
}

/* ---- codec_resolve ---- */

static enum rc resolve(void *arg, struct err *err)
{
    struct job *j = arg;
    struct arena arena = {0};
    struct buf out = {.ptr = malloc(4), .cap = 4};
    assert_true(out.ptr && buf_append(&out, SLICE("kept"))); /* and has no room for more */
    fault_begin();
    enum rc rc = codec_resolve(j->resolver, j->avro, &out, &arena, err);
    fault_end();
    assert_memory_equal(out.ptr, "kept", 4);
    if (rc == RC_OK)
        compare(j, buf_slice(&out));
    else
        assert_int_equal(out.len, 4);
    if (rc != RC_OK && err->code == ERR_OTHER_VERSION)
        compare(j, slice_str(err->message));
    buf_release(&out);
    arena_release(&arena);
    return rc;
}

static void resolve_each(const char *writer, const char *reader, const char *json, enum err_code want)
{
    struct job j = job_of(writer, reader);
    struct codec *codec = codec_new();
    struct arena arena = {0};
    struct buf avro = {0};
    struct err err;
    assert_non_null(codec);
    if (codec_from_json(codec, j.writer, &(struct codec_opts){0}, slice_str(json), &avro, &arena, &err) !=
        RC_OK)
        fail_msg("%s", err.message);
    j.avro = buf_slice(&avro);
    assert_true(fault_each(resolve, &j, want ? RC_ERR : RC_OK, want) > 0);
    codec_free(codec);
    buf_release(&avro);
    arena_release(&arena);
    job_release(&j);
}

static const char tree[] =
    "{\"id\":1,\"kids\":[{\"id\":2,\"kids\":[],\"e\":\"A\",\"u\":{\"int\":5}},{\"id\":3,\"kids\":[{\"id\":4,"
    "\"kids\":[],"
    "\"e\":\"B\",\"u\":null},{\"id\":1000000000,\"kids\":[{\"id\":6,\"kids\":[],\"e\":\"A\",\"u\":{\"T\":{"
    "\"id\":7,"
    "\"kids\":[],\"e\":\"B\",\"u\":null}}}],\"e\":\"A\",\"u\":{\"int\":500000000}}],\"e\":\"A\",\"u\":{"
    "\"int\":6}},"
    "{\"id\":1000000000,\"kids\":[],\"e\":\"A\",\"u\":{\"int\":500000000}},"
    "{\"id\":1000000000,\"kids\":[],\"e\":\"A\",\"u\":{\"int\":500000000}},"
    "{\"id\":1000000000,\"kids\":[],\"e\":\"A\",\"u\":{\"int\":500000000}}],\"e\":\"%s\",\"u\":null}";

TEST(codec_resolve__is_whole_or_no_memory)
{
    char json[1024];
    snprintf(json, sizeof json, tree, "B");
    resolve_each(old, new, json, ERR_NONE);
    resolve_each(old, old, json, ERR_NONE);
}

TEST(codec_resolve__says_why_not_or_no_memory)
{
    char json[1024];
    snprintf(json, sizeof json, tree, "C");
    resolve_each(old, new, json, ERR_OTHER_VERSION);
    resolve_each(old, other, json, ERR_OTHER_VERSION);
}

/* ---- compat_check ---- */

static enum rc compat(void *arg, struct err *err)
{
    struct job *j = arg;
    const struct schema *versions[] = {j->writer, j->reader, j->writer};
    struct arena arena = {0};
    struct compat c;
    struct buf text = {0};
    fault_begin();
    enum rc rc = compat_check(COMPAT_FULL_TRANSITIVE, j->reader, versions, 3, &arena, &c, err);
    fault_end();
    for (const struct compat_reason *r = c.first; rc == RC_OK && r; r = r->next)
        assert_true(buf_printf(&text, "%u ", r->version) && buf_append(&text, r->reader) &&
                    buf_append(&text, r->writer) && buf_append(&text, r->words));
    if (rc == RC_OK)
        compare(j, buf_slice(&text));
    buf_release(&text);
    arena_release(&arena);
    return rc;
}

TEST(compat_check__is_whole_or_no_memory)
{
    const char *const texts[] = {old, new, other};
    for (unsigned i = 0; i < 3; i++) {
        struct job j = job_of(texts[i], texts[(i + 1) % 3]);
        assert_true(fault_each(compat, &j, RC_OK, ERR_NONE) > 0);
        job_release(&j);
    }
}

TEST_MAIN()
