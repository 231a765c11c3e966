/* server/handlers/records/scan.c - GET of a type: its records in the order of their ids, as a stream, a page of the store at a
 * time. Between two pages it keeps the last id, and perhaps one record that takes more than a look. */
#include <assert.h>
#include <stddef.h>

#include "base/limits.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/record.h"
#include "server/handlers/records/record_fields.h"
#include "server/handlers/records/record_life.h"
#include "server/handlers/records/record_print.h"
#include "server/handlers/records/scan_ask.h"
#include "server/handlers/records/scan_lines.h"
#include "server/handlers/reply.h"
#include "server/json_form.h"
#include "server/schema_load.h"

/* What comes next. */
enum step {
    STEP_PAGE,
    STEP_LOAD, /* the schema of the next record, or of the one that was kept */
    STEP_KEPT, /* the record that was kept: it could not be printed inside the page */
    STEP_READ, /* it once more: its chunks went while it waited */
    STEP_TEXT, /* what a helper has made of it */
    STEP_CUT,  /* memory is out */
    STEP_END
};

enum { STEPS_A_PIECE = 8 }; /* pages of expired records make nothing, and are work all the same */

/* In the request's arena. */
struct scan {
    struct store_scan page;
    struct request *req;
    struct scan_ask ask;
    enum step step, after_load;
    struct scan_lines lines;
    enum json_form json;
    const struct projection *projection; /* of records as ... NULL: all fields */
    const struct schema *projected;      /* ... this has them ... */
    struct err not_projected;            /* ... or (code not 0) why not */
    struct reading wanted;               /* what is to be loaded */
    uint32_t
        missing_id;     /* a schema whose records cannot be read, for want of it or of a way to it; 0: none */
    struct err missing; /* why */

    struct record kept; /* its body is in chunks, or in kept_body, packed or not */
    uint8_t kept_id[LIMIT_ID_MAX];
    size_t kept_id_len;
    uint8_t kept_body[LIMIT_RECORD_INLINE_MAX];
    uint64_t tried_revision; /* of a record whose chunks were missing */
    struct record_text text;
    struct arena problems; /* its */
};

/* ---- a record that waits ---- */

static struct slice kept_id(const struct scan *s)
{
    return slice_of(s->kept_id, s->kept_id_len);
}

static enum rc keep(struct scan *s, struct slice id, const struct record *rec)
{
    s->kept = *rec;
    s->kept.content_type = (struct slice){0};
    struct slice *body = rec->packed.len ? &s->kept.packed : &s->kept.body;
    if (body->len) {
        assert(body->len <= sizeof s->kept_body);
        memmove(s->kept_body, body->ptr, body->len);
        body->ptr = s->kept_body;
    }
    if (id.ptr != s->kept_id)
        memcpy(s->kept_id, id.ptr, id.len);
    s->kept_id_len = id.len;
    s->step = STEP_KEPT;
    return RC_PENDING;
}

/* ---- a record ---- */

static enum rc find_reading(const struct scan *s, const struct record *rec, struct reading *out)
{
    return reading_find(s->req, rec->schema_id, reading_reader(s->req), out);
}

/* Of the version in which records are shown, which another may become. RC_NOTFOUND: s->missing says why not. */
static COLD enum rc find_fields(struct scan *s, const struct schema *schema)
{
    if (s->projected != schema) {
        s->projected = schema;
        if (record_fields_find(s->req, schema, &s->projection, &s->not_projected) == RC_OK)
            s->not_projected.code = ERR_NONE;
    }
    if (s->not_projected.code == ERR_NONE)
        return RC_OK;
    s->missing = s->not_projected;
    s->missing_id = 0; /* it was why not of another one */
    return RC_NOTFOUND;
}

/* RC_PENDING: the type has been dropped, and the scan is at its end. RC_NOTFOUND: s->missing says why not. */
static enum rc form_of(struct scan *s, const struct record *rec, struct record_form *out)
{
    struct reading *r = &out->reading;
    enum rc rc = find_reading(s, rec, r);
    if (unlikely(rc == RC_NOTFOUND)) { /* written under a version that was registered since */
        rc = catalog_renew(s->req, &s->page.err);
        if (rc == RC_NOTFOUND)
            s->step = STEP_END;
        if (rc != RC_OK)
            return rc == RC_ERR ? RC_ERR : RC_PENDING;
        rc = find_reading(s, rec, r);
        if (rc == RC_NOTFOUND)
            err_set(&s->missing, ERR_INTERNAL, "no version of its type has its schema");
    }
    if (unlikely(rc == RC_AGAIN)) {
        s->wanted = *r;
        return rec->schema_id == s->missing_id ? RC_NOTFOUND : RC_AGAIN;
    }
    if (unlikely(rc != RC_OK))
        return rc;
    out->schema = type_schema(r->reader);
    out->field = -1;
    out->projection = NULL;
    out->json = s->json;
    out->path = NULL;
    out->framing = NULL;
    if (likely(!record_fields_asked(s->req)))
        return RC_OK;
    rc = find_fields(s, out->schema);
    out->projection = s->projection;
    return rc;
}

/* The line of one of s->missing. */
static COLD enum rc show_missing(struct scan *s, struct slice id, uint64_t revision)
{
    if (err_status(s->missing.code) >= 500)
        return scan_line_damage(&s->lines, id, revision, s->missing.message, &s->page.err);
    return scan_line_fault(&s->lines, id, revision, &s->missing, &s->page.err);
}

static bool line_begin(const struct scan *s, struct slice id, const struct record *rec, struct buf *out)
{
    if (!scan_line_begin(&s->lines, id, rec->revision, out))
        return false;
    return likely(!rec->expires_ms) ||
           buf_printf(out, ",\"ttl\":%llu", (unsigned long long)record_life_left(rec->expires_ms));
}

static bool record_begin(const struct scan *s, struct slice id, const struct record *rec, struct buf *out)
{
    return line_begin(s, id, rec, out) && buf_append(out, SLICE(",\"record\":"));
}

/* Its line, or RC_AGAIN or RC_NOTFOUND with nothing printed. */
static enum rc print(struct scan *s, struct slice id, const struct record *rec,
                     const struct record_form *form)
{
    struct buf *out = s->lines.out;
    size_t begin = out->len;
    struct arena problems = {0};
    struct err err;
    if (!record_begin(s, id, rec, out))
        return err_oom(&s->page.err);
    enum rc rc = record_print_here(s->req->worker, form, rec, out, &problems, &err);
    if (likely(rc == RC_OK))
        return scan_line_finish(&s->lines, true, &s->page.err);
    out->len = begin;
    if (rc != RC_ERR)
        return rc;
    if (err_status(err.code) == 503)
        s->page.err = err;
    else
        rc = scan_line_fault(&s->lines, id, rec->revision, &err, &s->page.err);
    arena_release(&problems);
    return rc;
}

static enum rc show(struct scan *s, struct slice id, const struct record *rec)
{
    struct record_form form;
    enum rc rc = form_of(s, rec, &form);
    if (unlikely(rc == RC_NOTFOUND))
        return show_missing(s, id, rec->revision);
    if (unlikely(rc == RC_AGAIN)) {
        s->step = STEP_LOAD;
        s->after_load = STEP_PAGE;
    }
    if (rc != RC_OK)
        return rc;
    if (unlikely(rec->blob != 0))
        return keep(s, id, rec);
    rc = print(s, id, rec, &form);
    return likely(rc != RC_AGAIN) ? rc : keep(s, id, rec);
}

static COLD enum rc show_damaged_head(struct scan *s, struct slice id)
{
    const struct err why = s->page.err;
    return scan_line_damage(&s->lines, id, 0, why.message, &s->page.err);
}

static enum rc row(struct store_scan *page, struct slice id, const struct record *rec)
{
    struct scan *s = CONTAINER_OF(page, struct scan, page);
    if (unlikely(!rec))
        return show_damaged_head(s, id);
    if (!s->ask.keys)
        return show(s, id, rec);
    return scan_line_finish(&s->lines, line_begin(s, id, rec, s->lines.out), &page->err);
}

static void page_done(struct store_scan *page)
{
    (void)page; /* step_page() looks at page->rc */
}

/* ---- with a helper ---- */

static void helped(struct record_text *text)
{
    struct scan *s = CONTAINER_OF(text, struct scan, text);
    s->step = STEP_TEXT;
    stream_resume(s->req);
}

static enum rc get_help(struct scan *s, const struct record_form *form)
{
    struct buf *text = &s->text.text.text;
    s->text = (struct record_text){.req = s->req,
                                   .form = *form,
                                   .rec = s->kept,
                                   .behind = scan_line_end(&s->lines),
                                   .arena = &s->problems,
                                   .done = helped};
    if (!record_begin(s, kept_id(s), &s->kept, text))
        return err_oom(&s->page.err); /* the end of the scan releases it */
    record_print_always(&s->text);
    return RC_AGAIN;
}

/* ---- steps: RC_OK: go on; else what `more` answers ---- */

static enum rc step_page(struct scan *s)
{
    struct store_worker *store = s->req->worker->store;
    if (s->ask.is_empty)
        s->page.rc = RC_OK;
    else
        store_scan(store, &s->page);
    if (s->page.rc == RC_OK)
        s->step = STEP_END;
    return s->page.rc == RC_ERR ? RC_ERR : RC_OK;
}

static void loaded(struct request *req)
{
    stream_resume(req);
}

static void load_failed(struct request *req, const struct err *err)
{
    struct scan *s = req->state;
    if (err_status(err->code) == 503)
        s->step = STEP_CUT;
    s->missing_id = s->wanted.writer->schema_id;
    s->missing = *err;
    stream_resume(req);
}

static enum rc step_load(struct scan *s)
{
    s->step = s->after_load;
    reading_load_or(s->req, &s->wanted, loaded, load_failed);
    return RC_AGAIN;
}

static COLD enum rc show_kept_damage(struct scan *s, const char *what)
{
    return scan_line_damage(&s->lines, kept_id(s), s->kept.revision, what, &s->page.err);
}

/* The chunks are gone: another record has taken its place meanwhile, or it is damaged. */
static enum rc chunks_missing(struct scan *s)
{
    s->step = STEP_READ;
    if (s->tried_revision != s->kept.revision) {
        s->tried_revision = s->kept.revision;
        return RC_OK;
    }
    s->step = STEP_PAGE;
    return show_kept_damage(s, "chunks of its body are missing");
}

static enum rc step_kept(struct scan *s)
{
    struct record_form form;
    s->step = STEP_PAGE;
    enum rc rc = form_of(s, &s->kept, &form);
    if (rc == RC_NOTFOUND)
        return show_missing(s, kept_id(s), s->kept.revision);
    if (rc == RC_AGAIN) {
        s->step = STEP_LOAD;
        s->after_load = STEP_KEPT;
        return RC_OK;
    }
    if (rc != RC_OK)
        return rc;
    rc = print(s, kept_id(s), &s->kept, &form);
    if (rc == RC_AGAIN)
        return get_help(s, &form);
    return rc == RC_NOTFOUND ? chunks_missing(s) : rc;
}

static void read_done(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    struct scan *s = req->state;
    s->step = STEP_PAGE; /* removed meanwhile */
    s->page.err = get->err;
    if (get->rc == RC_OK)
        keep(s, kept_id(s), &get->rec);
}

static enum rc step_read(struct scan *s)
{
    struct store_get *get = &s->req->get;
    get->key = (struct store_key){.space = SPACE_RECORD, .type = s->page.type, .id = kept_id(s)};
    get->done = read_done;
    store_get(s->req->worker->store, get);
    return get->rc == RC_ERR ? RC_ERR : RC_OK;
}

static enum rc step_text(struct scan *s)
{
    struct record_text *t = &s->text;
    enum rc rc = t->rc;
    if (rc == RC_OK) {
        rc = record_text_more(t, s->lines.out, s->lines.full - s->lines.out->len);
        if (rc != RC_OK)
            return rc;
        s->step = STEP_PAGE;
        rc = scan_line_shown(&s->lines);
    } else if (rc == RC_NOTFOUND) {
        rc = chunks_missing(s);
    } else {
        s->step = STEP_PAGE;
        rc = scan_line_fault(&s->lines, kept_id(s), s->kept.revision, &t->err, &s->page.err);
    }
    record_text_release(t);
    arena_release(&s->problems);
    return rc;
}

static enum rc step(struct scan *s)
{
    switch (s->step) {
    case STEP_PAGE: return step_page(s);
    case STEP_LOAD: return step_load(s);
    case STEP_KEPT: return step_kept(s);
    case STEP_READ: return step_read(s);
    case STEP_TEXT: return step_text(s);
    case STEP_CUT: return RC_ERR;
    case STEP_END: break;
    }
    return RC_PENDING;
}

/* ---- the stream ---- */

static bool is_over(const struct scan *s)
{
    return s->step == STEP_END || !s->lines.left;
}

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    struct scan *s = req->state;
    enum rc rc;
    s->lines.out = out;
    s->lines.full = out->len + room;
    for (int i = 0; i < STEPS_A_PIECE && !is_over(s) && !scan_lines_enough(&s->lines); i++) {
        rc = step(s);
        if (rc == RC_ERR || rc == RC_AGAIN)
            return rc;
    }
    if (!is_over(s))
        return RC_PENDING;
    return scan_lines_end(&s->lines) ? RC_OK : RC_ERR;
}

static void end(struct request *req)
{
    struct scan *s = req->state;
    record_text_release(&s->text);
    arena_release(&s->problems);
}

/* ---- the beginning ---- */

static enum rc begin(struct request *req, struct scan *s, struct err *err)
{
    struct store_count count;
    if (reading_ask(req, err) != RC_OK || scan_ask(req, &s->ask, err) != RC_OK ||
        store_count(req->worker->store, req->type->number, &count, err) != RC_OK)
        return RC_ERR;
    s->req = req;
    s->json = json_form_of(req, JSON_PLAIN);
    s->lines = (struct scan_lines){.left = s->ask.limit, .type = req->type->number, .is_array = s->ask.array};
    s->page.space = SPACE_RECORD;
    s->page.type = req->type->number;
    s->page.from = s->ask.from;
    s->page.upto = s->ask.upto;
    s->page.keys_only = s->ask.keys;
    s->page.row = row;
    s->page.done = page_done;
    if (!reply_header_u64(req, "Record-Count", count.records) ||
        !response_header(req, "Vary", SLICE(VARY_READS)) ||
        (req->reader && !reply_header_u64(req, "Schema-Version", req->reader->number)))
        return err_oom(err);
    return RC_OK;
}

static void start(struct request *req)
{
    static const struct stream stream = {.more = more, .end = end};
    const struct scan *s = req->state;
    req->response.status = 200;
    req->response.content_type = s->ask.array ? "application/json" : "application/x-ndjson";
    req->response.stream = &stream;
    req->response.stream_bytes = STREAM_BYTES_UNKNOWN;
    answer(req);
}

/* A list of fields that are not there is refused before the answer begins. */
static void start_with_fields(struct request *req)
{
    struct scan *s = req->state;
    if (find_fields(s, type_schema(reading_reader(req))) == RC_OK) {
        start(req);
        return;
    }
    response_reset(req);
    reply_read_refused(req, &s->missing);
}

void scan_handle(struct request *req)
{
    struct scan *s = arena_calloc(&req->arena, 1, sizeof *s);
    struct err err;
    if (!s) {
        reply_no_memory(req);
        return;
    }
    if (begin(req, s, &err) != RC_OK) {
        reply_read_refused(req, &err);
        return;
    }
    req->state = s;
    if (record_fields_asked(req))
        schema_load(req, reading_reader(req), start_with_fields);
    else
        start(req);
}
