/* client/lib/error.c - see error.h. */
#include "client/lib/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/lib/json_member.h"

const char *avrod_code_name(enum avrod_code code)
{
    static const char *const names[] = {
        [AVROD_OK] = "ok",           [AVROD_REFUSED] = "refused",   [AVROD_UNREACHABLE] = "unreachable",
        [AVROD_TIMEOUT] = "timeout", [AVROD_BROKEN] = "broken",     [AVROD_TOO_LARGE] = "too_large",
        [AVROD_STOPPED] = "stopped", [AVROD_ARGUMENT] = "argument", [AVROD_MEMORY] = "memory",
    };
    return (unsigned)code < ARRAY_LEN(names) ? names[code] : "unknown";
}

void error_begin(struct avrod_error *e)
{
    avrod_error_release(e);
}

void avrod_error_release(struct avrod_error *e)
{
    free(e->body);
    *e = (struct avrod_error){0};
}

enum avrod_code error_set(struct avrod_error *e, enum avrod_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    e->code = code;
    return code;
}

enum avrod_code error_memory(struct avrod_error *e)
{
    return error_set(e, AVROD_MEMORY, "Memory is out.");
}

/* ---- what the server says ---- */

/* The text of a member, cut to the room at the start of a character. False: it has none, or memory is out. */
static bool member_text(struct slice body, const char *name, char *out, size_t room)
{
    struct slice value;
    struct buf text = {0};
    bool found = json_member(body, name, &value) && json_member_text(value, &text) && text.len > 0;
    if (found) {
        size_t len = text.len < room ? text.len : room - 1;
        while (len < text.len && len && (text.ptr[len] & 0xc0) == 0x80)
            len--;
        memcpy(out, text.ptr, len);
        out[len] = 0;
    }
    buf_release(&text);
    return found;
}

enum avrod_code error_refused(struct avrod_error *e, int status, struct buf *body)
{
    struct slice text = buf_slice(body);
    e->code = AVROD_REFUSED;
    e->status = status;
    if (!member_text(text, "code", e->slug, sizeof e->slug))
        e->slug[0] = 0;
    if (!member_text(text, "detail", e->message, sizeof e->message) &&
        !member_text(text, "title", e->message, sizeof e->message) &&
        !member_text(text, "message", e->message, sizeof e->message))
        snprintf(e->message, sizeof e->message, "The server answered %d.", status);
    if (body->len && buf_append_byte(body, 0)) {
        e->body = (char *)body->ptr;
        e->body_bytes = body->len - 1;
        *body = (struct buf){0};
    }
    return AVROD_REFUSED;
}
