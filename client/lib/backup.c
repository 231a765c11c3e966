/* client/lib/backup.c - the whole store as one file, a piece at a time as it comes. */
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "client/lib/call.h"
#include "client/lib/error.h"

struct backup {
    avrod_piece_fn piece;
    void *user;
    struct avrod_backup *about;
    bool begun; /* the answer has come so far that it cannot begin anew */
    struct call call;
};

/* ---- the head ---- */

static const char *field(const struct exchange *x, const char *name, unsigned nth)
{
    return head_find((const char *)x->head.ptr, x->head.len, name, nth);
}

/* Behind `key` at the beginning of a member of the list; NULL: there is none. */
static const char *member(const char *list, char separator, const char *key)
{
    for (const char *at = list; at; at = strchr(at, separator)) {
        at += strspn(at, ",; \t");
        if (strncmp(at, key, strlen(key)) == 0)
            return at + strlen(key);
    }
    return NULL;
}

/* RFC 9530: sha-256=:BASE64: */
static bool take_digest(const struct exchange *x, uint8_t out[AVROD_SHA256_BYTES])
{
    uint8_t bytes[AVROD_SHA256_BYTES + 3];
    const char *text = NULL;
    size_t n = 0;
    for (unsigned nth = 0; !text; nth++) {
        const char *value = field(x, "Repr-Digest", nth);
        if (!value)
            return false;
        text = member(value, ',', "sha-256=:");
    }
    struct slice base64 = slice_of(text, strcspn(text, ":"));
    if (base64.len != base64_chars(AVROD_SHA256_BYTES) || !base64_parse(base64, bytes, &n) ||
        n != AVROD_SHA256_BYTES)
        return false;
    memcpy(out, bytes, AVROD_SHA256_BYTES);
    return true;
}

static void take_bytes(const struct exchange *x, uint64_t *out)
{
    const char *text = field(x, "Content-Length", 0);
    uint64_t bytes = 0;
    for (; text && *text >= '0' && *text <= '9' && bytes < UINT64_MAX / 10 - 1; text++)
        bytes = bytes * 10 + (uint64_t)(*text - '0');
    *out = text && !*text ? bytes : 0;
}

/* It is a stranger's: only what is a plain name in any folder is taken. */
static void take_name(const struct exchange *x, char *out, size_t room)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *value = field(x, "Content-Disposition", 0);
    const char *name = value ? member(value, ';', "filename=\"") : NULL;
    size_t len = name ? strspn(name, plain) : 0;
    if (!len || len >= room || name[len] != '"' || name[0] == '.' || name[0] == '-')
        len = 0;
    memcpy(out, len ? name : "", len);
    out[len] = 0;
}

/* ---- the exchange ---- */

static bool stop(struct exchange *x, enum avrod_code why)
{
    x->stopped = why;
    return false;
}

static bool begin(struct exchange *x, struct backup *b)
{
    b->begun = true;
    take_bytes(x, &b->about->bytes);
    take_name(x, b->about->name, sizeof b->about->name);
    return take_digest(x, b->about->sha256) || stop(x, AVROD_BROKEN);
}

static bool on_piece(struct exchange *x, const char *bytes, size_t len)
{
    struct backup *b = x->sink_user;
    if (!b->begun && !begin(x, b))
        return false;
    return b->piece(b->user, bytes, len) == 0 || stop(x, AVROD_STOPPED);
}

static bool on_wait(struct exchange *x)
{
    struct backup *b = x->sink_user;
    return b->piece(b->user, "", 0) == 0 || stop(x, AVROD_STOPPED);
}

/* A backup of no bytes is none. */
static enum avrod_code run(struct backup *b, struct avrod_error *error)
{
    enum avrod_code code;
    do
        code = call_try(&b->call, error);
    while (code != AVROD_OK && !b->begun && call_waits(&b->call, error));
    if (code == AVROD_OK && !b->begun)
        return error_set(error, AVROD_BROKEN, "The answer is empty.");
    return code;
}

enum avrod_code avrod_backup(avrod_client *client, avrod_piece_fn piece, void *user,
                             struct avrod_backup *about, struct avrod_error *error)
{
    static const struct avrod_request request = {.method = "GET", .target = "/_backup"};
    struct backup b = {.piece = piece, .user = user, .about = about};
    b.call.exchange = (struct exchange){
        .client = client, .request = &request, .sink = on_piece, .waits = on_wait, .sink_user = &b};
    b.call.retries_until_ms = clock_mono_ms() + client->timeout_ms;
    *about = (struct avrod_backup){0};
    error_begin(error);
    enum avrod_code code = run(&b, error);
    exchange_release(&b.call.exchange);
    return code;
}
