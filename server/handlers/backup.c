/* server/handlers/backup.c - GET /_backup: the store as it is now, as a file that --restore makes a store of. A helper copies a
 * snapshot into a file without a name, a step at a time, and takes its checksum; then it is sent as fast as the client
 * takes it, read by a helper again. Between any two steps it may end: the client has left, the server drains. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/sha256.h"
#include "server/counts.h"
#include "server/handlers/handlers.h"
#include "server/handlers/reply.h"
#include "server/server.h"
#include "storage/care.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 64, DIGEST_BYTES = 16 + 4 * (SHA256_BYTES / 3 + 1) };

/* req->state, in its arena; what it owns is given back by backup_end. */
struct backup {
    struct server *server;
    enum rc (*step)(struct backup *, struct err *); /* on a helper; RC_PENDING: there is more to do */
    int fd;
    struct store_copy *copy;
    struct store_copy_state state;
    struct sha256 sha256;
    uint64_t bytes, at; /* of the file: in all, and how many are checksummed, or read to be sent */
    int64_t begun_ms;
    uint8_t *piece; /* LIMIT_BACKUP_PIECE; of it: */
    size_t piece_len, piece_sent;
    enum rc rc;
    struct err err;
    uint8_t digest[SHA256_BYTES];
};

static void backup_end(struct request *req, struct backup *b)
{
    store_copy_free(b->copy);
    if (b->fd >= 0)
        close(b->fd);
    if (b->piece) {
        free(b->piece);
        answer_memory_give(req->worker, LIMIT_BACKUP_PIECE);
    }
    atomic_store(&b->server->backup.is_running, false);
}

static enum rc failed(struct err *err, const char *doing)
{
    enum err_code code = errno == ENOSPC || errno == EDQUOT ? ERR_NO_SPACE : ERR_IO;
    return err_set(err, code, "A backup's file cannot be %s: %s.", doing, strerror(errno));
}

/* ---- the file; on a helper ---- */

/* Without a name it goes whatever happens; where the file system knows no such files it had one for a moment. */
static enum rc open_file(struct backup *b, struct err *err)
{
    const struct options *o = b->server->options;
    const char *dir = o->backup_dir ? o->backup_dir : o->data;
    char path[PATH_BYTES];
    b->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (b->fd >= 0)
        return RC_OK;
    if (errno != EOPNOTSUPP && errno != EISDIR)
        return failed(err, "made");
    int n = snprintf(path, sizeof path, "%s/backup-XXXXXX", dir);
    if (n < 0 || n >= (int)sizeof path)
        return err_set(err, ERR_IO, "The path of the backup's file is too long.");
    b->fd = mkostemp(path, O_CLOEXEC);
    if (b->fd < 0)
        return failed(err, "made");
    unlink(path);
    return RC_OK;
}

/* The next of it at `piece`; 0: that was all. */
static enum rc read_piece(struct backup *b, struct err *err)
{
    ssize_t n;
    do
        n = pread(b->fd, b->piece, LIMIT_BACKUP_PIECE, (off_t)b->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return failed(err, "read");
    b->piece_len = (size_t)n;
    b->piece_sent = 0;
    b->at += (size_t)n;
    return RC_OK;
}

static enum rc checksum(struct backup *b, struct err *err)
{
    for (uint64_t upto = b->at + LIMIT_BACKUP_STEP; b->at < upto;) {
        if (read_piece(b, err) != RC_OK)
            return RC_ERR;
        if (!b->piece_len)
            break;
        sha256_add(&b->sha256, slice_of(b->piece, b->piece_len));
    }
    if (b->at < b->bytes)
        return b->piece_len ? RC_PENDING : err_set(err, ERR_IO, "A backup's file has been cut short.");
    sha256_end(&b->sha256, b->digest);
    b->at = b->piece_len = 0;
    return RC_OK;
}

static enum rc copy(struct backup *b, struct err *err)
{
    struct stat st;
    enum rc rc = store_copy_step(b->copy, LIMIT_BACKUP_STEP, err);
    if (rc != RC_OK)
        return rc;
    store_copy_state(b->copy, &b->state);
    store_copy_free(b->copy); /* from here on nothing is pinned in the store */
    b->copy = NULL;
    if (fstat(b->fd, &st) != 0)
        return failed(err, "looked at");
    b->bytes = (uint64_t)st.st_size;
    sha256_begin(&b->sha256);
    b->step = checksum;
    return RC_PENDING;
}

static enum rc begin(struct backup *b, struct err *err)
{
    struct store_worker **reader = &b->server->backup.reader;
    if (!*reader && store_worker_new(reader, b->server->store, NULL, err) != RC_OK)
        return RC_ERR;
    if (open_file(b, err) != RC_OK || store_copy_new(&b->copy, *reader, b->fd, err) != RC_OK)
        return RC_ERR;
    store_copy_state(b->copy, &b->state);
    log_info("backup: begun at revision %llu, about %llu MiB", (unsigned long long)b->state.revision,
             (unsigned long long)(b->state.bytes_total >> 20));
    b->step = copy;
    return RC_PENDING;
}

/* ---- sending ---- */

static void read_job(struct job *job)
{
    struct backup *b = CONTAINER_OF(job, struct request, job)->state;
    b->rc = read_piece(b, &b->err);
}

static void read_done(struct job *job)
{
    stream_resume(CONTAINER_OF(job, struct request, job));
}

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    struct backup *b = req->state;
    size_t left = b->piece_len - b->piece_sent, n = left < room ? left : room;
    if (b->rc != RC_OK || (!left && b->at && !b->piece_len)) {
        log_error("backup: cut off: %s", b->rc != RC_OK ? b->err.message : "its file has been cut short");
        return RC_ERR;
    }
    if (!left) {
        req->job = (struct job){.run = read_job, .done = read_done};
        worker_offload_always(req->worker, &req->job);
        return RC_AGAIN;
    }
    if (!buf_append(out, slice_of(b->piece + b->piece_sent, n)))
        return RC_ERR;
    b->piece_sent += n;
    return n == left && b->at == b->bytes ? RC_OK : RC_PENDING;
}

static void end(struct request *req)
{
    backup_end(req, req->state);
}

static bool put_headers(struct request *req, const struct backup *b)
{
    char name[NAME_BYTES];
    uint8_t digest[DIGEST_BYTES], *at = digest;
    int n = snprintf(name, sizeof name, "attachment; filename=\"avrod-%llu.backup\"",
                     (unsigned long long)b->state.revision);
    memcpy(at, "sha-256=:", 9);
    at = base64_put(slice_of(b->digest, sizeof b->digest), at + 9);
    *at++ = ':';
    return response_header(req, "Content-Disposition", slice_of(name, (size_t)n)) &&
           (req->identity_refused || /* it would be that of what leaves: the file in a coding */
            response_header(req, "Repr-Digest", slice_of(digest, (size_t)(at - digest))));
}

static const char media_type[] = "application/octet-stream";

static void send(struct request *req, struct backup *b)
{
    static const struct stream stream = {.more = more, .end = end};
    log_info("backup: %llu bytes of revision %llu, %llu rows, made in %lld ms", (unsigned long long)b->bytes,
             (unsigned long long)b->state.revision, (unsigned long long)b->state.rows,
             (long long)(clock_mono_ms() - b->begun_ms));
    if (!put_headers(req, b)) {
        count(req->worker->counts, COUNT_backups_failed, 1);
        backup_end(req, b);
        reply_no_memory(req);
        return;
    }
    req->response.status = 200;
    req->response.content_type = media_type;
    req->response.stream = &stream;
    req->response.stream_bytes = b->bytes;
    answer(req);
}

/* ---- the way ---- */

static void refuse(struct request *req, struct backup *b, const struct err *err)
{
    log_warn("backup: given up: %s", err->message);
    count(req->worker->counts, COUNT_backups_failed, 1);
    struct err copy = *err;
    backup_end(req, b);
    answer_err(req, &copy);
}

static void step_job(struct job *job)
{
    struct backup *b = CONTAINER_OF(job, struct request, job)->state;
    b->rc = b->step(b, &b->err);
}

static void step_done(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct backup *b = req->state;
    if (b->rc == RC_PENDING && request_is_abandoned(req))
        b->rc = err_set(&b->err, ERR_INTERRUPTED, "The client has left.");
    else if (b->rc == RC_PENDING && atomic_load_explicit(&b->server->draining, memory_order_relaxed))
        b->rc = err_set(&b->err, ERR_DRAINING, "The server is shutting down.");
    if (b->rc == RC_PENDING)
        worker_offload_always(req->worker, &req->job);
    else if (b->rc == RC_OK)
        send(req, b);
    else
        refuse(req, b, &b->err);
}

static struct backup *backup_new(struct request *req, struct err *err)
{
    struct backup *b = arena_calloc(&req->arena, 1, sizeof *b);
    uint8_t *piece = b ? malloc(LIMIT_BACKUP_PIECE) : NULL;
    if (!piece) {
        err_oom(err);
        return NULL;
    }
    b->server = req->worker->server;
    b->step = begin;
    b->fd = -1;
    b->piece = piece;
    b->begun_ms = clock_mono_ms();
    answer_memory_take_always(req->worker, LIMIT_BACKUP_PIECE);
    return b;
}

/* What it would be cannot be said without making it. */
static void answer_head(struct request *req)
{
    static const struct stream nothing = {0};
    req->response.status = 200;
    req->response.content_type = media_type;
    req->response.stream = &nothing;
    req->response.stream_bytes = STREAM_BYTES_UNKNOWN;
    answer(req);
}

void backup_handle(struct request *req)
{
    struct server *server = req->worker->server;
    struct err err;
    if (!store_has_files(server->store)) {
        err_set(&err, ERR_NOT_SUPPORTED,
                "A store of this engine is only in memory; there is nothing to restore it from.");
        answer_err(req, &err);
        return;
    }
    if (req->method == METHOD_HEAD) {
        answer_head(req);
        return;
    }
    if (atomic_exchange(&server->backup.is_running, true)) {
        err_set(&err, ERR_BACKUP_RUNNING,
                "Another backup is made or sent at the moment; try again when it is over.");
        answer_err(req, &err);
        return;
    }
    struct backup *b = backup_new(req, &err);
    if (!b) {
        atomic_store(&server->backup.is_running, false);
        answer_err(req, &err);
        return;
    }
    count(req->worker->counts, COUNT_backups, 1);
    req->state = b;
    req->job = (struct job){.run = step_job, .done = step_done, .is_bulk = true};
    if (worker_offload(req->worker, &req->job, &err) == RC_ERR)
        refuse(req, b, &err);
}
