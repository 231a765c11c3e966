/* server/handlers/txn/txn_prepare.c - what can be done of a transaction before its records are known: types are found, records
 * become Avro, edits and assertions are made. */
#include <stdlib.h>

#include "server/access/access.h"
#include "server/handlers/records/record.h"
#include "server/handlers/txn/txn.h"
#include "server/server.h"

/* ---- types ---- */

enum rc txn_find_types(struct txn *t, struct err *err)
{
    for (unsigned i = 0; i < t->nops; i++) {
        struct txn_op *op = &t->ops[i];
        bool same = i && slice_eq(op->type_name, op[-1].type_name);
        op->type = same ? op[-1].type : catalog_find(t->req->hold, op->type_name);
        if (!op->type) {
            catalog_no_type(op->type_name, err);
            return txn_fault(err, i);
        }
    }
    return RC_OK;
}

enum rc txn_authorize(struct txn *t, struct err *err)
{
    for (unsigned i = 0; i < t->nops; i++) {
        const struct txn_op *op = &t->ops[i];
        enum role role = op->verb == TXN_CHECK ? ROLE_READ : ROLE_WRITE;
        if (access_check(t->req, role, op->type_name, err) != RC_OK)
            return txn_fault(err, i);
    }
    return RC_OK;
}

/* ---- records ---- */

static int compare_bytes(struct slice a, struct slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

static int compare_places(const void *x, const void *y)
{
    const struct txn_op *a = *(const struct txn_op *const *)x, *b = *(const struct txn_op *const *)y;
    if (a->type->number != b->type->number)
        return a->type->number < b->type->number ? -1 : 1;
    return compare_bytes(a->id, b->id);
}

static bool find_slots(struct txn *t)
{
    struct txn_op **order = arena_alloc(&t->req->arena, (t->nops + 1) * sizeof(struct txn_op *));
    t->slots = arena_calloc(&t->req->arena, t->nops + 1, sizeof *t->slots);
    if (!order || !t->slots)
        return false;
    for (unsigned i = 0; i < t->nops; i++)
        order[i] = &t->ops[i];
    qsort(order, t->nops, sizeof(struct txn_op *), compare_places);
    t->nslots = 0;
    for (unsigned i = 0; i < t->nops; i++) {
        struct txn_op *op = order[i];
        if (!i || compare_places(&order[i - 1], &order[i]))
            t->slots[t->nslots++].key =
                (struct store_key){.space = SPACE_RECORD, .type = op->type->number, .id = op->id};
        op->slot = &t->slots[t->nslots - 1];
    }
    return true;
}

/* ---- operations ---- */

static enum rc encode(struct txn *t, struct txn_op *op, struct codec *codec, struct buf *out, struct err *err)
{
    struct arena *arena = &t->req->arena;
    out->len = 0;
    if (codec_from_json(codec, type_schema(op->type->latest), &op->opts, op->record, out, arena, err) !=
        RC_OK)
        return RC_ERR;
    if (record_check_size(t->req, op->type, out->len, err) != RC_OK)
        return RC_ERR;
    t->encoded += out->len;
    if (t->encoded > LIMIT_TRANSACTION_BYTES_MAX)
        return err_set(err, ERR_RECORD_TOO_LARGE,
                       "The records that a transaction puts have at most %d bytes of Avro together.",
                       LIMIT_TRANSACTION_BYTES_MAX);
    return arena_copy(arena, buf_slice(out), &op->avro) ? RC_OK : err_oom(err);
}

static enum rc prepare_patch(struct txn *t, struct txn_op *op, struct err *err)
{
    const struct schema *schema = type_schema(op->type->latest);
    if (schema_raw(schema) != SCHEMA_RAW_NONE)
        return err_set(
            err, ERR_NOT_APPLICABLE,
            "The content of such a record is kept as it is, and has no parts to patch; put it anew.");
    return op->merge.len ? edit_of_merge(&op->edit, schema, &op->opts, op->merge, &t->req->arena, err)
                         : edit_of_patch(&op->edit, schema, &op->opts, op->patch, &t->req->arena, err);
}

static enum rc prepare_op(struct txn *t, struct txn_op *op, struct codec *codec, bool brief, struct buf *out,
                          struct err *err)
{
    const struct request *req = t->req;
    op->opts = op->type->codec;
    op->opts.form = (enum json_form)((op->opts.form & ~(unsigned)req->form_mask) | req->form_asked);
    op->opts.brief = brief;
    switch (op->verb) {
    case TXN_PUT: return encode(t, op, codec, out, err);
    case TXN_PATCH: return prepare_patch(t, op, err);
    case TXN_DELETE: return RC_OK;
    case TXN_CHECK: break;
    }
    if (op->has_revision)
        return RC_OK;
    return assertion_of(&op->assertion, type_schema(op->type->latest), &op->opts, op->pointer, op->is,
                        op->value, &t->req->arena, err);
}

enum rc txn_prepare(struct txn *t, struct codec *codec, bool brief, struct err *err)
{
    struct buf out = {0};
    t->encoded = 0;
    enum rc rc = find_slots(t) ? RC_OK : err_oom(err);
    for (t->at = 0; rc == RC_OK && t->at < t->nops; t->at++) {
        *err = (struct err){0};
        rc = prepare_op(t, &t->ops[t->at], codec, brief, &out, err);
        if (rc != RC_OK) {
            txn_fault_outer(err, t->at);
            break;
        }
    }
    buf_release(&out);
    return rc;
}
