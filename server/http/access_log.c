/* server/http/access_log.c - the backlog of lines, the thread that writes them, and its file. */
#include "server/http/access_log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counter.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/thread.h"

/* A worker hands over when it has so much, or at the end of its turn; buffers of more are not kept. */
enum { SAY_EVERY_MS = 10000, CLOSE_SECONDS = 5, LINES_BYTES = 65536 };

struct access_log {
    const char *path;
    enum access_format format;
    pthread_t thread;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work;  /* for the thread: there are lines, or a word from main */
    pthread_cond_t over;  /* for main: the thread is at its end */
    struct buf backlog;
    uint64_t dropped; /* lines, since the thread looked last */
    bool reopen, closing, ended;

    _Atomic uint64_t lost; /* lines in all; the thread's, others read it */

    /* The thread's own. */
    int fd;
    bool anew;          /* open the path again, once the lines in hand are written */
    bool torn;          /* the file ends within a line */
    struct buf writing; /* taken from the backlog */
    uint64_t unsaid;    /* lines that were dropped and not told yet */
    const char *why;
    int64_t said_ms;
};

/* ---- the file ---- */

static bool is_stdout(const struct access_log *log)
{
    return !strcmp(log->path, "-");
}

/* -1: errno says why. O_NONBLOCK: not to wait for somebody to read a FIFO; what is written may wait. */
static int open_path(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
    if (fd < 0)
        return -1;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void close_file(struct access_log *log)
{
    if (log->fd >= 0 && !is_stdout(log))
        close(log->fd);
}

static void reopen(struct access_log *log)
{
    if (is_stdout(log))
        return;
    int fd = open_path(log->path);
    if (fd < 0) {
        log_error("the access log %s cannot be opened, the old file is written on: %s", log->path,
                  strerror(errno));
        return;
    }
    close_file(log);
    log->fd = fd;
    log->torn = false;
    log_info("the access log %s was opened anew", log->path);
}

/* ---- the thread ---- */

static uint64_t lines_in(struct slice text)
{
    uint64_t n = 0;
    while (text.len) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t bytes = end ? (size_t)(end - text.ptr) + 1 : text.len;
        text = slice_of(text.ptr + bytes, text.len - bytes);
        n++;
    }
    return n;
}

/* False: errno says why. What was written is taken off the text. */
static bool write_all(struct access_log *log, struct slice *text)
{
    while (text->len) {
        ssize_t n = write(log->fd, text->ptr, text->len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            log->torn = text->ptr[n - 1] != '\n';
            *text = slice_of(text->ptr + n, text->len - (size_t)n);
        }
    }
    return true;
}

/* After a fault in the middle of a line a fresh one begins, so that no other is spoiled. */
static bool end_torn_line(struct access_log *log)
{
    struct slice end = SLICE("\n");
    return !log->torn || write_all(log, &end);
}

static void note_lost(struct access_log *log, uint64_t lines)
{
    log->unsaid += lines;
    counter_add(&log->lost, lines);
}

static void write_lines(struct access_log *log)
{
    struct slice text = buf_slice(&log->writing);
    if (text.len && !(end_torn_line(log) && write_all(log, &text))) {
        log->why = strerror(errno);
        note_lost(log, lines_in(text));
    }
    buf_reset(&log->writing, LINES_BYTES);
}

static void say_dropped(struct access_log *log, bool at_once)
{
    int64_t now_ms = clock_mono_ms();
    if (!log->unsaid || (!at_once && now_ms - log->said_ms < SAY_EVERY_MS))
        return;
    log_warn("%llu lines of the access log were dropped: %s", (unsigned long long)log->unsaid, log->why);
    log->unsaid = 0;
    log->said_ms = now_ms;
}

/* Wait for something to do, and take it. False: that was all. */
static bool take(struct access_log *log)
{
    pthread_mutex_lock(&log->lock);
    while (!log->backlog.len && !log->reopen && !log->closing)
        pthread_cond_wait(&log->work, &log->lock);
    struct buf empty = log->writing;
    bool more = log->backlog.len || log->reopen;
    log->anew = log->reopen;
    empty.len = 0;
    log->writing = log->backlog;
    log->backlog = empty;
    if (log->dropped)
        log->why = "they come faster than they can be written";
    note_lost(log, log->dropped);
    log->dropped = 0;
    log->reopen = false;
    pthread_mutex_unlock(&log->lock);
    return more;
}

static void *run(void *arg)
{
    struct access_log *log = arg;
    thread_name("avrod-log");
    while (take(log)) {
        write_lines(log);
        say_dropped(log, false);
        if (log->anew)
            reopen(log);
    }
    say_dropped(log, true);
    pthread_mutex_lock(&log->lock);
    log->ended = true;
    pthread_cond_signal(&log->over);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ---- life ---- */

static void release(struct access_log *log)
{
    close_file(log);
    buf_release(&log->backlog);
    buf_release(&log->writing);
    pthread_cond_destroy(&log->work);
    pthread_cond_destroy(&log->over);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

static struct access_log *log_new(const char *path, enum access_format format)
{
    struct access_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->path = path;
    log->format = format;
    log->fd = -1;
    log->said_ms = clock_mono_ms() - SAY_EVERY_MS;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&log->work, NULL);
    pthread_cond_init(&log->over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

/* Signals are the main thread's. */
static int start(struct access_log *log)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&log->thread, NULL, run, log);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

enum rc access_log_open(struct access_log **out, const char *path, enum access_format format, struct err *err)
{
    struct access_log *log = log_new(path, format);
    if (!log)
        return err_oom(err);
    log->fd = is_stdout(log) ? STDOUT_FILENO : open_path(path);
    if (log->fd < 0) {
        err_set(err, ERR_CONFIG, "The access log %.100s cannot be opened: %s.", path, strerror(errno));
        release(log);
        return RC_ERR;
    }
    int error = start(log);
    if (error) {
        release(log);
        return err_set(err, ERR_NO_MEMORY, "The thread of the access log cannot be started: %s.",
                       strerror(error));
    }
    *out = log;
    return RC_OK;
}

void access_log_reopen(struct access_log *log)
{
    pthread_mutex_lock(&log->lock);
    log->reopen = true;
    pthread_cond_signal(&log->work);
    pthread_mutex_unlock(&log->lock);
}

/* False: it hangs in a write. */
static bool wait_for_end(struct access_log *log)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_SECONDS;
    pthread_mutex_lock(&log->lock);
    log->closing = true;
    pthread_cond_signal(&log->work);
    int rc = 0;
    while (!log->ended && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&log->over, &log->lock, &until);
    bool ended = log->ended;
    pthread_mutex_unlock(&log->lock);
    return ended;
}

void access_log_close(struct access_log *log)
{
    if (!log)
        return;
    if (!wait_for_end(log)) { /* what the thread still uses stays until the process ends */
        log_warn("the end of the access log %s could not be written in %d seconds", log->path, CLOSE_SECONDS);
        pthread_detach(log->thread);
        return;
    }
    pthread_join(log->thread, NULL);
    release(log);
}

/* ---- a worker's side ---- */

uint64_t access_log_dropped(const struct access_log *log)
{
    return counter_get(&log->lost);
}

void access_lines_add(struct access_lines *lines, const struct access_entry *entry)
{
    if (access_line_print(&lines->text, lines->log->format, entry))
        lines->n++;
    else
        lines->lost++;
    if (lines->text.len >= LINES_BYTES)
        access_lines_send(lines);
}

void access_lines_send(struct access_lines *lines)
{
    struct access_log *log = lines->log;
    if (!lines->n && !lines->lost)
        return;
    pthread_mutex_lock(&log->lock);
    log->dropped += lines->lost;
    if (log->backlog.len + lines->text.len > LIMIT_ACCESS_LOG_BACKLOG ||
        !buf_append(&log->backlog, buf_slice(&lines->text)))
        log->dropped += lines->n;
    pthread_cond_signal(&log->work);
    pthread_mutex_unlock(&log->lock);
    lines->n = lines->lost = 0;
    buf_reset(&lines->text, LINES_BYTES);
}

void access_lines_release(struct access_lines *lines)
{
    buf_release(&lines->text);
}
