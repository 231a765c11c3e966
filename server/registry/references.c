/* server/registry/references.c - see references.h. */
#include "server/registry/references.h"

#include "base/bytes.h"
#include "base/json_quote.h"
#include "server/words.h"

enum { FORMAT = 1, HEAD_BYTES = 12, REFERENCE_HEAD_BYTES = 8 };

/* ---- bytes ---- */

static size_t list_bytes(const struct references *r)
{
    size_t bytes = 0;
    for (size_t i = 0; i < r->n; i++)
        bytes += REFERENCE_HEAD_BYTES + r->at[i].name.len + r->at[i].subject.len;
    return bytes;
}

static uint8_t *put(uint8_t *p, struct slice s)
{
    if (s.len)
        memcpy(p, s.ptr, s.len);
    return p + s.len;
}

static void list_put(const struct references *r, uint8_t *p)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct reference *ref = &r->at[i];
        put_le32(p, ref->version);
        put_le16(p + 4, (uint16_t)ref->name.len);
        put_le16(p + 6, (uint16_t)ref->subject.len);
        p = put(put(p + REFERENCE_HEAD_BYTES, ref->name), ref->subject);
    }
}

bool references_list(const struct references *r, struct arena *arena, struct slice *out)
{
    size_t bytes = list_bytes(r);
    uint8_t *p = arena_alloc(arena, bytes + 1);
    if (!p)
        return false;
    list_put(r, p);
    *out = slice_of(p, bytes);
    return true;
}

bool references_encode(const struct references *r, struct arena *arena, struct slice *out)
{
    size_t bytes = HEAD_BYTES + r->text.len + list_bytes(r);
    uint8_t *p = arena_calloc(arena, 1, bytes);
    if (!p)
        return false;
    p[0] = FORMAT;
    put_le32(p + 4, (uint32_t)r->n);
    put_le32(p + 8, (uint32_t)r->text.len);
    list_put(r, put(p + HEAD_BYTES, r->text));
    *out = slice_of(p, bytes);
    return true;
}

static enum rc damaged(struct err *err)
{
    return err_set(err, ERR_STORE_FORMAT, "A row of references is damaged.");
}

enum rc references_decode(struct slice row, struct arena *arena, struct references *out, struct err *err)
{
    *out = (struct references){0};
    if (row.len < HEAD_BYTES || row.ptr[0] != FORMAT)
        return damaged(err);
    size_t n = get_le32(row.ptr + 4), text = get_le32(row.ptr + 8);
    if (text > row.len - HEAD_BYTES || n > row.len)
        return damaged(err);
    out->text = slice_of(row.ptr + HEAD_BYTES, text);
    out->at = arena_calloc(arena, n + 1, sizeof *out->at);
    if (!out->at)
        return err_oom(err);
    const uint8_t *p = row.ptr + HEAD_BYTES + text, *end = row.ptr + row.len;
    for (; out->n < n; out->n++) {
        if (end - p < REFERENCE_HEAD_BYTES)
            return damaged(err);
        size_t name = get_le16(p + 4), subject = get_le16(p + 6);
        if ((size_t)(end - p) - REFERENCE_HEAD_BYTES < name + subject)
            return damaged(err);
        out->at[out->n] = (struct reference){.version = get_le32(p),
                                             .name = slice_of(p + REFERENCE_HEAD_BYTES, name),
                                             .subject = slice_of(p + REFERENCE_HEAD_BYTES + name, subject)};
        p += REFERENCE_HEAD_BYTES + name + subject;
    }
    return RC_OK;
}

enum rc references_read(struct call *c, uint32_t schema_id, struct references *out, struct err *err)
{
    uint8_t key[SUBJECT_ROW_PREFIX + SCHEMA_KEY_BYTES] = {0, SUBJECT_ROW_REFERENCES};
    struct slice row;
    *out = (struct references){0};
    schema_key(schema_id, key + SUBJECT_ROW_PREFIX);
    enum rc rc = rows_get(c, SPACE_SUBJECT, slice_of(key, sizeof key), &row, err);
    if (rc == RC_OK)
        return references_decode(row, call_arena(c), out, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

bool references_print(struct call *c, const struct references *r)
{
    struct buf *out = &c->out.text;
    if (!r->n)
        return true;
    bool ok = buf_append(out, SLICE(",\"references\":["));
    for (size_t i = 0; ok && i < r->n; i++)
        ok = print_comma(c, i) && buf_append(out, SLICE("{\"name\":")) && json_quote(r->at[i].name, out) &&
             buf_append(out, SLICE(",\"subject\":")) && json_quote(r->at[i].subject, out) &&
             buf_printf(out, ",\"version\":%u}", r->at[i].version);
    return ok && buf_append_byte(out, ']');
}

/* ---- what they lead to ---- */

enum { DEPTH_MAX = 64 };

/* A schema whose references are being followed. */
struct frame {
    struct references refs;
    size_t next;
};

struct gathering {
    struct slice *text;
    uint32_t *id; /* of each text, in the same order */
    size_t n;
};

static enum rc missing(const struct reference *r, struct err *err)
{
    struct words name, subject;
    return err_set(err, ERR_BAD_SCHEMA, "The reference '%s' leads to version %u of '%s', which is not there.",
                   words_of(r->name, &name), r->version, words_of(r->subject, &subject));
}

/* The version that a reference names; the latest becomes its number. */
static enum rc resolve(struct call *c, struct reference *r, struct row_version *v, struct err *err)
{
    struct type_row row;
    enum rc rc = lineage_read(c, r->subject, &row, err);
    if (rc == RC_ERR)
        return rc;
    bool found = rc == RC_OK && (r->version ? lineage_find(&row, r->version, WHICH_LIVE, v)
                                            : lineage_latest(&row, WHICH_LIVE, v));
    if (!found)
        return missing(r, err);
    r->version = v->number;
    r->schema_id = v->schema_id;
    return RC_OK;
}

static bool has_id(const struct gathering *g, uint32_t id)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->id[i] == id)
            return true;
    return false;
}

static enum rc gather(struct call *c, struct references *refs, struct gathering *g, struct err *err)
{
    struct frame stack[DEPTH_MAX];
    uint32_t ids[DEPTH_MAX];
    size_t depth = 1;
    stack[0] = (struct frame){.refs = *refs};
    while (depth) {
        struct frame *f = &stack[depth - 1];
        if (f->next == f->refs.n) { /* all that it uses stands before it */
            depth--;
            if (depth) {
                g->id[g->n] = ids[depth];
                g->text[g->n++] = f->refs.text;
            }
            continue;
        }
        struct reference *r = &f->refs.at[f->next++];
        struct row_version v;
        uint8_t key[SCHEMA_KEY_BYTES];
        if (resolve(c, r, &v, err) != RC_OK)
            return RC_ERR;
        if (has_id(g, v.schema_id))
            continue;
        if (depth == DEPTH_MAX || g->n + depth > LIMIT_REFERENCES_MAX)
            return err_set(err, ERR_BAD_SCHEMA,
                           "The references lead too far: to more than %d schemas, or %d in a row.",
                           LIMIT_REFERENCES_MAX, DEPTH_MAX - 1);
        struct references inner;
        if (references_read(c, v.schema_id, &inner, err) != RC_OK)
            return RC_ERR;
        if (!inner.n && rows_get(c, SPACE_SCHEMA, schema_key(v.schema_id, key), &inner.text, err) != RC_OK)
            return err_set(err, ERR_INTERNAL, "The text of a schema is missing in the store.");
        ids[depth] = v.schema_id;
        stack[depth++] = (struct frame){.refs = inner};
    }
    return RC_OK;
}

enum rc references_texts(struct call *c, struct references *refs, struct slice **known, size_t *n,
                         struct err *err)
{
    struct gathering g = {.text = arena_calloc(call_arena(c), LIMIT_REFERENCES_MAX + 1, sizeof *g.text),
                          .id = arena_calloc(call_arena(c), LIMIT_REFERENCES_MAX + 1, sizeof *g.id)};
    if (!g.text || !g.id)
        return err_oom(err);
    for (size_t i = 0; i < refs->n; i++)
        if (refs->at[i].name.len > UINT16_MAX)
            return err_set(err, ERR_BAD_SCHEMA, "The name of a reference has %zu bytes; that is too long.",
                           refs->at[i].name.len);
    enum rc rc = gather(c, refs, &g, err);
    *known = g.text;
    *n = g.n;
    return rc;
}
