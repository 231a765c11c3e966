/* schema/decode/json_out.h - JSON written through a raw pointer into a buffer that grows, and strings quoted into
 * it. Inside schema/ only.
 *
 * The pointer `w` travels in a register: functions take it and return it moved, or NULL when they failed. The
 * buffer's len stays where it was until json_out_finish, so a failure leaves the buffer's content
 * as it was. */
#ifndef SCHEMA_JSON_OUT_H
#define SCHEMA_JSON_OUT_H

#include "base/buf.h"
#include "base/err.h"

/* What may be written at any time without asking: any scalar, and what closes around it. */
enum { JSON_OUT_SLACK = 64 };

struct json_out {
    struct buf *buf;  /* borrowed */
    uint8_t *end;     /* of the room that there is */
    size_t bytes_max; /* more is refused: JSON_TOO_LARGE */
    struct err *err;  /* filled when json_out_grow fails */
};

/* Begin behind the buffer's content. NULL: *err is filled. */
uint8_t *json_out_begin(struct json_out *, struct buf *, size_t bytes_max, struct err *);
void json_out_finish(struct json_out *, uint8_t *w);

/* Room for `more` bytes and the slack behind them. NULL: *err is filled (NO_MEMORY, JSON_TOO_LARGE). */
uint8_t *json_out_grow(struct json_out *, uint8_t *w, size_t more);

static inline uint8_t *json_out_room(struct json_out *o, uint8_t *w, size_t more)
{
    return likely((size_t)(o->end - w) >= more + JSON_OUT_SLACK) ? w : json_out_grow(o, w, more);
}

/* Copy a short text for which there is room. Lengths up to 16 go without a call. */
static inline uint8_t *json_out_copy(uint8_t *w, struct slice s)
{
    const uint8_t *p = s.ptr;
    size_t n = s.len;
    if (unlikely(n > 16)) {
        memcpy(w, p, n);
    } else if (n >= 8) {
        memcpy(w, p, 8);
        memcpy(w + n - 8, p + n - 8, 8);
    } else if (n >= 4) {
        memcpy(w, p, 4);
        memcpy(w + n - 4, p + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            w[i] = p[i];
    }
    return w + n;
}

/* Append `s` as a JSON string token, escaping only the quote, the backslash and what is below 0x20; checks
 * that it is UTF-8 in the same sweep. `readable`: end of the memory that may be read, at or behind the end of
 * s. NULL with *bad NULL: *err is filled; NULL with *bad set: the first byte that is not UTF-8. */
uint8_t *json_out_string(struct json_out *, uint8_t *w, struct slice s, const uint8_t *readable,
                         const uint8_t **bad);

/* Append bytes as a JSON string token of the code points 0 to 255. NULL: *err is filled. */
uint8_t *json_out_bytes(struct json_out *, uint8_t *w, struct slice s, const uint8_t *readable);

#endif
