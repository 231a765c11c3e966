/* server/handlers/txn/txn.h - a transaction (POST /_txn): operations on records of any types, all or nothing. What its files
 * share (docs/decisions/0014).
 *
 *   txn_ask: body -> operations -> txn_types: their types, compiled -> txn_prepare: records encoded, edits made
 *   -> txn: the writer runs them (txn_run) and stores -> txn_answer
 *            `-> too long for it: a helper runs them on what it reads, the writer stores if nothing has changed */
#ifndef SERVER_HANDLERS_TXN_H
#define SERVER_HANDLERS_TXN_H

#include "base/limits.h"
#include "schema/assertion.h"
#include "schema/edit.h"
#include "server/catalog.h"
#include "server/conditions.h"
#include "server/handler.h"
#include "server/reading.h"

enum txn_verb { TXN_PUT, TXN_PATCH, TXN_DELETE, TXN_CHECK };
extern const struct slice txn_verbs[]; /* their names */

/* A record that is named, however often, as the operations so far leave it. */
struct txn_slot {
    struct store_key key;
    bool is_read;    /* the rest is known */
    bool existed;    /* in the store, with ... */
    uint64_t stored; /* ... this revision; else 0 */
    bool exists, is_changed;
    struct record rec;       /* if it exists; body.ptr NULL and body_bytes > 0: in chunks, not read yet */
    const uint8_t *readable; /* not NULL: rec.body as the latest version reads it ... */
    size_t readable_bytes;   /* ... is so long */
};

struct txn_op {
    enum txn_verb verb;
    struct slice type_name, id;
    /* What it says: spans of the body, or texts in the arena. */
    struct slice record, merge, patch, pointer, value;
    struct condition condition;
    uint32_t ttl_s;    /* 0: as the type has it */
    bool has_revision; /* check: of the record, and not of a value */
    uint64_t revision;
    enum comparison is;
    /* Of its type as it is held. */
    const struct type *type;
    struct codec_opts opts;
    struct slice avro; /* put */
    struct edit *edit;
    struct assertion *assertion;
    struct txn_slot *slot;
    /* Of the last run. */
    uint32_t other_id; /* the record's schema, which must be at hand to read it; 0: none */
    bool created;
    uint64_t kept; /* patch that changes nothing: the record's revision */
    bool has_no_tag;
};

/* req->state, in the arena. */
struct txn {
    struct request *req;
    bool dry_run;
    unsigned nops, nslots;
    struct txn_op *ops;
    struct txn_slot *slots;
    uint64_t encoded; /* bytes of the records that it puts: with defaults they may be more than the body */
    /* Of the last run. */
    unsigned at;          /* the operation that it has come to */
    bool is_damaged;      /* ... whose record is not Avro of its schema */
    bool is_lost;         /* the writer has found other records than the helper */
    uint64_t opened;      /* bytes of records ... */
    uint64_t patched;     /* ... of the patches that were applied to them ... */
    uint64_t made;        /* ... and of what those have made */
    int64_t work;         /* that patches may still do on the writer */
    struct arena arena;   /* what the run has read and made */
    struct arena scratch; /* of the operation that it has come to, its problems included */
    /* Of the way. */
    bool is_helped;   /* a helper has run it, and the writer only stores */
    bool is_generous; /* the writer is to do more than it likes to */
    unsigned losses, rounds;
    struct job job;
    enum rc rc; /* of the last work, on a helper or not ... */
    struct err err;
    uint8_t note[1 + (LIMIT_TRANSACTION_OPERATIONS_MAX + 3) / 4];
    struct buf text; /* of the answer: in the request's arena, of the length that it will need */
};

/* ---- txn_ask.c ---- */

/* The body's operations, in the request's arena. BAD_JSON, BAD_TRANSACTION, BAD_REQUEST (a condition), ID_TOO_LONG,
 * NO_MEMORY; err->operation says where. Any thread. */
MUST_USE enum rc txn_ask(struct txn *, struct err *);
/* Say of what operation (from 0) an error is. */
enum rc txn_fault(struct err *, unsigned at);
/* The same, where that of a JSON Patch stands now. */
enum rc txn_fault_outer(struct err *, unsigned at);

/* ---- txn_prepare.c ---- */

/* May the caller do all of them? As access_check, of the first that is refused. On the worker. */
MUST_USE enum rc txn_authorize(struct txn *, struct err *);
/* Find the operations' types in the table that is held. NO_TYPE. */
MUST_USE enum rc txn_find_types(struct txn *, struct err *);
/* Encode records, make edits and assertions, and say which operations name the same record; all schemas are compiled. Fails
 * as codec_from_json, edit_of_..., assertion_of. Any thread. */
MUST_USE enum rc txn_prepare(struct txn *, struct codec *, bool brief, struct err *);

/* ---- txn_run.c ---- */

/* Where a run finds records, and what it may take. */
struct txn_view {
    /* As store_get, txn_look: the body only if it is not in chunks; then that. Into memory that lasts as long as the run's. */
    enum rc (*look)(struct txn_view *, const struct store_key *, struct record *, struct err *);
    enum rc (*read)(struct txn_view *, const struct store_key *, struct record *, struct err *);
    struct codec *codec;
    struct buf *out; /* scratch */
    bool brief;
    uint64_t
        bytes_max; /* of records that are opened, on the writer with their patches; and of those that are made */
};
/* What the last run has made is over. */
void txn_run_release(struct txn *);
/* Do all operations, in the slots. RC_CONFLICT: a condition or check failed, at t->at. RC_AGAIN: what leads to other
 * versions must be made (other_id of some), or it takes more than the view allows. RC_ERR: err->operation says where. */
MUST_USE enum rc txn_run(struct txn *, struct txn_view *, struct err *);
/* Put what has changed; is there anything? */
bool txn_writes(const struct txn *);
MUST_USE enum rc txn_store(struct txn *, struct store_txn *, struct err *);
/* Are all types there, and all records what the run has found? Else err is set, or RC_AGAIN. */
MUST_USE enum rc txn_check_types(struct txn *, struct store_txn *, struct err *);
MUST_USE enum rc txn_check_unchanged(struct txn *, struct store_txn *, struct err *);

/* ---- txn_views.c ---- */

/* A helper's: what it reads is in the run's arena. */
struct txn_reader {
    struct txn_view view;
    struct store_worker *store;
    struct txn *txn;
};
void txn_reader_init(struct txn_reader *, struct txn *, struct store_worker *);
/* The writer's. */
struct txn_writer {
    struct txn_view view;
    struct store_txn *store;
};
void txn_writer_init(struct txn_writer *, struct txn *, struct store_txn *);

/* ---- txn_answer.c ---- */

/* Take memory for the answer. */
MUST_USE bool txn_answer_reserve(struct txn *);
/* 200: all was done, with this revision (0: nothing was written). */
void txn_answer(struct txn *, uint64_t revision);
/* Have it remembered under the write's key what the answer will be; inside the transaction. */
void txn_note(struct txn *, struct store_idem *, uint64_t revision);
/* It was done before: the answer of then. */
void txn_answer_first(struct txn *, const struct store_write *);

#endif
