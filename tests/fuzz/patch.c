/* tests/fuzz/patch.c - JSON Merge Patch and JSON Patch on data of any schema. A plain reading of the rules on trees of JSON
 * (plain_patch.h), put as a whole, comes to the same, or refuses too; where an operation fails it is the same one. What
 * comes out is data of the schema; what is refused leaves nothing. The input: a byte of options (1: JSON Patch; 2: the patch
 * is text, else choices; 4, 8: missing; 16: unknown), a schema (schemas.h), the number of choices for the record, these, the
 * patch. */
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/decode/decode.h"
#include "schema/edit.h"
#include "schema/json.h"
#include "schema/schema.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/generate_patch.h"
#include "tests/fuzz/json_tree.h"
#include "tests/fuzz/plain_codec.h"
#include "tests/fuzz/plain_patch.h"
#include "tests/fuzz/schemas.h"

enum { PRINTED_MAX = 16384 };

struct run {
    const struct schema *schema;
    struct codec_opts opts;
    bool is_operations;
    struct buf record, out, patch;
    json_t *tree; /* of the record */
    struct arena arena, scratch;
    struct err err;
    uint64_t changed;
};

static struct codec *codec;

/* ---- trees ---- */

/* A number that Jansson takes for an integer, which has no sign then. */
static bool has_minus_zero(struct slice text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == '-' && text.ptr[i + 1] == '0' && (i + 2 == text.len || text.ptr[i + 2] != '.'))
            return true;
    return false;
}

/* NULL: it has what Jansson has not. */
static json_t *load(struct slice text)
{
    if (has_minus_zero(text))
        return NULL;
    return json_loadb(text.len ? (const char *)text.ptr : "", text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL,
                      NULL);
}

static int append(const char *text, size_t len, void *out)
{
    return buf_append(out, slice_of(text, len)) ? 0 : -1;
}

static json_t *show(const struct schema *schema, struct slice avro)
{
    struct buf text = {0};
    struct err err;
    json_t *tree = NULL;
    if (codec_to_json(schema, JSON_PLAIN, avro, &text, &err) == RC_OK && text.len <= PRINTED_MAX)
        tree = load(buf_slice(&text));
    buf_release(&text);
    return tree;
}

/* False: put does not take it. */
static bool encode(const struct schema *schema, json_t *tree, const struct codec_opts *opts, struct buf *avro)
{
    struct buf text = {0};
    struct arena arena = {0};
    struct err err;
    CHECK(json_dump_callback(tree, append, &text, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) ==
              0,
          "memory is out");
    enum rc rc = codec_from_json(codec, schema, opts, buf_slice(&text), avro, &arena, &err);
    arena_release(&arena);
    buf_release(&text);
    return rc == RC_OK;
}

static json_t *put(const struct plain_patch *p, json_t *tree, const struct codec_opts *opts)
{
    struct buf avro = {0};
    json_t *shown = NULL;
    if (encode(p->schema, tree, opts, &avro))
        shown = show(p->schema, buf_slice(&avro));
    buf_release(&avro);
    return shown;
}

static json_t *default_of(const struct plain_patch *p, const struct op_field *field)
{
    struct buf text = {0};
    struct err err;
    struct slice avro = field->filling.avro;
    CHECK(avro.ptr && decode_json(p->program, field->op, JSON_PLAIN, LIMIT_JSON_MAX, avro, avro, SLICE(""),
                                  &text, &err) == RC_OK,
          "no default");
    json_t *tree = load(buf_slice(&text));
    CHECK(tree, "no JSON: %.*s", SHOW(text));
    buf_release(&text);
    return tree;
}

/* ---- what must hold of any ---- */

static void check_refusal(const struct run *r)
{
    const struct err *err = &r->err;
    CHECK(r->out.len == 0, "%zu bytes are left of what was refused", r->out.len);
    CHECK(err->message[0] && utf8_valid(slice_str(err->message)), "a message that is not UTF-8");
    switch (err->code) {
    case ERR_BAD_JSON:
    case ERR_TOO_DEEP:
    case ERR_TOO_MUCH_WORK:
    case ERR_RECORD_TOO_LARGE: break;
    case ERR_BAD_PATCH:
    case ERR_NOT_APPLICABLE:
    case ERR_TEST_FAILED: CHECK(r->is_operations, "%s", err->message); break;
    case ERR_BAD_RECORD: CHECK(err->problems && err->problems <= ERR_PROBLEMS_MAX, "%s", err->message); break;
    default: CHECK(!"code", "%s (%d): %.*s", err->message, err->code, SHOW(r->patch));
    }
    for (const struct problem *p = err->first; p; p = p->next)
        CHECK(utf8_valid(p->pointer) && utf8_valid(p->detail) && p->detail.len, "%s", err->message);
}

static void check_datum(const struct run *r)
{
    struct arena arena = {0};
    struct err err;
    struct slice copy = fuzz_copy(buf_slice(&r->out));
    CHECK(codec_check(codec, r->schema, &(struct codec_opts){0}, copy, 0, &arena, &err) == RC_OK, "%.*s: %s",
          SHOW(r->patch), err.message);
    CHECK(r->changed || slice_eq(copy, buf_slice(&r->record)), "nothing has changed, but the bytes have");
    fuzz_free(copy);
    arena_release(&arena);
}

/* ---- the same, plainly ---- */

/* Tagged, so that it can only be the same data. */
static void print(const struct schema *schema, struct slice avro, struct buf *text)
{
    struct err err;
    CHECK(codec_to_json(schema, JSON_AVRO, avro, text, &err) == RC_OK, "%s", err.message);
}

static void compare(const struct run *r, enum rc rc, json_t *plain, const struct codec_opts *opts)
{
    struct buf avro = {0}, ours = {0}, theirs = {0};
    bool fits = plain && encode(r->schema, plain, opts, &avro);
    CHECK(fits == (rc == RC_OK), "%s: %.*s: %s", fits ? "plainly it fits" : "plainly it does not fit",
          SHOW(r->patch), r->err.message);
    if (fits) {
        print(r->schema, buf_slice(&r->out), &ours);
        print(r->schema, buf_slice(&avro), &theirs);
        CHECK(slice_eq(buf_slice(&ours), buf_slice(&theirs)), "%.*s makes %.*s, plainly %.*s", SHOW(r->patch),
              SHOW(ours), SHOW(theirs));
    }
    buf_release(&avro);
    buf_release(&ours);
    buf_release(&theirs);
}

static void check_merge(const struct run *r, enum rc rc, struct plain_patch *p, json_t *patch)
{
    json_t *merged = plain_merge(p, p->program->root, r->tree, patch);
    if (!p->gives_up)
        compare(r, rc, merged, &r->opts);
    json_decref(merged);
}

static void check_operations(const struct run *r, enum rc rc, struct plain_patch *p, json_t *patch)
{
    json_t *tree = json_deep_copy(r->tree), *next;
    size_t i = 0, n = json_array_size(patch);
    for (; i < n; i++, tree = next) {
        next = plain_operation(p, tree, json_array_get(patch, i));
        json_decref(tree);
        if (!next || p->gives_up) {
            tree = next;
            break;
        }
    }
    static const struct codec_opts as_shown = {.missing = MISSING_REJECT};
    if (!p->gives_up) {
        CHECK(i == n || r->err.operation == i + 1, "operation %zu fails plainly, not %u: %.*s: %s", i + 1,
              r->err.operation, SHOW(r->patch), r->err.message);
        compare(r, rc, tree, &as_shown);
    }
    json_decref(tree);
}

/* Work, depth and size are not the plain reading's. */
static bool is_limit(enum err_code code)
{
    return code == ERR_TOO_DEEP || code == ERR_TOO_MUCH_WORK || code == ERR_RECORD_TOO_LARGE ||
           code == ERR_BAD_JSON || code == ERR_BAD_PATCH;
}

/* What ignores members may take a tag for one: put as a whole, what misfits below a tag is then something else. */
static bool is_ignored(const struct run *r)
{
    return r->opts.unknown == UNKNOWN_IGNORE && r->err.code == ERR_BAD_RECORD;
}

static void check_plainly(const struct run *r, enum rc rc)
{
    struct plain_patch p = {.program = schema_program(r->schema),
                            .opts = &r->opts,
                            .put = put,
                            .default_of = default_of,
                            .schema = r->schema};
    bool is_certain = rc == RC_OK || !(is_limit(r->err.code) || is_ignored(r));
    json_t *patch = is_certain ? load(buf_slice(&r->patch)) : NULL;
    if (patch && r->is_operations)
        check_operations(r, rc, &p, patch);
    else if (patch)
        check_merge(r, rc, &p, patch);
    json_decref(patch);
}

static enum rc apply(struct run *r, struct slice patch)
{
    struct edit *edit;
    r->err = (struct err){0};
    enum rc rc = r->is_operations ? edit_of_patch(&edit, r->schema, &r->opts, patch, &r->arena, &r->err)
                                  : edit_of_merge(&edit, r->schema, &r->opts, patch, &r->arena, &r->err);
    if (rc != RC_OK)
        return rc;
    return edit_apply(edit, codec, false, buf_slice(&r->record), &r->out, &r->changed, &r->scratch, &r->err);
}

/* ---- with limits of a type ---- */

static void check_limits(struct run *r, struct slice patch, struct codec_limits limits, bool is_within)
{
    struct run limited = {
        .schema = r->schema, .opts = r->opts, .is_operations = r->is_operations, .record = r->record};
    limited.opts.limits = limits;
    enum rc rc = apply(&limited, patch);
    CHECK((rc == RC_OK) == is_within, "%u bytes, %u items, %u levels: %.*s: %s", limits.bytes, limits.items,
          limits.depth, SHOW(patch), limited.err.message);
    if (rc == RC_OK)
        CHECK(slice_eq(buf_slice(&limited.out), buf_slice(&r->out)), "%.*s", SHOW(patch));
    else
        CHECK(limited.out.len == 0 &&
                  (limited.err.code == ERR_TOO_DEEP || limited.err.code == ERR_TOO_MANY_ITEMS ||
                   limited.err.code == ERR_RECORD_TOO_LARGE),
              "%s", limited.err.message);
    buf_release(&limited.out);
    arena_release(&limited.arena);
    arena_release(&limited.scratch);
}

/* What changes is within them, or refused; what does not change may be anything. */
static void check_type_limits(struct run *r, struct slice patch)
{
    const struct program *p = schema_program(r->schema);
    struct codec_limits most;
    bool stays = !r->changed;
    if (plain_measure(p, p->root, slice_not_null(buf_slice(&r->out)), &most) != PLAIN_FITS)
        return;
    check_limits(r, patch, most, true);
    check_limits(r, patch, (struct codec_limits){.bytes = most.bytes - 1}, stays || most.bytes <= 1);
    check_limits(r, patch, (struct codec_limits){.items = most.items - 1}, stays || most.items <= 1);
    check_limits(r, patch, (struct codec_limits){.depth = most.depth - 1}, stays || most.depth <= 1);
}

/* ---- the input ---- */

static bool make_record(struct run *r, struct slice choices)
{
    const struct program *p = schema_program(r->schema);
    struct codec_opts opts = {.missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE};
    struct buf json = {0};
    generate_json(p, p->root, choices, &json);
    if (codec_from_json(codec, r->schema, &opts, buf_slice(&json), &r->record, &r->arena, &r->err) != RC_OK)
        CHECK(buf_append(&r->record, schema_initial(r->schema)), "memory is out");
    buf_release(&json);
    if (r->record.len <= PRINTED_MAX)
        r->tree = show(r->schema, buf_slice(&r->record));
    return r->tree;
}

static void make_patch(struct run *r, bool is_text, struct slice in)
{
    const struct program *p = schema_program(r->schema);
    if (is_text)
        CHECK(buf_append(&r->patch, in), "memory is out");
    else if (r->is_operations)
        generate_operations(p, r->tree, in, &r->patch);
    else
        generate_merge(p, r->tree, in, &r->patch);
}

static void check(struct run *r)
{
    struct slice copy = fuzz_copy(buf_slice(&r->patch));
    enum rc rc = apply(r, copy);
    if (rc == RC_OK) {
        check_datum(r);
        check_type_limits(r, copy);
    } else {
        check_refusal(r);
    }
    if (rc != RC_OK || r->out.len <= PRINTED_MAX)
        check_plainly(r, rc);
    fuzz_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct fuzz_schema s;
    struct run r = {0};
    uint8_t options = fuzz_byte(&in);
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    r.is_operations = options & 1;
    r.opts.missing = (options >> 2 & 3) % 3;
    r.opts.unknown = options >> 4 & 1;
    fuzz_schema_take(&s, &in);
    r.schema = s.schema;
    size_t n = fuzz_byte(&in);
    n = n < in.len ? n : in.len;
    if (r.schema && make_record(&r, slice_of(in.ptr, n))) {
        make_patch(&r, options & 2, slice_of(in.ptr ? in.ptr + n : NULL, in.len - n));
        check(&r);
    }
    fuzz_schema_release(&s);
    json_decref(r.tree);
    buf_release(&r.record);
    buf_release(&r.out);
    buf_release(&r.patch);
    arena_release(&r.arena);
    arena_release(&r.scratch);
    return 0;
}
