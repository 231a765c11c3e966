/* client/ctl/scan.c - avroctl scan. */
#include <errno.h>
#include <string.h>

#include "client/ctl/ctl.h"
#include "client/ctl/progress.h"

struct scan {
    struct output out;
    struct progress progress;
    uint64_t lines, count;
    bool whole; /* no range: all records of the type are expected */
};

static int on_line(void *user, const char *line, size_t len)
{
    struct scan *s = user;
    if (s->whole)
        s->progress.whole = s->count;
    progress_tell(&s->progress, ++s->lines);
    return fwrite(line, 1, len, s->out.file) != len || fputc('\n', s->out.file) == EOF;
}

static size_t len_of(const char *text)
{
    return text ? strlen(text) : 0;
}

static int run(struct ctl *ctl, struct scan *s, const char *query)
{
    const struct args *a = ctl->args;
    struct avrod_error error = {0};
    struct avrod_scan how = {.prefix = a->prefix,
                             .from = a->from,
                             .to = a->to,
                             .after = a->after,
                             .prefix_bytes = len_of(a->prefix),
                             .from_bytes = len_of(a->from),
                             .to_bytes = len_of(a->to),
                             .after_bytes = len_of(a->after),
                             .limit = a->limit,
                             .keys = a->keys,
                             .fields = a->fields,
                             .version = (uint32_t)a->schema_version,
                             .query = query};
    s->whole = !a->prefix && !a->from && !a->to && !a->after && !a->limit;
    enum avrod_code code = avrod_scan(ctl->client, a->words[0], &how, on_line, s, &s->count, &error);
    progress_end(&s->progress);
    if (code == AVROD_STOPPED) {
        avrod_error_release(&error);
        return fail(ctl, EXIT_HERE, "The output takes no more: %s.", strerror(errno));
    }
    return code == AVROD_OK ? 0 : fail_call(ctl, &error);
}

int command_scan(struct ctl *ctl)
{
    struct scan s = {0};
    struct buf query_text = {0};
    const char *query;
    int code = query_of(ctl, &query_text, &query);
    if (code == 0)
        code = output_open(ctl, &s.out);
    if (code == 0) {
        progress_begin(&s.progress, "records", ctl->args->quiet);
        code = run(ctl, &s, query);
        int closed = output_close(ctl, &s.out, code == 0);
        code = code ? code : closed;
    }
    buf_release(&query_text);
    return code;
}
