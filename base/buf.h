/* base/buf.h - a growing byte buffer. Not for two threads at once. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/compiler.h"
#include "base/slice.h"

/* Zero-initialised is ready to use. The owner frees with buf_release. */
struct buf {
    uint8_t *ptr;
    size_t len, cap;
};

/* Room for `more` bytes behind len. False: memory is out, the buffer is as it was. */
bool buf_grow(struct buf *, size_t more) MUST_USE;
void buf_release(struct buf *);
/* Empty it; frees the memory if it holds more than keep_bytes. */
void buf_reset(struct buf *, size_t keep_bytes);
/* Give back what is not used; keeps all if memory is out for that. */
void buf_trim(struct buf *);
/* printf at the end (for cold paths). */
bool buf_printf(struct buf *, const char *format, ...) PRINTF_LIKE(2, 3) MUST_USE;

static inline bool buf_reserve(struct buf *b, size_t more)
{
    return likely(b->cap - b->len >= more) || buf_grow(b, more);
}

static inline bool buf_append(struct buf *b, struct slice s)
{
    if (!buf_reserve(b, s.len))
        return false;
    if (s.len)
        memcpy(b->ptr + b->len, s.ptr, s.len);
    b->len += s.len;
    return true;
}

static inline bool buf_append_byte(struct buf *b, uint8_t c)
{
    if (!buf_reserve(b, 1))
        return false;
    b->ptr[b->len++] = c;
    return true;
}

static inline struct slice buf_slice(const struct buf *b)
{
    return slice_of(b->ptr, b->len);
}

#endif
