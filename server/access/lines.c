/* server/access/lines.c - see lines.h. */
#include "server/access/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/secret.h"
#include "server/access/user_name.h"

enum { PIECE_BYTES = 65536 };

/* buf_grow may move the text, and leaves what it was to the next who asks for memory. */
static bool make_room(struct buf *b)
{
    if (b->cap - b->len >= PIECE_BYTES)
        return true;
    struct buf more = {0};
    if (!buf_reserve(&more, 2 * b->cap + PIECE_BYTES) || !buf_append(&more, buf_slice(b))) {
        buf_release(&more);
        return false;
    }
    if (b->ptr)
        secret_wipe(b->ptr, b->len);
    buf_release(b);
    *b = more;
    return true;
}

static enum rc io_fault(const char *path, struct err *err)
{
    return err_set(err, ERR_CONFIG, "%s: %s.", path, strerror(errno));
}

static enum rc read_all(struct lines *l, int fd, struct err *err)
{
    struct buf *text = &l->text;
    for (;;) {
        if (!make_room(text))
            return err_oom(err);
        ssize_t n = read(fd, text->ptr + text->len, PIECE_BYTES);
        if (n == 0)
            return RC_OK;
        if (n < 0 && errno != EINTR)
            return io_fault(l->path, err);
        text->len += n > 0 ? (size_t)n : 0;
        if (text->len > LIMIT_ACCESS_FILE_MAX)
            return err_set(err, ERR_CONFIG, "%s: it is longer than %d bytes.", l->path,
                           LIMIT_ACCESS_FILE_MAX);
    }
}

enum rc lines_open(struct lines *l, const char *path, struct err *err)
{
    *l = (struct lines){.path = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return io_fault(path, err);
    enum rc rc = read_all(l, fd, err);
    close(fd);
    if (rc != RC_OK)
        lines_close(l);
    return rc;
}

enum rc lines_of(struct lines *l, const char *path, struct slice text, struct err *err)
{
    *l = (struct lines){.path = path};
    return buf_append(&l->text, text) ? RC_OK : err_oom(err);
}

/* With LF or CR LF behind it. */
static void take_line(struct lines *l)
{
    const uint8_t *start = l->text.ptr + l->at;
    size_t left = l->text.len - l->at;
    const uint8_t *end = memchr(start, '\n', left);
    size_t bytes = end ? (size_t)(end - start) : left;
    l->at += bytes + (end != NULL);
    if (bytes && start[bytes - 1] == '\r')
        bytes--;
    l->line = slice_of(start, bytes);
    l->number++;
}

bool lines_next(struct lines *l)
{
    while (l->at < l->text.len) {
        take_line(l);
        if (l->line.len && l->line.ptr[0] != '#')
            return true;
    }
    return false;
}

enum rc lines_fault(const struct lines *l, struct err *err, const char *what)
{
    return err_set(err, ERR_CONFIG, "%s:%u: %s", l->path, l->number, what);
}

enum rc lines_name(const struct lines *l, struct slice *name, struct slice *rest, struct err *err)
{
    const uint8_t *colon = memchr(l->line.ptr, ':', l->line.len);
    if (!colon)
        return lines_fault(l, err, "There is no colon behind a name.");
    *name = slice_of(l->line.ptr, (size_t)(colon - l->line.ptr));
    *rest = slice_of(colon + 1, l->line.len - name->len - 1);
    const char *fault = user_name_fault(*name);
    return fault ? lines_fault(l, err, fault) : RC_OK;
}

void lines_close(struct lines *l)
{
    if (l->text.ptr)
        secret_wipe(l->text.ptr, l->text.len);
    buf_release(&l->text);
}
