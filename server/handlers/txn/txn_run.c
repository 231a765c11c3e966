/* server/handlers/txn/txn_run.c - the operations of a transaction, one after the other, each on what those before it have
 * left; and then what has changed is put. On the writer, or on a helper. */
#include "base/limits.h"
#include "server/handlers/records/record.h"
#include "server/handlers/records/record_life.h"
#include "server/handlers/txn/txn.h"
#include "server/words.h"

/* A record as this transaction leaves it has no revision yet that anybody could name. */
static const uint64_t revision_to_come = UINT64_MAX;

struct run {
    struct txn *t;
    struct txn_view *view;
    struct err *err;
};

/* ---- records ---- */

static enum rc look(struct run *r, struct txn_slot *s)
{
    if (s->is_read)
        return RC_OK;
    enum rc rc = r->view->look(r->view, &s->key, &s->rec, r->err);
    if (rc != RC_OK && rc != RC_NOTFOUND)
        return rc;
    s->is_read = true;
    s->exists = s->existed = rc == RC_OK;
    s->stored = s->exists ? s->rec.revision : 0;
    return RC_OK;
}

static uint64_t revision_of(const struct txn_slot *s)
{
    return s->exists ? s->rec.revision : 0;
}

static COLD enum rc absent(struct run *r, const struct txn_op *op)
{
    struct words id, type;
    words_of(op->id, &id);
    return err_set(r->err, ERR_NO_RECORD, "There is no record '%s' of type '%s'.", id.text,
                   words_of(op->type_name, &type));
}

static void replace(struct txn_slot *s, const struct txn_op *op, struct slice avro, int64_t expires_ms)
{
    s->rec.revision = revision_to_come;
    s->rec.schema_id = op->type->latest->schema_id;
    s->rec.expires_ms = expires_ms;
    s->rec.body = avro;
    s->rec.body_bytes = avro.len;
    s->rec.blob = 0;
    s->readable = avro.ptr;
    s->readable_bytes = avro.len;
    s->exists = s->is_changed = true;
}

static int64_t end_of(const struct txn_op *op, int64_t else_ms)
{
    uint32_t seconds = op->ttl_s ? op->ttl_s : op->type->options.ttl_s;
    return seconds ? record_life_end(seconds) : else_ms;
}

/* ---- the record as the latest version reads it ---- */

/* *sum: of what the run opens, or makes: a patch of a few bytes can make a long record out of a short one. */
static enum rc pay(struct run *r, uint64_t *sum, uint64_t bytes)
{
    *sum += bytes;
    if (*sum <= r->view->bytes_max)
        return RC_OK;
    if (r->view->bytes_max < LIMIT_TRANSACTION_BYTES_MAX)
        return RC_AGAIN;
    return err_set(r->err, ERR_RECORD_TOO_LARGE,
                   "The patches and checks of a transaction open at most %d bytes of records, and make at "
                   "most as many.",
                   LIMIT_TRANSACTION_BYTES_MAX);
}

/* What the client has sent is bounded by the body's limit, and not by that of what is opened: it only is a helper's. */
static bool is_for_helper(struct run *r, const struct txn_op *op)
{
    const struct txn_view *view = r->view;
    r->t->patched += edit_bytes(op->edit);
    return view->bytes_max < LIMIT_TRANSACTION_BYTES_MAX && r->t->opened + r->t->patched > view->bytes_max;
}

static enum rc resolve(struct run *r, const struct reading *reading, struct slice body, struct slice *out)
{
    struct buf *buf = r->view->out;
    buf->len = 0;
    uint64_t left = r->view->bytes_max - r->t->opened;
    enum rc rc =
        reading_resolve(reading, r->view->brief ? left : SIZE_MAX, body, buf, &r->t->scratch, r->err);
    if (rc == RC_ERR && r->view->brief && r->err->code == ERR_RECORD_TOO_LARGE)
        return RC_AGAIN;
    r->t->is_damaged = rc == RC_ERR && record_is_damage(r->err);
    if (rc == RC_OK)
        r->t->opened += buf->len;
    return rc != RC_OK || arena_copy(&r->t->arena, buf_slice(buf), out) ? rc : err_oom(r->err);
}

static enum rc read_as_latest(struct run *r, struct txn_op *op, struct slice *out)
{
    const struct request *req = r->t->req;
    struct txn_slot *s = op->slot;
    struct reading reading;
    if (reading_find_in(op->type, req->own_reading, s->rec.schema_id, op->type->latest, &reading) != RC_OK) {
        op->other_id = s->rec.schema_id;
        return RC_AGAIN;
    }
    if (!s->rec.body.ptr && s->rec.body_bytes) {
        enum rc rc = r->view->read(r->view, &s->key, &s->rec, r->err);
        if (rc != RC_OK)
            return rc == RC_NOTFOUND ? RC_AGAIN : rc;
    }
    *out = slice_not_null(s->rec.body);
    return reading.resolver ? resolve(r, &reading, s->rec.body, out) : RC_OK;
}

static enum rc open_record(struct run *r, struct txn_op *op, struct slice *out)
{
    struct txn_slot *s = op->slot;
    enum rc rc = pay(r, &r->t->opened, s->rec.body_bytes);
    if (rc == RC_OK && !s->readable) {
        rc = read_as_latest(r, op, out);
        s->readable = rc == RC_OK ? out->ptr : NULL;
        s->readable_bytes = rc == RC_OK ? out->len : 0;
    }
    if (rc == RC_OK)
        *out = slice_of(s->readable, s->readable_bytes);
    return rc;
}

/* Of an edit or an assertion that did not come to its end. */
static enum rc failed(struct run *r)
{
    if (r->view->brief && r->err->code == ERR_TOO_MUCH_WORK)
        return RC_AGAIN;
    r->t->is_damaged = r->err->code == ERR_BAD_AVRO;
    return RC_ERR;
}

/* ---- the operations ---- */

static enum rc run_put(struct run *r, struct txn_op *op)
{
    struct txn_slot *s = op->slot;
    (void)r;
    op->created = !s->exists;
    s->rec.content_type = (struct slice){0};
    replace(s, op, slice_not_null(op->avro), end_of(op, 0));
    return RC_OK;
}

static enum rc run_delete(struct run *r, struct txn_op *op)
{
    struct txn_slot *s = op->slot;
    if (!s->exists)
        return absent(r, op);
    s->exists = false;
    s->is_changed = true;
    s->readable = NULL;
    return RC_OK;
}

static enum rc check_bytes(struct run *r, const struct txn_op *op, uint64_t bytes)
{
    return record_check_size(r->t->req, op->type, bytes, r->err);
}

static enum rc apply(struct run *r, const struct txn_op *op, struct slice old, struct buf *out,
                     uint64_t *changed)
{
    struct txn *t = r->t;
    if (r->view->brief)
        return edit_apply_shared(op->edit, r->view->codec, &t->work, old, out, changed, &t->scratch, r->err);
    return edit_apply(op->edit, r->view->codec, false, old, out, changed, &t->scratch, r->err);
}

static enum rc run_patch(struct run *r, struct txn_op *op)
{
    struct txn_slot *s = op->slot;
    struct buf *out = r->view->out;
    struct slice old, fresh;
    uint64_t changed;
    if (!s->exists)
        return absent(r, op);
    enum rc rc = open_record(r, op, &old);
    if (rc != RC_OK)
        return rc;
    if (is_for_helper(r, op))
        return RC_AGAIN;
    out->len = 0;
    rc = apply(r, op, old, out, &changed);
    if (rc != RC_OK)
        return failed(r);
    if (!changed) {
        op->kept = s->rec.revision;
        return RC_OK;
    }
    if (check_bytes(r, op, out->len) != RC_OK)
        return RC_ERR;
    rc = pay(r, &r->t->made, out->len);
    if (rc != RC_OK)
        return rc;
    if (!arena_copy(&r->t->arena, buf_slice(out), &fresh))
        return err_oom(r->err);
    replace(s, op, fresh, end_of(op, s->rec.expires_ms));
    return RC_OK;
}

static enum rc run_check(struct run *r, struct txn_op *op)
{
    struct slice avro;
    bool holds;
    if (op->has_revision)
        return revision_of(op->slot) == op->revision ? RC_OK : RC_CONFLICT;
    if (!op->slot->exists)
        return RC_CONFLICT;
    enum rc rc = open_record(r, op, &avro);
    if (rc != RC_OK)
        return rc;
    rc = assertion_holds(op->assertion, r->view->codec, r->view->brief, avro, &holds, &r->t->scratch, r->err);
    if (rc != RC_OK)
        return failed(r);
    return holds ? RC_OK : RC_CONFLICT;
}

static enum rc run_op(struct run *r, struct txn_op *op)
{
    static enum rc (*const runs[])(struct run *, struct txn_op *) = {
        [TXN_PUT] = run_put, [TXN_PATCH] = run_patch, [TXN_DELETE] = run_delete, [TXN_CHECK] = run_check};
    arena_reset(&r->t->scratch);
    enum rc rc = look(r, op->slot);
    if (rc != RC_OK)
        return rc;
    if (!condition_holds(&op->condition, revision_of(op->slot)))
        return RC_CONFLICT;
    return runs[op->verb](r, op);
}

/* ---- all of them ---- */

void txn_run_release(struct txn *t)
{
    arena_release(&t->arena);
    arena_release(&t->scratch);
}

static void begin(struct txn *t)
{
    arena_reset(&t->arena);
    arena_reset(&t->scratch);
    t->opened = t->patched = t->made = 0;
    t->work = t->is_generous ? LIMIT_WORK_BRIEF_MAX * (int64_t)t->nops : LIMIT_TRANSACTION_WORK_MAX;
    t->is_damaged = t->is_lost = false;
    for (unsigned i = 0; i < t->nslots; i++)
        t->slots[i] = (struct txn_slot){.key = t->slots[i].key};
    for (unsigned i = 0; i < t->nops; i++) {
        t->ops[i].other_id = 0;
        t->ops[i].created = false;
        t->ops[i].kept = 0;
    }
}

/* One has met a record of another version: of the operations behind it, which will, too? So that all that leads to the
 * latest is made before the next run. */
static void look_ahead(struct run *r, unsigned from)
{
    struct reading reading;
    for (unsigned i = from; i < r->t->nops; i++) {
        struct txn_op *op = &r->t->ops[i];
        const struct txn_slot *s = op->slot;
        bool opens = op->verb == TXN_PATCH || (op->verb == TXN_CHECK && !op->has_revision);
        if (!opens || look(r, op->slot) != RC_OK || !s->exists || s->is_changed)
            continue;
        if (reading_find_in(op->type, r->t->req->own_reading, s->rec.schema_id, op->type->latest, &reading) !=
            RC_OK)
            op->other_id = s->rec.schema_id;
    }
}

enum rc txn_fault_outer(struct err *err, unsigned at)
{
    struct err inner = *err;
    if (inner.operation) {
        err_set(err, inner.code, "Operation %u of the patch: %.200s", inner.operation - 1, inner.message);
        err->first = inner.first;
        err->last = inner.last;
        err->problems = inner.problems;
        err->truncated = inner.truncated;
    }
    return txn_fault(err, at);
}

enum rc txn_run(struct txn *t, struct txn_view *view, struct err *err)
{
    struct run r = {t, view, err};
    begin(t);
    for (t->at = 0; t->at < t->nops; t->at++) {
        *err = (struct err){0};
        enum rc rc = run_op(&r, &t->ops[t->at]);
        if (rc == RC_AGAIN && t->ops[t->at].other_id)
            look_ahead(&r, t->at + 1);
        if (rc == RC_ERR)
            return txn_fault_outer(err, t->at);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}

/* ---- in the writer's transaction ---- */

enum rc txn_check_types(struct txn *t, struct store_txn *store, struct err *err)
{
    for (unsigned i = 0; i < t->nops; i++)
        if (!txn_lives(store, t->ops[i].type->number)) { /* dropped meanwhile */
            catalog_no_type(t->ops[i].type_name, err);
            return txn_fault(err, i);
        }
    return RC_OK;
}

enum rc txn_check_unchanged(struct txn *t, struct store_txn *store, struct err *err)
{
    struct record now;
    for (unsigned i = 0; i < t->nslots; i++) {
        const struct txn_slot *s = &t->slots[i];
        if (!s->is_read)
            continue;
        enum rc rc = txn_look(store, &s->key, &now, err);
        if (rc == RC_ERR)
            return rc;
        if ((rc == RC_OK ? now.revision : 0) != s->stored) {
            t->is_lost = true;
            return RC_AGAIN;
        }
    }
    return RC_OK;
}

/* What was made and removed again is not. */
static bool is_written(const struct txn_slot *s)
{
    return s->is_changed && (s->exists || s->existed);
}

bool txn_writes(const struct txn *t)
{
    for (unsigned i = 0; i < t->nslots; i++)
        if (is_written(&t->slots[i]))
            return true;
    return false;
}

enum rc txn_store(struct txn *t, struct store_txn *store, struct err *err)
{
    for (unsigned i = 0; i < t->nslots; i++) {
        const struct txn_slot *s = &t->slots[i];
        if (!is_written(s))
            continue;
        enum rc rc = txn_put(store, &s->key, s->exists ? &s->rec : NULL, err);
        if (rc != RC_OK)
            return rc;
    }
    return RC_OK;
}
