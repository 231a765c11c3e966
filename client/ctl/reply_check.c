/* client/ctl/reply_check.c - see reply_check.h. */
#include "client/ctl/reply_check.h"

#include <string.h>

#include "base/num.h"

/* The value of a field of the head. */
static bool field_of(struct slice head, struct slice name, struct slice *value)
{
    while (head.len) {
        const uint8_t *end = memchr(head.ptr, '\n', head.len);
        size_t len = end ? (size_t)(end - head.ptr) : head.len;
        if (len > name.len && head.ptr[name.len] == ':' &&
            slice_eq_nocase(slice_of(head.ptr, name.len), name)) {
            *value = slice_of(head.ptr + name.len + 1, len - name.len - 1);
            while (value->len && value->ptr[0] == ' ')
                *value = slice_of(value->ptr + 1, value->len - 1);
            while (value->len && (value->ptr[value->len - 1] == '\r' || value->ptr[value->len - 1] == ' '))
                value->len--;
            return true;
        }
        head = end ? slice_of(end + 1, head.len - len - 1) : (struct slice){0};
    }
    return false;
}

static bool parse_head(struct reply *r)
{
    static const char version[] = "HTTP/1.1 ";
    struct slice head = slice_of(r->head, r->head_bytes), value;
    uint64_t status;
    if (head.len < 12 || memcmp(head.ptr, version, 9) != 0 ||
        !num_parse_decimal(slice_of(head.ptr + 9, 3), 999, &status))
        return false;
    r->status = (unsigned)status;
    r->closes = field_of(head, SLICE("Connection"), &value) && slice_eq_nocase(value, SLICE("close"));
    return field_of(head, SLICE("Content-Length"), &value) &&
           num_parse_decimal(value, UINT64_MAX, &r->body_bytes);
}

/* Bytes up to and with the blank line; what was there before may hold its beginning. */
static enum reply_state take_head(struct reply *r, struct slice bytes, size_t *taken)
{
    size_t before = r->head_bytes, room = sizeof r->head - before;
    size_t len = bytes.len < room ? bytes.len : room;
    memcpy(r->head + before, bytes.ptr, len);
    size_t from = before > 3 ? before - 3 : 0;
    const char *end = memmem(r->head + from, before + len - from, "\r\n\r\n", 4);
    if (!end) {
        r->head_bytes += len;
        *taken = len;
        return r->head_bytes == sizeof r->head ? REPLY_BROKEN : REPLY_MORE;
    }
    r->head_bytes = (size_t)(end - r->head) + 4;
    *taken = r->head_bytes - before;
    r->in_body = true;
    return parse_head(r) ? REPLY_WHOLE : REPLY_BROKEN;
}

/* Do these bytes stand at `at` of what is wanted? */
static bool matches(const struct reply_want *want, uint64_t at, struct slice bytes)
{
    if (at + bytes.len > want->body.len)
        return false;
    size_t of_number = at < want->number.len ? want->number.len - (size_t)at : 0;
    of_number = of_number < bytes.len ? of_number : bytes.len;
    return (of_number == 0 || memcmp(bytes.ptr, want->number.ptr + at, of_number) == 0) &&
           slice_eq(slice_of(bytes.ptr + of_number, bytes.len - of_number),
                    slice_of(want->body.ptr + at + of_number, bytes.len - of_number));
}

enum reply_state reply_take(struct reply *r, const struct reply_want *want, struct slice bytes, size_t *taken)
{
    *taken = 0;
    if (!r->in_body) {
        enum reply_state state = take_head(r, bytes, taken);
        if (state != REPLY_WHOLE)
            return state;
    }
    uint64_t left = r->body_bytes - r->body_at;
    size_t len = bytes.len - *taken < left ? bytes.len - *taken : (size_t)left;
    if (len && !r->differs)
        r->differs = !matches(want, r->body_at, slice_of(bytes.ptr + *taken, len));
    r->body_at += len;
    *taken += len;
    return r->body_at == r->body_bytes ? REPLY_WHOLE : REPLY_MORE;
}

bool reply_is_right(const struct reply *r, const struct reply_want *want)
{
    bool status = r->status == want->status || (want->or_status && r->status == want->or_status);
    return status && !r->differs && r->body_bytes == want->body.len;
}
