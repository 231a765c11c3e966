/* tests/conformance/test_codec.c - every case of encode.jsonl and reject.jsonl against the codec, as
 * tests/conformance/data/README.md tells them and docs/policies.md settles them. */
#include <math.h>
#include <stdbool.h>

#include "schema/encoding.h"
#include "schema/schema.h"
#include "tests/conformance/lines.h"

/* What one case needs and gives back. */
struct run {
    json_t *line;
    const char *id;
    struct arena arena;
    struct schema *schema;
    struct codec *codec;
    struct buf avro, text;
    struct err err;
    unsigned faults;
};

static const char *show(struct arena *a, struct slice bytes)
{
    char *out = arena_alloc(a, bytes.len * 2 + 1);
    assert_non_null(out);
    out[0] = 0;
    for (size_t i = 0; i < bytes.len; i++)
        snprintf(out + i * 2, 3, "%02x", bytes.ptr[i]);
    return out;
}

/* ---- encode.jsonl ---- */

static bool is_wanted(struct run *r, struct slice got)
{
    if (slice_eq(got, hex_of(&r->arena, member_of(r->line, "binary_hex"))))
        return true;
    size_t i;
    json_t *alt;
    json_array_foreach(json_object_get(r->line, "binary_hex_alt"), i, alt)
    {
        if (slice_eq(got, hex_of(&r->arena, string_of(alt))))
            return true;
    }
    return false;
}

static bool encode(struct run *r, enum json_form form, struct slice json)
{
    struct codec_opts opts = {.form = form};
    r->avro.len = 0;
    if (codec_from_json(r->codec, r->schema, &opts, json, &r->avro, &r->arena, &r->err) == RC_OK)
        return true;
    FAULT(r, "refused: %s", r->err.message);
    return false;
}

static void check_bytes(struct run *r, enum json_form form, struct slice json)
{
    if (encode(r, form, json) && !is_wanted(r, buf_slice(&r->avro)))
        FAULT(r, "got %s, want %s", show(&r->arena, buf_slice(&r->avro)),
              member_of(r->line, "binary_hex").ptr);
}

/* Numbers as the numbers that a float has: where the case's own text is longer. */
static bool same_number(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return json_integer_value(a) == json_integer_value(b);
    double x = json_number_value(a), y = json_number_value(b);
    return x == y || (float)x == (float)y;
}

static bool same_json(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return same_number(a, b);
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_array(a)) {
        size_t i;
        json_t *item;
        json_array_foreach(a, i, item)
        {
            const json_t *other = json_array_get(b, i);
            if (!other || !same_json(item, other))
                return false;
        }
        return json_array_size(a) == json_array_size(b);
    }
    if (json_is_object(a)) {
        const char *key;
        json_t *item;
        json_object_foreach((json_t *)a, key, item)
        {
            const json_t *other = json_object_get(b, key);
            if (!other || !same_json(item, other))
                return false;
        }
        return json_object_size(a) == json_object_size(b);
    }
    return json_equal(a, b);
}

/* Jansson refuses integers beyond 64 bits, unless it may take all for reals. */
static json_t *load(struct slice text, size_t flags)
{
    return json_loadb((const char *)text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL | flags, NULL);
}

static bool same_text(struct slice a, struct slice b, size_t flags)
{
    json_t *x = load(a, flags), *y = load(b, flags);
    bool same = x && y && same_json(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

static bool print(struct run *r, enum json_form form, struct slice avro)
{
    r->text.len = 0;
    if (codec_to_json(r->schema, form, avro, &r->text, &r->err) == RC_OK)
        return true;
    FAULT(r, "not read back: %s", r->err.message);
    return false;
}

/* Jansson cannot have U+0000 in names. Such output is only checked by encoding it again (check_round). */
static bool has_nul_name(struct slice text)
{
    json_error_t why;
    json_t *json = json_loadb((const char *)text.ptr, text.len,
                              JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);
    json_decref(json);
    return !json && json_error_code(&why) == json_error_null_byte_in_key;
}

static void check_text(struct run *r, enum json_form form, struct slice avro, struct slice want)
{
    if (!print(r, form, avro))
        return;
    struct slice got = buf_slice(&r->text);
    if (same_text(got, want, 0) || same_text(got, want, JSON_DECODE_INT_AS_REAL) || has_nul_name(want))
        return;
    FAULT(r, "read back as %.*s, want %.*s", (int)got.len, (const char *)got.ptr, (int)want.len,
          (const char *)want.ptr);
}

/* What is printed encodes to the same bytes. */
static void check_round(struct run *r, enum json_form form, struct slice avro)
{
    if (!print(r, form, avro))
        return;
    struct slice text;
    assert_true(arena_copy(&r->arena, buf_slice(&r->text), &text));
    if (encode(r, form, text) && !slice_eq(buf_slice(&r->avro), avro))
        FAULT(r, "%.*s encodes to %s", (int)text.len, (const char *)text.ptr,
              show(&r->arena, buf_slice(&r->avro)));
}

/* Plain output differs from the case's bare form where a union has several branches that are not null. */
static bool prints_bare(const struct run *r)
{
    if (!has_text(r->line, "json"))
        return false;
    if (!has_text(r->line, "avro_json"))
        return true;
    struct slice group = member_of(r->line, "group");
    return slice_eq(group, SLICE("union-null"));
}

/* ---- each form of encoding.h ---- */

static bool passes(struct run *r, struct slice body, size_t before)
{
    return codec_check(r->codec, r->schema, &(struct codec_opts){.brief = true}, body, before, &r->arena,
                       &r->err) == RC_OK;
}

static void check_frame(struct run *r, const struct encoding *form, struct slice avro)
{
    const struct writer_id writer = {.fingerprint = schema_fingerprint(r->schema), .schema_id = 7};
    struct writer_id read = writer;
    size_t frame = form->framing->bytes;
    uint8_t *body = arena_alloc(&r->arena, frame + avro.len + 1);
    assert_non_null(body);
    form->framing->write(&writer, body);
    memcpy(body + frame, avro.ptr, avro.len);
    body[frame + avro.len] = 0;
    struct slice whole = slice_of(body, frame + avro.len), longer = slice_of(body, whole.len + 1);
    if (form->framing->open(whole, &read, &r->err) != RC_OK || !passes(r, whole, frame))
        FAULT(r, "%s: refused: %s", form->media_type.ptr, r->err.message);
    if (read.fingerprint != writer.fingerprint || read.schema_id != writer.schema_id)
        FAULT(r, "%s: another writer", form->media_type.ptr);
    if (passes(r, longer, frame))
        FAULT(r, "%s: a byte left over passes", form->media_type.ptr);
    for (size_t n = 0; n < avro.len && n < 300; n++)
        if (passes(r, slice_of(body, frame + n), frame))
            FAULT(r, "%s: the first %zu bytes pass", form->media_type.ptr, n);
}

static void check_forms(struct run *r, struct slice avro)
{
    for (size_t i = 0; i < ENCODINGS; i++) {
        if (encodings[i].framing)
            check_frame(r, &encodings[i], avro);
        else
            check_round(r, encodings[i].json, avro);
    }
    size_t i;
    json_t *alt;
    json_array_foreach(json_object_get(r->line, "binary_hex_alt"), i, alt)
    {
        if (!passes(r, hex_of(&r->arena, string_of(alt)), 0))
            FAULT(r, "the other encoding %zu: %s", i, r->err.message);
    }
}

static void run_encode(struct run *r)
{
    struct slice avro = hex_of(&r->arena, member_of(r->line, "binary_hex"));
    if (has_text(r->line, "json"))
        check_bytes(r, JSON_PLAIN, member_of(r->line, "json"));
    if (has_text(r->line, "avro_json")) {
        check_bytes(r, JSON_AVRO, member_of(r->line, "avro_json"));
        check_text(r, JSON_AVRO, avro, member_of(r->line, "avro_json"));
    }
    check_forms(r, avro);
    if (prints_bare(r))
        check_text(r, JSON_PLAIN, avro,
                   has_text(r->line, "out_json") ? member_of(r->line, "out_json")
                                                 : member_of(r->line, "json"));
}

/* ---- reject.jsonl ---- */

static struct slice parts_of(struct run *r, const json_t *parts)
{
    struct buf all = {0};
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part)
    {
        json_int_t times = json_integer_value(json_array_get(part, 1));
        while (times-- > 0)
            assert_true(buf_append(&all, string_of(json_array_get(part, 0))));
    }
    struct slice out;
    assert_true(arena_copy(&r->arena, buf_slice(&all), &out));
    buf_release(&all);
    return out;
}

static struct slice datum_of(struct run *r)
{
    if (has_text(r->line, "json"))
        return member_of(r->line, "json");
    if (has_text(r->line, "json_hex"))
        return hex_of(&r->arena, member_of(r->line, "json_hex"));
    return parts_of(r, json_object_get(r->line, "json_parts"));
}

/* Cases that avrod settles the other way (docs/policies.md): the datum is accepted. */
static bool is_accepted(const struct run *r)
{
    struct slice policy = member_of(r->line, "policy");
    if (slice_eq(policy, SLICE("integral_float")) || slice_eq(policy, SLICE("nan_string")))
        return true;
    if (!slice_eq(policy, SLICE("ambiguous_union")))
        return false;
    /* numbers and strings go by order; objects stay ambiguous */
    struct slice datum = member_of(r->line, "json");
    return !memchr(datum.ptr, '{', datum.len) || slice_eq(datum, SLICE("{\"v\":1.5}"));
}

/* null: no place is the one to tell. Of what is too deep, we tell where it becomes so. */
static bool pointer_is(const json_t *want, const struct err *err)
{
    if (json_is_null(want))
        return !err->first || err->code == ERR_TOO_DEEP;
    return err->first && slice_eq(err->first->pointer, string_of(want));
}

static bool pointer_fits(const struct run *r)
{
    if (pointer_is(json_object_get(r->line, "pointer"), &r->err))
        return true;
    size_t i;
    json_t *alt;
    json_array_foreach(json_object_get(r->line, "pointer_alt"), i, alt)
    {
        if (pointer_is(alt, &r->err))
            return true;
    }
    return false;
}

static void run_reject(struct run *r)
{
    struct codec_opts opts = {0};
    if (slice_eq(member_of(r->line, "form"), SLICE("avro-json")))
        opts.form = JSON_AVRO;
    struct slice datum = datum_of(r);
    r->avro.len = 0;
    enum rc rc = codec_from_json(r->codec, r->schema, &opts, datum, &r->avro, &r->arena, &r->err);
    if ((rc == RC_OK) != is_accepted(r))
        FAULT(r, rc ? "refused: %s" : "accepted", r->err.message);
    if (rc == RC_OK || is_accepted(r))
        return;
    unsigned status = err_status(r->err.code);
    if (status != 400 && status != 422)
        FAULT(r, "status %u: %s", status, r->err.message);
    if (!pointer_fits(r))
        FAULT(r, "pointer %.*s: %s", r->err.first ? (int)r->err.first->pointer.len : 4,
              r->err.first ? (const char *)r->err.first->pointer.ptr : "none", r->err.message);
    assert_int_equal(r->avro.len, 0);
}

/* ---- files ---- */

/* A schema that has no values is refused already; then there is nothing to ask of the codec. */
struct runner {
    struct codec *codec;
    void (*run)(struct run *);
    unsigned faults;
};

static void run_line(json_t *line, void *arg)
{
    struct runner *all = arg;
    struct run r = {.codec = all->codec, .line = line, .id = id_of(line)};
    struct slice none = slice_of(NULL, 0);
    if (schema_parse(&r.schema, member_of(line, "schema"), none, &r.arena, &r.err) == RC_OK)
        all->run(&r);
    else if (!slice_eq(member_of(line, "policy"), SLICE("empty_union")))
        FAULT(&r, "schema refused: %s", r.err.message);
    all->faults += r.faults;
    schema_free(r.schema);
    buf_release(&r.avro);
    buf_release(&r.text);
    arena_release(&r.arena);
}

static unsigned run_file(const char *name, void (*run)(struct run *), unsigned *faults)
{
    struct runner all = {.codec = codec_new(), .run = run};
    unsigned n = lines_each(name, run_line, &all);
    codec_free(all.codec);
    *faults = all.faults;
    return n;
}

TEST(codec__encodes_every_conformance_case_and_reads_it_back)
{
    unsigned faults = 0;
    assert_int_equal(run_file("encode.jsonl", run_encode, &faults), 358);
    assert_int_equal(faults, 0);
}

TEST(codec__refuses_what_the_conformance_cases_reject_and_says_where)
{
    unsigned faults = 0;
    assert_int_equal(run_file("reject.jsonl", run_reject, &faults), 186);
    assert_int_equal(faults, 0);
}

TEST_MAIN()
