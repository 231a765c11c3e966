/* server/http/listen.c - binding and removing listening sockets. */
#include "server/http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 4096 };

/* ---- which ---- */

static bool take_scheme(struct slice *text, struct slice scheme)
{
    if (text->len < scheme.len || !slice_eq(slice_of(text->ptr, scheme.len), scheme))
        return false;
    *text = slice_of(text->ptr + scheme.len, text->len - scheme.len);
    return true;
}

static enum rc add(struct listeners *l, struct slice text, bool tls, bool anywhere, struct err *err)
{
    struct slice address = text;
    bool https = take_scheme(&address, SLICE("https://")),
         http = !https && take_scheme(&address, SLICE("http://"));
    if (l->n == LIMIT_LISTENERS_MAX)
        return err_set(err, ERR_CONFIG, "--listen names at most %d addresses.", LIMIT_LISTENERS_MAX);
    struct listening *one = &l->at[l->n];
    *one = (struct listening){0};
    if (address_parse(address, &one->address, err) != RC_OK)
        return RC_ERR;
    if (https && !tls)
        return err_set(err, ERR_CONFIG, "--listen %.*s needs a certificate: --tls-cert.", (int)text.len,
                       (const char *)text.ptr);
    one->secure = https || (tls && !http && !address_is_unix(&one->address));
    one->loopback = address_is_loopback(&one->address);
    if (!one->loopback && !address_is_unix(&one->address) && !anywhere)
        return err_set(err, ERR_CONFIG,
                       "--listen %.*s is no loopback address, and nobody is asked who they are: everybody "
                       "who reaches it could read and change everything. --passwords, --tokens or "
                       "--tls-client-ca let users log in; "
                       "--insecure allows it.",
                       (int)text.len, (const char *)text.ptr);
    l->n++;
    return RC_OK;
}

enum rc listeners_parse(struct listeners *l, const struct options *o, struct err *err)
{
    const bool tls = o->tls_cert != NULL, anywhere = o->insecure || options_have_logins(o);
    const char *list = o->listen;
    l->n = 0;
    while (list) {
        const char *comma = strchr(list, ',');
        struct slice text = slice_of(list, comma ? (size_t)(comma - list) : strlen(list));
        if (add(l, text, tls, anywhere, err) != RC_OK)
            return RC_ERR;
        list = comma ? comma + 1 : NULL;
    }
    return RC_OK;
}

bool listeners_are_plain_beyond(const struct listeners *l)
{
    for (unsigned i = 0; i < l->n; i++)
        if (!l->at[i].loopback && !l->at[i].secure && !address_is_unix(&l->at[i].address))
            return true;
    return false;
}

/* ---- binding ---- */

static const char *scheme_of(const struct listening *one)
{
    return one->secure ? "https://" : address_is_unix(&one->address) ? "" : "http://";
}

static enum rc io_error(const char *what, const struct address *a, struct err *err)
{
    int error = errno;
    char text[ADDRESS_TEXT_BYTES];
    address_print(a, text);
    if (error == EADDRINUSE)
        return err_set(err, ERR_CONFIG, "%s is in use by another program.", text);
    return err_set(err, ERR_CONFIG, "%s on %s: %s.", what, text, strerror(error));
}

static bool set_option(int fd, int level, int option)
{
    int on = 1;
    return setsockopt(fd, level, option, &on, sizeof on) == 0;
}

static int make_socket(const struct address *a)
{
    return socket(a->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* `first` is bound without SO_REUSEPORT, so that a port that anybody else listens on is refused, and gets the
 * option afterwards: between the two nobody can take the port. The others of this process join it. A socket
 * that is accepted inherits TCP_NODELAY. */
static enum rc bind_internet(struct address *a, bool first, int *out, struct err *err)
{
    int fd = make_socket(a);
    if (fd < 0)
        return io_error("socket", a, err);
    *out = fd;
    if (!set_option(fd, SOL_SOCKET, SO_REUSEADDR) || !set_option(fd, IPPROTO_TCP, TCP_NODELAY))
        return io_error("setsockopt", a, err);
    if (!first && !set_option(fd, SOL_SOCKET, SO_REUSEPORT))
        return io_error("setsockopt", a, err);
    if (bind(fd, (const struct sockaddr *)&a->socket, a->bytes))
        return io_error("bind", a, err);
    if (first && !set_option(fd, SOL_SOCKET, SO_REUSEPORT))
        return io_error("setsockopt", a, err);
    if (listen(fd, LISTEN_BACKLOG))
        return io_error("listen", a, err);
    a->bytes = sizeof a->socket;
    if (getsockname(fd, (struct sockaddr *)&a->socket, &a->bytes)) /* port 0 has become a real one */
        return io_error("getsockname", a, err);
    return RC_OK;
}

static const char *path_of(const struct address *a)
{
    return ((const struct sockaddr_un *)&a->socket)->sun_path;
}

/* The file of a server that has ended is in the way; that of one that lives is not touched. */
static enum rc clear_path(const struct address *a, struct err *err)
{
    struct stat st;
    if (lstat(path_of(a), &st))
        return errno == ENOENT ? RC_OK : io_error("stat", a, err);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_CONFIG, "--listen unix:%s: this file is there, and no socket.", path_of(a));
    int fd = make_socket(a);
    if (fd < 0)
        return io_error("socket", a, err);
    bool lives = connect(fd, (const struct sockaddr *)&a->socket, a->bytes) == 0 || errno != ECONNREFUSED;
    close(fd);
    if (!lives && unlink(path_of(a)) == 0)
        return RC_OK;
    errno = lives ? EADDRINUSE : errno;
    return io_error("unlink", a, err);
}

static enum rc bind_path(struct listening *one, int *out, struct err *err)
{
    const struct address *a = &one->address;
    struct stat st;
    if (clear_path(a, err) != RC_OK)
        return RC_ERR;
    *out = make_socket(a);
    if (*out < 0)
        return io_error("socket", a, err);
    if (bind(*out, (const struct sockaddr *)&a->socket, a->bytes))
        return io_error("bind", a, err);
    if (lstat(path_of(a), &st) == 0) {
        one->is_there = true;
        one->device = st.st_dev;
        one->inode = st.st_ino;
    }
    return listen(*out, LISTEN_BACKLOG) ? io_error("listen", a, err) : RC_OK;
}

/* Of two servers that start at once, the second must not take the fresh file of the first, which does not listen yet, for that
 * of a dead one: each looks and binds with the folder locked. */
static enum rc bind_path_locked(struct listening *one, int *out, struct err *err)
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    memcpy(path, path_of(&one->address), sizeof path);
    int folder = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return io_error("the folder", &one->address, err);
    enum rc rc = flock(folder, LOCK_EX) ? io_error("locking the folder", &one->address, err)
                                        : bind_path(one, out, err);
    close(folder);
    return rc;
}

static enum rc bind_unix(struct listening *one, int first, int *out, struct err *err)
{
    if (first < 0)
        return bind_path_locked(one, out, err);
    *out = fcntl(first, F_DUPFD_CLOEXEC, 0);
    return *out < 0 ? io_error("dup", &one->address, err) : RC_OK;
}

enum rc listeners_bind(struct listeners *l, unsigned workers, int *fds, struct err *err)
{
    for (unsigned i = 0; i < workers * LIMIT_LISTENERS_MAX; i++)
        fds[i] = -1;
    for (unsigned i = 0; i < l->n; i++) {
        struct listening *one = &l->at[i];
        for (unsigned w = 0; w < workers; w++) {
            int *fd = &fds[w * LIMIT_LISTENERS_MAX + i];
            enum rc rc = address_is_unix(&one->address) ? bind_unix(one, w ? fds[i] : -1, fd, err)
                                                        : bind_internet(&one->address, w == 0, fd, err);
            if (rc != RC_OK)
                return rc;
        }
    }
    return RC_OK;
}

/* ---- afterwards ---- */

void listeners_print(const struct listeners *l, char out[LISTENERS_TEXT_BYTES])
{
    size_t n = 0;
    for (unsigned i = 0; i < l->n; i++) {
        char text[ADDRESS_TEXT_BYTES];
        address_print(&l->at[i].address, text);
        n += (size_t)snprintf(out + n, LISTENERS_TEXT_BYTES - n, "%s%s%s", i ? ", " : "",
                              scheme_of(&l->at[i]), text);
    }
}

void listeners_remove(struct listeners *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        struct listening *one = &l->at[i];
        struct stat st;
        if (one->is_there && lstat(path_of(&one->address), &st) == 0 && st.st_dev == one->device &&
            st.st_ino == one->inode)
            unlink(path_of(&one->address));
        one->is_there = false;
    }
}
