/* client/ctl/files.c - what is read, and where it is printed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "client/ctl/ctl.h"
#include "client/ctl/json_text.h"

enum { FILE_BYTES_MAX = 1 << 30, READ_BYTES = 65536 };

/* ---- reading ---- */

static int read_all(const struct ctl *ctl, int fd, const char *name, struct buf *out)
{
    for (;;) {
        if (!buf_reserve(out, READ_BYTES))
            return fail_memory(ctl);
        ssize_t n = read(fd, out->ptr + out->len, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(ctl, EXIT_HERE, "%s: %s.", name, strerror(errno));
        if (n == 0)
            return 0;
        out->len += (size_t)n;
        if (out->len > FILE_BYTES_MAX)
            return fail(ctl, EXIT_HERE, "%s is longer than any body may be.", name);
    }
}

int file_read(const struct ctl *ctl, const char *path, struct buf *out)
{
    if (!path || strcmp(path, "-") == 0)
        return read_all(ctl, STDIN_FILENO, "Standard input", out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(ctl, EXIT_HERE, "%s: %s.", path, strerror(errno));
    int code = read_all(ctl, fd, path, out);
    close(fd);
    return code;
}

/* ---- printing ---- */

int print_all(const struct ctl *ctl, struct slice text)
{
    bool good = fwrite(text.ptr, 1, text.len, stdout) == text.len && !fflush(stdout);
    return good ? 0 : fail(ctl, EXIT_HERE, "Standard output: %s.", strerror(errno));
}

int print_json_line(const struct ctl *ctl, struct json_text *t)
{
    bool good = buf_append_byte(&t->text, '\n') && !t->no_memory;
    int code = good ? print_all(ctl, buf_slice(&t->text)) : fail_memory(ctl);
    json_text_release(t);
    return code;
}

static int open_beside(const struct ctl *ctl, struct output *o)
{
    struct buf name = {0};
    o->path = strdup(ctl->args->output);
    if (!o->path || !buf_printf(&name, "%s.XXXXXX", o->path) || !buf_append_byte(&name, 0)) {
        buf_release(&name);
        free(o->path);
        return fail_memory(ctl);
    }
    o->unfinished = (char *)name.ptr;
    int fd = mkostemp(o->unfinished, O_CLOEXEC);
    o->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (o->file)
        return 0;
    int code = fail(ctl, EXIT_HERE, "%s: %s.", o->path, strerror(errno));
    if (fd >= 0) {
        unlink(o->unfinished);
        close(fd);
    }
    free(o->path);
    free(o->unfinished);
    return code;
}

int output_open(const struct ctl *ctl, struct output *o)
{
    *o = (struct output){.file = stdout};
    if (!ctl->args->output || strcmp(ctl->args->output, "-") == 0)
        return 0;
    return open_beside(ctl, o);
}

/* As any program would make it that does not go by way of a temporary file. */
static bool set_mode(FILE *file)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fileno(file), 0666 & ~mask) == 0;
}

int output_close(const struct ctl *ctl, struct output *o, bool good)
{
    int code = 0;
    if (!o->path) {
        if (fflush(o->file) || ferror(o->file))
            code = fail(ctl, EXIT_HERE, "Standard output: %s.", strerror(errno));
        return code;
    }
    bool written = good && set_mode(o->file) && !ferror(o->file);
    written = !fclose(o->file) && written;
    if (written)
        written = rename(o->unfinished, o->path) == 0;
    if (!written)
        unlink(o->unfinished);
    if (good && !written)
        code = fail(ctl, EXIT_HERE, "%s: %s.", o->path, strerror(errno));
    free(o->path);
    free(o->unfinished);
    return code;
}

/* ---- arguments ---- */

int id_of(const struct ctl *ctl, const char *text, struct buf *id)
{
    struct slice given = slice_str(text);
    if (!buf_reserve(id, given.len + 4))
        return fail_memory(ctl);
    if (!ctl->args->id_base64)
        return buf_append(id, given) ? 0 : fail_memory(ctl);
    size_t n;
    if (!base64_parse(given, id->ptr, &n))
        return fail(ctl, EXIT_USAGE, "'%s' is no base64.", text);
    id->len = n;
    return 0;
}

static bool add_param(struct buf *buf, const char *name, const char *value)
{
    if (!value)
        return true;
    char *encoded = avrod_encode(value, strlen(value));
    bool good = encoded && buf_printf(buf, "%s%s=%s", buf->len ? "&" : "", name, encoded);
    free(encoded);
    return good;
}

/* NAME=VALUE; whether there is such an option the server knows. */
static int add_option(const struct ctl *ctl, struct buf *buf, const char *pair)
{
    const char *equals = strchr(pair, '=');
    char name[64];
    size_t len = equals ? (size_t)(equals - pair) : 0;
    if (!len || len >= sizeof name || strspn(pair, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
        return fail(ctl, EXIT_USAGE, "--option takes NAME=VALUE, such as max_items=100, not '%s'.", pair);
    memcpy(name, pair, len);
    name[len] = 0;
    return add_param(buf, name, equals + 1) ? 0 : fail_memory(ctl);
}

int query_of(const struct ctl *ctl, struct buf *buf, const char **query)
{
    const struct args *a = ctl->args;
    *query = NULL;
    for (unsigned i = 0; i < a->option.n; i++) {
        int code = add_option(ctl, buf, a->option.items[i]);
        if (code)
            return code;
    }
    bool good = add_param(buf, "logical", a->logical) && add_param(buf, "bytes", a->bytes) &&
                add_param(buf, "int64", a->int64) &&
                (!a->query || buf_printf(buf, "%s%s", buf->len ? "&" : "", a->query));
    if (!good)
        return fail_memory(ctl);
    if (!buf->len)
        return 0;
    if (!buf_append_byte(buf, 0))
        return fail_memory(ctl);
    *query = (const char *)buf->ptr;
    return 0;
}
