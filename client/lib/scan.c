/* client/lib/scan.c - the records of a type, line by line as they come; a scan whose connection is lost goes on behind the last
 * line that was given away. */
#include <stdlib.h>

#include "base/base64.h"
#include "client/lib/call.h"
#include "client/lib/error.h"
#include "client/lib/json_member.h"
#include "client/lib/target.h"

struct scan {
    const char *type;
    const struct avrod_scan *how;
    avrod_line_fn line;
    void *user;
    uint64_t *count; /* until it is set */
    uint64_t lines;  /* given away */
    bool ended;      /* the limit is reached */
    bool stuck;      /* a line without an id: there is no way to go on behind it */
    struct call call;
    struct avrod_request request; /* the last one: its target lives for an attempt */
    struct buf part;              /* of a line whose end has not come */
    uint8_t after[AVROD_ID_MAX];
    size_t after_bytes;
};

/* ---- ids ---- */

/* A text of an id, escapes and all, is no longer than these. */
enum { ID_TEXT_MAX = 2 + 6 * AVROD_ID_MAX };

size_t avrod_line_id(const char *line, size_t line_bytes, void *id)
{
    const struct slice object = slice_of(line, line_bytes);
    uint8_t bytes[ID_TEXT_MAX];
    struct slice value;
    size_t n = 0;
    bool found = false;
    if (json_member(object, "id", &value))
        found = value.len <= sizeof bytes && json_member_copy(value, bytes, &n);
    else if (json_member(object, "id_base64", &value))
        found = value.len >= 2 && value.len <= sizeof bytes &&
                base64_parse(slice_of(value.ptr + 1, value.len - 2), bytes, &n);
    if (!found || n > AVROD_ID_MAX)
        return 0;
    memcpy(id, bytes, n);
    return n;
}

/* ---- lines ---- */

static bool stop(struct scan *s, enum avrod_code why)
{
    s->call.exchange.stopped = why;
    return false;
}

static bool give(struct scan *s, struct slice line)
{
    if (line.len == 0)
        return true;
    s->after_bytes = avrod_line_id((const char *)line.ptr, line.len, s->after);
    s->stuck = s->after_bytes == 0;
    s->lines++;
    s->call.failures = 0;
    if (s->line(s->user, (const char *)line.ptr, line.len))
        return stop(s, AVROD_STOPPED);
    s->ended = s->how->limit && s->lines >= s->how->limit;
    return true;
}

static bool keep_part(struct scan *s, struct slice piece)
{
    if (s->part.len + piece.len > s->call.exchange.client->answer_bytes_max)
        return stop(s, AVROD_TOO_LARGE);
    return buf_append(&s->part, piece) || stop(s, AVROD_MEMORY);
}

/* A line that came in one piece is not copied. */
static bool take_line(struct scan *s, struct slice rest_of_line)
{
    if (!s->part.len)
        return give(s, rest_of_line);
    if (!keep_part(s, rest_of_line))
        return false;
    bool good = give(s, buf_slice(&s->part));
    s->part.len = 0;
    return good;
}

static void tell_count(struct scan *s)
{
    const struct buf *head = &s->call.exchange.head;
    const char *text = s->count ? head_find((const char *)head->ptr, head->len, "Record-Count", 0) : NULL;
    if (text)
        *s->count = strtoull(text, NULL, 10);
    s->count = NULL;
}

static bool on_piece(struct exchange *x, const char *bytes, size_t len)
{
    struct scan *s = x->sink_user;
    struct slice left = slice_of(bytes, len);
    tell_count(s);
    while (left.len) {
        const uint8_t *end = memchr(left.ptr, '\n', left.len);
        if (!end)
            return keep_part(s, left);
        size_t line = (size_t)(end - left.ptr);
        if (!take_line(s, slice_of(left.ptr, line)))
            return false;
        left = slice_of(end + 1, left.len - line - 1);
    }
    return true;
}

/* ---- asking ---- */

static void param_id(struct target *t, const char *name, const void *id, size_t id_bytes)
{
    if (id)
        target_param_bytes(t, name, slice_of(id, id_bytes));
}

static void ask(const struct scan *s, struct target *t)
{
    const struct avrod_scan *how = s->how;
    target_piece(t, slice_str(s->type));
    param_id(t, "prefix", how->prefix, how->prefix_bytes);
    param_id(t, "from", how->from, how->from_bytes);
    param_id(t, "to", how->to, how->to_bytes);
    if (s->lines)
        param_id(t, "after", s->after, s->after_bytes);
    else
        param_id(t, "after", how->after, how->after_bytes);
    if (how->limit)
        target_param_u64(t, "limit", how->limit - s->lines);
    if (how->keys)
        target_param(t, "keys", "1");
    target_param(t, "fields", how->fields);
    if (how->version)
        target_param_u64(t, "version", how->version);
    target_query(t, how->query);
}

static enum avrod_code try_once(struct scan *s, struct avrod_error *error)
{
    struct target t = {0};
    enum avrod_code code;
    ask(s, &t);
    s->request =
        (struct avrod_request){.method = "GET", .target = target_text(&t), .accept = "application/x-ndjson"};
    s->part.len = 0;
    s->call.exchange.request = &s->request;
    code = s->request.target ? call_try(&s->call, error) : error_memory(error);
    s->request.target = NULL;
    target_release(&t);
    return code;
}

/* The last line ends with the answer if its line break does not come. */
static enum avrod_code finish(struct scan *s, struct avrod_error *error)
{
    tell_count(s);
    if (s->part.len && !give(s, buf_slice(&s->part)))
        return error_set(error, AVROD_STOPPED, "The caller has stopped it.");
    return AVROD_OK;
}

static enum avrod_code run(struct scan *s, struct avrod_error *error)
{
    enum avrod_code code;
    do {
        code = try_once(s, error);
        if (code == AVROD_OK)
            return finish(s, error);
        if (s->ended && code != AVROD_STOPPED)
            return AVROD_OK;
    } while (!s->stuck && call_waits(&s->call, error));
    return code;
}

enum avrod_code avrod_scan(avrod_client *client, const char *type, const struct avrod_scan *how,
                           avrod_line_fn line, void *user, uint64_t *count, struct avrod_error *error)
{
    static const struct avrod_scan all;
    struct scan s = {.type = type, .how = how ? how : &all, .line = line, .user = user, .count = count};
    s.call.exchange = (struct exchange){.client = client, .sink = on_piece, .sink_user = &s};
    error_begin(error);
    if (count)
        *count = 0;
    if (!type || !*type)
        return error_set(error, AVROD_ARGUMENT, "The type is missing.");
    enum avrod_code code = run(&s, error);
    if (code == AVROD_OK)
        *error = (struct avrod_error){.attempts = s.call.attempts};
    exchange_release(&s.call.exchange);
    buf_release(&s.part);
    return code;
}
