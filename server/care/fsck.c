/* server/care/fsck.c - --fsck: what is told of a store's faults, and the summary; the mark of a store that has passed. */
#include "server/care/fsck.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json_quote.h"
#include "base/utf8.h"
#include "server/care/care.h"

/* One run. */
struct run {
    struct fsck fsck;
    struct care_progress progress;
    const char *path;
    bool json;
    uint64_t page_faults;
    struct buf line;
    int64_t begun_ms;
};

/* ---- a line ---- */

/* Printable ASCII as it is, other bytes as \xNN. */
static bool put_text(struct buf *out, struct slice s)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s.len; i++) {
        uint8_t c = s.ptr[i];
        ok = c >= 0x20 && c < 0x7f ? buf_append_byte(out, c) : buf_printf(out, "\\x%02x", c);
    }
    return ok;
}

static bool put_fault(struct run *r, const struct store_fault *fault)
{
    const struct fsck_type *type = fsck_type(&r->fsck, fault->type);
    struct buf *out = &r->line;
    bool ok = buf_printf(out, "%s: ", store_fault_slug(fault->kind));
    if (ok && type)
        ok = put_text(out, type->name);
    else if (ok && fault->type)
        ok = buf_printf(out, "type number %u", fault->type);
    if (ok && fault->id.len)
        ok = buf_append(out, fault->type ? SLICE("/") : SLICE("row ")) && put_text(out, fault->id);
    if (ok && (fault->type || fault->id.len))
        ok = buf_append(out, SLICE(": "));
    return ok && put_text(out, slice_str(fault->words)) && buf_append_byte(out, '\n');
}

/* An id is a string where it can be one, as in a scan; so is a key. */
static bool put_json_bytes(struct buf *out, const char *name, struct slice s)
{
    if (utf8_valid(s))
        return buf_printf(out, ",\"%s\":", name) && json_quote(s, out);
    return buf_printf(out, ",\"%s_base64\":\"", name) && base64_print(s, out) && buf_append_byte(out, '"');
}

static bool put_fault_json(struct run *r, const struct store_fault *fault)
{
    const struct fsck_type *type = fsck_type(&r->fsck, fault->type);
    struct buf *out = &r->line;
    bool ok = buf_printf(out, "{\"fault\":\"%s\"", store_fault_slug(fault->kind));
    if (ok && type)
        ok = put_json_bytes(out, "type", type->name);
    if (ok && fault->type)
        ok = buf_printf(out, ",\"type_number\":%u", fault->type);
    if (ok && fault->id.len)
        ok = put_json_bytes(out, fault->type ? "id" : "key", fault->id);
    return ok && buf_append(out, SLICE(",\"detail\":")) && json_quote_any(slice_str(fault->words), out) &&
           buf_append(out, SLICE("}\n"));
}

static void tell(struct run *r, const struct store_fault *fault)
{
    r->line.len = 0;
    care_progress_end(&r->progress);
    if (r->json ? put_fault_json(r, fault) : put_fault(r, fault))
        fwrite(r->line.ptr, 1, r->line.len, stdout);
    else
        printf("%s\n", fault->words); /* memory is out */
}

static void on_fault(struct store_check *c, const struct store_fault *fault)
{
    tell(CONTAINER_OF(CONTAINER_OF(c, struct fsck, check), struct run, fsck), fault);
}

static void on_page_fault(void *arg, const char *words)
{
    struct run *r = arg;
    const struct store_fault fault = {.kind = FAULT_PAGE, .words = words};
    r->page_faults++;
    tell(r, &fault);
}

static void on_progress(struct store_check *c, uint64_t bytes, uint64_t total)
{
    struct run *r = CONTAINER_OF(CONTAINER_OF(c, struct fsck, check), struct run, fsck);
    care_progress_show(&r->progress, bytes, total);
}

/* ---- the summary ---- */

static void summarize(const struct run *r, const struct store_pages *pages, const struct store_summary *s)
{
    const struct store_check *c = &r->fsck.check;
    unsigned long long faults = r->page_faults + c->faults,
                       ms = (unsigned long long)(clock_mono_ms() - r->begun_ms);
    if (r->json) {
        printf("{\"clean\":%s,\"faults\":%llu,\"types\":%zu,\"records\":%llu,\"bytes\":%llu,\"long\":%llu,"
               "\"rows\":%llu,"
               "\"revision\":%llu,\"closed\":%s,\"pages\":{\"used\":%llu,\"free\":%llu,\"lost\":%llu},"
               "\"milliseconds\":%llu}\n",
               faults ? "false" : "true", faults, r->fsck.ntypes, (unsigned long long)c->records,
               (unsigned long long)c->bytes, (unsigned long long)c->blobs, (unsigned long long)c->rows,
               (unsigned long long)c->revision, s && s->clean ? "true" : "false",
               (unsigned long long)pages->used, (unsigned long long)pages->spare,
               (unsigned long long)pages->lost, ms);
        return;
    }
    if (faults)
        printf("%s has %llu faults: ", r->path, faults);
    else
        printf("%s is clean: ", r->path);
    if (r->page_faults)
        printf("its pages are damaged, and its rows were not looked at\n");
    else
        printf("%zu types, %llu records of %llu bytes, revision %llu; %llu pages used, %llu free, %llu lost; "
               "in %llu ms\n",
               r->fsck.ntypes, (unsigned long long)c->records, (unsigned long long)c->bytes,
               (unsigned long long)c->revision, (unsigned long long)pages->used,
               (unsigned long long)pages->spare, (unsigned long long)pages->lost, ms);
}

/* ---- the way ---- */

/* Opened as a server does it, and closed again. */
static enum rc mark(const char *dir, struct err *err)
{
    const struct store_opts opts = {.engine = "lmdb", .dir = dir, .workers = 1, .accept_dirty = true};
    struct store *store;
    struct stat st;
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_CONFIG, "%s is no directory of a store: only a store is marked.", dir);
    if (store_open(&store, &opts, err) != RC_OK)
        return RC_ERR;
    store_close(store);
    return RC_OK;
}

static enum rc check(struct run *r, struct store_pages *pages, struct store_summary *s, struct err *err)
{
    struct store_file *file;
    if (store_file_open(&file, r->path, pages, on_page_fault, r, err) != RC_OK)
        return RC_ERR;
    if (!file)
        return RC_OK;
    enum rc rc = store_check(file, &r->fsck.check, err);
    care_progress_end(&r->progress);
    /* A row of meta or counts that is damaged was told: then there is no summary of them. */
    struct err ignored;
    if (rc == RC_OK && store_file_summary(file, s, &ignored) != RC_OK)
        *s = (struct store_summary){.whole = true};
    store_file_close(file);
    return rc;
}

static enum rc run(struct run *r, bool mark_clean, struct err *err)
{
    struct store_pages pages = {0};
    struct store_summary s = {.whole = true};
    if (fsck_init(&r->fsck, err) != RC_OK || check(r, &pages, &s, err) != RC_OK)
        return RC_ERR;
    summarize(r, &pages, &s);
    if (r->page_faults + r->fsck.check.faults)
        return RC_CONFLICT;
    if (mark_clean && !s.clean)
        return mark(r->path, err);
    if (!s.whole && !r->json)
        printf("a server opens it with --accept-dirty, or once --mark-clean has marked it\n");
    return RC_OK;
}

int care_fsck(const char *path, bool json, bool mark_clean)
{
    struct run *r = calloc(1, sizeof *r);
    struct err err;
    enum rc rc = RC_ERR;
    if (r) {
        r->path = path;
        r->json = json;
        r->progress.doing = "checking";
        r->begun_ms = clock_mono_ms();
        r->fsck.check.fault = on_fault;
        r->fsck.check.progress = on_progress;
        rc = run(r, mark_clean, &err);
        fsck_release(&r->fsck);
        buf_release(&r->line);
    } else {
        err_oom(&err);
    }
    free(r);
    if (rc == RC_ERR)
        fprintf(stderr, "avrod: %s\n", err.message);
    return rc == RC_OK ? FSCK_CLEAN : rc == RC_CONFLICT ? FSCK_FAULTS : FSCK_FAILED;
}
