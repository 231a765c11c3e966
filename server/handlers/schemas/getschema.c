/* server/handlers/schemas/getschema.c - the text of one of a type's schemas, by its version or its fingerprint, as it was
 * registered or in its canonical form. */
#include <stddef.h>
#include <stdio.h>

#include "base/num.h"
#include "server/conditions.h"
#include "server/handlers/handlers.h"
#include "server/handlers/reply.h"
#include "server/params.h"
#include "server/reading.h"
#include "server/schema_load.h"
#include "server/timing.h"
#include "server/words.h"

enum { FINGERPRINT_DIGITS = 16 };

struct getschema {
    const struct type_version *version;
    bool by_fingerprint, is_canonical;
    uint64_t fingerprint;
    uint8_t key[SCHEMA_KEY_BYTES];
};

/* ---- what is asked ---- */

static bool parse_hex(struct slice text, uint64_t *out)
{
    *out = 0;
    if (text.len != FINGERPRINT_DIGITS)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i], low = c | 0x20;
        bool is_letter = low >= 'a' && low <= 'f';
        if (!is_letter && (c < '0' || c > '9'))
            return false;
        *out = *out << 4 | (uint64_t)(is_letter ? low - 'a' + 10 : c - '0');
    }
    return true;
}

static enum rc ask_fingerprint(const struct slice *text, struct getschema *g, struct err *err)
{
    struct words words;
    if (parse_hex(*text, &g->fingerprint)) {
        g->by_fingerprint = true;
        return RC_OK;
    }
    return err_set(err, ERR_BAD_PARAMETER, "fingerprint is 16 hexadecimal digits, not '%s'.",
                   words_of(*text, &words));
}

static enum rc ask(const struct request *req, struct getschema *g, struct err *err)
{
    const struct slice *version = params_find(req, PARAM_version), *format = params_find(req, PARAM_format),
                       *fingerprint = params_find(req, PARAM_fingerprint);
    struct words words;
    g->version = req->type->latest;
    if (version && fingerprint)
        return err_set(err, ERR_BAD_PARAMETER, "Give version or fingerprint, not both.");
    if (version && reading_version(req, *version, "version", &g->version, err) != RC_OK)
        return RC_ERR;
    if (fingerprint && ask_fingerprint(fingerprint, g, err) != RC_OK)
        return RC_ERR;
    g->is_canonical = format && slice_eq(*format, SLICE("canonical"));
    if (!format || g->is_canonical)
        return RC_OK;
    return err_set(err, ERR_BAD_PARAMETER, "format is canonical, not '%s'.", words_of(*format, &words));
}

/* ---- the answer ---- */

static struct slice tag_suffix(const struct getschema *g)
{
    return g->is_canonical ? SLICE("-canonical") : (struct slice){0};
}

static bool headers_add(struct request *req)
{
    const struct getschema *g = req->state;
    char digits[FINGERPRINT_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016llx",
             (unsigned long long)schema_fingerprint(type_schema(g->version)));
    req->response.etag_revision = req->type->revision;
    req->response.etag_version = g->version->number;
    req->response.etag_suffix = tag_suffix(g);
    return response_header(req, "Vary", SLICE("Accept-Encoding")) &&
           reply_header_u64(req, "Schema-Version", g->version->number) &&
           reply_header_u64(req, "Schema-Id", g->version->schema_id) &&
           response_header(req, "Schema-Fingerprint", slice_str(digits));
}

static void show(struct request *req, struct slice text)
{
    const struct getschema *g = req->state;
    enum read_verdict verdict;
    struct err err;
    if (!headers_add(req)) {
        reply_no_memory(req);
    } else if (reply_condition(req, req->type->revision, g->version->number, tag_suffix(g), &verdict, &err) !=
               RC_OK) {
        answer_err(req, &err);
    } else if (verdict == READ_FAILED) {
        err_set(&err, ERR_CONDITION_FAILED, "The condition failed: the schema has another tag.");
        answer_err(req, &err);
    } else if (verdict == READ_NOT_MODIFIED) {
        req->response.status = 304;
        answer(req);
    } else {
        answer_json(req, text);
    }
}

static void show_canonical(struct request *req)
{
    const struct getschema *g = req->state;
    struct buf *out = &req->worker->scratch;
    out->len = 0;
    if (schema_canonical(type_schema(g->version), out))
        show(req, buf_slice(out));
    else
        reply_no_memory(req);
    reply_scratch_done(req->worker);
}

static void text_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    struct slice text;
    struct err err;
    timing_lap(req, STAGE_store);
    if (get->rc == RC_OK) {
        if (arena_copy(&req->arena, get->rec.body, &text))
            show(req, text);
        else
            reply_no_memory(req);
        return;
    }
    if (get->rc == RC_ERR)
        err = get->err;
    else
        err_set(&err, ERR_INTERNAL, "The text of a schema is missing in the store.");
    answer_err(req, &err);
}

static void loaded(struct request *req)
{
    struct getschema *g = req->state;
    if (g->is_canonical) {
        show_canonical(req);
        return;
    }
    req->get.key = (struct store_key){.space = SPACE_SCHEMA, .id = schema_key(g->version->schema_id, g->key)};
    req->get.done = text_read;
    store_get(req->worker->store, &req->get);
}

/* ---- by fingerprint: from g->version down to the first ---- */

static COLD void refuse_fingerprint(struct request *req)
{
    const struct getschema *g = req->state;
    struct words words;
    struct err err;
    err_set(&err, ERR_NO_VERSION, "No version of '%s' has the fingerprint %016llx.",
            words_of(req->type_name, &words), (unsigned long long)g->fingerprint);
    answer_err(req, &err);
}

/* As a number, or as its bytes stand in data, the least first: Avro's own tools print them so. */
static bool is_asked_for(const struct getschema *g, const struct type_version *v)
{
    uint64_t own = schema_fingerprint(type_schema(v));
    return own == g->fingerprint || __builtin_bswap64(own) == g->fingerprint;
}

static void look_down(struct request *req)
{
    struct getschema *g = req->state;
    while (type_schema(g->version)) {
        if (is_asked_for(g, g->version)) {
            loaded(req);
            return;
        }
        if (g->version == req->type->version) {
            refuse_fingerprint(req);
            return;
        }
        g->version--;
    }
    schema_load(req, g->version, look_down);
}

void getschema_handle(struct request *req)
{
    struct err err;
    struct getschema *g = arena_calloc(&req->arena, 1, sizeof *g);
    if (!g) {
        reply_no_memory(req);
        return;
    }
    req->state = g;
    if (ask(req, g, &err) != RC_OK)
        answer_err(req, &err);
    else if (g->by_fingerprint)
        look_down(req);
    else
        schema_load(req, g->version, loaded);
}
