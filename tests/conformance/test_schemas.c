/* Every case of schemas-valid.jsonl and schemas-invalid.jsonl, read as a schema: taken or refused as
 * docs/policies.md says, with the right code, a pointer and a sentence for each fault. */
#include "base/buf.h"
#include "schema/schema.h"
#include "tests/conformance/lines.h"

/* Cases whose verdict is avrod's choice and another than the one the case shows. */
static const struct {
    const char *id, *why;
} refused_by_policy[] = {
    {"sch-010", "empty_union: a union without branches"},
    {"sch-050", "empty_union: a union without branches"},
    {"sch-046", "unsatisfiable: a record that can never be finite"},
    {"sch-053", "size_limit: a value of the fixed exceeds the record limit"},
};

/* How each refused case must be refused where it is not BAD_SCHEMA. */
static const struct {
    const char *id;
    enum err_code code;
} other_codes[] = {
    {"bad-001", ERR_BAD_JSON},       {"bad-002", ERR_BAD_JSON},       {"bad-003", ERR_BAD_JSON},
    {"bad-004", ERR_BAD_JSON},       {"bad-005", ERR_BAD_JSON},       {"bad-006", ERR_BAD_JSON},
    {"bad-007", ERR_BAD_JSON},       {"bad-008", ERR_BAD_JSON},       {"bad-009", ERR_BAD_JSON},
    {"bad-010", ERR_BAD_JSON},       {"bad-011", ERR_BAD_JSON},       {"bad-012", ERR_BAD_JSON},
    {"bad-013", ERR_BAD_JSON},       {"bad-014", ERR_BAD_JSON},       {"bad-015", ERR_BAD_JSON},
    {"bad-143", ERR_BODY_TOO_LARGE}, {"bad-144", ERR_BODY_TOO_LARGE}, {"bad-145", ERR_TOO_DEEP},
    {"bad-146", ERR_BODY_TOO_LARGE}, {"bad-147", ERR_BODY_TOO_LARGE}, {"bad-148", ERR_BODY_TOO_LARGE},
};

static unsigned failures;

static void complain(const char *id, const char *what, const struct err *err)
{
    failures++;
    print_message("%s: %s (%s: %s)\n", id, what, err_slug(err->code), err->message);
}

/* ---- the data ---- */

static void append(struct buf *out, struct slice s)
{
    assert_true(buf_append(out, s));
}

static void append_hex(struct buf *out, const char *hex)
{
    for (; hex[0] && hex[1]; hex += 2) {
        char digits[3] = {hex[0], hex[1], 0};
        assert_true(buf_append_byte(out, (uint8_t)strtoul(digits, NULL, 16)));
    }
}

static void append_parts(struct buf *out, json_t *parts)
{
    for (size_t i = 0; i < json_array_size(parts); i++) {
        json_t *text = json_array_get(json_array_get(parts, i), 0);
        json_int_t times = json_integer_value(json_array_get(json_array_get(parts, i), 1));
        for (json_int_t n = 0; n < times; n++)
            append(out, slice_of(json_string_value(text), json_string_length(text)));
    }
}

static void read_text(json_t *c, struct buf *out)
{
    json_t *text = json_object_get(c, "schema");
    if (text)
        append(out, slice_of(json_string_value(text), json_string_length(text)));
    else if (json_object_get(c, "schema_hex"))
        append_hex(out, json_string_value(json_object_get(c, "schema_hex")));
    else
        append_parts(out, json_object_get(c, "schema_parts"));
    assert_true(out->len > 0);
}

/* ---- verdicts ---- */

static bool is_refused_by_policy(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(refused_by_policy); i++)
        if (strcmp(refused_by_policy[i].id, id) == 0)
            return true;
    return false;
}

static enum err_code wanted_code(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(other_codes); i++)
        if (strcmp(other_codes[i].id, id) == 0)
            return other_codes[i].code;
    return ERR_BAD_SCHEMA;
}

static void check_problems(const char *id, const struct err *err)
{
    if (err->code == ERR_BAD_JSON && (!err->line || !err->column))
        complain(id, "no line and column", err);
    if (err->code == ERR_BAD_SCHEMA && !err->first)
        complain(id, "no problem listed", err);
    for (const struct problem *p = err->first; p; p = p->next)
        if (!p->detail.len)
            complain(id, "a problem without a sentence", err);
}

static void want_refused(const char *id, enum rc rc, const struct err *err)
{
    if (!rc) {
        complain(id, "accepted", err);
        return;
    }
    if (err->code != wanted_code(id))
        complain(id, "refused in another way", err);
    check_problems(id, err);
}

/* What the server stores must parse again, to the same schema. */
static void check_texts(const char *id, const struct schema *s, struct arena *arena)
{
    struct schema *again = NULL;
    struct err err = {0};
    if (schema_parse(&again, schema_text(s), (struct slice){0}, arena, &err)) {
        complain(id, "its own text is refused", &err);
        return;
    }
    if (!slice_eq(schema_normal_form(s), schema_normal_form(again)))
        complain(id, "its own text is another schema", &err);
    schema_free(again);
    if (schema_parse(&again, schema_normal_form(s), (struct slice){0}, arena, &err)) {
        struct slice n = schema_normal_form(s);
        print_message("%.*s\n", (int)n.len, (const char *)n.ptr);
        complain(id, "its normal form is refused", &err);
        return;
    }
    if (!slice_eq(schema_normal_form(s), schema_normal_form(again)))
        complain(id, "the normal form of its normal form is another", &err);
    schema_free(again);
}

/* The Parsing Canonical Form, and its fingerprint. */
static void check_identity(const char *id, const struct schema *s, json_t *c)
{
    struct buf canonical = {0};
    struct err none = {0};
    json_t *want = json_object_get(c, "canonical");
    char hex[17];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)schema_fingerprint(s));
    assert_true(schema_canonical(s, &canonical));
    if (!slice_eq(buf_slice(&canonical), slice_of(json_string_value(want), json_string_length(want))))
        complain(id, "another canonical form", &none);
    if (strcmp(hex, json_string_value(json_object_get(c, "crc64_avro_hex"))))
        complain(id, "another fingerprint", &none);
    buf_release(&canonical);
}

static void run_case(json_t *c, void *is_valid)
{
    bool valid = *(const bool *)is_valid;
    const char *id = json_string_value(json_object_get(c, "id"));
    struct buf text = {0};
    struct arena arena = {0};
    struct err err = {0};
    struct schema *s = NULL;
    read_text(c, &text);
    enum rc rc = schema_parse(&s, buf_slice(&text), (struct slice){0}, &arena, &err);
    if (!valid || is_refused_by_policy(id))
        want_refused(id, rc, &err);
    else if (rc)
        complain(id, "refused", &err);
    else {
        check_texts(id, s, &arena);
        check_identity(id, s, c);
    }
    schema_free(s);
    buf_release(&text);
    arena_release(&arena);
}

static void run_file(const char *name, bool valid, unsigned want_cases)
{
    failures = 0;
    assert_int_equal(lines_each(name, run_case, &valid), want_cases);
    assert_int_equal(failures, 0);
}

TEST(schema_parse__takes_every_valid_schema)
{
    run_file("schemas-valid.jsonl", true, 134);
}

TEST(schema_parse__refuses_every_invalid_schema)
{
    run_file("schemas-invalid.jsonl", false, 149);
}

TEST_MAIN()
