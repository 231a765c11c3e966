/* tests/unit/schema/test_compat.c - may a schema follow others: the reasons, where they are, and how many. */
#include "schema/schema.h"

#include <stdio.h>

#include "tests/lib/test.h"

static struct schema *parse_entry(const char *text, const char *fullname)
{
    struct arena arena = {0};
    struct schema *s;
    struct err err;
    if (schema_parse(&s, slice_str(text), slice_str(fullname), &arena, &err) != RC_OK)
        fail_msg("%.200s: %s", text, err.message);
    arena_release(&arena);
    return s;
}

static struct schema *parse(const char *text)
{
    return parse_entry(text, "");
}

/* The reasons, a line each: "< /new /old code" backward (the new schema reads), "> ..." forward. */
static void print_reasons(const struct compat *c, struct buf *out)
{
    for (const struct compat_reason *r = c->first; r; r = r->next) {
        struct slice new = r->is_backward ? r->reader : r->writer,
                     old = r->is_backward ? r->writer : r->reader;
        assert_true(buf_printf(out, "%u%c new:%.*s old:%.*s %s\n", r->version, r->is_backward ? '<' : '>',
                               (int)new.len, (const char *)new.ptr, (int)old.len, (const char *)old.ptr,
                               problem_slug(r->code)));
        assert_true(r->words.len > 10 && r->words.ptr[r->words.len - 1] == '.');
    }
}

static void compares(enum compat_mode mode, const char *const *old, size_t n, const char *new,
                     const char *want)
{
    struct schema *owned[8], *latest = parse(new);
    const struct schema *versions[8];
    struct arena arena = {0};
    struct buf out = {0};
    struct compat c;
    struct err err;
    for (size_t i = 0; i < n; i++)
        versions[i] = owned[i] = parse(old[i]);
    assert_int_equal(compat_check(mode, latest, versions, n, &arena, &c, &err), RC_OK);
    print_reasons(&c, &out);
    assert_slice_str(buf_slice(&out), want);
    for (size_t i = 0; i < n; i++)
        schema_free(owned[i]);
    schema_free(latest);
    buf_release(&out);
    arena_release(&arena);
}

static void backward(const char *old, const char *new, const char *want)
{
    compares(COMPAT_BACKWARD, &old, 1, new, want);
}

static void says(const char *old, const char *new, const char *words)
{
    struct schema *o = parse(old), *n = parse(new);
    const struct schema *versions[] = {o};
    struct arena arena = {0};
    struct compat c;
    struct err err;
    assert_int_equal(compat_check(COMPAT_BACKWARD, n, versions, 1, &arena, &c, &err), RC_OK);
    assert_int_equal(c.n, 1);
    assert_slice_str(c.first->words, words);
    schema_free(o);
    schema_free(n);
    arena_release(&arena);
}

#define NAMED(type, name, more) "{\"type\":\"" type "\",\"name\":\"" name "\"," more "}"
#define RECORD(fields)          NAMED("record", "R", "\"fields\":[" fields "]")
#define FIELD(name, type)       "{\"name\":\"" name "\",\"type\":" type "}"
#define ALSO(name, type, more)  "{\"name\":\"" name "\",\"type\":" type "," more "}"
#define ARRAY(items)            "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values)             "{\"type\":\"map\",\"values\":" values "}"
#define ENUM(name, symbols)     NAMED("enum", name, "\"symbols\":[" symbols "]")
#define INT                     "\"int\""
#define STRING                  "\"string\""

/* ---- where ---- */

TEST(compat_check__points_at_the_new_field_and_the_record_that_lacks_it)
{
    backward(RECORD(FIELD("a", INT)), RECORD(FIELD("a", INT) "," FIELD("n", INT)),
             "0< new:/fields/1 old: missing\n");
    backward(RECORD(FIELD("m", MAP(ARRAY(NAMED("record", "I", "\"fields\":[]"))))),
             RECORD(FIELD("x", "\"null\"") "," FIELD(
                 "m", MAP(ARRAY(NAMED("record", "I", "\"fields\":[" FIELD("y", INT) "]"))))),
             "0< new:/fields/0 old: missing\n"
             "0< new:/fields/1/type/values/items/fields/0 old:/fields/0/type/values/items missing\n");
}

TEST(compat_check__points_at_types_in_both_schemas)
{
    backward(RECORD(FIELD("a", INT) "," FIELD("b", ARRAY(INT))),
             RECORD(FIELD("b", ARRAY(STRING)) "," FIELD("a", STRING)),
             "0< new:/fields/0/type/items old:/fields/1/type/items type\n");
    backward(RECORD(FIELD("a", NAMED("fixed", "F", "\"size\":2"))),
             RECORD(FIELD("a", NAMED("fixed", "F", "\"size\":3"))),
             "0< new:/fields/0/type old:/fields/0/type size\n");
    backward(STRING, INT, "0< new: old: type\n");
}

TEST(compat_check__points_at_branches)
{
    backward("[\"null\",\"int\"]", INT, "0< new: old:/0 type\n");
    backward("[\"null\",\"string\",\"int\"]", "[\"null\",\"boolean\"]",
             "0< new: old:/1 no_branch\n"
             "0< new: old:/2 no_branch\n");
    backward(RECORD(FIELD("u", "[\"null\"," ENUM("E", "\"A\",\"B\"") "]")),
             RECORD(FIELD("u", "[" ENUM("E", "\"A\"") ",\"null\"]")),
             "0< new:/fields/0/type/0/symbols old:/fields/0/type/1/symbols symbol\n");
}

TEST(compat_check__tells_a_reason_once_where_it_is_met_first)
{
    backward(
        RECORD(FIELD("a", ENUM("E", "\"A\",\"B\"")) "," FIELD("b", "\"E\"") "," FIELD("c", ARRAY("\"E\""))),
        RECORD(FIELD("a", ENUM("E", "\"A\"")) "," FIELD("b", "\"E\"") "," FIELD("c", ARRAY("\"E\""))),
        "0< new:/fields/0/type/symbols old:/fields/0/type/symbols symbol\n");
}

TEST(compat_check__ends_with_types_that_contain_themselves)
{
#define LIST(fields) NAMED("record", "L", "\"fields\":[" fields FIELD("n", "[\"null\",\"L\"]") "]")
    backward(LIST(FIELD("v", INT) ","), LIST(FIELD("v", INT) ","), "");
    backward(LIST(FIELD("v", INT) ","), LIST(FIELD("v", STRING) "," FIELD("w", INT) ","),
             "0< new:/fields/1 old: missing\n0< new:/fields/0/type old:/fields/0/type type\n");
}

TEST(compat_check__points_into_the_text_that_an_entry_was_picked_from)
{
    struct schema *old = parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}");
    struct schema *new = parse_entry("[\"null\"," RECORD(FIELD("n", INT)) "]", "R");
    const struct schema *versions[] = {old}, *others[] = {new};
    struct arena arena = {0};
    struct buf out = {0};
    struct compat c;
    struct err err;
    assert_int_equal(compat_check(COMPAT_BACKWARD, new, versions, 1, &arena, &c, &err), RC_OK);
    print_reasons(&c, &out);
    assert_slice_str(buf_slice(&out), "0< new:/1/fields/0 old: missing\n");
    struct schema *number = parse(INT);
    out.len = 0;
    assert_int_equal(compat_check(COMPAT_BACKWARD, number, others, 1, &arena, &c, &err), RC_OK);
    print_reasons(&c, &out);
    assert_slice_str(buf_slice(&out), "0< new: old:/1 type\n");
    schema_free(old);
    schema_free(new);
    schema_free(number);
    buf_release(&out);
    arena_release(&arena);
}

/* ---- what is said ---- */

TEST(compat_check__names_both_sides)
{
    says(INT, STRING, "A value written as int, to be read as string.");
    says(NAMED("record", "A", "\"fields\":[]"), NAMED("record", "n.B", "\"fields\":[]"),
         "A value written as record A, to be read as record n.B: the names differ, and no alias joins them.");
    says(RECORD(""), RECORD(FIELD("n", INT)),
         "The field \"n\" of R has no default, and who writes does not have it.");
    says(ENUM("E", "\"A\",\"B\",\"C\""), ENUM("E", "\"B\""),
         "The enum E that reads has no default and lacks \"A\", \"C\" of the one that writes.");
    says(RECORD(FIELD("a", INT) "," FIELD("b", INT)), RECORD(ALSO("a", INT, "\"aliases\":[\"b\"]")),
         "The name and the aliases of the field \"a\" of R are several fields of who writes.");
    says(INT, "[\"null\"]", "A value written as int, to be read as union: no branch of it takes that type.");
}

/* ---- which versions, which way ---- */

TEST(compat_check__looks_both_ways_if_the_mode_does)
{
    static const char *const old[] = {RECORD(FIELD("a", INT))};
    static const char new[] = RECORD(FIELD("a", "\"long\"") "," FIELD("b", INT));
    compares(COMPAT_NONE, old, 1, new, "");
    compares(COMPAT_BACKWARD, old, 1, new, "0< new:/fields/1 old: missing\n");
    compares(COMPAT_FORWARD, old, 1, new, "0> new:/fields/0/type old:/fields/0/type type\n");
    compares(COMPAT_FULL, old, 1, new,
             "0< new:/fields/1 old: missing\n0> new:/fields/0/type old:/fields/0/type type\n");
}

TEST(compat_check__looks_at_all_versions_if_the_mode_is_transitive)
{
    static const char *const old[] = {RECORD(""), RECORD(ALSO("a", INT, "\"default\":0"))};
    compares(COMPAT_BACKWARD, old, 2, RECORD(FIELD("a", INT)), "");
    compares(COMPAT_BACKWARD_TRANSITIVE, old, 2, RECORD(FIELD("a", INT)), "0< new:/fields/0 old: missing\n");
    compares(COMPAT_FULL_TRANSITIVE, old, 0, RECORD(FIELD("a", INT)), "");
}

TEST(compat_mode_name__is_what_an_option_says)
{
    assert_string_equal(compat_mode_name(COMPAT_BACKWARD), "backward");
    assert_string_equal(compat_mode_name(COMPAT_FULL_TRANSITIVE), "full_transitive");
    assert_string_equal(compat_mode_name(COMPAT_NONE), "none");
}

/* ---- how many ---- */

static void print_wide(struct buf *out, const char *name, unsigned fields)
{
    assert_true(buf_printf(out, "{\"type\":\"record\",\"name\":\"R\",\"fields\":["));
    for (unsigned i = 0; i < fields; i++)
        assert_true(buf_printf(out, "%s{\"name\":\"%s%u\",\"type\":\"int\"}", i ? "," : "", name, i));
    assert_true(buf_printf(out, "]}"));
    assert_true(buf_append_byte(out, 0));
}

TEST(compat_check__lists_a_hundred_reasons_and_says_that_there_are_more)
{
    struct buf old = {0}, new = {0};
    print_wide(&old, "a", 100);
    print_wide(&new, "b", 100);
    struct schema *o = parse((const char *)old.ptr), *n = parse((const char *)new.ptr);
    const struct schema *versions[] = {o};
    struct arena arena = {0};
    struct compat c;
    struct err err;
    assert_int_equal(compat_check(COMPAT_BACKWARD, n, versions, 1, &arena, &c, &err), RC_OK);
    assert_int_equal(c.n, 100);
    assert_false(c.truncated);
    assert_int_equal(compat_check(COMPAT_FULL, n, versions, 1, &arena, &c, &err), RC_OK);
    assert_int_equal(c.n, COMPAT_REASONS_MAX);
    assert_true(c.truncated);
    schema_free(o);
    schema_free(n);
    buf_release(&old);
    buf_release(&new);
    arena_release(&arena);
}

TEST_MAIN()
