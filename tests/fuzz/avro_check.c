/* tests/fuzz/avro_check.c - any bytes, to be stored as Avro binary. They pass where a plain reading of the
 * rules (plain_codec.h) says so; on a worker's budget as with all the time there is; behind a frame as
 * without one. What passes is printed, and its items are few enough for who exchanges a field; Avro C reads
 * it and writes the same datum. What does not names one place. The input: a schema (schemas.h), then the
 * bytes. */
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/program/program.h"
#include "tests/fuzz/plain_codec.h"
#include "tests/fuzz/schemas.h"

/* Millions of items that take no bytes: their JSON is not looked at any further. */
enum { JSON_MAX = 1000000, FRAME_BYTES = 10 };

static struct codec *codec;

static void put(struct buf *b, struct slice s)
{
    CHECK(buf_append(b, s), "memory is out");
}

/* Not where there is a NUL: it ends keys there. */
static void check_avro_c(const struct fuzz_schema *s, struct slice avro, struct slice json)
{
    struct buf theirs = {0}, text = {0};
    struct err err;
    if (!memmem(json.ptr, json.len, "\\u0000", 6) && fuzz_avro_c_binary(s->row, avro, &theirs)) {
        CHECK(codec_to_json(s->schema, JSON_AVRO, buf_slice(&theirs), &text, &err) == RC_OK, "%.*s: %s",
              SHOW(json), err.message);
        CHECK(slice_eq(json, buf_slice(&text)), "%.*s, but Avro C: %.*s", SHOW(json), SHOW(text));
    }
    buf_release(&theirs);
    buf_release(&text);
}

static void check_readable(const struct fuzz_schema *s, struct slice avro)
{
    struct buf json = {0};
    struct err err;
    enum rc rc = codec_to_json(s->schema, JSON_AVRO, avro, &json, &err);
    CHECK(rc == RC_OK || err.code == ERR_JSON_TOO_LARGE, "it passed, but: %s", err.message);
    CHECK(codec_check_items(s->schema, avro, &err) == RC_OK, "it passed, but: %s", err.message);
    if (rc == RC_OK && json.len <= JSON_MAX)
        check_avro_c(s, avro, buf_slice(&json));
    buf_release(&json);
}

static void check_refusal(const struct err *err)
{
    CHECK(err->code == ERR_BAD_AVRO || err->code == ERR_TOO_DEEP || err->code == ERR_TOO_MUCH_WORK, "code %d",
          err->code);
    CHECK(utf8_valid(slice_str(err->message)), "a message that is not UTF-8");
    CHECK(err->problems == (err->code != ERR_TOO_MUCH_WORK), "%u problems: %s", err->problems, err->message);
    CHECK(!err->first || utf8_valid(err->first->pointer), "a pointer that is not UTF-8");
}

/* With limits of a type it passes if it is within them, whoever looks. */
static void check_limits(const struct schema *s, struct slice avro, struct codec_limits limits,
                         bool is_within)
{
    const struct codec_opts opts = {.limits = limits};
    struct arena arena = {0};
    struct err err = {0}, other = {0};
    enum rc rc = codec_check(codec, s, &opts, avro, 0, &arena, &err);
    CHECK((rc == RC_OK) == is_within, "%u bytes, %u items, %u levels: %s", limits.bytes, limits.items,
          limits.depth, err.message);
    CHECK(codec_check_limits(codec, s, &opts, avro, &arena, &other) == rc && other.code == err.code,
          "%s, but as ours: %s", err.message, other.message);
    if (!is_within)
        CHECK(err.problems == (err.code != ERR_RECORD_TOO_LARGE) && other.problems == err.problems, "%s",
              err.message);
    CHECK(!err.first || slice_eq(err.first->pointer, other.first->pointer), "%s, but as ours: %s",
          err.message, other.message);
    arena_release(&arena);
}

static void check_type_limits(const struct schema *s, struct slice avro)
{
    struct codec_limits most;
    const struct program *p = schema_program(s);
    if (plain_measure(p, p->root, avro, &most) != PLAIN_FITS)
        return;
    check_limits(s, avro, most, true);
    check_limits(s, avro, (struct codec_limits){.bytes = most.bytes - 1}, most.bytes <= 1);
    check_limits(s, avro, (struct codec_limits){.items = most.items - 1}, most.items <= 1);
    check_limits(s, avro, (struct codec_limits){.depth = most.depth - 1}, most.depth <= 1);
}

/* Behind a frame, and in a hurry: the same, but for where it is and how long it may take. */
static void check_framed(const struct schema *s, struct slice avro, enum rc rc, const struct err *err)
{
    static const uint8_t frame[FRAME_BYTES] = {0xc3, 1};
    struct arena arena = {0};
    struct buf body = {0};
    struct err other = {0};
    put(&body, slice_of(frame, sizeof frame));
    put(&body, avro);
    enum rc framed = codec_check(codec, s, &(struct codec_opts){.brief = true}, buf_slice(&body),
                                 sizeof frame, &arena, &other);
    CHECK(framed == rc || other.code == ERR_TOO_MUCH_WORK, "framed: %s", other.message);
    if (framed == RC_ERR && rc == RC_ERR && err->first && other.first)
        CHECK(slice_eq(err->first->pointer, other.first->pointer) && err->first->code == other.first->code,
              "%s, but framed: %s", err->message, other.message);
    buf_release(&body);
    arena_release(&arena);
}

static void check(const struct fuzz_schema *s, struct slice avro)
{
    const struct program *p = schema_program(s->schema);
    struct arena arena = {0};
    struct err err = {0};
    enum rc rc = codec_check(codec, s->schema, &(struct codec_opts){0}, avro, 0, &arena, &err);
    enum plain_result plain = plain_check_strictly(p, p->root, avro);
    CHECK(plain == PLAIN_GIVES_UP || (rc == RC_OK) == (plain == PLAIN_FITS), "plainly %d: %s", plain,
          err.message);
    if (rc == RC_OK) {
        check_readable(s, avro);
        check_type_limits(s->schema, avro);
    } else {
        check_refusal(&err);
    }
    check_framed(s->schema, avro, rc, &err);
    arena_release(&arena);
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
    if (s.schema)
        check(&s, avro);
    fuzz_free(avro);
    fuzz_schema_release(&s);
    return 0;
}
