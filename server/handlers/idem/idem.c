/* server/handlers/idem/idem.c - see idem.h. */
#include "server/handlers/idem/idem.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "server/server.h"

/* A body beyond this is not digested whole, which would take a worker some milliseconds: its ends are, and a checksum of each of so many
 * pieces. */
enum { WHOLE_MAX = 65536, END_BYTES = 8192, PIECES = 64 };

/* ---- digests ---- */

/* Fields that change what a request means. */
static const enum header told_apart_by[] = {HEADER_CONTENT_TYPE,   HEADER_CONTENT_ENCODING,
                                            HEADER_IF_MATCH,       HEADER_IF_NONE_MATCH,
                                            HEADER_SCHEMA_VERSION, HEADER_CACHE_CONTROL};

static uint8_t *put(uint8_t *at, struct slice s)
{
    if (s.len)
        memcpy(at, s.ptr, s.len);
    return at + s.len;
}

/* The length first, so that no two lists are one text. */
static uint8_t *put_part(uint8_t *at, struct slice s)
{
    put_le64(at, s.len);
    return put(at + 8, s);
}

static void digest_long(struct slice body, uint8_t out[SHA256_BYTES])
{
    uint8_t text[2 * END_BYTES + PIECES * 4 + 8], *at = text;
    at = put(at, slice_of(body.ptr, END_BYTES));
    at = put(at, slice_of(body.ptr + body.len - END_BYTES, END_BYTES));
    put_le64(at, body.len);
    at += 8;
    for (size_t i = 0; i < PIECES; i++, at += 4) {
        size_t from = body.len / PIECES * i, upto = i + 1 < PIECES ? body.len / PIECES * (i + 1) : body.len;
        put_le32(at, crc32c(0, slice_of(body.ptr + from, upto - from)));
    }
    sha256(slice_of(text, (size_t)(at - text)), out);
}

static void digest_body(struct slice body, uint8_t out[SHA256_BYTES])
{
    if (body.len > WHOLE_MAX)
        digest_long(body, out);
    else
        sha256(slice_not_null(body), out);
}

/* Of method, target, the fields above and the body. */
static enum rc digest_request(struct request *req, uint8_t out[STORE_IDEM_REQUEST_BYTES], struct err *err)
{
    struct slice method = slice_str(method_name(req->method));
    size_t most =
        8 * (4 + ARRAY_LEN(told_apart_by)) + method.len + req->path.len + req->query.len + SHA256_BYTES;
    uint8_t digest[SHA256_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(told_apart_by); i++)
        most += req->header[told_apart_by[i]].len;
    uint8_t *text = arena_alloc(&req->arena, most), *at = text;
    if (!text)
        return err_oom(err);
    at = put_part(put_part(put_part(at, method), req->path), req->query);
    for (size_t i = 0; i < ARRAY_LEN(told_apart_by); i++)
        at = put_part(at, req->header[told_apart_by[i]]);
    digest_body(req->body, digest);
    at = put_part(at, slice_of(digest, sizeof digest));
    assert(at == text + most);
    sha256(slice_of(text, most), digest);
    memcpy(out, digest, STORE_IDEM_REQUEST_BYTES);
    return RC_OK;
}

/* Who asks is part of the key: one user's is not another's. No user's name has a NUL in it. */
static enum rc digest_key(const struct request *req, uint8_t out[STORE_IDEM_KEY_BYTES], struct err *err)
{
    struct slice key = req->header[HEADER_IDEMPOTENCY_KEY];
    uint8_t text[LIMIT_USER_NAME_MAX + 1 + LIMIT_IDEMPOTENCY_KEY_MAX], *at;
    _Static_assert((int)STORE_IDEM_KEY_BYTES == (int)SHA256_BYTES, "a key is digested");
    if (key.len == 0 || key.len > LIMIT_IDEMPOTENCY_KEY_MAX)
        return err_set(err, ERR_BAD_REQUEST, "An Idempotency-Key has 1 to %d bytes; this one has %zu.",
                       LIMIT_IDEMPOTENCY_KEY_MAX, key.len);
    assert(req->user.len <= LIMIT_USER_NAME_MAX);
    at = put(text, req->user);
    *at++ = 0;
    at = put(at, key);
    sha256(slice_of(text, (size_t)(at - text)), out);
    return RC_OK;
}

COLD enum rc idem_attach_key(struct request *req, struct store_write *w, enum idem_tells tells,
                             struct err *err)
{
    struct store_idem *idem = arena_alloc(&req->arena, sizeof *idem);
    if (!idem)
        return err_oom(err);
    idem->ttl_s = req->worker->server->options->idempotency_ttl_s;
    idem->note = (struct slice){0};
    idem->first_len = 0;
    w->idem = idem;
    if (digest_key(req, idem->key, err) != RC_OK || digest_request(req, idem->request, err) != RC_OK)
        return RC_ERR;
    return req->type ? idem_note_record(req, idem, tells, err) : RC_OK;
}
