/* tests/fuzz/avro_binary.c - any bytes as Avro binary. They decode where a plain reading of the rules
 * (plain_codec.h) says so. What decodes is JSON in both forms, made of its fields' JSON, and encodes to
 * bytes that decode to the same text; Avro C reads the same. What does not leaves the output as it was.
 * Fields lie inside the bytes, one behind the other. The input: a schema (schemas.h), then the bytes. */
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "schema/program/program.h"
#include "schema/scratch.h"
#include "tests/fuzz/plain_codec.h"
#include "tests/fuzz/schemas.h"

/* Millions of items that take no bytes: their JSON is not looked at any further. */
enum { JSON_MAX = 1000000 };

static struct codec *codec;

static void check_json(struct slice text)
{
    struct arena arena = {0};
    struct err err = {0};
    CHECK(json_check(text, JSON_NEST_MAX, &arena, &err) == RC_OK, "%s: %.*s", err.message, SHOW(text));
    arena_release(&arena);
}

/* `text` encodes to bytes that decode to it again. */
static void check_stable(const struct schema *s, enum json_form form, struct slice text, struct buf *avro)
{
    struct codec_opts opts = {.form = form};
    struct arena arena = {0};
    struct buf again = {0};
    struct err err;
    avro->len = 0;
    CHECK(codec_from_json(codec, s, &opts, text, avro, &arena, &err) == RC_OK, "%.*s: %s", SHOW(text),
          err.message);
    CHECK(codec_to_json(s, form, buf_slice(avro), &again, &err) == RC_OK, "%.*s: %s", SHOW(text),
          err.message);
    CHECK(slice_eq(text, buf_slice(&again)), "%.*s becomes %.*s", SHOW(text), SHOW(again));
    buf_release(&again);
    arena_release(&arena);
}

static void check_avro_c(const struct schema *s, int row, struct slice avro, struct slice canonical,
                         struct slice text)
{
    struct buf theirs = {0}, again = {0};
    struct codec_opts opts = {.form = JSON_AVRO};
    struct arena arena = {0};
    struct err err;
    if (!memmem(text.ptr, text.len, "\\u0000", 6) && fuzz_avro_c(row, avro, &theirs)) {
        CHECK(codec_from_json(codec, s, &opts, buf_slice(&theirs), &again, &arena, &err) == RC_OK, "%.*s: %s",
              SHOW(theirs), err.message);
        CHECK(slice_eq(canonical, buf_slice(&again)), "%.*s, but Avro C: %.*s", SHOW(text), SHOW(theirs));
    }
    buf_release(&theirs);
    buf_release(&again);
    arena_release(&arena);
}

/* ---- fields ---- */

static void put(struct buf *b, struct slice s)
{
    CHECK(buf_append(b, s), "memory is out");
}

/* The fields lie one behind the other; is_whole: from the first byte to the last, and their JSON makes
 * `text`. */
static void check_fields(const struct schema *s, enum json_form form, struct slice avro, bool is_whole,
                         struct slice text)
{
    const struct program *p = schema_program(s);
    const struct op *root = &p->ops[p->root];
    if (root->code != OP_RECORD)
        return;
    struct buf made = {0};
    struct err err;
    const uint8_t *at = avro.ptr;
    put(&made, SLICE("{"));
    for (uint32_t i = 0; i < root->b; i++) {
        const struct op_field *f = &p->fields[root->a + i];
        struct slice span;
        enum rc rc = codec_field_span(s, (int)i, avro, &span, &err);
        CHECK(rc == RC_OK || !is_whole, "field %u: %s", i, err.message);
        if (rc != RC_OK)
            break;
        CHECK(span.ptr == at && span.len <= (size_t)(avro.ptr + avro.len - at), "field %u lies elsewhere", i);
        at += span.len;
        put(&made, i ? SLICE(",") : SLICE(""));
        put(&made, f->key);
        rc = codec_field_to_json(s, (int)i, form, avro, &made, &err);
        CHECK(rc == RC_OK || !is_whole, "field %u: %s", i, err.message);
    }
    put(&made, SLICE("}"));
    CHECK(!is_whole || (at == avro.ptr + avro.len && slice_eq(text, buf_slice(&made))),
          "%.*s, its fields %.*s", SHOW(text), SHOW(made));
    buf_release(&made);
}

/* ---- a datum ---- */

static void check_form(const struct fuzz_schema *s, enum json_form form, struct slice avro)
{
    static const char before[] = "before";
    struct buf text = {0}, canonical = {0};
    struct err err = {0};
    put(&text, slice_str(before));
    enum rc rc = codec_to_json(s->schema, form, avro, &text, &err);
    CHECK(text.len >= strlen(before) && !memcmp(text.ptr, before, strlen(before)), "what was before is lost");
    struct slice json = slice_of(text.ptr + strlen(before), text.len - strlen(before));
    const struct program *p = schema_program(s->schema);
    enum plain_result plain = plain_check(p, p->root, avro);
    CHECK(plain == PLAIN_GIVES_UP || (rc == RC_OK) == (plain == PLAIN_FITS), "plainly %d: %s", plain,
          err.message);
    if (rc != RC_OK) {
        CHECK(json.len == 0, "%zu bytes are left of what was refused", json.len);
        CHECK(err.code == ERR_BAD_AVRO || err.code == ERR_TOO_DEEP || err.code == ERR_TOO_MUCH_WORK,
              "code %d", err.code);
        CHECK(utf8_valid(slice_str(err.message)), "a message that is not UTF-8");
        check_fields(s->schema, form, avro, false, json);
    } else if (json.len <= JSON_MAX) {
        check_fields(s->schema, form, avro, true, json);
        check_json(json);
        check_stable(s->schema, form, json, &canonical);
        if (form == JSON_AVRO)
            check_avro_c(s->schema, s->row, avro, buf_slice(&canonical), json);
    }
    buf_release(&text);
    buf_release(&canonical);
}

/* The same data fit, however they are spelled. */
static void check_spelled(const struct schema *s, enum json_form form, struct slice avro)
{
    struct buf plain = {0}, text = {0};
    struct err err = {0}, why = {0};
    enum rc rc = codec_to_json(s, JSON_PLAIN, avro, &plain, &err);
    enum rc same = codec_to_json(s, form, avro, &text, &why);
    CHECK(rc == same && err.code == why.code, "%d: %s; %d: %s", rc, err.message, same, why.message);
    if (rc == RC_OK && text.len <= JSON_MAX)
        check_json(buf_slice(&text));
    buf_release(&plain);
    buf_release(&text);
}

static void check_raw(struct slice avro)
{
    struct slice content;
    struct err err;
    uint8_t length[10];
    if (codec_raw_content(avro, &content, &err) != RC_OK)
        return;
    CHECK(content.ptr + content.len == avro.ptr + avro.len, "the content lies elsewhere");
    CHECK(codec_put_length(content.len, length) <= avro.len - content.len, "a longer length");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    struct fuzz_schema s;
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    fuzz_schema_take(&s, &in);
    struct slice avro = fuzz_copy(in);
    if (s.schema) {
        check_form(&s, JSON_PLAIN, avro);
        check_form(&s, JSON_AVRO, avro);
        check_spelled(s.schema, (enum json_form)(1 + avro.len % 7), avro);
        check_raw(avro);
    }
    fuzz_free(avro);
    fuzz_schema_release(&s);
    return 0;
}
