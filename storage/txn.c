/* storage/txn.c - reading and staging several keys from inside a call. */
#include "storage/txn.h"

#include <assert.h>

#include "base/crc32c.h"
#include "storage/head.h"
#include "storage/stage.h"

static enum rc look(struct store_txn *txn, const struct store_key *key, struct view *v, struct err *err)
{
    if (key_check(key, err) != RC_OK)
        return RC_ERR;
    if (!stage_live(txn->decider, key))
        return RC_NOTFOUND;
    if (stage_look(txn->decider, key, v, err) != RC_OK)
        return RC_ERR;
    return v->visible ? RC_OK : RC_NOTFOUND;
}

bool txn_lives(const struct store_txn *txn, uint32_t type)
{
    return stage_live(txn->decider, &(struct store_key){.space = SPACE_RECORD, .type = type});
}

enum rc txn_look(struct store_txn *txn, const struct store_key *key, struct record *out, struct err *err)
{
    struct view v;
    enum rc rc = look(txn, key, &v, err);
    if (rc != RC_OK)
        return rc;
    if (!v.rec.blob)
        return stage_body(txn->decider, &v, out, err);
    *out = v.rec;
    record_show_packed(out);
    out->body = (struct slice){0};
    return RC_OK;
}

enum rc txn_get(struct store_txn *txn, const struct store_key *key, struct record *out, struct err *err)
{
    struct view v;
    enum rc rc = look(txn, key, &v, err);
    return rc == RC_OK ? stage_body(txn->decider, &v, out, err) : rc;
}

static enum rc put(struct store_txn *txn, const struct store_key *key, const struct record *r,
                   struct err *err)
{
    struct decider *d = txn->decider;
    if (key_check(key, err) != RC_OK)
        return RC_ERR;
    if (!stage_live(d, key))
        return RC_NOTFOUND;
    struct view v;
    if (stage_look(d, key, &v, err) != RC_OK)
        return RC_ERR;
    if (!r)
        return v.visible ? stage_delete(d, &v, err) : RC_NOTFOUND;
    struct fresh f = {.schema_id = r->schema_id,
                      .expires_ms = r->expires_ms,
                      .content_type = r->content_type,
                      .part = {r->body},
                      .body_crc = crc32c(0, r->body)};
    if (stage_check_size(key, r->body.len, r->content_type, d->record_max, err) != RC_OK)
        return RC_ERR;
    return stage_put(d, &v, &f, txn->revision, err);
}

enum rc txn_put(struct store_txn *txn, const struct store_key *key, const struct record *r, struct err *err)
{
    enum rc rc = put(txn, key, r, err);
    if (rc == RC_OK)
        txn->written++;
    if (rc == RC_ERR) {
        txn->failed = true;
        txn->err = *err;
    }
    return rc;
}

static uint32_t take_number(uint32_t *next)
{
    uint32_t n = *next;
    if (n)
        *next = n + 1; /* behind the last one comes 0: all have been given */
    return n;
}

uint32_t txn_number(struct store_txn *txn, enum space space)
{
    assert(space == SPACE_TYPE || space == SPACE_SCHEMA);
    struct meta_state *s = &txn->decider->next;
    return take_number(space == SPACE_TYPE ? &s->next_type : &s->next_schema);
}

enum rc txn_count(struct store_txn *txn, uint32_t type, struct store_count *out, struct err *err)
{
    return stage_count(txn->decider, type, out, err);
}

static enum rc limit(struct store_txn *txn, uint32_t type, uint64_t bytes_max, struct err *err)
{
    const struct store_key any = {.space = SPACE_RECORD, .type = type};
    return stage_live(txn->decider, &any) ? stage_limit(txn->decider, type, bytes_max, err) : RC_NOTFOUND;
}

enum rc txn_limit(struct store_txn *txn, uint32_t type, uint64_t bytes_max, struct err *err)
{
    enum rc rc = limit(txn, type, bytes_max, err);
    if (rc == RC_OK)
        txn->written++;
    if (rc == RC_ERR) {
        txn->failed = true;
        txn->err = *err;
    }
    return rc;
}

static enum rc type_drop(struct store_txn *txn, const struct store_key *key, struct err *err)
{
    struct view v;
    assert(txn->may_drop);
    const struct store_key any = {.space = SPACE_RECORD, .type = key->type};
    if (!stage_live(txn->decider, &any))
        return RC_NOTFOUND;
    const struct store_key row = {.space = SPACE_TYPE, .id = key->id};
    if (key_check(&row, err) != RC_OK || stage_look(txn->decider, &row, &v, err) != RC_OK)
        return RC_ERR;
    return v.visible ? stage_type_drop(txn->decider, &v, key->type, err) : RC_NOTFOUND;
}

enum rc txn_type_drop(struct store_txn *txn, struct slice name, uint32_t type, struct err *err)
{
    const struct store_key key = {.space = SPACE_TYPE, .type = type, .id = name};
    enum rc rc = type_drop(txn, &key, err);
    if (rc == RC_OK)
        txn->written++;
    if (rc == RC_ERR) {
        txn->failed = true;
        txn->err = *err;
    }
    return rc;
}

uint64_t txn_revision(const struct store_txn *txn)
{
    return txn->revision;
}
