/* server/stored_check.c - see stored_check.h. */
#include "server/stored_check.h"

#include <stddef.h>

#include "base/limits.h"
#include "server/access/access.h"
#include "server/handlers/records/record.h"
#include "server/schema_rows.h"

/* What reads the records of one schema. */
struct stored_writer {
    uint32_t schema_id, version;
    bool is_same; /* as the new one: nothing to resolve */
    struct schema *own;
    struct resolver *resolver; /* NULL: there is none, and why stands in err */
    struct err err;
};

struct stored_run {
    struct store_scan page;
    struct request *req;
    struct registration *r;
    void (*then)(struct request *, struct registration *);
    struct job job;
    struct stored_writer *writers; /* as they are met, with room for one a version */
    uint32_t nwriters;
    struct buf out;
    const struct type_version
        *needed;           /* the page ended before a record of this one, which has no writer yet; or NULL */
    struct record waiting; /* ... or behind this one, which is in chunks; blob 0: there is none */
    uint8_t waiting_id[LIMIT_ID_MAX];
    size_t waiting_id_len;
};

/* ---- what reads them ---- */

static const struct stored_writer *writer_find(const struct stored_run *run, uint32_t schema_id)
{
    for (uint32_t i = 0; i < run->nwriters; i++)
        if (run->writers[i].schema_id == schema_id)
            return &run->writers[i];
    return NULL;
}

static enum rc writer_make(struct stored_run *run, struct store_worker *store, const struct type_version *v,
                           struct err *err)
{
    struct registration *r = run->r;
    struct stored_writer *w = &run->writers[run->nwriters];
    const struct schema *schema;
    *w = (struct stored_writer){
        .schema_id = v->schema_id, .version = v->number, .is_same = v->schema_id == r->schema_id};
    if (!w->is_same) {
        if (schema_row_load(store, r->type, v->schema_id, &run->req->arena, &schema, &w->own, err) != RC_OK)
            return RC_ERR;
        if (schema_resolver_new(&w->resolver, schema, r->schema, &w->err) != RC_OK)
            w->resolver = NULL;
    }
    run->nwriters++; /* also to be released */
    if (w->is_same || w->resolver || err_status(w->err.code) != 503)
        return RC_OK;
    *err = w->err;
    return RC_ERR;
}

static void writers_release(struct stored_run *run)
{
    for (uint32_t i = 0; i < run->nwriters; i++) {
        schema_resolver_free(run->writers[i].resolver);
        if (run->writers[i].own)
            schema_free(run->writers[i].own);
    }
    run->nwriters = 0;
}

/* ---- a record ---- */

static enum rc add_fault(struct stored_run *run, struct slice id, uint32_t version, const struct err *why,
                         struct err *err)
{
    struct stored_check *c = run->r->stored;
    struct arena *arena = &run->req->arena;
    c->unreadable++;
    if (c->nfirst == STORED_SHOWN_MAX || !access_allows(run->req, ROLE_READ, run->r->name))
        return RC_OK; /* who sees no records hears how many, but not which */
    const struct problem *p = why->first;
    struct stored_fault *f = &c->first[c->nfirst];
    *f = (struct stored_fault){.version = version, .code = why->code};
    struct slice words = p && p->detail.len ? p->detail : slice_str(why->message);
    if (!arena_copy(arena, id, &f->id) || !arena_copy(arena, words, &f->words) ||
        (p && !arena_copy(arena, p->pointer, &f->pointer)))
        return err_oom(err);
    c->nfirst++;
    return RC_OK;
}

static enum rc look_at(struct stored_run *run, struct slice id, const struct stored_writer *w,
                       struct slice avro, struct err *err)
{
    struct arena arena = {0};
    struct err why;
    if (w->is_same)
        return RC_OK;
    if (!w->resolver)
        return add_fault(run, id, w->version, &w->err, err);
    run->out.len = 0;
    enum rc rc = codec_resolve(w->resolver, avro, &run->out, &arena, &why);
    if (rc == RC_ERR && err_status(why.code) == 503)
        *err = why;
    else if (rc == RC_ERR)
        rc = add_fault(run, id, w->version, &why, err);
    arena_release(&arena);
    return rc;
}

/* One that no version of the type as it was has written, or that has no head. */
static enum rc look_at_stranger(struct stored_run *run, struct slice id, const char *what, struct err *err)
{
    struct err why;
    err_set(&why, ERR_OTHER_VERSION, "%s", what);
    return add_fault(run, id, 0, &why, err);
}

static void keep(struct stored_run *run, struct slice id, const struct record *rec)
{
    run->waiting = (struct record){.schema_id = rec->schema_id,
                                   .blob = rec->blob,
                                   .body_bytes = rec->body_bytes,
                                   .packed_bytes = rec->packed_bytes};
    memcpy(run->waiting_id, id.ptr, id.len);
    run->waiting_id_len = id.len;
}

/* In the page: nothing is read from the store for it. */
static enum rc look_at_packed(struct stored_run *run, struct slice id, const struct stored_writer *w,
                              const struct record *rec, struct err *err)
{
    struct buf joined = {0};
    enum rc rc = record_join(NULL, rec, &joined, err);
    if (rc == RC_OK)
        rc = look_at(run, id, w, buf_slice(&joined), err);
    buf_release(&joined);
    return rc;
}

static enum rc look_at_row(struct stored_run *run, struct slice id, const struct record *rec, struct err *err)
{
    if (!rec)
        return look_at_stranger(run, id, "The record cannot be read from the store.", err);
    const struct type_version *v = type_version_of_schema(run->r->type, rec->schema_id);
    const struct stored_writer *w = writer_find(run, rec->schema_id);
    if (!v)
        return look_at_stranger(run, id, "It was written by a version that was registered meanwhile.", err);
    if (!w) {
        run->needed = v;
        return RC_AGAIN;
    }
    if (rec->body.ptr || !rec->body_bytes)
        return look_at(run, id, w, rec->body, err);
    if (!rec->blob)
        return look_at_packed(run, id, w, rec, err);
    keep(run, id, rec);
    return RC_PENDING;
}

static enum rc row(struct store_scan *page, struct slice id, const struct record *rec)
{
    struct stored_run *run = CONTAINER_OF(page, struct stored_run, page);
    struct stored_check *c = run->r->stored;
    if (c->checked == c->limit)
        return RC_AGAIN;
    enum rc rc = look_at_row(run, id, rec, &page->err);
    if (rc == RC_OK || rc == RC_PENDING)
        c->checked++;
    return rc;
}

static void page_done(struct store_scan *page)
{
    (void)page; /* look() looks at page->rc */
}

/* ---- behind a page ---- */

static enum rc look_at_waiting(struct stored_run *run, struct store_worker *store, struct err *err)
{
    struct buf joined = {0};
    struct slice id = slice_of(run->waiting_id, run->waiting_id_len);
    enum rc rc = record_join(store, &run->waiting, &joined, err);
    if (rc == RC_OK)
        rc = look_at(run, id, writer_find(run, run->waiting.schema_id), buf_slice(&joined), err);
    buf_release(&joined);
    run->waiting.blob = 0;
    return rc == RC_NOTFOUND ? RC_OK : rc; /* it was replaced meanwhile */
}

static enum rc look_behind(struct stored_run *run, struct store_worker *store, struct err *err)
{
    const struct type_version *needed = run->needed;
    run->needed = NULL;
    if (run->waiting.blob)
        return look_at_waiting(run, store, err);
    return needed ? writer_make(run, store, needed, err) : RC_OK;
}

/* ---- pieces ---- */

static void look(struct job *job)
{
    struct stored_run *run = CONTAINER_OF(job, struct stored_run, job);
    struct stored_check *c = run->r->stored;
    store_scan(job->store, &run->page);
    c->rc = run->page.rc;
    if (c->rc == RC_ERR)
        c->err = run->page.err;
    else if (look_behind(run, job->store, &c->err) != RC_OK)
        c->rc = RC_ERR;
}

static void end(struct stored_run *run)
{
    writers_release(run);
    buf_release(&run->out);
    run->then(run->req, run->r);
}

static void looked(struct job *job)
{
    struct stored_run *run = CONTAINER_OF(job, struct stored_run, job);
    struct stored_check *c = run->r->stored;
    bool is_more = c->rc == RC_PENDING || c->rc == RC_AGAIN;
    c->is_complete = c->rc == RC_OK;
    if (is_more && c->checked < c->limit && !request_is_abandoned(run->req)) {
        worker_offload_always(run->req->worker, &run->job);
        return;
    }
    if (is_more)
        c->rc = RC_OK;
    end(run);
}

static enum rc begin(struct request *req, struct registration *r,
                     void (*then)(struct request *, struct registration *), struct err *err)
{
    struct stored_run *run = arena_calloc(&req->arena, 1, sizeof *run);
    struct stored_writer *writers =
        run ? arena_calloc(&req->arena, r->type->nversions, sizeof *writers) : NULL;
    if (!writers)
        return err_oom(err);
    run->req = req;
    run->r = r;
    run->then = then;
    run->writers = writers;
    run->page.space = SPACE_RECORD;
    run->page.type = r->type->number;
    run->page.row = row;
    run->page.done = page_done;
    run->job = (struct job){.is_bulk = true, .run = look, .done = looked};
    return worker_offload(req->worker, &run->job, err);
}

void stored_check(struct request *req, struct registration *r,
                  void (*then)(struct request *, struct registration *))
{
    struct stored_check *c = r->stored;
    struct err err;
    if (begin(req, r, then, &err) == RC_PENDING) /* from here on the registration is the helper's */
        return;
    c->rc = RC_ERR;
    c->err = err;
    then(req, r);
}
