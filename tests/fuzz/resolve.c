/* tests/fuzz/resolve.c - data of one schema read with another. A plain reading of the rules
 * (plain_resolve.h) comes to the same, or refuses too; what is read is the reader's data; what the
 * compatibility check says of the two schemas is what can be read. The input: a byte of options (1: the
 * changed schema writes; 2: the data are bytes, else choices for generate.h), a schema (schemas.h), the
 * number of changes, two bytes each (mutate.h), the data. */
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/program/program.h"
#include "schema/schema.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/plain_resolve.h"
#include "tests/fuzz/resolve_avro_c.h"
#include "tests/fuzz/schemas.h"

enum { CHANGES_MAX = 12, PRINTED_MAX = 65536 };

struct pair {
    const struct schema *writer, *reader;
    struct resolver *resolver;
    struct buf listing; /* of the resolver, for messages */
    struct arena arena;
};

static struct codec *codec;

/* ---- verdicts ---- */

static bool is_compatible(struct pair *p)
{
    struct compat backward, forward;
    struct err err;
    const struct schema *versions[] = {p->writer}, *swapped[] = {p->reader};
    CHECK(compat_check(COMPAT_BACKWARD, p->reader, versions, 1, &p->arena, &backward, &err) == RC_OK, "%s",
          err.message);
    CHECK(compat_check(COMPAT_FORWARD, p->writer, swapped, 1, &p->arena, &forward, &err) == RC_OK, "%s",
          err.message);
    CHECK(backward.n == forward.n, "%u reasons one way, %u the other", backward.n, forward.n);
    for (const struct compat_reason *r = backward.first; r; r = r->next)
        CHECK(utf8_valid(r->words) && r->words.len, "no words");
    return backward.n == 0;
}

static void check_verdicts(struct pair *p)
{
    const struct program *w = schema_program(p->writer), *r = schema_program(p->reader);
    bool all = schema_resolver_reads_all(p->resolver), any = schema_resolver_reads_any(p->resolver);
    enum plain_result plain_all = plain_reads_all(w, r), plain_any = plain_reads_any(w, r);
    CHECK(all == is_compatible(p), "compatible, but not all can be read, or the other way round");
    CHECK(!all || any, "all, but not any");
    CHECK(plain_all == PLAIN_GIVES_UP || all == (plain_all == PLAIN_FITS), "reads all: %d, plainly %d\n%.*s",
          all, plain_all, SHOW(p->listing));
    CHECK(plain_any == PLAIN_GIVES_UP || any == (plain_any == PLAIN_FITS), "reads any: %d, plainly %d\n%.*s",
          any, plain_any, SHOW(p->listing));
}

/* ---- data ---- */

static void check_refusal(const struct pair *p, const struct err *err, bool is_valid)
{
    CHECK(utf8_valid(slice_str(err->message)), "a message that is not UTF-8");
    if (!is_valid)
        CHECK(err->code == ERR_BAD_AVRO || err->code == ERR_OTHER_VERSION || err->code == ERR_TOO_DEEP,
              "code %d: %s", err->code, err->message);
    else
        CHECK(err->code == ERR_OTHER_VERSION, "code %d: %s", err->code, err->message);
    if (err->code != ERR_OTHER_VERSION)
        return;
    const struct problem *first = err->first;
    CHECK(first && first->detail.len && utf8_valid(first->pointer) && utf8_valid(first->detail), "%s",
          err->message);
    CHECK(!is_valid || !schema_resolver_reads_all(p->resolver) || first->code == PROBLEM_ENCODING ||
              first->code == PROBLEM_SIZE || first->code == PROBLEM_DEPTH,
          "compatible, but %s", err->message);
}

static void print(const struct schema *s, struct slice avro, struct buf *json)
{
    struct err err;
    CHECK(codec_to_json(s, JSON_AVRO, avro, json, &err) == RC_OK, "%s", err.message);
}

/* The same data, whatever blocks they are in. */
static void compare(const struct pair *p, struct slice got, struct slice plain)
{
    struct buf a = {0}, b = {0};
    if (got.len <= PRINTED_MAX) {
        print(p->reader, got, &a);
        print(p->reader, plain, &b);
        CHECK(slice_eq(buf_slice(&a), buf_slice(&b)), "%.*s, plainly %.*s\n%.*s", SHOW(a), SHOW(b),
              SHOW(p->listing));
    }
    buf_release(&a);
    buf_release(&b);
}

/* Avro C cuts strings at a NUL when it prints them. */
static void compare_avro_c(struct pair *p, struct slice avro, struct slice got)
{
    struct buf ours = {0}, theirs = {0}, again = {0}, json = {0};
    struct codec_opts opts = {.form = JSON_AVRO};
    struct err err;
    print(p->reader, got, &ours);
    if (!memmem(ours.ptr, ours.len, "\\u0000", 6) && resolve_avro_c(p->writer, p->reader, avro, &theirs)) {
        CHECK(codec_from_json(codec, p->reader, &opts, buf_slice(&theirs), &again, &p->arena, &err) == RC_OK,
              "%.*s: %s", SHOW(theirs), err.message);
        print(p->reader, buf_slice(&again), &json);
        CHECK(slice_eq(buf_slice(&ours), buf_slice(&json)), "%.*s, but Avro C: %.*s", SHOW(ours),
              SHOW(theirs));
    }
    buf_release(&ours);
    buf_release(&theirs);
    buf_release(&again);
    buf_release(&json);
}

static void check_datum(struct pair *p, struct slice avro)
{
    static const char before[] = "before";
    const struct program *w = schema_program(p->writer), *r = schema_program(p->reader);
    struct buf out = {0}, plain = {0};
    struct err err = {0};
    bool is_valid = plain_check(w, w->root, avro) == PLAIN_FITS;
    CHECK(buf_append(&out, slice_str(before)), "memory is out");
    enum rc rc = codec_resolve(p->resolver, avro, &out, &p->arena, &err);
    CHECK(out.len >= strlen(before) && !memcmp(out.ptr, before, strlen(before)), "what was before is lost");
    struct slice got = slice_of(out.ptr + strlen(before), out.len - strlen(before));
    if (rc != RC_OK) {
        CHECK(got.len == 0, "%zu bytes are left of what was refused", got.len);
        check_refusal(p, &err, is_valid);
    }
    if (is_valid && rc == RC_OK) {
        CHECK(plain_check(r, r->root, got) != PLAIN_MISFIT, "no data of the reader's\n%.*s",
              SHOW(p->listing));
        CHECK(!schema_resolver_is_copy(p->resolver) || slice_eq(got, avro), "a copy is another");
        if (got.len <= PRINTED_MAX && schema_resolver_reads_all(p->resolver))
            compare_avro_c(p, avro, got);
    }
    enum plain_result result = is_valid ? plain_resolve(w, r, avro, &plain) : PLAIN_GIVES_UP;
    CHECK(result == PLAIN_GIVES_UP || (rc == RC_OK) == (result == PLAIN_FITS), "plainly %d: %s\n%.*s", result,
          err.message, SHOW(p->listing));
    if (result == PLAIN_FITS)
        compare(p, got, buf_slice(&plain));
    buf_release(&out);
    buf_release(&plain);
}

/* Avro binary of the writer's, from choices. */
static void make_datum(struct pair *p, struct slice choices, struct buf *avro)
{
    const struct program *w = schema_program(p->writer);
    struct codec_opts opts = {.missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE};
    struct buf json = {0};
    struct err err;
    generate_json(w, w->root, choices, &json);
    if (codec_from_json(codec, p->writer, &opts, buf_slice(&json), avro, &p->arena, &err) != RC_OK)
        CHECK(buf_append(avro, schema_initial(p->writer)), "memory is out");
    buf_release(&json);
}

static void check_pair(struct pair *p, bool is_raw, struct slice in)
{
    struct err err;
    struct buf avro = {0};
    CHECK(schema_resolver_new(&p->resolver, p->writer, p->reader, &err) == RC_OK, "%s", err.message);
    CHECK(schema_print_resolver(p->resolver, &p->listing), "memory is out");
    check_verdicts(p);
    if (is_raw)
        CHECK(buf_append(&avro, in), "memory is out");
    else
        make_datum(p, in, &avro);
    struct slice copy = fuzz_copy(buf_slice(&avro));
    if (copy.len <= PRINTED_MAX)
        check_datum(p, copy);
    fuzz_free(copy);
    buf_release(&avro);
    buf_release(&p->listing);
    schema_resolver_free(p->resolver);
    arena_release(&p->arena);
}

static void check_changed(const struct schema *base, struct slice changes, uint8_t options, struct slice in)
{
    struct buf text = {0};
    struct arena arena = {0};
    struct schema *changed = NULL;
    struct err err;
    if (mutate_schema(schema_text(base), changes, &text) &&
        schema_parse(&changed, buf_slice(&text), slice_of(NULL, 0), &arena, &err) == RC_OK) {
        struct pair p = {.writer = options & 1 ? changed : base, .reader = options & 1 ? base : changed};
        check_pair(&p, options & 2, in);
    }
    schema_free(changed);
    arena_release(&arena);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct fuzz_schema s;
    uint8_t options = fuzz_byte(&in);
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    fuzz_schema_take(&s, &in);
    size_t bytes = (size_t)(fuzz_byte(&in) % (CHANGES_MAX + 1)) * 2;
    bytes = bytes < in.len ? bytes : in.len;
    if (s.schema)
        check_changed(s.schema, slice_of(in.ptr, bytes), options,
                      slice_of(in.ptr ? in.ptr + bytes : NULL, in.len - bytes));
    fuzz_schema_release(&s);
    return 0;
}
