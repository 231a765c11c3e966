/* server/registry/ask.c - see ask.h. */
#include "server/registry/ask.h"

#include <assert.h>

#include "schema/schema.h"
#include "server/registry/subject_name.h"
#include "server/words.h"

#define OPTIONAL(name, type) "{\"name\":\"" name "\",\"type\":[\"null\"," type "],\"default\":null}"
#define FIELD(name, type)    "{\"name\":\"" name "\",\"type\":" type "}"
#define RECORD(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define ARRAY(items)         "{\"type\":\"array\",\"items\":" items "}"
#define BODY(fields)         RECORD("body", fields)
#define STRING               "\"string\""
#define INT                  "\"int\""
#define OTHER                "\"other\""

/* Member by member, as ask_schema_read takes them. */
#define REFERENCE                                                                                            \
    RECORD("reference", FIELD("name", STRING) "," FIELD("subject", STRING) "," FIELD("version", INT))
#define SCHEMA     OPTIONAL("schema", STRING) "," OPTIONAL("schemaType", STRING)
#define REFERENCES OPTIONAL("references", ARRAY(REFERENCE))
#define NUMBERS    OPTIONAL("version", INT) "," OPTIONAL("id", INT)
#define OTHERS     OPTIONAL("metadata", RECORD("other", "")) "," OPTIONAL("ruleSet", OTHER)

static const char schema_body[] = BODY(SCHEMA "," REFERENCES "," NUMBERS "," OTHERS);
static const char level_body[] = BODY(OPTIONAL("compatibility", STRING));
static const char mode_body[] = BODY(OPTIONAL("mode", STRING));

/* ---- JSON to Avro ---- */

static enum rc encode(const struct schema *schema, struct slice body, struct buf *out, struct arena *arena,
                      struct err *err)
{
    const struct codec_opts opts = {
        .form = JSON_PLAIN, .missing = MISSING_DEFAULT, .unknown = UNKNOWN_IGNORE};
    struct codec *codec = codec_new();
    enum rc rc = codec ? codec_from_json(codec, schema, &opts, body, out, arena, err) : err_oom(err);
    codec_free(codec);
    return rc;
}

/* The body as Avro, in the arena. */
static enum rc read_body(const char *kind, struct slice body, struct arena *arena, struct slice *avro,
                         struct err *err)
{
    struct schema *schema;
    struct buf out = {0};
    if (!body.len) {
        err_set(err, ERR_BAD_JSON, "The body is empty; it is a JSON object.");
        err->line = err->column = 1;
        return RC_ERR;
    }
    if (schema_parse(&schema, slice_str(kind), (struct slice){0}, arena, err) != RC_OK)
        return RC_ERR;
    enum rc rc = encode(schema, body, &out, arena, err);
    if (rc == RC_OK && !arena_copy(arena, buf_slice(&out), avro))
        rc = err_oom(err);
    buf_release(&out);
    schema_free(schema);
    return rc;
}

/* ---- Avro that our codec has made ---- */

static int64_t take_number(struct slice *s)
{
    uint64_t n = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert(s->len && shift < 64);
        uint8_t c = *s->ptr;
        *s = slice_of(s->ptr + 1, s->len - 1);
        n |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
    }
}

static struct slice take_string(struct slice *s)
{
    size_t len = (size_t)take_number(s);
    assert(len <= s->len);
    struct slice text = slice_of(s->ptr, len);
    *s = slice_of(s->ptr + len, s->len - len);
    return text;
}

/* Whether there is a value behind the branch's number. */
static bool take_some(struct slice *s)
{
    return take_number(s) != 0;
}

/* ---- bodies with a schema ---- */

static enum rc take_reference(struct slice *avro, struct reference *r, struct err *err)
{
    r->name = take_string(avro);
    struct slice subject = take_string(avro);
    int64_t version = take_number(avro);
    if (version < -1 || version == 0)
        return err_set(err, ERR_BAD_VERSION,
                       "A reference names version %lld; it is a number from 1, or -1 for the latest.",
                       (long long)version);
    r->version = version < 0 ? 0 : (uint32_t)version;
    return subject_name_check(subject, &r->subject, err);
}

/* An array of one block, or of none: the codec does not split. */
static enum rc take_references(struct slice *avro, struct arena *arena, struct ask_schema *out,
                               struct err *err)
{
    for (int64_t n = take_number(avro); n; n = take_number(avro)) {
        uint64_t count = n < 0 ? -(uint64_t)n : (uint64_t)n;
        if (n < 0)
            take_number(avro); /* the block's bytes */
        struct reference *all = arena_calloc(arena, out->nreferences + count, sizeof *all);
        if (!all)
            return err_oom(err);
        if (out->nreferences)
            memcpy(all, out->references, out->nreferences * sizeof *all);
        out->references = all;
        for (uint64_t i = 0; i < count; i++)
            if (take_reference(avro, &all[out->nreferences++], err) != RC_OK)
                return RC_ERR;
    }
    return RC_OK;
}

static enum rc check_type(struct slice type, struct err *err)
{
    struct words words;
    if (!type.len || slice_eq(type, SLICE("AVRO")))
        return RC_OK;
    return err_set(err, ERR_BAD_SCHEMA, "Schemas of type '%s' are not offered; AVRO is.",
                   words_of(type, &words));
}

enum rc ask_schema_read(struct slice body, struct arena *arena, struct ask_schema *out, struct err *err)
{
    struct slice avro, type = {0};
    *out = (struct ask_schema){0};
    if (read_body(schema_body, body, arena, &avro, err) != RC_OK)
        return RC_ERR;
    if (take_some(&avro))
        out->schema = take_string(&avro);
    if (take_some(&avro))
        type = take_string(&avro);
    if (check_type(type, err) != RC_OK ||
        (take_some(&avro) && take_references(&avro, arena, out, err) != RC_OK))
        return RC_ERR;
    out->version = take_some(&avro) ? (int32_t)take_number(&avro) : -1;
    out->id = take_some(&avro) ? (int32_t)take_number(&avro) : -1;
    if (take_some(&avro) || take_some(&avro))
        return err_set(err, ERR_BAD_SCHEMA, "A schema's metadata and ruleSet are not offered.");
    if (!out->schema.len)
        return err_set(err, ERR_BAD_SCHEMA, "The schema is empty, or there is none.");
    return RC_OK;
}

/* ---- bodies of one word ---- */

static enum rc word_read(const char *kind, struct slice body, struct arena *arena, struct slice *out,
                         struct err *err)
{
    struct slice avro;
    *out = (struct slice){0};
    if (read_body(kind, body, arena, &avro, err) != RC_OK)
        return RC_ERR;
    if (take_some(&avro))
        *out = take_string(&avro);
    return RC_OK;
}

enum rc ask_level_read(struct slice body, struct arena *arena, struct slice *out, struct err *err)
{
    return word_read(level_body, body, arena, out, err);
}

enum rc ask_mode_read(struct slice body, struct arena *arena, struct slice *out, struct err *err)
{
    return word_read(mode_body, body, arena, out, err);
}
