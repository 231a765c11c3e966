/* tests/fuzz/json_codec.c - JSON to Avro. The two passes agree: what the first refuses, the second
 * explains, with pointers into the text. A plain reading of the rules (plain_codec.h) comes to the same.
 * What encodes is JSON, and reads back, in both forms, as JSON that encodes to the same bytes; Avro C reads
 * the same from it. Where values are spelled readably, what is read goes round likewise. The input: a byte of options
 * ('@': none; '`': none, and a fresh codec), perhaps one of the spelling, a schema (schemas.h), then the text, or, if the options have the highest bit, choices for generate.h. */
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "schema/program/program.h"
#include "schema/scratch.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/json_tree.h"
#include "tests/fuzz/plain_codec.h"
#include "tests/fuzz/schemas.h"

/* Longer data (of a fixed of some megabytes, of defaults) are not printed. */
enum { PRINTED_MAX = 65536 };

struct run {
    const struct schema *schema;
    int row, field; /* of the table; which field the text is for, or -1 */
    struct codec_opts opts;
    struct slice json;
    struct buf avro;
    struct arena arena;
    struct err err;
};

static struct codec *codec;

static enum rc encode(const struct run *r, const struct codec_opts *opts, struct slice json, struct buf *out,
                      struct arena *arena, struct err *err)
{
    if (r->field >= 0)
        return codec_field_from_json(codec, r->schema, r->field, opts, json, out, arena, err);
    return codec_from_json(codec, r->schema, opts, json, out, arena, err);
}

static const struct program *program_of(const struct run *r, enum json_form form)
{
    const struct program *p = schema_program_of(r->schema, form);
    CHECK(p, "memory is out");
    return p;
}

/* Of what the text is for. */
static uint32_t op_of(const struct run *r)
{
    const struct program *p = schema_program(r->schema);
    return r->field < 0 ? p->root : p->fields[p->ops[p->root].a + (uint32_t)r->field].op;
}

/* ---- what does not fit ---- */

static void check_problem(const struct problem *p, json_t *tree)
{
    struct slice texts[] = {p->pointer, p->expected, p->got, p->branch, p->detail};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(utf8_valid(texts[i]), "%.*s is not UTF-8", SHOW(texts[i]));
    CHECK(p->detail.len, "nothing is said at %.*s", SHOW(p->pointer));
    CHECK(!tree || json_tree_has(tree, p->pointer, p->code == PROBLEM_MISSING), "pointer %.*s (%s)",
          SHOW(p->pointer), problem_slug(p->code));
}

static void check_problems(const struct run *r, const struct err *err)
{
    json_error_t why;
    json_t *tree = json_tree_load(r->json, 0, &why);
    uint32_t n = 0;
    for (const struct problem *p = err->first; p; p = p->next, n++)
        check_problem(p, tree);
    CHECK(n && n == err->problems && n <= ERR_PROBLEMS_MAX, "%u of %u problems", n, err->problems);
    json_decref(tree);
}

static void check_refusal(const struct run *r)
{
    struct arena arena = {0};
    struct err other = {0};
    const struct err *err = &r->err;
    bool is_json = json_check(r->json, JSON_NEST_MAX, &arena, &other) == RC_OK;
    CHECK(r->avro.len == 0, "%zu bytes are left of what was refused", r->avro.len);
    CHECK(utf8_valid(slice_str(err->message)) && err->message[0], "a message that is not UTF-8");
    switch (err->code) {
    case ERR_BAD_JSON:
        CHECK(!is_json && other.code == ERR_BAD_JSON, "%.*s: %s", SHOW(r->json), err->message);
        CHECK(err->line == other.line && err->column == other.column, "%u:%u %s", err->line, err->column,
              err->message);
        break;
    case ERR_BAD_RECORD:
        CHECK(is_json, "%.*s: %s", SHOW(r->json), other.message);
        check_problems(r, err);
        break;
    case ERR_TOO_DEEP:
    case ERR_TOO_MUCH_WORK:
    case ERR_RECORD_TOO_LARGE: break;
    default: CHECK(!"code", "%s (%d): %.*s", err->message, err->code, SHOW(r->json));
    }
    arena_release(&arena);
}

/* ---- what fits ---- */

/* The text encodes to the same bytes. */
static void check_encodes(const struct run *r, enum json_form form, struct slice text)
{
    struct codec_opts opts = {.form = form};
    struct buf again = {0};
    struct arena arena = {0};
    struct err err = {0};
    struct slice copy = fuzz_copy(text);
    CHECK(encode(r, &opts, copy, &again, &arena, &err) == RC_OK, "%.*s is read back as %.*s: %s",
          SHOW(r->json), SHOW(text), err.message);
    CHECK(slice_eq(buf_slice(&r->avro), buf_slice(&again)), "%.*s is read back as %.*s", SHOW(r->json),
          SHOW(text));
    fuzz_free(copy);
    buf_release(&again);
    arena_release(&arena);
}

static void check_is_json(struct slice text)
{
    struct arena arena = {0};
    struct err err;
    CHECK(json_check(text, JSON_NEST_MAX, &arena, &err) == RC_OK, "%s: %.*s", err.message, SHOW(text));
    arena_release(&arena);
}

/* The record or, for a field, an initial record that has it. */
static struct slice datum_of(const struct run *r)
{
    struct slice initial = schema_initial(r->schema), old, new;
    struct buf out = {0};
    struct err err;
    if (r->field < 0)
        return fuzz_copy(buf_slice(&r->avro));
    CHECK(codec_field_span(r->schema, r->field, initial, &old, &err) == RC_OK, "%s", err.message);
    size_t before = (size_t)(old.ptr - initial.ptr);
    CHECK(buf_append(&out, slice_of(initial.ptr, before)) && buf_append(&out, buf_slice(&r->avro)) &&
              buf_append(&out, slice_of(old.ptr + old.len, initial.len - before - old.len)),
          "memory is out");
    CHECK(codec_field_span(r->schema, r->field, buf_slice(&out), &new, &err) == RC_OK, "%s", err.message);
    CHECK(slice_eq(new, buf_slice(&r->avro)), "the field stands elsewhere");
    new = fuzz_copy(buf_slice(&out));
    buf_release(&out);
    return new;
}

static void check_form(const struct run *r, enum json_form form, struct slice datum)
{
    struct buf text = {0};
    struct err err = {0};
    enum rc rc = r->field < 0 ? codec_to_json(r->schema, form, datum, &text, &err)
                              : codec_field_to_json(r->schema, r->field, form, datum, &text, &err);
    CHECK(rc == RC_OK, "%.*s: %s", SHOW(r->json), err.message);
    check_is_json(buf_slice(&text));
    check_encodes(r, form, buf_slice(&text));
    buf_release(&text);
}

/* ---- spelled readably ---- */

static bool has_op(const struct program *p, enum opcode code)
{
    for (uint32_t i = 0; i < p->nops; i++)
        if (p->ops[i].code == code)
            return true;
    return false;
}

static void print(const struct run *r, enum json_form form, struct slice datum, struct buf *text)
{
    struct err err = {0};
    enum rc rc = r->field < 0 ? codec_to_json(r->schema, form, datum, text, &err)
                              : codec_field_to_json(r->schema, r->field, form, datum, text, &err);
    CHECK(rc == RC_OK, "%.*s: %s", SHOW(r->json), err.message);
    check_is_json(buf_slice(text));
}

/* What is read can be written back, and is the same bytes; but for a string that is no UUID, and a decimal whose bytes
 * were more than it takes. */
static void check_spelled(const struct run *r, enum json_form form, struct slice datum)
{
    struct buf text = {0}, again = {0}, more = {0};
    struct codec_opts opts = {.form = form};
    struct arena arena = {0};
    struct err err = {0};
    const struct program *p = program_of(r, form);
    print(r, form, datum, &text);
    enum rc rc = encode(r, &opts, buf_slice(&text), &again, &arena, &err);
    if (rc == RC_ERR && err.code == ERR_BAD_RECORD && has_op(p, OP_UUID_STRING)) {
        for (const struct problem *problem = err.first; problem; problem = problem->next)
            CHECK(slice_eq(problem->expected, SLICE("UUID")), "%.*s: %s", SHOW(text), err.message);
    } else {
        CHECK(rc == RC_OK, "%.*s is read back as %.*s: %s", SHOW(r->json), SHOW(text), err.message);
        CHECK(has_op(p, OP_DECIMAL) || slice_eq(buf_slice(&r->avro), buf_slice(&again)),
              "%.*s is read back as %.*s", SHOW(r->json), SHOW(text));
        if (r->field < 0)
            print(r, form, buf_slice(&again), &more);
        CHECK(r->field >= 0 || slice_eq(buf_slice(&text), buf_slice(&more)), "%.*s is then %.*s", SHOW(text),
              SHOW(more));
    }
    buf_release(&text);
    buf_release(&again);
    buf_release(&more);
    arena_release(&arena);
}

static bool has_nul(struct slice s)
{
    return memmem(s.ptr, s.len, "\\u0000", 6) != NULL;
}

/* Avro C cuts strings at a NUL when it prints them, so those are left out. */
static void check_avro_c(const struct run *r)
{
    struct buf ours = {0}, theirs = {0};
    struct err err;
    CHECK(codec_to_json(r->schema, JSON_AVRO, buf_slice(&r->avro), &ours, &err) == RC_OK, "%s", err.message);
    if (!has_nul(buf_slice(&ours)) && fuzz_avro_c(r->row, buf_slice(&r->avro), &theirs))
        check_encodes(r, JSON_AVRO, buf_slice(&theirs));
    buf_release(&ours);
    buf_release(&theirs);
}

/* In the form that is always tagged, what fits strictly fits the same with every option. */
static void check_options(const struct run *r)
{
    struct codec_opts opts = r->opts;
    struct buf again = {0};
    struct arena arena = {0};
    struct err err;
    if (opts.form != JSON_AVRO || opts.missing != MISSING_REJECT || opts.unknown != UNKNOWN_REJECT)
        return;
    opts.missing = MISSING_ZERO;
    opts.unknown = UNKNOWN_IGNORE;
    CHECK(encode(r, &opts, r->json, &again, &arena, &err) == RC_OK, "%.*s: %s", SHOW(r->json), err.message);
    CHECK(slice_eq(buf_slice(&r->avro), buf_slice(&again)), "%.*s", SHOW(r->json));
    buf_release(&again);
    arena_release(&arena);
}

static void check_datum(const struct run *r)
{
    check_is_json(r->json);
    check_options(r);
    if (r->avro.len > PRINTED_MAX || schema_initial(r->schema).len > PRINTED_MAX)
        return;
    struct slice datum = datum_of(r);
    check_form(r, JSON_PLAIN, datum);
    check_form(r, JSON_AVRO, datum);
    if (r->opts.form != JSON_PLAIN && r->opts.form != JSON_AVRO)
        check_spelled(r, r->opts.form, datum);
    check_spelled(r, JSON_LOGICAL | JSON_BASE64 | JSON_INT64, datum);
    if (r->field < 0)
        check_avro_c(r);
    fuzz_free(datum);
}

/* ---- the same, plainly ---- */

static void check_plainly(const struct run *r, enum rc rc)
{
    const struct program *p = program_of(r, r->opts.form);
    uint32_t op = op_of(r);
    struct arena arena = {0};
    struct buf plain = {0};
    struct err err;
    if ((rc == RC_OK || r->err.code == ERR_BAD_RECORD) &&
        json_check(r->json, JSON_NEST_MAX, &arena, &err) == RC_OK)
        switch (plain_encode(p, op, &r->opts, r->json, &plain)) {
        case PLAIN_FITS:
            CHECK(rc == RC_OK, "refused: %.*s: %s", SHOW(r->json), r->err.message);
            CHECK(slice_eq(buf_slice(&r->avro), buf_slice(&plain)), "%.*s", SHOW(r->json));
            break;
        case PLAIN_MISFIT: CHECK(rc != RC_OK, "taken: %.*s", SHOW(r->json)); break;
        case PLAIN_GIVES_UP: break;
        }
    buf_release(&plain);
    arena_release(&arena);
}

/* All that is wrong is listed, in order. */
static void check_plain_problems(const struct run *r)
{
    struct buf want = {0}, got = {0};
    if (r->err.code != ERR_BAD_RECORD || r->err.truncated)
        return;
    for (const struct problem *p = r->err.first; p; p = p->next)
        CHECK(buf_append(&got, p->pointer) && buf_printf(&got, " %s\n", problem_slug(p->code)),
              "memory is out");
    if (plain_explain(program_of(r, r->opts.form), op_of(r), &r->opts, r->json, &want) != PLAIN_GIVES_UP)
        CHECK(slice_eq(buf_slice(&want), buf_slice(&got)), "%.*s\ngot:\n%.*s\nplainly:\n%.*s", SHOW(r->json),
              SHOW(got), SHOW(want));
    buf_release(&want);
    buf_release(&got);
}

/* ---- with limits of a type ---- */

/* It is refused for the limit alone, and for what says so. */
static void check_excess(const struct run *r, const struct err *err, const struct codec_limits *limits,
                         const struct codec_limits *most)
{
    json_error_t why;
    json_t *tree = json_tree_load(r->json, 0, &why);
    bool is_bytes = limits->bytes && most->bytes > limits->bytes;
    bool is_items = limits->items && most->items > limits->items;
    bool is_depth = limits->depth && most->depth > limits->depth;
    switch (err->code) {
    case ERR_RECORD_TOO_LARGE: CHECK(is_bytes && !is_items && !is_depth, "%s", err->message); break;
    case ERR_TOO_MANY_ITEMS: CHECK(is_items && err->problems == 1, "%s", err->message); break;
    case ERR_TOO_DEEP: CHECK(is_depth && err->problems == 1, "%s", err->message); break;
    case ERR_TOO_MUCH_WORK: break;
    default: CHECK(!"code", "%s (%d): %.*s", err->message, err->code, SHOW(r->json));
    }
    /* what a field that does not come would be filled with has a place, too */
    for (const struct problem *p = err->first; p; p = p->next)
        CHECK(!tree || json_tree_has(tree, p->pointer, false) || json_tree_has(tree, p->pointer, true),
              "pointer %.*s (%s)", SHOW(p->pointer), problem_slug(p->code));
    json_decref(tree);
}

/* What fits is taken if it is within them, and is the same then. */
static void check_limits(const struct run *r, struct codec_limits limits, const struct codec_limits *most)
{
    struct codec_opts opts = r->opts;
    struct buf out = {0};
    struct arena arena = {0};
    struct err err = {0};
    if (r->field >= 0)
        limits.bytes = 0;
    opts.limits = limits;
    bool is_within = (!limits.bytes || most->bytes <= limits.bytes) &&
                     (!limits.items || most->items <= limits.items) &&
                     (!limits.depth || most->depth <= limits.depth);
    enum rc rc = encode(r, &opts, r->json, &out, &arena, &err);
    CHECK((rc == RC_OK) == is_within || err.code == ERR_TOO_MUCH_WORK,
          "%u bytes, %u items, %u levels: %.*s: %s", limits.bytes, limits.items, limits.depth, SHOW(r->json),
          err.message);
    CHECK(slice_eq(buf_slice(&out), rc == RC_OK ? buf_slice(&r->avro) : SLICE("")), "%.*s", SHOW(r->json));
    if (rc != RC_OK)
        check_excess(r, &err, &limits, most);
    buf_release(&out);
    arena_release(&arena);
}

/* What does not fit is refused as without them. */
static void check_misfit(const struct run *r)
{
    struct codec_opts opts = r->opts;
    struct buf out = {0};
    struct arena arena = {0};
    struct err err = {0};
    opts.limits = (struct codec_limits){.bytes = 1, .items = 1, .depth = 1};
    CHECK(encode(r, &opts, r->json, &out, &arena, &err) != RC_OK, "taken: %.*s", SHOW(r->json));
    CHECK(err.code == r->err.code || err.code == ERR_TOO_MUCH_WORK, "%s, but with limits: %s", r->err.message,
          err.message);
    const struct problem *p = r->err.first, *q = err.first;
    for (; p && q && err.code == r->err.code; p = p->next, q = q->next)
        CHECK(slice_eq(p->pointer, q->pointer) && p->code == q->code, "%s, but with limits: %s",
              r->err.message, err.message);
    buf_release(&out);
    arena_release(&arena);
}

static void check_type_limits(const struct run *r, enum rc rc)
{
    struct codec_limits most;
    if (rc != RC_OK) {
        if (r->err.code == ERR_BAD_RECORD || r->err.code == ERR_BAD_JSON)
            check_misfit(r);
        return;
    }
    if (plain_measure(schema_program(r->schema), op_of(r), slice_not_null(buf_slice(&r->avro)), &most) !=
        PLAIN_FITS)
        return;
    most.depth += r->field >= 0;
    check_limits(r, most, &most);
    check_limits(r, (struct codec_limits){.bytes = most.bytes - 1}, &most);
    check_limits(r, (struct codec_limits){.items = most.items - 1}, &most);
    check_limits(r, (struct codec_limits){.depth = most.depth - 1}, &most);
    check_limits(r, (struct codec_limits){.items = most.items / 2, .depth = most.depth / 2}, &most);
}

/* ---- the input ---- */

static void take_options(struct run *r, uint8_t byte)
{
    r->opts.form = byte & 1 ? JSON_AVRO : JSON_PLAIN;
    r->opts.missing = (byte >> 1 & 3) % 3;
    r->opts.unknown = byte >> 3 & 1;
    r->field = byte & 0x10 ? 0 : -1;
}

/* The field that the byte says, if the schema is a record that has any. */
static void take_field(struct run *r, uint8_t byte)
{
    const struct program *p = schema_program(r->schema);
    const struct op *root = &p->ops[p->root];
    r->field = root->code == OP_RECORD && root->b ? (int)(byte % root->b) : -1;
}

/* The text that the bytes choose. */
static struct slice generated(const struct run *r, struct slice choices)
{
    struct buf text = {0};
    generate_json(program_of(r, r->opts.form), op_of(r), choices, &text);
    struct slice json = fuzz_copy(buf_slice(&text));
    buf_release(&text);
    return json;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct run r = {.row = -1};
    struct fuzz_schema s;
    uint8_t options = fuzz_byte(&in);
    if (options & 0x20) {
        codec_free(codec);
        codec = NULL;
    }
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    take_options(&r, options);
    if (!(options & 0x41))
        r.opts.form = (enum json_form)(fuzz_byte(&in) % JSON_AVRO);
    fuzz_schema_take(&s, &in);
    r.schema = s.schema;
    r.row = s.row;
    if (r.schema) {
        if (r.field >= 0)
            take_field(&r, fuzz_byte(&in));
        r.json = options & 0x80 ? generated(&r, in) : fuzz_copy(in);
        enum rc rc = encode(&r, &r.opts, r.json, &r.avro, &r.arena, &r.err);
        if (rc == RC_OK)
            check_datum(&r);
        else
            check_refusal(&r);
        check_plainly(&r, rc);
        check_type_limits(&r, rc);
        if (rc != RC_OK)
            check_plain_problems(&r);
        fuzz_free(r.json);
    }
    fuzz_schema_release(&s);
    buf_release(&r.avro);
    arena_release(&r.arena);
    return 0;
}
