/* client/ctl/backup.c - avroctl backup: GET /_backup into a file, which is there once it is what the server says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "client/ctl/ctl.h"
#include "client/ctl/interrupt.h"
#include "client/ctl/json_text.h"
#include "client/ctl/progress.h"
#include "client/ctl/whole_file.h"

struct backup {
    struct ctl *ctl;
    struct avrod_backup about;
    struct whole_file file;
    char *path;     /* NULL: as the server calls it, not known yet */
    bool to_stdout; /* no name, no fsync: the exit code alone says that it is whole */
    int code;       /* why it was stopped, said already; 0: it was interrupted */
    uint64_t bytes;
    struct sha256 hash;
    struct progress progress;
};

/* ---- pieces ---- */

/* The name that the server gives is known with the first piece. */
static int open_file(struct backup *b)
{
    if (b->to_stdout || b->file.part)
        return 0;
    if (!b->path)
        b->path = strdup(*b->about.name ? b->about.name : "avrod.backup");
    return b->path ? whole_file_open(b->ctl, b->path, b->ctl->args->force, &b->file) : fail_memory(b->ctl);
}

static bool write_piece(struct backup *b, const void *bytes, size_t len)
{
    if (b->to_stdout)
        return fwrite(bytes, 1, len, stdout) == len;
    return whole_file_write(&b->file, bytes, len);
}

static int take(struct backup *b, const void *bytes, size_t len)
{
    int code = open_file(b);
    if (code)
        return code;
    if (!write_piece(b, bytes, len))
        return fail(b->ctl, EXIT_HERE, "%s: %s.", b->to_stdout ? "Standard output" : b->file.part,
                    strerror(errno));
    sha256_add(&b->hash, slice_of(bytes, len));
    b->bytes += len;
    b->progress.whole = b->about.bytes;
    progress_tell(&b->progress, b->bytes);
    return 0;
}

static int on_piece(void *user, const void *bytes, size_t len)
{
    struct backup *b = user;
    if (interrupt_came())
        return 1;
    if (len == 0)
        progress_say(&b->progress, "the server makes the backup ...");
    else
        b->code = take(b, bytes, len);
    return b->code;
}

/* ---- the end ---- */

static void print_hex(const uint8_t digest[SHA256_BYTES], char out[2 * SHA256_BYTES + 1])
{
    for (size_t i = 0; i < SHA256_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* sha256: what sha256sum prints of the file. */
static int tell(struct backup *b)
{
    struct json_text t = {0};
    char hex[2 * SHA256_BYTES + 1];
    if (b->to_stdout)
        return 0;
    if (!b->ctl->args->json) {
        printf("%s: %llu bytes\n", b->path, (unsigned long long)b->bytes);
        return 0;
    }
    print_hex(b->about.sha256, hex);
    json_text_begin(&t);
    json_text_string(&t, "file", b->path);
    json_text_u64(&t, "bytes", b->bytes);
    json_text_string(&t, "sha256", hex);
    json_text_end(&t);
    return print_json_line(b->ctl, &t);
}

static int check(struct backup *b)
{
    uint8_t digest[SHA256_BYTES];
    sha256_end(&b->hash, digest);
    if (memcmp(digest, b->about.sha256, sizeof digest) != 0)
        return fail(b->ctl, EXIT_NO_ANSWER,
                    "What has come is not what the server has sent: its SHA-256 is another.");
    return 0;
}

static int receive(struct backup *b)
{
    struct avrod_error error = {0};
    enum avrod_code rc = avrod_backup(b->ctl->client, on_piece, b, &b->about, &error);
    progress_end(&b->progress);
    if (rc == AVROD_OK)
        return check(b);
    if (rc != AVROD_STOPPED)
        return fail_call(b->ctl, &error);
    avrod_error_release(&error);
    return b->code ? b->code : fail(b->ctl, EXIT_HERE, "Interrupted.");
}

int command_backup(struct ctl *ctl)
{
    const char *path = ctl->args->words[0];
    struct backup b = {.ctl = ctl, .to_stdout = path && strcmp(path, "-") == 0};
    int code = 0;
    if (path && !b.to_stdout && !(b.path = strdup(path)))
        code = fail_memory(ctl);
    if (code == 0 && b.path) /* before the server is asked for so much */
        code = open_file(&b);
    if (code == 0) {
        interrupt_watch();
        sha256_begin(&b.hash);
        progress_begin(&b.progress, "bytes", ctl->args->quiet);
        code = receive(&b);
    }
    int closed = whole_file_close(ctl, &b.file, code == 0);
    code = code ? code : closed;
    if (code == 0)
        code = tell(&b);
    free(b.path);
    return code;
}
