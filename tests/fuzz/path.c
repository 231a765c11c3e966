/* tests/fuzz/path.c - paths over data. What is printed of a path parses to the same; a path finds what it and itself together
 * find, so each value once and in order; what is found is JSON; what a change makes is data of the schema, and the old bytes
 * where nothing changed; a value that was put in is found where it was put; what was deleted is not; a refusal leaves the output
 * as it was. The input: a byte of options (1: the path is text, else choices for generate_path.h; 2: a worker's budget; the rest: the
 * verb), a schema (schemas.h), the number of choices for the data, those, the number of choices for the JSON, those, the path. */
#include "schema/path/path.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "schema/schema.h"
#include "schema/scratch.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/generate_path.h"
#include "tests/fuzz/schemas.h"

enum { PRINTED_MAX = 1 << 20, RECORD_BYTES_MAX = 20000 };

static struct codec *codec;

struct subject {
    const struct schema *schema;
    struct arena arena;
    struct buf avro, json, path;
    bool brief;
};

/* ---- parsing ---- */

static void check_fault(const struct err *err, size_t bytes)
{
    CHECK(utf8_valid(slice_str(err->message)), "a message that is not UTF-8");
    CHECK(err->code == ERR_BAD_PATH || err->code == ERR_TOO_MUCH_WORK, "code %d: %s", err->code,
          err->message);
    CHECK(err->code != ERR_BAD_PATH || (err->line == 1 && err->column >= 1 && err->column <= bytes + 1),
          "column %u of %zu bytes: %s", err->column, bytes, err->message);
}

static struct path *parse(struct subject *s, struct slice text)
{
    struct path *path;
    struct err err = {0};
    struct slice copy = fuzz_copy(text);
    enum rc rc = path_parse(&path, s->schema, copy, &s->arena, &err);
    fuzz_free(copy);
    if (rc == RC_OK)
        return path;
    check_fault(&err, text.len);
    return NULL;
}

/* NULL: it has become too long, or too deep, for being printed plainly. */
static struct path *parse_printed(struct subject *s, const struct path *path)
{
    struct buf once = {0}, twice = {0};
    CHECK(path_print(path, &once), "memory is out");
    struct path *again = once.len <= LIMIT_PATH_TEXT_MAX ? parse(s, buf_slice(&once)) : NULL;
    if (again) {
        CHECK(path_print(again, &twice), "memory is out");
        CHECK(slice_eq(buf_slice(&once), buf_slice(&twice)), "%.*s, then %.*s", SHOW(once), SHOW(twice));
    }
    CHECK(again || once.len > s->path.len, "%.*s is none, once it is printed", SHOW(once));
    buf_release(&once);
    buf_release(&twice);
    return again;
}

/* ---- finding ---- */

static bool find(struct subject *s, const struct path *path, struct slice avro, struct buf *out)
{
    struct err err = {0};
    struct arena scratch = {0};
    CHECK(buf_append(out, SLICE("kept")), "memory is out");
    enum rc rc = path_select(path, JSON_PLAIN, s->brief, PRINTED_MAX, avro, out, &scratch, &err);
    CHECK(out->len >= 4 && !memcmp(out->ptr, "kept", 4), "what was before is lost");
    CHECK(rc == RC_OK || (out->len == 4 && (err.code == ERR_TOO_MUCH_WORK || err.code == ERR_JSON_TOO_LARGE)),
          "code %d: %s", err.code, err.message);
    if (rc == RC_OK)
        CHECK(json_check(slice_of(out->ptr + 4, out->len - 4), JSON_NEST_MAX + 1, &scratch, &err) == RC_OK,
              "%s", err.message);
    arena_release(&scratch);
    return rc == RC_OK;
}

static void compare_found(struct subject *s, const struct path *a, const struct path *b)
{
    struct buf x = {0}, y = {0};
    if (a && b && find(s, a, buf_slice(&s->avro), &x) && find(s, b, buf_slice(&s->avro), &y))
        CHECK(slice_eq(buf_slice(&x), buf_slice(&y)), "%.*s finds %.*s, and otherwise %.*s", SHOW(s->path),
              SHOW(x), SHOW(y));
    buf_release(&x);
    buf_release(&y);
}

static void check_found(struct subject *s, const struct path *path)
{
    struct buf both = {0};
    compare_found(s, path, parse_printed(s, path));
    CHECK(buf_append_byte(&both, '(') && path_print(path, &both) && buf_append_byte(&both, '|') &&
              path_print(path, &both) && buf_append_byte(&both, ')'),
          "memory is out");
    compare_found(s, path, parse(s, buf_slice(&both)));
    buf_release(&both);
}

/* ---- changing ---- */

/* RC_OK: with what it has become. */
static enum rc change(struct subject *s, enum path_verb verb, struct slice avro, struct slice json,
                      struct buf *out, uint64_t *changed, struct err *err)
{
    static const struct codec_opts opts = {.form = JSON_PLAIN};
    struct arena scratch = {0};
    struct edit *edit;
    size_t before = out->len;
    *err = (struct err){0};
    enum rc rc = edit_of_path(&edit, s->schema, &opts, verb, buf_slice(&s->path), json, &s->arena, err);
    if (rc == RC_OK)
        rc = edit_apply(edit, codec, s->brief, avro, out, changed, &scratch, err);
    CHECK(rc == RC_OK || out->len == before, "%zu bytes are left of what was refused", out->len - before);
    CHECK(utf8_valid(slice_str(err->message)), "a message that is not UTF-8");
    for (const struct problem *p = err->first; rc != RC_OK && p; p = p->next)
        CHECK(utf8_valid(p->pointer) && utf8_valid(p->detail), "%s", err->message);
    arena_release(&scratch);
    return rc;
}

static bool is_refusal(enum err_code code)
{
    return code == ERR_BAD_RECORD || code == ERR_BAD_JSON || code == ERR_NOT_APPLICABLE ||
           code == ERR_TOO_DEEP || code == ERR_TOO_MUCH_WORK || code == ERR_RECORD_TOO_LARGE;
}

static void check_datum(struct subject *s, struct slice avro)
{
    struct err err = {0};
    CHECK(codec_check(codec, s->schema, &(struct codec_opts){0}, avro, 0, &s->arena, &err) == RC_OK,
          "%.*s: %s", SHOW(s->path), err.message);
}

/* Only names and keys: where they lead does not change with what is there. */
static bool is_plain(const struct path *path)
{
    for (const struct path_step *step = path->way->first; step; step = step->next)
        if (step->kind != STEP_FIELD && step->kind != STEP_ALL && step->kind != STEP_KEYS)
            return false;
    return true;
}

/* Once more: the same values become the same, so the bytes are the same. */
static void check_twice(struct subject *s, struct slice once, uint64_t changed)
{
    struct buf twice = {0};
    uint64_t n;
    struct err err;
    if (change(s, PATH_UPDATE, once, buf_slice(&s->json), &twice, &n, &err) == RC_OK)
        CHECK(slice_eq(once, buf_slice(&twice)) && n == changed, "%.*s: %llu, then %llu changed",
              SHOW(s->path), (unsigned long long)changed, (unsigned long long)n);
    else
        CHECK(err.code == ERR_TOO_MUCH_WORK, "%s", err.message);
    buf_release(&twice);
}

static bool ends_with_keys(const struct path *path)
{
    return is_plain(path) && path->way->last->kind == STEP_KEYS;
}

static void check_gone(struct subject *s, const struct path *path, struct slice avro)
{
    struct buf found = {0};
    if (find(s, path, avro, &found))
        CHECK(slice_eq(buf_slice(&found), SLICE("kept[]")), "%.*s still finds %.*s", SHOW(s->path),
              SHOW(found));
    buf_release(&found);
}

static void check_change(struct subject *s, const struct path *path, enum path_verb verb)
{
    struct buf out = {0};
    struct err err;
    uint64_t changed;
    if (change(s, verb, buf_slice(&s->avro), buf_slice(&s->json), &out, &changed, &err) == RC_OK) {
        check_datum(s, buf_slice(&out));
        CHECK(changed || slice_eq(buf_slice(&s->avro), buf_slice(&out)),
              "nothing has changed, but the bytes");
        if (verb == PATH_UPDATE && is_plain(path))
            check_twice(s, buf_slice(&out), changed);
        if (verb == PATH_DELETE && ends_with_keys(path))
            check_gone(s, path, buf_slice(&out));
        if (verb == PATH_CLEAR && changed) {
            struct buf again = {0};
            if (change(s, verb, buf_slice(&out), SLICE(""), &again, &changed, &err) == RC_OK &&
                is_plain(path))
                CHECK(changed == 0, "%.*s clears twice", SHOW(s->path));
            buf_release(&again);
        }
    } else {
        CHECK(is_refusal(err.code), "code %d: %s", err.code, err.message);
    }
    buf_release(&out);
}

/* ---- the input ---- */

static struct slice take(struct slice *in)
{
    size_t n = fuzz_byte(in);
    n = n < in->len ? n : in->len;
    struct slice taken = slice_of(in->ptr, n);
    *in = slice_of(in->ptr ? in->ptr + n : NULL, in->len - n);
    return taken;
}

static void make_datum(struct subject *s, struct slice choices)
{
    const struct program *p = schema_program(s->schema);
    struct codec_opts opts = {.missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE};
    struct buf json = {0};
    struct err err;
    generate_json(p, p->root, choices, &json);
    if (codec_from_json(codec, s->schema, &opts, buf_slice(&json), &s->avro, &s->arena, &err) != RC_OK)
        CHECK(buf_append(&s->avro, schema_initial(s->schema)), "memory is out");
    buf_release(&json);
}

/* Of some type of the schema. */
static void make_json(struct subject *s, struct slice choices)
{
    const struct program *p = schema_program(s->schema);
    uint32_t op = fuzz_byte(&choices) % p->model->ntypes;
    generate_json(p, op, choices, &s->json);
}

static void check(struct subject *s, uint8_t options, struct slice in)
{
    const struct program *p = schema_program(s->schema);
    make_datum(s, take(&in));
    make_json(s, take(&in));
    if (options & 1)
        CHECK(buf_append(&s->path, in), "memory is out");
    else
        generate_path(p, p->root, &in, &s->path);
    struct path *path = s->avro.len <= RECORD_BYTES_MAX ? parse(s, buf_slice(&s->path)) : NULL;
    if (path) {
        check_found(s, path);
        check_change(s, path, (enum path_verb)((options >> 2) % 5));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct fuzz_schema f;
    uint8_t options = fuzz_byte(&in);
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    fuzz_schema_take(&f, &in);
    if (f.schema) {
        struct subject s = {.schema = f.schema, .brief = options & 2};
        check(&s, options, in);
        buf_release(&s.avro);
        buf_release(&s.json);
        buf_release(&s.path);
        arena_release(&s.arena);
    }
    fuzz_schema_release(&f);
    return 0;
}
