/* tests/model/test_model.c - the same seeded random operations on every engine and on the memory engine,
 * compared after each round: answers, revisions, records, scans, counts; with stores closed and opened again
 * in between. */
#include "tests/unit/storage/fixture.h"

enum {
    ROUNDS = 120,
    OPS = 25,
    IDS = 60,
    KEYS = 200,
    REOPEN_EACH = 17,
    BODY_MAX = 2500000,
    SHORT_MAX = 70000
};

/* ---- random ---- */

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % n;
}

/* Ids of 1 to 480 bytes, many with bytes 00 and FF, some the beginning of others. */
static struct slice random_id(uint8_t out[LIMIT_ID_MAX])
{
    static const uint16_t lens[] = {1, 1, 2, 3, 7, 16, 33, 255, 479, 480};
    static const uint8_t alphabet[] = {0x00, 0x01, 'a', 'b', 0xfe, 0xff};
    unsigned seed = random_below(IDS);
    size_t len = lens[seed % ARRAY_LEN(lens)];
    for (size_t i = 0; i < len; i++)
        out[i] = alphabet[(seed * 7 + i * (seed + 1)) % ARRAY_LEN(alphabet)];
    out[len - 1] = (uint8_t)seed;
    return slice_of(out, len);
}

/* ---- operations ---- */

struct op {
    int kind, cond;
    uint8_t key, request; /* of an idempotency key; 0: it has none */
    uint32_t type, schema_id;
    uint64_t revisions[2];
    size_t id_len, upto_len, body_len, cut;
    int64_t expires_ms;
    char content_type[16];
    uint8_t id[LIMIT_ID_MAX], upto[LIMIT_ID_MAX], body[BODY_MAX];
};

struct run {
    struct store_write w;
    struct op *op;
    struct store_idem idem;
    uint8_t memory[8];
};

/* Keeps the number of bytes before, and some that all of them have had a part in. */
static enum rc shrink(struct store_write *w, const struct record *old, struct record *fresh, struct err *err)
{
    struct run *r = CONTAINER_OF(w, struct run, w);
    if (!old)
        return r->op->cut % 2 ? RC_NOTFOUND : err_set(err, ERR_BAD_RECORD, "Nothing to edit.");
    uint64_t sum = old->body.len * 31 + old->revision;
    for (size_t i = 0; i < old->body.len; i += 97)
        sum = sum * 31 + old->body.ptr[i];
    put_le64(r->memory, sum);
    fresh->body = slice_of(r->memory, old->body.len % 8 + 1);
    if (r->op->cut % 3 == 0) /* the operation's own body, which may be in chunks */
        fresh->body = slice_of(r->op->body, r->op->body_len);
    return RC_OK;
}

/* Copies a record to another type, deletes it, or fails after both. */
static enum rc move(struct store_write *w, struct store_txn *txn, struct err *err)
{
    struct run *r = CONTAINER_OF(w, struct run, w);
    struct store_key from = {SPACE_RECORD, r->op->type, slice_of(r->op->id, r->op->id_len)}, to = from;
    struct record rec;
    to.type = from.type % FIXTURE_TYPES + 1;
    enum rc rc = txn_get(txn, &from, &rec, err);
    if (rc != RC_OK)
        return rc;
    rc = txn_put(txn, &to, &rec, err);
    if (rc == RC_OK)
        rc = txn_put(txn, &from, NULL, err);
    return rc == RC_OK && r->op->cut % 4 == 0 ? RC_CONFLICT : rc;
}

static void op_random(struct op *op, uint64_t newest)
{
    static const int kinds[] = {WRITE_PUT,  WRITE_PUT,  WRITE_PUT,         WRITE_DELETE,
                                WRITE_EDIT, WRITE_CALL, WRITE_RANGE_DELETE};
    static const int conds[] = {COND_NONE,    COND_NONE,        COND_NONE,           COND_ABSENT,
                                COND_PRESENT, COND_REVISION_IN, COND_REVISION_NOT_IN};
    static const uint16_t sizes[] = {0, 1, 20, 100, 1990, 2000, 3900, 4048, 4049, 8160, 8161, 20000};
    op->kind = kinds[random_below(ARRAY_LEN(kinds))];
    op->cond = conds[random_below(ARRAY_LEN(conds))];
    op->type = 1 + random_below(FIXTURE_TYPES);
    op->schema_id = random_below(100);
    op->key = (uint8_t)(random_below(4) ? 0 : 1 + random_below(KEYS));
    op->request = (uint8_t)random_below(2);
    for (unsigned i = 0; i < 2; i++)
        op->revisions[i] = newest - random_below(100);
    op->id_len = random_id(op->id).len;
    op->upto_len = random_id(op->upto).len;
    op->body_len = sizes[random_below(ARRAY_LEN(sizes))];
    op->expires_ms = random_below(10) ? 0 : random_below(2) ? 1 : INT64_C(1) << 46;
    snprintf(op->content_type, sizeof op->content_type, "%s", random_below(4) ? "" : "text/plain");
    if (random_below(20) == 0)
        op->body_len = 1 + random_below(random_below(5) ? SHORT_MAX : BODY_MAX); /* some in several groups */
    op->cut = random_below((unsigned)op->body_len + 1);
    for (size_t i = 0; i < op->body_len; i++)
        op->body[i] = i < 8192 ? (uint8_t)random_below(256) : (uint8_t)(op->body[i - 8192] + i / 8192);
}

static void run_init(struct run *r, struct op *op)
{
    *r = (struct run){.op = op, .w = {.kind = WRITE_PUT}};
    r->w.kind = op->kind;
    r->w.cond = op->cond;
    r->w.revisions = op->revisions;
    r->w.nrevisions = 2;
    r->w.key = (struct store_key){SPACE_RECORD, op->type, slice_of(op->id, op->id_len)};
    r->w.upto = slice_of(op->upto, op->upto_len);
    r->w.schema_id = op->schema_id;
    r->w.expires_ms = op->expires_ms;
    r->w.content_type = slice_str(op->content_type);
    r->w.part[0] = slice_of(op->body, op->cut);
    r->w.part[2] = slice_of(op->body + op->cut, op->body_len - op->cut);
    r->w.edit = shrink;
    r->w.call = move;
    if (!op->key)
        return;
    r->idem = (struct store_idem){
        .key = {op->key}, .request = {op->request}, .ttl_s = 3600, .note = slice_of(op->id, op->id_len)};
    r->w.idem = &r->idem;
}

/* ---- comparing ---- */

struct digest {
    struct store_scan s;
    uint64_t hash, rows, bytes;
    bool in_chunks; /* the last row of the page, whose body is read behind it */
    struct record chunked;
};

static void digest_add(struct digest *d, const void *p, size_t n)
{
    const uint8_t *bytes = p;
    for (size_t i = 0; i < n; i++)
        d->hash = (d->hash ^ bytes[i]) * 0x100000001b3;
}

static enum rc digest_row(struct store_scan *s, struct slice id, const struct record *rec)
{
    struct digest *d = CONTAINER_OF(s, struct digest, s);
    uint64_t numbers[] = {rec->revision, rec->schema_id, (uint64_t)rec->expires_ms, rec->body_bytes, id.len};
    digest_add(d, numbers, sizeof numbers);
    digest_add(d, id.ptr, id.len);
    digest_add(d, rec->content_type.ptr, rec->content_type.len);
    digest_add(d, rec->body.ptr, rec->body.len);
    d->in_chunks |= rec->blob != 0;
    d->chunked = (struct record){.blob = rec->blob, .body_bytes = rec->body_bytes};
    d->rows++;
    d->bytes += rec->body_bytes;
    return d->rows % 11 == 0 || rec->blob ? RC_PENDING : RC_OK;
}

static void digest_done(struct store_scan *s)
{
    (void)s;
}

static struct digest digest_of(struct fixture *f, uint32_t type, struct slice from, struct slice upto)
{
    struct digest d = {.s = {.space = SPACE_RECORD,
                             .type = type,
                             .from = from,
                             .upto = upto,
                             .row = digest_row,
                             .done = digest_done}};
    do {
        d.in_chunks = false;
        store_scan(f->worker, &d.s);
        if (d.in_chunks) {
            uint8_t *whole = fixture_whole(f, &d.chunked);
            digest_add(&d, whole, d.chunked.body_bytes);
            free(whole);
        }
    } while (d.s.rc == RC_PENDING);
    assert_int_equal(d.s.rc, RC_OK);
    return d;
}

static void assert_same_range(struct fixture *a, struct fixture *b, uint32_t type, struct slice from,
                              struct slice upto)
{
    struct digest x = digest_of(a, type, from, upto), y = digest_of(b, type, from, upto);
    assert_int_equal(x.rows, y.rows);
    assert_int_equal(x.bytes, y.bytes);
    assert_int_equal(x.hash, y.hash);
}

static void assert_same_body(struct fixture *a, const struct record *x, struct fixture *b,
                             const struct record *y)
{
    assert_int_equal(x->body_bytes, y->body_bytes);
    uint8_t *p = fixture_whole(a, x), *q = fixture_whole(b, y);
    assert_memory_equal(p, q, x->body_bytes);
    free(p);
    free(q);
}

static void assert_same_record(struct fixture *a, struct fixture *b, const struct store_key *key)
{
    struct store_get x = {.key = *key, .done = fixture_get_done}, y = x;
    store_get(a->worker, &x);
    store_get(b->worker, &y);
    assert_int_equal(x.rc, y.rc);
    if (x.rc == RC_OK) {
        assert_int_equal(x.rec.revision, y.rec.revision);
        assert_same_body(a, &x.rec, b, &y.rec);
    }
}

static void assert_same(struct fixture *a, struct fixture *b)
{
    uint8_t from[LIMIT_ID_MAX], upto[LIMIT_ID_MAX];
    for (uint32_t type = 1; type <= FIXTURE_TYPES; type++) {
        struct store_count x = fixture_count(a, type), y = fixture_count(b, type);
        assert_int_equal(x.records, y.records);
        assert_int_equal(x.bytes, y.bytes);
        assert_same_range(a, b, type, SLICE(""), SLICE(""));
        assert_same_range(a, b, type, random_id(from), random_id(upto));
        struct store_key key = {SPACE_RECORD, type, random_id(from)};
        assert_same_record(a, b, &key);
    }
}

/* ---- the run ---- */

static uint64_t run_round(struct fixture *f, struct op *ops, struct run *runs)
{
    uint64_t newest = 0;
    for (unsigned i = 0; i < OPS; i++) {
        run_init(&runs[i], &ops[i]);
        fixture_queue_on(f->worker, &runs[i].w);
    }
    fixture_await(f->worker, OPS);
    for (unsigned i = 0; i < OPS; i++)
        newest = runs[i].w.revision > newest ? runs[i].w.revision : newest;
    return newest;
}

static void compare_answers(const struct run *a, const struct run *b)
{
    for (unsigned i = 0; i < OPS; i++) {
        assert_int_equal(a[i].w.rc, b[i].w.rc);
        assert_int_equal(a[i].w.revision, b[i].w.revision);
        assert_int_equal(a[i].w.count, b[i].w.count);
        assert_int_equal(a[i].w.created, b[i].w.created);
        assert_int_equal(a[i].w.resume_len, b[i].w.resume_len);
        assert_int_equal(a[i].w.replayed, b[i].w.replayed);
        if (a[i].w.replayed) {
            assert_int_equal(a[i].idem.first_len, b[i].idem.first_len);
            assert_memory_equal(a[i].idem.first, b[i].idem.first, a[i].idem.first_len);
        }
        if (a[i].w.rc == RC_ERR)
            assert_int_equal(a[i].w.err.code, b[i].w.err.code);
    }
}

static void compare_with_memory(const struct engine_ops *engine, uint64_t seed)
{
    static struct op ops[OPS];
    static struct run runs[2][OPS];
    struct fixture model, f;
    uint64_t newest = 0;
    random_state = seed;
    fixture_prepare(&model, &engine_memory);
    fixture_prepare(&f, engine);
    model.opts.keep_expired = f.opts.keep_expired = true; /* their removal takes revisions, at its own time */
    fixture_open_prepared(&model);
    fixture_open_prepared(&f);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (unsigned i = 0; i < OPS; i++)
            op_random(&ops[i], newest);
        newest = run_round(&model, ops, runs[0]);
        run_round(&f, ops, runs[1]);
        compare_answers(runs[0], runs[1]);
        assert_same(&model, &f);
        if (round % REOPEN_EACH == 0 && engine->caps & CAP_DURABLE) {
            fixture_close(&f);
            fixture_reopen(&f);
            assert_same(&model, &f);
        }
    }
    fixture_end(&f);
    fixture_end(&model);
}

TEST(model__every_engine_answers_as_the_memory_engine)
{
    static const uint64_t seeds[] = {1, 20240229, 0xdeadbeefcafe};
    for (size_t e = 0; e < ARRAY_LEN(fixture_engines); e++)
        for (size_t s = 0; s < ARRAY_LEN(seeds); s++)
            compare_with_memory(fixture_engines[e], seeds[s]);
}

TEST_MAIN()
