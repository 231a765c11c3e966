/* tests/unit/schema/test_canonical.c - the Parsing Canonical Form and its fingerprint: what counts, what
 * does not. */
#include "schema/schema.h"

#include "tests/lib/test.h"

static struct schema *parse(const char *text, const char *fullname)
{
    struct arena arena = {0};
    struct schema *s;
    struct err err;
    if (schema_parse(&s, slice_str(text), slice_str(fullname), &arena, &err) != RC_OK)
        fail_msg("%s: %s", text, err.message);
    arena_release(&arena);
    return s;
}

static void entry_becomes(const char *text, const char *fullname, const char *canonical)
{
    struct schema *s = parse(text, fullname);
    struct buf out = {0};
    assert_true(schema_canonical(s, &out));
    assert_slice_str(buf_slice(&out), canonical);
    buf_release(&out);
    schema_free(s);
}

static void becomes(const char *text, const char *canonical)
{
    entry_becomes(text, "", canonical);
}

static uint64_t fingerprint(const char *text)
{
    struct schema *s = parse(text, "");
    uint64_t fp = schema_fingerprint(s);
    schema_free(s);
    return fp;
}

static const char person[] =
    "{\"type\":\"record\",\"name\":\"PersonInfo\",\"namespace\":\"astore\",\"fields\":["
    "{\"name\":\"name\",\"type\":\"string\"},{\"name\":\"age\",\"type\":\"int\"},"
    "{\"name\":\"gender\",\"type\":{\"type\":\"enum\",\"name\":\"GenderType\",\"symbols\":[\"Female\","
    "\"Male\",\"Unknown\"]},\"default\":\"Unknown\"},"
    "{\"name\":\"emails\",\"type\":{\"type\":\"array\",\"items\":\"string\"}}]}";

TEST(schema_canonical__has_names_in_full_and_members_in_order)
{
    becomes(person, "{\"name\":\"astore.PersonInfo\",\"type\":\"record\",\"fields\":["
                    "{\"name\":\"name\",\"type\":\"string\"},{\"name\":\"age\",\"type\":\"int\"},"
                    "{\"name\":\"gender\",\"type\":{\"name\":\"astore.GenderType\",\"type\":\"enum\","
                    "\"symbols\":[\"Female\",\"Male\",\"Unknown\"]}},"
                    "{\"name\":\"emails\",\"type\":{\"type\":\"array\",\"items\":\"string\"}}]}");
    becomes("{\"size\":3,\"name\":\"F\",\"namespace\":\"n\",\"type\":\"fixed\"}",
            "{\"name\":\"n.F\",\"type\":\"fixed\",\"size\":3}");
    becomes("{\"values\":{\"type\":\"int\"},\"type\":\"map\"}", "{\"type\":\"map\",\"values\":\"int\"}");
    becomes("{\"type\":\"record\",\"name\":\"E\",\"fields\":[]}",
            "{\"name\":\"E\",\"type\":\"record\",\"fields\":[]}");
}

TEST(schema_canonical__defines_a_type_once_and_names_it_from_then_on)
{
    becomes("{\"type\":\"record\",\"name\":\"L\",\"namespace\":\"n\",\"fields\":["
            "{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}},{\"name\":\"g\","
            "\"type\":\"F\"},"
            "{\"name\":\"next\",\"type\":[\"null\",\"L\"]}]}",
            "{\"name\":\"n.L\",\"type\":\"record\",\"fields\":["
            "{\"name\":\"f\",\"type\":{\"name\":\"n.F\",\"type\":\"fixed\",\"size\":1}},{\"name\":\"g\","
            "\"type\":\"n."
            "F\"},{\"name\":\"next\",\"type\":[\"null\",\"n.L\"]}]}");
}

TEST(schema_canonical__of_a_picked_entry_defines_what_it_uses)
{
    entry_becomes("[{\"type\":\"fixed\",\"name\":\"F\",\"size\":1},"
                  "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"f\",\"type\":\"F\"}]}]",
                  "R",
                  "{\"name\":\"R\",\"type\":\"record\",\"fields\":["
                  "{\"name\":\"f\",\"type\":{\"name\":\"F\",\"type\":\"fixed\",\"size\":1}}]}");
}

TEST(schema_fingerprint__is_that_of_other_implementations)
{
    assert_int_equal(fingerprint(person), 0x0393c321fe924dad);
    assert_int_equal(
        fingerprint("{\"type\":\"record\",\"name\":\"Hand\",\"namespace\":\"com.shop\",\"fields\":["
                    "{\"name\":\"first\",\"type\":{\"type\":\"enum\",\"name\":\"Suit\",\"symbols\":["
                    "\"CLUBS\",\"HEARTS\"]}},{\"name\":\"second\",\"type\":\"Suit\"}]}"),
        0x74a1ec6dee12a6bc);
    assert_int_equal(fingerprint("{\"type\":\"null\"}"), 0x63dd24e7cc258f8a);
}

TEST(schema_fingerprint__does_not_change_with_what_readers_of_data_need_not_know)
{
    static const char plain[] =
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"}]}";
    assert_int_equal(fingerprint(plain),
                     fingerprint("{\"doc\":\"d\",\"aliases\":[\"Q\"],\"x\":1,\"type\":\"record\","
                                 "\"name\":\"R\",\"fields\":[{\"order\":\"ignore\",\"default\":7,"
                                 "\"aliases\":[\"b\"],\"doc\":\"d\",\"name\":\"\\u0061\",\"type\":"
                                 "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}}]}"));
    assert_int_not_equal(fingerprint(plain),
                         fingerprint("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":"
                                     "\"a\",\"type\":\"int\"}]}"));
}

TEST_MAIN()
