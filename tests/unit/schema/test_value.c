/* Data that are opened: their parts, what they become, what is written, what is refused. */
#include "schema/value/value.h"

#include <math.h>

#include "tests/unit/schema/codec_fixture.h"

static struct datum d;
static struct arena values;
static struct buf avro, got;

__attribute__((destructor)) static void values_end(void)
{
    arena_release(&values);
    buf_release(&avro);
    buf_release(&got);
}

/* d: the datum that the JSON is. */
static void begin_with(const char *json, bool brief)
{
    if (encode_json(json))
        fail_msg("%s: %s", json, err.message);
    avro.len = 0;
    assert_true(buf_append(&avro, buf_slice(&out)));
    arena_reset(&values);
    datum_init(&d, schema, &opts, codec, brief, buf_slice(&avro), &values);
}

static void begin(const char *json)
{
    begin_with(json, false);
}

static void open_value(struct value *v)
{
    if (value_open(&d, v, &err))
        fail_msg("%s", err.message);
    assert_true(v->is_open);
}

/* By names of fields, keys, indexes, separated by dots; unions are entered. */
static struct value *at(const char *path)
{
    char copy[256];
    struct value *v = &d.root;
    size_t len = strlen(path);
    assert_true(len < sizeof copy);
    memcpy(copy, path, len + 1);
    for (char *rest = NULL, *step = strtok_r(copy, ".", &rest); step; step = strtok_r(NULL, ".", &rest)) {
        assert_int_equal(value_enter_union(&d, &v, &err), RC_OK);
        open_value(v);
        uint8_t code = d.program->ops[v->op].code;
        v = code == OP_RECORD ? value_field(&d, v, slice_str(step))
            : code == OP_MAP  ? value_entry(v, slice_str(step))
                              : v->part[strtoul(step, NULL, 10)];
        if (!v)
            fail_msg("%s: no %s", path, step);
    }
    return v;
}

/* What the root has become, as GET shows it; and the encoder makes the same bytes of that. */
static void is_now(const char *want)
{
    got.len = text.len = 0;
    if (datum_finish(&d, &got, &err) || codec_to_json(schema, opts.form, buf_slice(&got), &text, &err))
        fail_msg("%s", err.message);
    assert_slice_str(buf_slice(&text), want);
    out.len = 0;
    assert_int_equal(codec_from_json(codec, schema, &opts, buf_slice(&text), &out, &arena, &err), RC_OK);
    assert_true(slice_eq(buf_slice(&out), buf_slice(&got)));
    text.len = 0;
    assert_int_equal(value_print(&d, &d.root, opts.form, LIMIT_JSON_MAX, &text, &err), RC_OK);
    assert_slice_str(buf_slice(&text), want);
}

static void set_json(struct value *v, const char *json)
{
    if (value_set_json(&d, v, slice_str(json), slice_of(NULL, 0), &err))
        fail_msg("%s: %s", json, err.message);
}

/* Refused with these problems, one a line: pointer, code. */
static void refuses_set(struct value *v, const char *json, const char *prefix, const char *want)
{
    if (value_set_json(&d, v, slice_str(json), slice_str(prefix), &err) == RC_OK)
        fail_msg("accepted: %s", json);
    text.len = 0;
    for (const struct problem *p = err.first; p; p = p->next)
        assert_true(buf_printf(&text, "%.*s %s\n", (int)p->pointer.len, (const char *)p->pointer.ptr,
                               problem_slug(p->code)));
    assert_slice_str(buf_slice(&text), want);
}

#define THINGS                                                                                               \
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":["                                                       \
    "{\"name\":\"n\",\"type\":\"long\"},"                                                                    \
    "{\"name\":\"s\",\"type\":\"string\"},"                                                                  \
    "{\"name\":\"list\",\"type\":{\"type\":\"array\",\"items\":\"int\"}},"                                   \
    "{\"name\":\"map\",\"type\":{\"type\":\"map\",\"values\":{\"type\":\"record\",\"name\":\"P\","           \
    "\"fields\":["                                                                                           \
    "{\"name\":\"x\",\"type\":\"double\"},{\"name\":\"y\",\"type\":\"double\"}]}}},"                         \
    "{\"name\":\"u\",\"type\":[\"null\",\"string\",\"P\"]},"                                                 \
    "{\"name\":\"o\",\"type\":[\"null\",\"P\"]},"                                                            \
    "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}}]}"

#define A_THING                                                                                              \
    "{\"n\":7,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{\"a\":{\"x\":1.5,\"y\":2.0},\"b\":{\"x\":0.0,"          \
    "\"y\":0.0}},\"u\":{\"P\":{\"x\":1.0,\"y\":1.0}},\"o\":{\"x\":3.0,\"y\":4.0},\"e\":\"B\"}"

static void begin_thing(void)
{
    use_schema(THINGS);
    begin(A_THING);
}

TEST(value_open__finds_parts_of_every_kind)
{
    int64_t n;
    double x;
    struct slice s;
    begin_thing();
    assert_int_equal(value_long(&d, at("n"), &n, &err), RC_OK);
    assert_int_equal(n, 7);
    assert_int_equal(value_text(&d, at("s"), &s, &err), RC_OK);
    assert_slice_str(s, "hi");
    open_value(at("list"));
    assert_int_equal(at("list")->nparts, 3);
    assert_int_equal(value_long(&d, at("list.2"), &n, &err), RC_OK);
    assert_int_equal(n, 3);
    assert_slice_str(at("map.b")->key, "b");
    assert_int_equal(value_double(&d, at("map.a.x"), &x, &err), RC_OK);
    assert_true(x == 1.5);
    assert_int_equal(value_double(&d, at("u.y"), &x, &err), RC_OK);
    assert_true(x == 1.0);
    assert_int_equal(at("u")->branch, 2);
    assert_int_equal(value_long(&d, at("e"), &n, &err), RC_OK);
    assert_int_equal(n, 1);
    assert_int_equal(value_text(&d, at("e"), &s, &err), RC_OK);
    assert_slice_str(s, "B");
    assert_null(value_field(&d, &d.root, SLICE("nothing")));
    assert_null(value_entry(at("map"), SLICE("c")));
    assert_int_equal(value_depth(&d, at("map.a.x")), 3);
    assert_int_equal(value_depth(&d, at("u.x")), 2);
    assert_int_equal(value_depth(&d, &d.root), 0);
    is_now(A_THING);
}

TEST(value_open__reads_blocks_that_tell_their_size_and_long_numbers)
{
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"l\",\"type\":{\"type\":\"array\","
               "\"items\":\"long\"}},{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"boolean\"}}]}");
    static const uint8_t bytes[] = {0x03, 0x06, 0x82, 0x00, 0x04, 0x02,
                                    0x06, 0x00, /* -2, 3 bytes: 1, 2; 1: 3 */
                                    0x01, 0x06, 0x02, 'k',  0x01, 0x00};
    arena_reset(&values);
    datum_init(&d, schema, &opts, codec, false, slice_of(bytes, sizeof bytes), &values);
    assert_int_equal(value_open(&d, &d.root, &err), RC_OK);
    open_value(at("l"));
    assert_int_equal(at("l")->nparts, 3);
    assert_int_equal(at("l.0")->avro.len, 2);
    /* What was only looked at keeps its bytes. */
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_OK);
    assert_true(slice_eq(buf_slice(&got), slice_of(bytes, sizeof bytes)));
    /* And so does what is beside a change. */
    value_set(&d, at("m.k"), SLICE("\0"));
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_OK);
    assert_true(slice_eq(slice_of(got.ptr, 8), slice_of(bytes, 8)));
    assert_true(slice_eq(slice_of(got.ptr + 8, got.len - 8), SLICE("\x02\x02k\0\0")));
}

TEST(value_open__refuses_what_is_no_datum)
{
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"l\",\"type\":{\"type\":\"array\","
               "\"items\":\"long\"}},{\"name\":\"u\",\"type\":[\"null\",\"long\"]},"
               "{\"name\":\"s\",\"type\":\"string\"}]}");
    static const char *const wrong[] = {"", "\x06", "\x7f", "\x01\x7f\x02",
                                        "\x02\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        arena_reset(&values);
        datum_init(&d, schema, &opts, codec, false, slice_str(wrong[i]), &values);
        assert_int_equal(value_open(&d, &d.root, &err), RC_ERR);
        assert_int_equal(err.code, ERR_BAD_AVRO);
        assert_false(d.root.is_open);
    }
    datum_init(&d, schema, &opts, codec, false, SLICE("\0\x06\x7e"), &values);
    assert_int_equal(value_open(&d, &d.root, &err), RC_ERR); /* a branch that there is not */
    struct slice s;
    datum_init(&d, schema, &opts, codec, false, SLICE("\0\0\x7e"), &values);
    open_value(&d.root);
    assert_int_equal(value_text(&d, at("s"), &s, &err), RC_ERR); /* a text that is cut off */
    assert_int_equal(err.code, ERR_BAD_AVRO);
}

TEST(value_set__changes_that_value_alone)
{
    begin_thing();
    value_set(&d, at("n"), SLICE("\x02"));
    set_json(at("map.b.y"), "2.25");
    set_json(at("o.x"), "-1");
    is_now("{\"n\":1,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{\"a\":{\"x\":1.5,\"y\":2.0},\"b\":{\"x\":0.0,"
           "\"y\":2.25}},\"u\":{\"P\":{\"x\":1.0,\"y\":1.0}},\"o\":{\"x\":-1.0,\"y\":4.0},\"e\":\"B\"}");
    set_json(at("u"), "\"text\"");
    set_json(at("o"), "null");
    set_json(at("map"), "{}");
    is_now("{\"n\":1,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{},\"u\":{\"string\":\"text\"},\"o\":null,"
           "\"e\":\"B\"}");
}

TEST(value_set_branch__exchanges_what_is_in_the_union)
{
    begin_thing();
    struct value *u = at("u");
    assert_int_equal(value_set_branch(&d, u, 1, SLICE("\x02x"), &err), RC_OK);
    assert_int_equal(u->branch, 1);
    assert_int_equal(value_set_branch(&d, at("o"), 0, SLICE(""), &err), RC_OK);
    is_now("{\"n\":7,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{\"a\":{\"x\":1.5,\"y\":2.0},\"b\":{\"x\":0.0,"
           "\"y\":0.0}},\"u\":{\"string\":\"x\"},\"o\":null,\"e\":\"B\"}");
    assert_int_equal(value_set_branch(&d, u, 2, slice_of(NULL, 0), &err), RC_OK);
    set_json(u->part[0], "{\"x\":8,\"y\":9}");
    set_json(at("u.x"), "10");
    is_now("{\"n\":7,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{\"a\":{\"x\":1.5,\"y\":2.0},\"b\":{\"x\":0.0,"
           "\"y\":0.0}},\"u\":{\"P\":{\"x\":10.0,\"y\":9.0}},\"o\":null,\"e\":\"B\"}");
}

static struct value *insert(struct value *array, uint32_t index, const char *json)
{
    struct value *v = value_new(&d, d.program->ops[array->op].a, &err);
    assert_non_null(v);
    assert_int_equal(value_insert(&d, array, index, v, &err), RC_OK);
    set_json(v, json);
    return v;
}

static struct value *put(struct value *map, const char *key, const char *json)
{
    struct value *v = value_new(&d, d.program->ops[map->op].a, &err);
    assert_non_null(v);
    assert_int_equal(value_put(&d, map, slice_str(key), v, &err), RC_OK);
    set_json(v, json);
    return v;
}

#define LISTS                                                                                                \
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"l\",\"type\":{\"type\":\"array\","          \
    "\"items\":\"long\"}},{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"long\"}}]}"

static uint32_t remove_odd(struct value *container)
{
    for (uint32_t i = 0; i < container->nparts; i++) {
        int64_t n;
        assert_int_equal(value_long(&d, container->part[i], &n, &err), RC_OK);
        if (n & 1)
            value_mark(container->part[i]);
    }
    return value_remove_marked(container);
}

TEST(value_insert__keeps_the_order_of_an_array)
{
    use_schema(LISTS);
    begin("{\"l\":[],\"m\":{}}");
    struct value *l = at("l");
    open_value(l);
    insert(l, 0, "2");
    struct value *first = insert(l, 0, "1"), *last = insert(l, 2, "4");
    insert(l, 2, "3");
    is_now("{\"l\":[1,2,3,4],\"m\":{}}");
    assert_int_equal(value_place(first), 0);
    assert_int_equal(value_place(last), 3);
    value_remove(first);
    assert_null(first->parent);
    assert_int_equal(value_place(last), 2);
    is_now("{\"l\":[2,3,4],\"m\":{}}");
    assert_int_equal(value_insert(&d, l, 3, first, &err), RC_OK); /* it can come back */
    is_now("{\"l\":[2,3,4,1],\"m\":{}}");
    assert_int_equal(remove_odd(l), 2);
    assert_int_equal(remove_odd(l), 0);
    assert_null(first->parent);
    is_now("{\"l\":[2,4],\"m\":{}}");
    assert_int_equal(value_insert(&d, l, 2, first, &err), RC_OK);
    assert_int_equal(value_remove_marked(l), 0); /* nor does it come back marked */
    is_now("{\"l\":[2,4,1],\"m\":{}}");
    value_clear(l);
    is_now("{\"l\":[],\"m\":{}}");
    open_value(l);
    insert(l, 0, "9");
    is_now("{\"l\":[9],\"m\":{}}");
}

TEST(value_put__takes_the_place_of_an_entry_with_that_key)
{
    use_schema(LISTS);
    begin("{\"l\":[],\"m\":{\"a\":1,\"b\":2}}");
    struct value *m = at("m");
    open_value(m);
    struct value *old = at("m.a");
    put(m, "c", "3");
    put(m, "a", "11");
    assert_null(old->parent);
    put(m, "b/\xc3\xa4", "4");
    is_now("{\"l\":[],\"m\":{\"a\":11,\"b\":2,\"c\":3,\"b/\xc3\xa4\":4}}");
    value_remove(at("m.b"));
    is_now("{\"l\":[],\"m\":{\"a\":11,\"c\":3,\"b/\xc3\xa4\":4}}");
}

TEST(value_put__finds_keys_among_many_that_come_and_go)
{
    enum { MANY = 3000 };
    char key[16];
    use_schema(LISTS);
    begin("{\"l\":[],\"m\":{}}");
    struct value *m = at("m");
    open_value(m);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "%d", i);
            struct value *v = value_new(&d, d.program->ops[m->op].a, &err);
            assert_non_null(v);
            assert_int_equal(value_put(&d, m, slice_str(key), v, &err), RC_OK);
            value_set(&d, v, i & 1 ? SLICE("\x02") : SLICE("\x04"));
        }
        assert_int_equal(m->nparts, MANY);
        for (int i = 0; i < MANY; i += 3) {
            snprintf(key, sizeof key, "%d", i);
            struct value *v = value_entry(m, slice_str(key));
            assert_slice_str(v->key, key);
            value_remove(v);
            assert_null(value_entry(m, slice_str(key)));
        }
        assert_int_equal(m->nparts, MANY - MANY / 3);
        assert_non_null(value_entry(m, SLICE("1")));
    }
    assert_int_equal(remove_odd(m), MANY / 3);
    assert_null(value_entry(m, SLICE("1")));
    assert_non_null(value_entry(m, SLICE("2")));
    put(m, "1", "5");
    assert_non_null(value_entry(m, SLICE("1")));
    assert_non_null(value_entry(m, SLICE("2")));
}

TEST(value_set_json__points_at_where_the_value_is)
{
    begin_thing();
    refuses_set(at("n"), "\"x\"", "", "/n type\n");
    refuses_set(&d.root, "{}", "",
                "/n missing\n/s missing\n/list missing\n/map missing\n/u missing\n/o missing\n/e missing\n");
    refuses_set(at("list"), "[1,\"x\",true]", "", "/list/1 type\n/list/2 type\n");
    refuses_set(at("list.1"), "3000000000", "/operations/3", "/operations/3/list/1 range\n");
    refuses_set(at("map.a"), "{\"x\":1,\"z\":2}", "", "/map/a/y missing\n/map/a/z unknown\n");
    refuses_set(at("u.x"), "null", "", "/u/P/x type\n");
    refuses_set(at("o.x"), "null", "", "/o/x type\n");
    assert_string_equal(err.message, "At /o/x: Expected double, got null.");
    opts.form = JSON_AVRO;
    refuses_set(at("o.x"), "null", "", "/o/P/x type\n");
    opts.form = JSON_PLAIN;
    struct value *v = value_new(&d, at("n")->op, &err);
    refuses_set(v, "null", "", " type\n"); /* part of nothing yet */
    assert_int_equal(value_set_json(&d, at("n"), SLICE("[1"), slice_of(NULL, 0), &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_JSON);
    assert_int_equal(err.column, 3);
    is_now(A_THING); /* nothing of it has come in */
}

TEST(value_put__finds_the_new_entry_however_often_a_key_is_put)
{
    enum { MANY = 40 };
    char key[16];
    use_schema(LISTS);
    begin("{\"l\":[],\"m\":{}}");
    struct value *m = at("m");
    open_value(m);
    for (int i = 0; i < 50 * MANY; i++) {
        snprintf(key, sizeof key, "%d", i % MANY);
        struct value *v = value_new(&d, d.program->ops[m->op].a, &err);
        assert_non_null(v);
        assert_int_equal(value_put(&d, m, slice_str(key), v, &err), RC_OK);
        value_set(&d, v, SLICE("\x02"));
        assert_ptr_equal(value_entry(m, slice_str(key)), v);
    }
    assert_int_equal(m->nparts, MANY);
}

/* A map of arrays, whose only key is so long; the array. */
static struct value *behind_a_key(int bytes)
{
    use_schema("{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"int\"}}");
    text.len = 0;
    append(&text, "{\"", 1);
    append(&text, "k", bytes);
    append(&text, "\":[]}", 1);
    assert_true(buf_append_byte(&text, 0));
    begin((const char *)text.ptr);
    open_value(&d.root);
    return d.root.part[0];
}

TEST(value_set_json__tells_fewer_problems_where_the_way_to_them_is_long)
{
    enum { KEY = LIMIT_POINTERS_MAX / 3 };
    struct value *v = behind_a_key(KEY);
    assert_int_equal(value_set_json(&d, v, SLICE("[null,null,null,null,null]"), SLICE(""), &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_RECORD);
    assert_int_equal(err.problems, 2);
    assert_true(err.truncated);
    assert_int_equal(err.first->pointer.len, 1 + KEY + 2);
}

TEST(value_set_json__tells_no_place_where_the_way_to_it_is_endless)
{
    struct value *v = behind_a_key(LIMIT_POINTERS_MAX + 1);
    assert_int_equal(value_set_json(&d, v, SLICE("[null,null]"), SLICE(""), &err), RC_ERR);
    assert_int_equal(err.code, ERR_BAD_RECORD);
    assert_int_equal(err.problems, 0);
    assert_string_equal(err.message, "Expected int, got null.");
}

#define TREE                                                                                                 \
    "{\"type\":\"record\",\"name\":\"T\",\"fields\":[{\"name\":\"c\",\"type\":{\"type\":\"array\","          \
    "\"items\":\"T\"}}]}"

/* As many arrays (each in its record) inside of each other. */
static const char *tree(int arrays)
{
    text.len = 0;
    append(&text, "{\"c\":[", arrays);
    append(&text, "]}", arrays);
    assert_true(buf_append_byte(&text, 0));
    return (const char *)text.ptr;
}

TEST(value_set_json__counts_depth_from_the_place)
{
    use_schema(TREE);
    begin(tree(12));
    struct value *v = &d.root;
    for (int i = 0; i < 11; i++) {
        open_value(v);
        open_value(v->part[0]);
        v = v->part[0]->part[0];
    }
    assert_int_equal(value_depth(&d, v), 22);
    set_json(v, tree((LIMIT_DATA_DEPTH_MAX - 22) / 2));
    assert_int_equal(
        value_set_json(&d, v, slice_str(tree((LIMIT_DATA_DEPTH_MAX - 22) / 2 + 1)), slice_of(NULL, 0), &err),
        RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_OK);
}

TEST(datum_finish__refuses_what_has_become_too_deep)
{
    use_schema(TREE);
    begin(tree(LIMIT_DATA_DEPTH_MAX / 2));
    open_value(&d.root);
    open_value(d.root.part[0]);
    struct value *inner = d.root.part[0]->part[0], *copy = value_new(&d, inner->op, &err);
    assert_non_null(copy);
    value_set(&d, copy, inner->avro);
    assert_int_equal(value_insert(&d, d.root.part[0], 1, copy, &err),
                     RC_OK); /* beside it: as deep as before */
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_OK);
    value_remove(copy);
    struct value *v = inner;
    for (int i = 0; i < 10; i++) {
        open_value(v);
        open_value(v->part[0]);
        v = v->part[0]->part[0];
    }
    open_value(v);
    open_value(v->part[0]);
    assert_int_equal(value_insert(&d, v->part[0], 0, copy, &err), RC_OK);
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_DEEP);
    assert_int_equal(got.len, 0);
}

TEST(datum_finish__refuses_too_many_items_of_no_bytes_together)
{
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\","
               "\"items\":\"null\"}},{\"name\":\"b\",\"type\":{\"type\":\"array\",\"items\":\"null\"}}]}");
    begin("{\"a\":[],\"b\":[]}");
    uint8_t half[16];
    size_t n = codec_put_length(LIMIT_EMPTY_ITEMS_MAX / 2 + 1, half);
    half[n++] = 0;
    value_set(&d, at("a"), slice_of(half, n));
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_OK);
    value_set(&d, at("b"), slice_of(half, n));
    got.len = 0;
    assert_int_equal(datum_finish(&d, &got, &err), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    assert_int_equal(got.len, 0);
}

TEST(datum_finish__refuses_a_record_that_has_become_too_large)
{
    enum { BIG = LIMIT_RECORD_MAX / 2 };
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"bytes\"},"
               "{\"name\":\"b\",\"type\":\"bytes\"}]}");
    begin("{\"a\":\"\",\"b\":\"\"}");
    uint8_t *big = calloc(1, BIG + 10);
    assert_non_null(big);
    size_t n = codec_put_length(BIG, big) + BIG;
    value_set(&d, at("a"), slice_of(big, n));
    value_set(&d, at("b"), slice_of(big, n));
    got.len = 0;
    assert_true(buf_append(&got, SLICE("x")));
    assert_int_equal(datum_finish(&d, &got, &err), RC_ERR);
    assert_int_equal(err.code, ERR_RECORD_TOO_LARGE);
    assert_int_equal(got.len, 1);
    value_set(&d, at("b"), SLICE("\0"));
    assert_int_equal(datum_finish(&d, &got, &err), RC_OK);
    free(big);
}

TEST(value_open__stops_at_the_limit_of_values)
{
    use_schema("{\"type\":\"array\",\"items\":\"null\"}");
    uint8_t many[16];
    size_t n = codec_put_length(LIMIT_VALUES_MAX, many); /* with the root one too many */
    many[n++] = 0;
    arena_reset(&values);
    datum_init(&d, schema, &opts, codec, false, slice_of(many, n), &values);
    assert_int_equal(value_open(&d, &d.root, &err), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    n = codec_put_length(LIMIT_VALUES_MAX - 1, many);
    many[n++] = 0;
    datum_init(&d, schema, &opts, codec, false, slice_of(many, n), &values);
    open_value(&d.root);
    assert_int_equal(d.root.nparts, LIMIT_VALUES_MAX - 1);
    datum_init(&d, schema, &opts, codec, true, slice_of(many, n), &values);
    assert_int_equal(value_open(&d, &d.root, &err), RC_ERR); /* brief: not that long */
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    arena_release(&values);
}

TEST(datum_pay__ends_when_the_budget_does)
{
    begin_thing();
    int64_t budget = d.budget;
    assert_int_equal(datum_pay(&d, (uint64_t)budget, &err), RC_OK);
    assert_int_equal(datum_pay(&d, 1, &err), RC_ERR);
    assert_int_equal(err.code, ERR_TOO_MUCH_WORK);
    begin_thing();
    assert_int_equal(datum_pay(&d, UINT64_MAX, &err), RC_ERR);
    datum_allow(&d, 100);
    assert_int_equal(datum_pay(&d, 100, &err), RC_OK);
}

TEST(datum_allow__keeps_brief_what_is_brief)
{
    use_schema("\"bytes\"");
    datum_init(&d, schema, &opts, codec, true, slice_of("", LIMIT_RECORD_MAX), &values);
    assert_true(d.budget >= LIMIT_WORK_BRIEF_MAX && d.budget <= 2 * LIMIT_WORK_BRIEF_MAX);
    datum_allow(&d, LIMIT_BODY_MAX);
    assert_true(d.budget <= 2 * LIMIT_WORK_BRIEF_MAX);
    datum_init(&d, schema, &opts, codec, false, SLICE(""), &values);
    datum_allow(&d, LIMIT_BODY_MAX);
    assert_true(d.budget > LIMIT_WORK_MAX + LIMIT_BODY_MAX);
}

/* Is the record equal to the other JSON's? */
static bool equal_to(const char *json)
{
    bool equal = false;
    struct value *other = value_new(&d, d.root.op, &err);
    assert_non_null(other);
    set_json(other, json);
    if (value_equal(&d, &d.root, other, &equal, &err))
        fail_msg("%s: %s", json, err.message);
    bool turned = !equal;
    assert_int_equal(value_equal(&d, other, &d.root, &turned, &err), RC_OK);
    assert_int_equal(equal, turned);
    return equal;
}

TEST(value_equal__compares_what_the_data_mean)
{
    begin_thing();
    assert_true(equal_to(A_THING));
    assert_true(equal_to("{\"n\":7,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{\"b\":{\"x\":-0.0,\"y\":0},\"a\":{"
                         "\"y\":2,\"x\":1.5}},\"u\":{\"P\":{\"x\":1,\"y\":1}},\"o\":{\"x\":3,\"y\":4},"
                         "\"e\":\"B\"}"));
#define WITH(n, list, map, u)                                                                                \
    "{\"n\":" n ",\"s\":\"hi\",\"list\":" list ",\"map\":{" map "},\"u\":" u                                 \
    ",\"o\":{\"x\":3,\"y\":4},\"e\":\"B\"}"
#define MAP   "\"b\":{\"x\":0,\"y\":0},\"a\":{\"x\":1.5,\"y\":2}"
#define UNION "{\"P\":{\"x\":1,\"y\":1}}"
    assert_true(equal_to(WITH("7", "[1,2,3]", MAP, UNION)));
    assert_false(equal_to(WITH("8", "[1,2,3]", MAP, UNION)));
    assert_false(equal_to(WITH("7", "[1,3,2]", MAP, UNION)));
    assert_false(equal_to(WITH("7", "[1,2]", MAP, UNION)));
    assert_false(equal_to(WITH("7", "[1,2,3]", "\"b\":{\"x\":0,\"y\":0},\"c\":{\"x\":1.5,\"y\":2}", UNION)));
    assert_false(equal_to(WITH("7", "[1,2,3]", MAP ",\"c\":{\"x\":1.5,\"y\":2}", UNION)));
    assert_false(equal_to(WITH("7", "[1,2,3]", MAP, "null")));
    assert_false(equal_to(WITH("7", "[1,2,3]", MAP, "\"x\"")));
    assert_false(equal_to(WITH("7", "[1,2,3]", MAP, "{\"P\":{\"x\":1,\"y\":2}}")));
    set_json(at("map.a.x"), "\"NaN\"");
    assert_true(
        equal_to(WITH("7", "[1,2,3]", "\"a\":{\"x\":\"NaN\",\"y\":2},\"b\":{\"x\":0,\"y\":0}", UNION)));
    assert_false(equal_to(WITH("7", "[1,2,3]", MAP, UNION)));
}

TEST(value_equal__takes_numbers_for_equal_however_long_they_are_written)
{
    use_schema(LISTS);
    static const uint8_t bytes[] = {0x03, 0x06, 0x82, 0x00,
                                    0x04, 0x00, 0x00}; /* in a block that tells its size */
    arena_reset(&values);
    datum_init(&d, schema, &opts, codec, false, slice_of(bytes, sizeof bytes), &values);
    assert_true(equal_to("{\"l\":[1,2],\"m\":{}}"));
    assert_false(equal_to("{\"l\":[1,3],\"m\":{}}"));
}

static void points(const char *path, const char *want)
{
    got.len = 0;
    assert_true(value_pointer(&d, at(path), &got));
    assert_slice_str(buf_slice(&got), want);
}

TEST(value_pointer__follows_the_json_that_get_shows)
{
    use_schema(THINGS);
    begin("{\"n\":7,\"s\":\"hi\",\"list\":[1,2,3],\"map\":{\"a~/\":{\"x\":1.5,\"y\":2.0}},"
          "\"u\":{\"P\":{\"x\":1.0,\"y\":1.0}},\"o\":{\"x\":3.0,\"y\":4.0},\"e\":\"B\"}");
    points("", "");
    points("n", "/n");
    points("list.2", "/list/2");
    points("map.a~/.x", "/map/a~0~1/x");
    points("u", "/u");
    points("u.x", "/u/P/x");
    points("o.x", "/o/x");
    opts.form = JSON_AVRO;
    points("o.x", "/o/P/x");
}

TEST(value_print__prints_a_part_in_any_form)
{
    use_schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"l\",\"type\":{\"type\":\"array\","
               "\"items\":[\"null\",{\"type\":\"int\",\"logicalType\":\"date\"}]}},{\"name\":\"b\",\"type\":"
               "\"bytes\"}]}");
    begin("{\"l\":[0,null,1],\"b\":\"\\u0001\"}");
    struct value *l = at("l");
    text.len = 0;
    assert_int_equal(value_print(&d, l, JSON_LOGICAL, LIMIT_JSON_MAX, &text, &err), RC_OK);
    assert_slice_str(buf_slice(&text), "[\"1970-01-01\",null,\"1970-01-02\"]");
    set_json(at("l.1"), "2");
    text.len = 0;
    assert_int_equal(value_print(&d, l, JSON_AVRO, LIMIT_JSON_MAX, &text, &err), RC_OK);
    assert_slice_str(buf_slice(&text), "[{\"int\":0},{\"int\":2},{\"int\":1}]");
    opts.form = JSON_LOGICAL;
    set_json(at("l.0"), "\"1970-01-03\"");
    is_now("{\"l\":[\"1970-01-03\",\"1970-01-03\",\"1970-01-02\"],\"b\":\"\\u0001\"}");
}

TEST_MAIN()
