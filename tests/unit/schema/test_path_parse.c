/* tests/unit/schema/test_path_parse.c - paths that are paths, as they are printed again, and the columns of those that are none. */
#include "schema/path/path.h"

#include "base/limits.h"
#include "schema/schema.h"
#include "tests/lib/test.h"

/* An account as stores of this kind keep it; beside it every kind of type. */
static const char account[] =
    "{\"type\":\"record\",\"name\":\"Account\",\"fields\":["
    "{\"name\":\"id\",\"type\":\"string\"},"
    "{\"name\":\"time\",\"type\":\"long\"},"
    "{\"name\":\"charges\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"Charge\","
    "\"fields\":["
    "{\"name\":\"time\",\"type\":\"long\"},{\"name\":\"amount\",\"type\":\"double\"}]}}},"
    "{\"name\":\"apps\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"record\",\"name\":\"App\","
    "\"fields\":["
    "{\"name\":\"n\",\"type\":\"int\"}]}}},"
    "{\"name\":\"last\",\"type\":[\"null\",\"Charge\"]},"
    "{\"name\":\"next\",\"type\":[\"null\",\"Account\"]},"
    "{\"name\":\"rows\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"App\"}}},"
    "{\"name\":\"tags\",\"type\":[\"null\",{\"type\":\"array\",\"items\":\"string\"}]}"
    "]}";

struct world {
    struct arena arena;
    struct schema *schema;
    struct path *path;
    struct buf out;
    struct err err;
};

static struct world world_of(void)
{
    struct world w = {.schema = NULL};
    if (schema_parse(&w.schema, slice_str(account), SLICE(""), &w.arena, &w.err) != RC_OK)
        fail_msg("%s", w.err.message);
    return w;
}

static void world_release(struct world *w)
{
    schema_free(w->schema);
    arena_release(&w->arena);
    buf_release(&w->out);
}

static enum rc parse(struct world *w, struct slice text)
{
    w->err = (struct err){0};
    return path_parse(&w->path, w->schema, text, &w->arena, &w->err);
}

static void prints(const char *text, const char *want)
{
    struct world w = world_of();
    if (parse(&w, slice_str(text)) != RC_OK)
        fail_msg("%s: %s", text, w.err.message);
    assert_true(path_print(w.path, &w.out));
    assert_slice_str(buf_slice(&w.out), want);
    struct buf again = {0};
    if (parse(&w, buf_slice(&w.out)) != RC_OK)
        fail_msg("%s, printed as %s: %s", text, want, w.err.message);
    assert_true(path_print(w.path, &again));
    assert_slice_str(buf_slice(&again), want);
    buf_release(&again);
    world_release(&w);
}

static void refused(const char *text, uint32_t column, const char *words)
{
    struct world w = world_of();
    if (parse(&w, slice_str(text)) == RC_OK)
        fail_msg("%s is taken", text);
    assert_int_equal(w.err.code, ERR_BAD_PATH);
    if (!strstr(w.err.message, words) || w.err.column != column || w.err.line != 1)
        fail_msg("%s: column %u: %s", text, w.err.column, w.err.message);
    world_release(&w);
}

/* ---- what is a path ---- */

TEST(path_parse__takes_every_step)
{
    prints(".", ".");
    prints(".charges", ".charges");
    prints(" .charges [ 0 ] .time ", ".charges[0].time");
    prints(".charges[-1]", ".charges[-1]");
    prints(".charges[1:2][:3][-4:][:]", ".charges[1:2][:3][-4:][:]");
    prints(".charges[*]", ".charges[:]");
    prints(".*", ".*");
    prints("..*", "..*");
    prints("..amount", "..amount");
    prints(".charges..time", ".charges..time");
    prints("(.id | .time)", "(.id|.time)");
    prints("(.charges[0]|.last).time", "(.charges[0]|.last).time");
    prints("(.id)", "(.id)");
    prints(".apps(\"a\" | \"b\").n", ".apps(\"a\"|\"b\").n");
    prints(".apps( ~ \"^a.*\" | \"b\")", ".apps(~\"^a.*\"|\"b\")");
    prints(".apps(\"\\u00e9\\\"\")", ".apps(\"\xc3\xa9\\\"\")");
    prints(".{.time > 1}", ".{.time > 1}");
    prints(".(~\"time\")", ".(~\"time\")");
    prints("[0]", "[0]");
    prints("^.id", "^.id");
}

TEST(path_parse__looks_through_arrays_and_unions_for_names)
{
    prints(".last.time", ".last.time");
    prints(".rows.n", ".rows.n");
    prints(".next.next.charges.time", ".next.next.charges.time");
    prints(".next..n", ".next..n");
}

TEST(path_parse__takes_predicates_about_entries_and_items)
{
    prints(".apps{.n > 2}", ".apps{.n > 2}");
    prints(".rows{.n == 1}", ".rows{.n == 1}");
    prints(".tags{. == \"x\"}", ".tags{. == \"x\"}");
    prints(".charges{.amount > ^.charges[0].amount}", ".charges{.amount > ^.charges[0].amount}");
    prints(".charges{.time > 1}{.time < 5}[0]", ".charges{.time > 1}{.time < 5}[0]");
    prints(".{.charges{.time > 1 && ^.apps{.n == 1}}}", ".{.charges{.time > 1 && ^.apps{.n == 1}}}");
}

TEST(path_parse__knows_what_binds_stronger)
{
    prints(".{1+2*3-4 == -5 && !.id || .time}", ".{1 + 2 * 3 - 4 == -5 && !.id || .time}");
    prints(".{(1+2)*3}", ".{(1 + 2) * 3}");
    prints(".{1-(2-3)}", ".{1 - (2 - 3)}");
    prints(".{(1-2)-3}", ".{1 - 2 - 3}");
    prints(".{1 < 2 == 3 > 4}", ".{1 < 2 == 3 > 4}");
    prints(".{1 < (2 == 3)}", ".{1 < (2 == 3)}");
    prints(".{.id && (.time || .last) && .next}", ".{.id && (.time || .last) && .next}");
    prints(".{.id && (.time && .last)}", ".{.id && (.time && .last)}");
    prints(".{!(.id == 1)}", ".{!(.id == 1)}");
    prints(".{!!.id}", ".{!!.id}");
    prints(".{-.time < - 1}", ".{-.time < -1}");
    prints(".{-(-5) == --.time}", ".{5 == --.time}");
    prints(".{--0 == ---0}", ".{0 == -0.0}");
}

TEST(path_parse__knows_every_operator)
{
    prints(".{.id==1}", ".{.id == 1}");
    prints(".{.id===1}", ".{.id === 1}");
    prints(".{.id!=1}", ".{.id != 1}");
    prints(".{.id!==1}", ".{.id !== 1}");
    prints(".{.id^==\"a\"}", ".{.id ^== \"a\"}");
    prints(".{.id^=\"a\"}", ".{.id ^= \"a\"}");
    prints(".{.id$==\"a\"}", ".{.id $== \"a\"}");
    prints(".{.id$=\"a\"}", ".{.id $= \"a\"}");
    prints(".{.id*==\"a\"}", ".{.id *== \"a\"}");
    prints(".{.id*=\"a\"}", ".{.id *= \"a\"}");
    prints(".{.time<1||.time<=1||.time>1||.time>=1}",
           ".{.time < 1 || .time <= 1 || .time > 1 || .time >= 1}");
    prints(".{.time+1-1*1/1%1}", ".{.time + 1 - 1 * 1 / 1 % 1}");
    prints(".{.id==^.id}", ".{.id == ^.id}");
}

TEST(path_parse__knows_every_literal)
{
    prints(".{1 == 1.5}", ".{1 == 1.5}");
    prints(".{.5 == 1e2}", ".{0.5 == 100}");
    prints(".{9223372036854775807 == 9223372036854775808}", ".{9223372036854775807 == 9.223372036854776e18}");
    prints(".{-0.0 == 1e300}", ".{-0.0 == 1e300}");
    prints(".{true == false || null == \"\"}", ".{true == false || null == \"\"}");
}

TEST(path_parse__tells_groups_from_alternatives_and_keys)
{
    prints(".{(.id)}", ".{.id}");
    prints(".charges{{.time == 1}[0]}", ".charges{{.time == 1}[0]}");
    prints(".rows{[0].n == 1 && [1:]}", ".rows{[0].n == 1 && [1:]}");
    prints(".{(.id|.time) == 1}", ".{(.id|.time) == 1}");
    prints(".{(.charges|.last).time == 1}", ".{(.charges|.last).time == 1}");
    prints(".{(.last).time == 1}", ".{(.last).time == 1}");
    prints(".{(\"a\") == .id}", ".{\"a\" == .id}");
    prints(".{.apps{.(\"a\")}}", ".{.apps{.(\"a\")}}");
    prints(".apps{(~\"a\"|\"b\")}", ".apps{(~\"a\"|\"b\")}");
    prints(".apps{(\"a\").n == 1}", ".apps{(\"a\").n == 1}");
    prints(".apps{(\"a\"|~\"b\").n == 1}", ".apps{(\"a\"|~\"b\").n == 1}");
}

/* ---- what is none ---- */

TEST(path_parse__tells_the_column_of_what_does_not_belong)
{
    refused("", 1, "it ends where a path");
    refused("charges", 1, "a dot before its name: .charges");
    refused(".charges[", 10, "it ends where a position");
    refused(".charges[0", 11, "it ends where ']' to close '['");
    refused(".charges[1.5]", 10, "integer");
    refused(".charges[x]", 10, "a dot before its name");
    refused(".charges[.id]", 10, "a position");
    refused(".charges[99999999999999999999]", 10, "integer");
    refused(".charges{", 10, "it ends where a number");
    refused(".charges{.time > 1", 19, "'}' to close '{'");
    refused(".charges{}", 10, "} stands where");
    refused(".charges{.time >}", 17, "} stands where");
    refused(".charges{.time = 1}", 16, "'=' means nothing");
    refused(".charges.", 9, "behind this dot");
    refused(". .id", 1, "behind this dot");
    refused(".charges..", 11, "behind \"..\"");
    refused(".charges)", 9, ") stands where the next step");
    refused("(.id|.time", 11, "')' to close '('");
    refused("(.id|)", 6, ") stands where a path");
    refused(".apps(\"a\"|.n)", 11, "a key in quotes");
    refused(".apps(\"a)", 7, "no JSON string");
    refused(".apps(\"\\x\")", 7, "no JSON string");
    refused(".apps(\"\\ud800\")", 7, "no JSON string");
    refused(".apps(~\"(\")", 8, "regular expression is none, at its byte 2");
    refused(".apps(~\"\\\\C\")", 8, "regular expression");
    refused(".\"id\"", 2, "parentheses");
    refused(".id\n", 4, "control character");
    refused(".id $", 5, "'$' means nothing");
    refused(".\xc3\xa9", 2, "means nothing");
    refused(".id\xff", 4, "not UTF-8");
    refused(".{1e400}", 3, "beyond");
    refused(".{01}", 3, "no number");
    refused(".{1x}", 3, "no number");
    refused(".{.id == }", 10, "} stands");
    refused(".{== 1}", 3, "== stands");
    refused(".{yes}", 3, ".yes");
}

TEST(path_parse__knows_the_fields_of_the_schema)
{
    refused(".nothing", 1, "'nothing'");
    refused(".charges.nothing", 9, "'nothing'");
    refused(".id.time", 4, "'time'");
    refused(".apps.n", 6, "'n'");
    refused("..nothing", 1, "'nothing'");
    refused(".last..n", 6, "'n'");
    refused("(.id|.nothing)", 6, "'nothing'");
    refused(".charges{.nothing == 1}", 10, "'nothing'");
    refused(".charges{^.nothing == 1}", 11, "'nothing'");
    refused(".charges[0].nothing", 12, "'nothing'");
    refused(".{(.id|.nothing)}", 8, "'nothing'");
    refused(".{(.last).n}", 10, "'n'");
    refused(".id(\"a\")", 4, "no map");
}

TEST(path_parse__ends_with_a_limit_whatever_is_nested)
{
    static const char *const nested[] = {"(", "!", ".{", "-", ".{(", "(.{!-("};
    struct buf text = {0};
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        struct world w = world_of();
        text.len = 0;
        if (nested[i][0] == '!' || nested[i][0] == '-')
            assert_true(buf_append(&text, SLICE(".{")));
        while (text.len < LIMIT_PATH_TEXT_MAX - 10)
            assert_true(buf_append(&text, slice_str(nested[i])));
        assert_int_equal(parse(&w, buf_slice(&text)), RC_ERR);
        assert_int_equal(w.err.code, ERR_BAD_PATH);
        assert_non_null(strstr(w.err.message, "levels"));
        world_release(&w);
    }
    buf_release(&text);
}

TEST(path_parse__takes_long_chains_of_and_and_or_but_not_of_others)
{
    static const char *const ops[] = {"&&", "||", "+", "=="};
    struct buf text = {0};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct world w = world_of();
        text.len = 0;
        assert_true(buf_append(&text, SLICE(".{1")));
        for (int n = 0; n < 2000; n++)
            assert_true(buf_printf(&text, "%s%d", ops[i], n));
        assert_true(buf_append(&text, SLICE("}")));
        assert_int_equal(parse(&w, buf_slice(&text)), i < 2 ? RC_OK : RC_ERR);
        world_release(&w);
    }
    buf_release(&text);
}

TEST(path_parse__does_not_take_a_longer_text_than_the_limit)
{
    struct world w = world_of();
    struct buf text = {0};
    assert_true(buf_append(&text, SLICE(".id")));
    while (text.len < LIMIT_PATH_TEXT_MAX)
        assert_true(buf_append_byte(&text, ' '));
    assert_int_equal(parse(&w, buf_slice(&text)), RC_OK);
    assert_true(buf_append_byte(&text, ' '));
    assert_int_equal(parse(&w, buf_slice(&text)), RC_ERR);
    assert_int_equal(w.err.code, ERR_BAD_PATH);
    buf_release(&text);
    world_release(&w);
}

TEST(path_parse__does_not_take_regular_expressions_that_grow_without_end)
{
    struct world w = world_of();
    struct buf text = {0};
    assert_true(buf_append(&text, SLICE(".apps(\"x\"")));
    for (int i = 0; i < 100; i++)
        assert_true(buf_append(&text, SLICE("|~\"(abc{1,100}){1,100}\"")));
    assert_true(buf_append(&text, SLICE(")")));
    assert_int_equal(parse(&w, buf_slice(&text)), RC_ERR);
    assert_non_null(strstr(w.err.message, "regular expressions take more than"));
    assert_true(w.arena.bytes < 8 << 20);
    buf_release(&text);
    world_release(&w);
}

static void ends_in(const char *text, bool array, bool map)
{
    struct world w = world_of();
    assert_int_equal(parse(&w, slice_str(text)), RC_OK);
    assert_int_equal(w.path->may_end_in_array, array);
    assert_int_equal(w.path->may_end_in_map, map);
    world_release(&w);
}

TEST(path_parse__knows_whether_an_array_or_a_map_can_be_found)
{
    ends_in(".charges", true, false);
    ends_in(".apps", false, true);
    ends_in(".tags", true, false);
    ends_in(".id", false, false);
    ends_in(".*", true, true);
    ends_in("(.charges|.apps)", true, true);
    ends_in(".charges.time", false, false);
}

TEST_MAIN()
