/* storage/storage.h - the front of this folder: keys in, bytes out. Knows no JSON, Avro, socket or event
 * loop.
 *
 *   worker: store_write -> queue -> writer: take, decide, apply, publish -> worker: store_worker_run -> done
 *   worker: store_get / store_scan -> snapshot -> done
 *   worker: store_get_soon ... -> store_gets_run: snapshot -> done of each
 *
 * The format on disk and the order of things are docs/format.md and ARCHITECTURE.md, "Storage". */
#ifndef STORAGE_STORAGE_H
#define STORAGE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/histogram.h"
#include "base/limits.h"
#include "base/slice.h"

/* Which kind of key. Records are counted, stamped and given revisions;
 * the others are the catalog's own rows. */
enum space { SPACE_RECORD = 1, SPACE_TYPE, SPACE_SUBJECT, SPACE_SCHEMA, SPACE_SCHEMA_HASH };

struct store_key {
    enum space space;
    uint32_t type;   /* the type's number; 0 but for records */
    struct slice id; /* 1 to 480 bytes, any */
};

/* What a key holds. Slices are borrowed; until when is said where one is handed out. */
struct record {
    uint64_t revision; /* grows with each write of a key; with CAP_TOTAL_ORDER one order
                          for the whole store */
    int64_t created_ms, updated_ms, expires_ms; /* Unix time; expires_ms 0: never */
    int64_t
        used_ms; /* when it was last written or touched, of types that have a limit; 0: nobody kept that. A put
                        sets it, whatever stands here */
    uint32_t schema_id;
    struct slice content_type; /* empty: none kept */
    struct slice body;         /* ptr NULL and body_bytes > 0: in chunks, by store_chunks, or packed */
    uint64_t body_bytes;       /* of it as it was put, packed or not */
    uint64_t blob;
    uint64_t
        packed_bytes;    /* 0: it is stored as it was put. Else it was packed into so many bytes: these ... */
    struct slice packed; /* ... or, ptr NULL, those of the blob. What they mean is its owner's affair */
};

struct store;        /* one a process and directory */
struct store_worker; /* one a thread that reads or writes */
struct store_txn;    /* inside a WRITE_CALL */

/* ---- life ---- */

enum durability { DURABLE_SYNC, DURABLE_ASYNC, DURABLE_NONE };

struct store_opts {
    const char *engine; /* "lmdb" or "memory" */
    const char *dir;    /* created if absent; the memory engine needs none */
    enum durability durability;
    uint64_t bytes_max;    /* address space reserved for the map; 0: the engine's default (1 TiB) */
    unsigned workers;      /* how many share the write queue; so often store_worker_new may be called ... */
    unsigned readers;      /* ... and so often for those that only read */
    uint32_t blob_keep_ms; /* how long the chunks of a body that was replaced stay, for those who still read
                              them; 0: LIMIT_WRITE_DEADLINE_MS and a margin */
    uint32_t record_bytes_max; /* body of a record; 0, and at most: LIMIT_RECORD_MAX */
    uint32_t queue_writes_max; /* the write queue, of all workers together; 0: LIMIT_QUEUE_OPS_MAX ... */
    uint64_t queue_bytes_max;  /* ... and LIMIT_QUEUE_BYTES_MAX */
    /* Undo the packing of a body, for edits and calls, which get it whole: exactly `bytes` bytes at `out`. Pure; any
     * thread. Fails with IO (they are no such body), NO_MEMORY. NULL: nothing is ever packed. */
    enum rc (*unpack)(struct slice packed, uint8_t *out, uint64_t bytes, struct err *);
    bool keep_expired; /* what is past its time is hidden, but stays: for tests that compare stores step
                                  by step */
    bool accept_dirty; /* open a store of mode `none` that was open when the machine was restarted */
};

/* CONFIG: there is no engine of this name. */
MUST_USE enum rc store_engine_check(const char *name, struct err *);
/* Open or create, and start the writer thread. Call after any fork. Fails with STORE_LOCKED (another process
 * has it), STORE_FORMAT (newer, foreign, cut short), STORE_DIRTY, IO, NO_SPACE, NO_MEMORY. */
MUST_USE enum rc store_open(struct store **, const struct store_opts *, struct err *);
/* Finish the queued writes, sync, mark clean, stop the writer. All workers must have been freed before, but
 * for those whose done callbacks nobody waits for. */
void store_close(struct store *);

/* Flushes have failed: no more writes until a restart. Any thread. */
bool store_broken(const struct store *);

/* How many damaged rows the purge has met and left where they are, in its last look at all. Any thread. */
unsigned store_set_aside(const struct store *);

struct store_space {
    uint64_t used, max, file; /* bytes */
};
void store_space(const struct store *, struct store_space *); /* as of the last group; any thread */

/* What a store has counted since it was opened, and how it is. */
struct store_stats {
    struct store_space space;
    uint64_t broken;             /* 1: store_broken */
    uint64_t damaged_rows;       /* store_set_aside */
    uint64_t writes;             /* that are over, whatever became of them */
    uint64_t queue_writes;       /* queued and not over */
    uint64_t groups;             /* applied */
    uint64_t expired;            /* records past their time that were removed */
    uint64_t evicted;            /* records of types above their limit that were removed */
    uint64_t touched;            /* times that a record's last use was written down because it was read */
    uint64_t no_space, failures; /* writes that failed in applying, for want of room and otherwise */
    uint64_t oldest_snapshot_ms; /* the age of the oldest that a worker reads in; 0: none */
    struct histogram_read group_writes, apply_ns, sync_ns;
};
/* Any thread; not for the hot path. */
void store_stats(struct store *, struct store_stats *);

/* `loop` is for network engines (an event base), the embedded ones ignore it. */
MUST_USE enum rc store_worker_new(struct store_worker **, struct store *, void *loop, struct err *);
void store_worker_free(struct store_worker *);
/* An eventfd, readable when done callbacks wait. Watch it edge-triggered (EV_READ|EV_ET|EV_PERSIST) and never
 * read it; on an event call store_worker_run, which calls `done` of every finished write, in order. */
int store_worker_fd(const struct store_worker *);
void store_worker_run(struct store_worker *);
/* The end of a turn of the worker's loop: the snapshot is given up, every borrowed slice dies. */
void store_turn_end(struct store_worker *);
/* Read no more requests for now: this worker's share of the write queue is three quarters full. */
bool store_busy(const struct store_worker *);

/* ---- reading ---- */

struct store_get {
    struct store_key key;
    void (*done)(struct store_get *);
    struct store_get *next; /* storage's own */
    enum rc rc;             /* RC_OK, RC_NOTFOUND (absent, expired, its type dropped), RC_ERR */
    struct record rec;      /* borrowed until done returns */
    struct err err;
};
/* Sees every write that was answered before the call; never waits for the writer. done runs before the
 * return, or later on this worker. */
void store_get(struct store_worker *, struct store_get *);

/* The same, read with others by the next store_gets_run, which costs less than each by itself: the tree's upper pages
 * and the engine's code stay in the caches (docs/decisions/0010-gets-in-batches.md). Key and get are the caller's until
 * done. */
void store_get_soon(struct store_worker *, struct store_get *);
/* Read all that were queued, then call their done, in order. They see one snapshot, and so does whatever a done
 * reads; what a done queues is read by the next run. Not from a done. */
void store_gets_run(struct store_worker *);
/* How many are queued. */
unsigned store_gets_waiting(const struct store_worker *);

/* Of a record whose body is in chunks, up to *n chunks from index `first`, each LIMIT_CHUNK_BYTES long but
 * for the last, borrowed until the next call on this worker; *n is set to how many, 0 only behind the last.
 * Of the record only blob, body_bytes and packed_bytes are looked at, so that is all that a slow reader keeps. Another
 * record may have taken its place: the chunks stay for blob_keep_ms. RC_NOTFOUND: they are gone. Chunks that were read
 * may be asked for again. */
MUST_USE enum rc store_chunks(struct store_worker *, const struct record *, uint32_t first, struct slice *out,
                              unsigned *n, struct err *);
/* Of a record that store_get has handed out nothing more will be read: where the store is full, a body that is dead goes
 * once nobody is at it. Who does not say so is forgotten after blob_keep_ms. */
void store_chunks_end(struct store_worker *);

/* A record of a type with a limit has been read: ought that to be written down? Not at each reading: what is lost of its
 * place in the order is a 16th of the time since its last write, and an hour at most. */
static inline bool store_touch_due(const struct record *r, int64_t now_ms)
{
    int64_t grain = (now_ms - r->updated_ms) / 16;
    grain = grain < LIMIT_TOUCH_GRAIN_LEAST_MS ? LIMIT_TOUCH_GRAIN_LEAST_MS : grain;
    grain = grain > LIMIT_TOUCH_GRAIN_MOST_MS ? LIMIT_TOUCH_GRAIN_MOST_MS : grain;
    int64_t since = now_ms - r->used_ms; /* below 0: the clock was ahead */
    return r->used_ms && (since >= grain || since <= -grain);
}
/* If it is due, write down that the record was used now: behind all writes that wait, with nobody waiting for it, and not at
 * all where there are too many. Neither its revision nor the time of its last write moves. The key is borrowed for the call. */
void store_touch(struct store_worker *, const struct store_key *, const struct record *);

struct store_scan {
    enum space space;
    uint32_t type;
    struct slice from, upto; /* from <= id < upto; upto empty: to the end. The caller's until done. */
    bool keys_only;          /* row gets an empty body; body_bytes still says how long it is */
    /* RC_PENDING: enough after this row; RC_AGAIN: enough before it, and the next page begins with it; RC_ERR:
     * stop, err is set. record NULL: it cannot be read, err says why. It reads no other thing from the store: that could
     * renew the snapshot under the page. Of a body in chunks it keeps the record's blob and body_bytes,
     * answers RC_PENDING, and the chunks are read behind the page. */
    enum rc (*row)(struct store_scan *, struct slice id, const struct record *);
    void (*done)(struct store_scan *);
    enum rc rc; /* RC_OK: at the end; RC_PENDING, RC_AGAIN: call again to go on; RC_ERR */
    struct err err;
    uint8_t last[512]; /* the last key seen, where the next page goes on; last_len 0: start at from */
    uint16_t last_len;
};
/* One page a call: at most 256 rows or 64 KiB, in a fresh snapshot. In order, nothing twice, all that exists
 * throughout; what changes meanwhile may or may not show. */
void store_scan(struct store_worker *, struct store_scan *);

/* Records and bytes of bodies of a type, exact, as of the snapshot. Unknown type: zeros. */
struct store_count {
    uint64_t records, bytes;
    uint64_t bytes_max; /* its limit; 0: none */
    uint64_t used;      /* records of which is kept when they were last used */
};
MUST_USE enum rc store_count(struct store_worker *, uint32_t type, struct store_count *out, struct err *);

/* ---- writing ---- */

enum { STORE_IDEM_KEY_BYTES = 32, STORE_IDEM_REQUEST_BYTES = 16, STORE_NOTE_MAX = 4096 };

/* An idempotency key. A write that succeeds is remembered under it for ttl_s seconds (from 1), durable with the write itself, so that
 * another with the same key is not done, but gets its revision, count, created and note: `replayed` is true. Another `request` under the
 * key is IDEMPOTENCY_MISMATCH. A write that fails has changed nothing, and is not remembered. The caller's until done. */
struct store_idem {
    uint8_t key[STORE_IDEM_KEY_BYTES];         /* SHA-256 of principal, NUL, key */
    uint8_t request[STORE_IDEM_REQUEST_BYTES]; /* a digest of all that tells one request from another */
    uint32_t ttl_s;
    struct slice
        note; /* kept with the outcome, at most STORE_NOTE_MAX bytes: what the answer needs besides. An edit or a call may
                          set it */
    uint8_t first[STORE_NOTE_MAX]; /* replayed: the note of the first */
    uint16_t first_len;
};

/* Embedded in the request. From store_write until done nobody else touches it, nor what it points to, even if
 * the client leaves. */
struct store_write {
    struct store_write *next; /* storage's own, these four */
    struct store_worker *worker;
    uint32_t bytes, body_crc;

    enum {
        WRITE_PUT,
        WRITE_DELETE,
        WRITE_EDIT,
        WRITE_CALL,
        WRITE_RANGE_DELETE,
        WRITE_TYPE_DROP,
        WRITE_TOUCH,
        WRITE_PURGE,
        WRITE_LAY /* storage's own, these two */
    } kind;
    enum { COND_NONE, COND_ABSENT, COND_PRESENT, COND_REVISION_IN, COND_REVISION_NOT_IN } cond;
    const uint64_t *revisions;
    unsigned nrevisions;

    uint32_t schema_id;
    struct store_key key; /* TYPE_DROP: space SPACE_TYPE, id the name, type the number */
    int64_t expires_ms;
    struct slice content_type;
    struct slice part
        [3]; /* PUT: the body is the parts, copied once, into the engine's page. CALL: only how long they are
                             counts, as what waits in the queue */

    uint64_t
        plain_bytes; /* PUT: 0: the body is the parts. Else they are it packed, and it has so many bytes, to which
                             the limit of a record applies */

    /* A long body goes in with several groups, which overtake it. What it must not be overtaken by is in its
     * lane: writes of one worker and lane are decided in the order in which they were queued. Only compared;
     * NULL is a lane too. */
    const void *lane;
    struct store_idem *idem; /* or NULL */

    void (*done)(struct store_write *); /* on its worker, once as durable as chosen */

    /* Set before done. RC_OK; RC_NOTFOUND: DELETE of an absent key, a dropped type; RC_CONFLICT: the
     * condition failed; RC_AGAIN; RC_ERR: nothing was stored (but see STORE_BROKEN), and err says why. */
    enum rc rc;
    bool created, replayed;
    uint64_t revision; /* that this write took (0: a CALL that wrote nothing); on RC_CONFLICT the current
                          revision of the key, 0 if absent */
    uint64_t count;    /* keys written; TYPE_DROP, RANGE_DELETE: records that vanished */
    uint64_t
        commit_ns; /* how long it took to apply its group and make it durable; 0: there was nothing to apply */

    /* What a put that succeeds does not touch stands behind all else: two threads pass this struct on. */

    /* EDIT: old (NULL: absent) -> fresh, whose slices are in the request's memory. CALL: several keys, all or
     * nothing. Pure functions of what they read: they may run again, on another thread; they never block,
     * never log. old and txn_get's record are whole here (chunks joined). RC_ERR fails this write alone;
     * RC_NOTFOUND, RC_CONFLICT likewise, without err; RC_AGAIN hands it back to be prepared. fresh comes
     * filled with the old record's schema id, content type and expiry. */
    enum rc (*edit)(struct store_write *, const struct record *old, struct record *fresh, struct err *);
    uint32_t
        edit_bytes_max; /* EDIT: RC_AGAIN, and no call of it, for a record with a longer body; 0: of any length */
    bool
        unchanged; /* set by an edit that succeeds: nothing is to be written; `revision` is the record's as it was */
    enum rc (*call)(struct store_write *, struct store_txn *, struct err *);
    bool opens_group; /* CALL: it may drop a type */
    struct err err;
    /* RANGE_DELETE: the records of key.type from key.id on and before `upto` (empty: to the end of the type), a bounded
     * number with one write. If resume_len is not 0 there are more: write again, from a copy of `resume` on. A condition is
     * not looked at. */
    struct slice upto;
    uint8_t resume[512];
    uint16_t resume_len;
    uint64_t count_before,
        revision_before; /* of its writes before: with idem the outcome of all is remembered */
};

/* Queue it. RC_PENDING: done runs exactly once, later, on this worker. RC_ERR (QUEUE_FULL, STORE_BROKEN,
 * DRAINING, RECORD_TOO_LARGE, ID_TOO_LONG): it never does. */
MUST_USE enum rc store_write(struct store_worker *, struct store_write *, struct err *);

/* Inside a CALL; sees its own puts. Slices of txn_get are borrowed until the call returns. For spaces other
 * than SPACE_RECORD a row is its body alone. */
MUST_USE enum rc txn_get(struct store_txn *, const struct store_key *, struct record *, struct err *);
/* The same without the body of a record in chunks, which costs reading them; its blob is set then. */
MUST_USE enum rc txn_look(struct store_txn *, const struct store_key *, struct record *, struct err *);
/* Is there a type of this number? */
bool txn_lives(const struct store_txn *, uint32_t type);
/* record NULL: delete. The record's slices must live until done. */
MUST_USE enum rc txn_put(struct store_txn *, const struct store_key *, const struct record *, struct err *);
/* The next type number (SPACE_TYPE) or schema id (SPACE_SCHEMA), from 1; taken only if the call succeeds. 0:
 * all 2^32 - 1 have been given. */
uint32_t txn_number(struct store_txn *, enum space);
/* Records and bytes of a type, those of its group before it counted too. */
MUST_USE enum rc txn_count(struct store_txn *, uint32_t type, struct store_count *, struct err *);
/* What a TYPE_DROP does, inside a call that opens_group. RC_NOTFOUND: there is no such row, or the number is dead. */
MUST_USE enum rc txn_type_drop(struct store_txn *, struct slice name, uint32_t type, struct err *);
/* Limit a type to so many bytes of bodies (0: to none): what was least recently used goes when it has more. */
MUST_USE enum rc txn_limit(struct store_txn *, uint32_t type, uint64_t bytes_max, struct err *);
/* The revision that this call's puts get if it succeeds. */
uint64_t txn_revision(const struct store_txn *);

#endif
