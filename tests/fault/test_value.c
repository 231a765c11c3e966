/* tests/fault/test_value.c - data that are opened and changed when the n-th allocation fails: the outcome is NO_MEMORY
 * or the one that it always is, to the byte. */
#include "tests/fault/fault.h"

#include <stdlib.h>

#include "base/limits.h"
#include "schema/edit.h"
#include "schema/schema.h"
#include "schema/value/value.h"

static struct codec *codec;
static struct schema *schema;
static struct buf old;

static void begin(const char *text, const char *json)
{
    struct arena arena = {0};
    struct err err;
    static const struct codec_opts opts;
    schema_free(schema);
    old.len = 0;
    codec = codec ? codec : codec_new();
    if (schema_parse(&schema, slice_str(text), SLICE(""), &arena, &err) != RC_OK ||
        codec_from_json(codec, schema, &opts, slice_str(json), &old, &arena, &err) != RC_OK)
        fail_msg("%s", err.message);
    arena_release(&arena);
}

static void end(void)
{
    schema_free(schema);
    schema = NULL;
    codec_free(codec);
    codec = NULL;
    buf_release(&old);
}

/* ---- what is done ---- */

struct change {
    enum rc (*make)(struct datum *, struct err *);
    enum json_form form;
    struct buf first; /* what came of it when nothing failed */
};

static enum rc finish(struct change *c, struct datum *d, struct buf *out, struct err *err)
{
    struct value *root = &d->root;
    enum rc rc = c->make(d, err);
    if (rc == RC_OK)
        rc = datum_finish(d, out, err);
    if (rc == RC_OK)
        rc = value_print(d, root, c->form, LIMIT_JSON_MAX, out, err);
    return rc;
}

/* The codec is new each time, so that all that it allocates is allocated. */
static enum rc change(void *arg, struct err *err)
{
    struct change *c = arg;
    struct datum d;
    struct arena arena = {0};
    struct buf out = {0};
    struct codec_opts opts = {.form = c->form};
    fault_begin();
    struct codec *fresh = codec_new();
    enum rc rc = fresh ? RC_OK : err_oom(err);
    if (fresh) {
        datum_init(&d, schema, &opts, fresh, false, buf_slice(&old), &arena);
        rc = finish(c, &d, &out, err);
    }
    codec_free(fresh);
    fault_end();
    if (rc == RC_OK && fault.nth == 0)
        assert_true(buf_append(&c->first, buf_slice(&out)));
    if (rc == RC_OK && !slice_eq(buf_slice(&out), buf_slice(&c->first)))
        fail_msg("allocation %ld: other bytes", (long)fault.nth);
    buf_release(&out);
    arena_release(&arena);
    return rc;
}

static void each(enum rc (*make)(struct datum *, struct err *), enum json_form form, enum err_code want)
{
    struct change c = {.make = make, .form = form};
    assert_true(fault_each(change, &c, want ? RC_ERR : RC_OK, want) > 0);
    buf_release(&c.first);
}

#define THINGS                                                                                               \
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":["                                                       \
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"items\":\"R\"}},"                                        \
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"int\"}},"                                       \
    "{\"name\":\"u\",\"type\":[\"null\",\"string\",\"R\"]},"                                                 \
    "{\"name\":\"d\",\"type\":{\"type\":\"int\",\"logicalType\":\"date\"}}]}"

static struct value *field(const struct datum *d, const char *name)
{
    return value_field(d, &d->root, slice_str(name));
}

static enum rc set_everything(struct datum *d, struct err *err)
{
    if (value_open(d, &d->root, err) != RC_OK ||
        value_set_json(d, field(d, "l"), SLICE("[{\"l\":[],\"m\":{\"k\":1},\"u\":null,\"d\":1}]"), SLICE(""),
                       err) != RC_OK ||
        value_set_branch(d, field(d, "u"), 1, SLICE("\x02x"), err) != RC_OK)
        return RC_ERR;
    return value_set_json(d, field(d, "d"), SLICE("7"), SLICE(""), err);
}

static enum rc let_come_and_go(struct datum *d, struct err *err)
{
    char key[] = "aa";
    if (value_open(d, &d->root, err) != RC_OK || value_open(d, field(d, "m"), err) != RC_OK)
        return RC_ERR;
    struct value *map = field(d, "m");
    for (int i = 0; i < 100; i++) {
        key[0] = (char)('a' + i % 10);
        key[1] = (char)('a' + i / 10 % 6);
        struct value *v = value_new(d, d->program->ops[map->op].a, err);
        if (!v || value_put(d, map, slice_of(key, 2), v, err) != RC_OK)
            return RC_ERR;
        value_set(d, v, SLICE("\x02"));
        if (i % 5 == 0)
            value_remove(v);
    }
    value_clear(field(d, "l"));
    if (value_open(d, field(d, "l"), err) != RC_OK)
        return RC_ERR;
    for (int i = 0; i < 5; i++) {
        struct value *v = value_new(d, d->root.op, err);
        if (!v || value_insert(d, field(d, "l"), 0, v, err) != RC_OK)
            return RC_ERR;
        value_set(d, v, buf_slice(&old));
    }
    return RC_OK;
}

static enum rc put_what_does_not_fit(struct datum *d, struct err *err)
{
    if (value_open(d, &d->root, err) != RC_OK || value_open(d, field(d, "l"), err) != RC_OK ||
        value_open(d, field(d, "l")->part[0], err) != RC_OK)
        return RC_ERR;
    enum rc rc = value_set_json(d, field(d, "l")->part[0]->part[1], SLICE("{\"k\":\"x\",\"j\":null}"),
                                SLICE("/value"), err);
    if (rc == RC_ERR && err->code == ERR_BAD_RECORD && err->problems == 2) {
        assert_slice_str(err->first->pointer, "/value/l/0/m/k");
        assert_slice_str(err->last->pointer, "/value/l/0/m/j");
    }
    return rc;
}

static enum rc compare(struct datum *d, struct err *err)
{
    bool equal = false;
    struct value *v = value_new(d, d->root.op, err);
    if (!v ||
        value_set_json(d, v,
                       SLICE("{\"l\":[{\"l\":[],\"m\":{},\"u\":null,\"d\":0}],\"m\":{\"b\":2,\"a\":1},"
                             "\"u\":{\"R\":{\"l\":[],\"m\":{},\"u\":null,\"d\":0}},\"d\":0}"),
                       SLICE(""), err) != RC_OK ||
        value_equal(d, v, &d->root, &equal, err) != RC_OK)
        return RC_ERR;
    assert_true(equal);
    return RC_OK;
}

TEST(values__are_changed_or_no_memory)
{
    begin(THINGS, "{\"l\":[{\"l\":[],\"m\":{},\"u\":null,\"d\":0}],\"m\":{\"a\":1,\"b\":2},"
                  "\"u\":{\"R\":{\"l\":[],\"m\":{},\"u\":null,\"d\":0}},\"d\":0}");
    each(set_everything, JSON_PLAIN, ERR_NONE);
    each(let_come_and_go, JSON_PLAIN, ERR_NONE);
    each(let_come_and_go, JSON_LOGICAL, ERR_NONE);
    each(put_what_does_not_fit, JSON_PLAIN, ERR_BAD_RECORD);
    each(compare, JSON_PLAIN, ERR_NONE);
    end();
}

/* ---- edits ---- */

static enum rc edit_field(void *arg, struct err *err)
{
    struct arena arena = {0}, scratch = {0};
    struct buf out = {0};
    struct edit *edit;
    uint64_t changed;
    (void)arg;
    fault_begin();
    enum rc rc = edit_of_field(&edit, schema, NULL, 3, SLICE("\x0e"), &arena, err);
    if (rc == RC_OK)
        rc = edit_apply(edit, NULL, false, buf_slice(&old), &out, &changed, &scratch, err);
    fault_end();
    if (rc == RC_OK)
        assert_true(slice_eq(buf_slice(&out), SLICE("\0\0\0\x0e")));
    else
        assert_int_equal(out.len, 0);
    buf_release(&out);
    arena_release(&arena);
    arena_release(&scratch);
    return rc;
}

TEST(edit_apply__is_whole_or_no_memory)
{
    begin(THINGS, "{\"l\":[],\"m\":{},\"u\":null,\"d\":0}");
    assert_true(fault_each(edit_field, NULL, RC_OK, ERR_NONE) > 0);
    end();
}

/* ---- projections ---- */

static enum rc project(void *arg, struct err *err)
{
    const char *fields = arg;
    struct arena arena = {0};
    struct buf out = {0};
    struct projection_list list;
    struct projection *p;
    struct slice text;
    fault_begin();
    enum rc rc = projection_list_parse(&list, slice_str(fields), &arena, err);
    if (rc == RC_OK && !projection_list_text(&list, &arena, &text))
        rc = err_oom(err);
    if (rc == RC_OK)
        rc = projection_new(&p, schema, &list, &arena, err);
    if (rc == RC_OK)
        rc = projection_print(p, JSON_LOGICAL, LIMIT_JSON_MAX, buf_slice(&old), &out, err);
    fault_end();
    if (rc == RC_OK)
        assert_slice_str(buf_slice(&out), "{\"l\":[{\"m\":{\"k\":1}}],\"u\":{\"R\":{\"d\":\"1970-01-02\"}}}");
    else
        assert_int_equal(out.len, 0);
    buf_release(&out);
    arena_release(&arena);
    return rc;
}

TEST(projection__is_whole_or_no_memory)
{
    begin(THINGS, "{\"l\":[{\"l\":[],\"m\":{\"k\":1},\"u\":null,\"d\":0}],\"m\":{},"
                  "\"u\":{\"R\":{\"l\":[],\"m\":{},\"u\":null,\"d\":1}},\"d\":0}");
    assert_true(fault_each(project, (void *)(uintptr_t) "u.d,l.m", RC_OK, ERR_NONE) > 0);
    assert_true(fault_each(project, (void *)(uintptr_t) "u.d,l.x", RC_ERR, ERR_BAD_PARAMETER) > 0);
    end();
}

TEST_MAIN()
