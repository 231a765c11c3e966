/* tests/fuzz/schema.c - schema texts. A parsed one has a normal form that is JSON and parses to itself, a
 * text that parses to the same normal form and program, and an initial value that prints and encodes to
 * itself; a refused one has problems that point into it. The input: the text; behind a NUL the full name of
 * an entry to pick. */
#include "schema/schema.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "schema/program/program.h"
#include "tests/fuzz/json_tree.h"
#include "tests/fuzz/plain_codec.h"

/* The initial value may be as long as a record; then it is not printed. */
enum { INITIAL_MAX = 65536 };

static struct codec *codec;

static void check_is_json(struct slice text)
{
    struct arena arena = {0};
    struct err err;
    CHECK(json_check(text, LIMIT_SCHEMA_JSON_DEPTH_MAX, &arena, &err) == RC_OK, "%s: %.*s", err.message,
          SHOW(text));
    arena_release(&arena);
}

static void check_warnings(const struct schema *s)
{
    for (size_t i = 0; i < schema_warnings(s); i++) {
        struct slice w = schema_warning(s, i);
        for (size_t k = 0; k < w.len; k++)
            CHECK(w.ptr[k] >= 0x20 && w.ptr[k] < 0x7f, "warning %.*s", SHOW(w));
    }
}

static void check_initial(const struct schema *s, enum json_form form)
{
    struct slice initial = schema_initial(s);
    struct codec_opts opts = {.form = form};
    struct arena arena = {0};
    struct buf text = {0}, avro = {0};
    struct err err;
    CHECK(initial.len <= LIMIT_RECORD_MAX, "an initial value of %zu bytes", initial.len);
    if (initial.len <= INITIAL_MAX) {
        CHECK(codec_to_json(s, form, initial, &text, &err) == RC_OK, "%s", err.message);
        CHECK(codec_from_json(codec, s, &opts, buf_slice(&text), &avro, &arena, &err) == RC_OK, "%s: %.*s",
              err.message, SHOW(text));
        CHECK(slice_eq(initial, buf_slice(&avro)), "%.*s encodes otherwise", SHOW(text));
    }
    buf_release(&text);
    buf_release(&avro);
    arena_release(&arena);
}

/* The text is a schema with the same normal form and program. */
static void check_same(const struct schema *s, struct slice text)
{
    struct schema *again;
    struct slice copy = fuzz_copy(text);
    struct arena arena = {0};
    struct err err;
    struct buf program = {0}, program_again = {0};
    CHECK(schema_parse(&again, copy, slice_of(NULL, 0), &arena, &err) == RC_OK, "%s: %.*s", err.message,
          SHOW(text));
    fuzz_free(copy);
    CHECK(slice_eq(schema_normal_form(s), schema_normal_form(again)), "%.*s: %.*s",
          SHOW(schema_normal_form(s)), SHOW(schema_normal_form(again)));
    CHECK(schema_print_program(s, &program) && schema_print_program(again, &program_again), "memory is out");
    CHECK(slice_eq(buf_slice(&program), buf_slice(&program_again)), "%.*s: another program", SHOW(text));
    CHECK(slice_eq(schema_initial(s), schema_initial(again)), "%.*s: another initial value", SHOW(text));
    CHECK(schema_raw(s) == schema_raw(again), "%.*s: raw", SHOW(text));
    buf_release(&program);
    buf_release(&program_again);
    schema_free(again);
    arena_release(&arena);
}

static void check_default(const struct program *p, const struct field *model, const struct op_field *field)
{
    struct buf plain = {0};
    CHECK(model->has_default == field->has_default, "%.*s", SHOW(field->name));
    if (field->has_default)
        switch (plain_default(p, field->op, model->default_json, &plain)) {
        case PLAIN_FITS:
            CHECK(slice_eq(field->filling.avro, buf_slice(&plain)), "%.*s", SHOW(model->default_json));
            break;
        case PLAIN_MISFIT: CHECK(!"a default", "taken: %.*s", SHOW(model->default_json)); break;
        case PLAIN_GIVES_UP: break;
        }
    buf_release(&plain);
}

/* Every default was encoded as the plain rules do it. */
static void check_defaults(const struct schema *s)
{
    const struct program *p = schema_program(s);
    for (uint32_t i = 0; i < p->nops; i++)
        for (uint32_t k = 0; p->ops[i].code == OP_RECORD && k < p->ops[i].b; k++)
            check_default(p, &p->model->types[i]->record.fields[k], &p->fields[p->ops[i].a + k]);
}

/* A full name that is not UTF-8 is told as it is. */
static void check_problem(const struct problem *p, json_t *tree, bool is_utf8)
{
    struct slice texts[] = {p->pointer, p->expected, p->got, p->branch, p->detail};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(utf8_valid(texts[i]) || !is_utf8, "%.*s is not UTF-8", SHOW(texts[i]));
    CHECK(!tree || json_tree_has(tree, p->pointer, p->code == PROBLEM_MISSING), "pointer %.*s (%s)",
          SHOW(p->pointer), problem_slug(p->code));
}

static void check_refusal(struct slice text, struct slice fullname, const struct err *err)
{
    json_error_t why;
    struct arena arena = {0};
    struct err other;
    bool is_json = json_check(text, LIMIT_SCHEMA_JSON_DEPTH_MAX, &arena, &other) == RC_OK;
    CHECK(utf8_valid(slice_str(err->message)) || !utf8_valid(fullname), "a message that is not UTF-8");
    CHECK(err->code == ERR_BAD_JSON || err->code == ERR_BAD_SCHEMA || err->code == ERR_TOO_DEEP ||
              err->code == ERR_TOO_MUCH_WORK,
          "code %d: %s", err->code, err->message);
    CHECK(is_json == (err->code != ERR_BAD_JSON) || other.code == ERR_TOO_DEEP, "%s: %.*s", err->message,
          SHOW(text));
    CHECK(err->code != ERR_BAD_SCHEMA || err->problems || fullname.len, "%s, but where? %.*s", err->message,
          SHOW(text));
    json_t *tree = is_json ? json_tree_load(text, 0, &why) : NULL;
    uint32_t n = 0;
    for (const struct problem *p = err->first; p; p = p->next, n++)
        check_problem(p, tree, utf8_valid(fullname));
    CHECK(n == err->problems && n <= ERR_PROBLEMS_MAX, "%u of %u problems", n, err->problems);
    json_decref(tree);
    arena_release(&arena);
}

static void check_schema(const struct schema *s, struct slice text, struct slice fullname)
{
    check_is_json(text);
    check_is_json(schema_text(s));
    check_is_json(schema_normal_form(s));
    CHECK(fullname.len || slice_eq(schema_text(s), text), "another text");
    check_warnings(s);
    check_defaults(s);
    check_same(s, schema_text(s));
    check_same(s, schema_normal_form(s));
    check_initial(s, JSON_PLAIN);
    check_initial(s, JSON_AVRO);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct slice text = fuzz_copy(fuzz_text(&in)), fullname = fuzz_copy(in);
    struct schema *s = NULL;
    struct arena arena = {0};
    struct err err = {0};
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    if (schema_parse(&s, text, fullname, &arena, &err) == RC_OK)
        check_schema(s, text, fullname);
    else
        check_refusal(text, fullname, &err);
    schema_free(s);
    arena_release(&arena);
    fuzz_free(text);
    fuzz_free(fullname);
    return 0;
}
