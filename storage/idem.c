/* storage/idem.c - the rows of `idem`, as docs/format.md draws them. */
#include "storage/idem.h"

#include <assert.h>

#include "base/bytes.h"
#include "storage/stage.h"

enum { FORMAT = 1, FLAG_CREATED = 1, MS = 1000 };
enum {
    AT_FORMAT = 0,
    AT_FLAGS = 1,
    AT_NOTE_LEN = 2,
    AT_EXPIRES = 8,
    AT_REQUEST = 16,
    AT_REVISION = 32,
    AT_COUNT = 40,
    AT_NOTE = 48
};

struct outcome {
    int64_t expires_ms;
    const uint8_t *request; /* STORE_IDEM_REQUEST_BYTES */
    bool created;
    uint64_t revision, count;
    struct slice note;
};

static bool outcome_decode(struct slice row, struct outcome *out)
{
    const uint8_t *p = row.ptr;
    if (row.len < AT_NOTE || p[AT_FORMAT] != FORMAT || row.len - AT_NOTE < get_le16(p + AT_NOTE_LEN))
        return false;
    *out = (struct outcome){.expires_ms = (int64_t)get_le64(p + AT_EXPIRES),
                            .request = p + AT_REQUEST,
                            .created = p[AT_FLAGS] & FLAG_CREATED,
                            .revision = get_le64(p + AT_REVISION),
                            .count = get_le64(p + AT_COUNT),
                            .note = slice_of(p + AT_NOTE, get_le16(p + AT_NOTE_LEN))};
    return out->expires_ms > 0 && out->note.len <= STORE_NOTE_MAX;
}

bool idem_row_expires(struct slice row, int64_t *expires_ms)
{
    struct outcome o;
    if (!outcome_decode(row, &o))
        return false;
    *expires_ms = o.expires_ms;
    return true;
}

/* RC_NOTFOUND: there is no row. */
static enum rc outcome_read(struct decider *d, struct slice key, struct outcome *out, struct err *err)
{
    struct key k;
    struct slice row;
    key_idem(&k, key);
    enum rc rc = stage_read_row(d, key_slice(&k), &row, err);
    if (rc == RC_OK && !outcome_decode(row, out))
        return err_set(err, ERR_IO, "What is remembered under an idempotency key is damaged.");
    return rc;
}

static struct slice key_of_write(const struct store_write *w)
{
    return slice_of(w->idem->key, sizeof w->idem->key);
}

/* ---- a repeat ---- */

static void replay(struct store_write *w, const struct outcome *o)
{
    struct store_idem *idem = w->idem;
    w->replayed = true;
    w->created = o->created;
    w->revision = o->revision;
    w->count = o->count;
    w->resume_len = 0;
    idem->first_len = (uint16_t)o->note.len;
    if (o->note.len)
        memcpy(idem->first, o->note.ptr, o->note.len);
}

enum rc idem_find(struct decider *d, struct store_write *w)
{
    struct outcome o;
    enum rc rc = outcome_read(d, key_of_write(w), &o, &w->err);
    if (rc != RC_OK)
        return rc;
    if (o.expires_ms <= d->now_ms)
        return RC_NOTFOUND;
    if (memcmp(o.request, w->idem->request, sizeof w->idem->request) != 0)
        return err_set(&w->err, ERR_IDEMPOTENCY_MISMATCH,
                       "The Idempotency-Key of this request has been used with another one.");
    replay(w, &o);
    return RC_OK;
}

bool idem_is_known(struct decider *d, const struct store_write *w)
{
    struct outcome o;
    struct err err;
    enum rc rc = outcome_read(d, key_of_write(w), &o, &err);
    return rc == RC_ERR || (rc == RC_OK && o.expires_ms > d->now_ms);
}

/* ---- the first ---- */

static enum rc stage_expiry(struct decider *d, int64_t time_ms, struct slice key, bool there, struct err *err)
{
    struct key k;
    key_expiry(&k, time_ms, EXPIRY_IDEM, 0, key);
    return stage_row(d, key_slice(&k), there ? SLICE("") : (struct slice){NULL, 0}, err);
}

static uint8_t *outcome_encode(struct decider *d, const struct store_write *w, int64_t expires_ms)
{
    const struct store_idem *idem = w->idem;
    bool goes_on = w->kind == WRITE_RANGE_DELETE; /* what its writes before have done */
    uint8_t *p = arena_calloc(&d->overlay.arena, 1, AT_NOTE + idem->note.len);
    if (!p)
        return NULL;
    p[AT_FORMAT] = FORMAT;
    p[AT_FLAGS] = w->created ? FLAG_CREATED : 0;
    put_le16(p + AT_NOTE_LEN, (uint16_t)idem->note.len);
    put_le64(p + AT_EXPIRES, (uint64_t)expires_ms);
    memcpy(p + AT_REQUEST, idem->request, sizeof idem->request);
    put_le64(p + AT_REVISION, goes_on && !w->revision ? w->revision_before : w->revision);
    put_le64(p + AT_COUNT, w->count + (goes_on ? w->count_before : 0));
    if (idem->note.len)
        memcpy(p + AT_NOTE, idem->note.ptr, idem->note.len);
    return p;
}

enum rc idem_remember(struct decider *d, struct store_write *w)
{
    struct slice key = key_of_write(w);
    struct outcome old;
    struct key k;
    if (w->kind == WRITE_RANGE_DELETE && w->resume_len) /* there is more to come */
        return RC_OK;
    assert(w->idem->ttl_s && w->idem->note.len <= STORE_NOTE_MAX);
    int64_t expires_ms = d->now_ms + (int64_t)w->idem->ttl_s * MS;
    enum rc rc = outcome_read(d, key, &old, &w->err); /* whose time is over */
    if (rc == RC_ERR || (rc == RC_OK && stage_expiry(d, old.expires_ms, key, false, &w->err) != RC_OK))
        return RC_ERR;
    uint8_t *row = outcome_encode(d, w, expires_ms);
    if (!row)
        return err_oom(&w->err);
    if (!d->expires_ms || expires_ms < d->expires_ms)
        d->expires_ms = expires_ms;
    key_idem(&k, key);
    if (stage_row(d, key_slice(&k), slice_of(row, AT_NOTE + w->idem->note.len), &w->err) != RC_OK)
        return RC_ERR;
    return stage_expiry(d, expires_ms, key, true, &w->err);
}

/* ---- when its time is over ---- */

enum rc idem_sweep(struct sweep *s, uint64_t time_ms, struct slice key)
{
    struct outcome o;
    struct key k;
    enum rc rc = key.len == STORE_IDEM_KEY_BYTES ? outcome_read(s->d, key, &o, s->err) : RC_NOTFOUND;
    if (rc == RC_ERR)
        return rc;
    if (rc == RC_OK && (uint64_t)o.expires_ms == time_ms) {
        key_idem(&k, key);
        if (sweep_delete(s, key_slice(&k), AT_NOTE + o.note.len) != RC_OK)
            return RC_ERR;
    }
    key_expiry(&k, (int64_t)time_ms, EXPIRY_IDEM, 0, key);
    return sweep_delete(s, key_slice(&k), 0);
}
