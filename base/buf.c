/* base/buf.c - growth of buffers. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool buf_grow(struct buf *b, size_t more)
{
    size_t need, cap = b->cap < 256 ? 256 : b->cap;
    if (__builtin_add_overflow(b->len, more, &need) || need > SIZE_MAX / 2)
        return false;
    while (cap < need)
        cap += cap / 2 + 64;
    uint8_t *p = realloc(b->ptr, cap);
    if (!p)
        return false;
    b->ptr = p;
    b->cap = cap;
    return true;
}

void buf_release(struct buf *b)
{
    free(b->ptr);
    *b = (struct buf){0};
}

void buf_reset(struct buf *b, size_t keep_bytes)
{
    if (b->cap > keep_bytes)
        buf_release(b);
    b->len = 0;
}

void buf_trim(struct buf *b)
{
    uint8_t *p = b->len ? realloc(b->ptr, b->len) : NULL;
    if (!p)
        return;
    b->ptr = p;
    b->cap = b->len;
}

bool buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !buf_reserve(b, (size_t)n + 1))
        return false;
    va_start(args, format);
    vsnprintf((char *)b->ptr + b->len, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
    return true;
}
