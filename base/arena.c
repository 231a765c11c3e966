/* base/arena.c - bump allocation from a list of malloc'ed blocks. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The first block is small, for most requests take little; each further one is twice as large, up to a bound.
 * Whatever would fill a large part of that has a block of its own. */
enum { FIRST_BYTES = 480, BLOCK_BYTES_MAX = 4096 - 32, OWN_BYTES_MIN = BLOCK_BYTES_MAX / 4, ALIGN = 8 };

struct arena_block {
    struct arena_block *next;
    size_t bytes; /* of data */
    uint8_t data[];
};

static struct arena_block *block_new(struct arena *a, size_t bytes)
{
    struct arena_block *b = malloc(sizeof *b + bytes);
    if (!b)
        return NULL;
    b->bytes = bytes;
    a->bytes += bytes;
    return b;
}

static size_t next_block_bytes(const struct arena *a, size_t bytes)
{
    size_t next = a->blocks ? 2 * a->blocks->bytes : FIRST_BYTES;
    while (next < bytes)
        next *= 2;
    return next < BLOCK_BYTES_MAX ? next : BLOCK_BYTES_MAX;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    /* Not even 0 bytes are NULL: that means that memory is out, only. */
    bytes = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    if (bytes <= (size_t)(a->end - a->at)) {
        void *p = a->at;
        a->at += bytes;
        return p;
    }
    bool own = bytes >= OWN_BYTES_MIN;
    struct arena_block *b = block_new(a, own ? bytes : next_block_bytes(a, bytes));
    if (!b)
        return NULL;
    /* Big ones stand behind, so the rest of the newest stays in use. */
    if (a->blocks && own) {
        b->next = a->blocks->next;
        a->blocks->next = b;
        return b->data;
    }
    b->next = a->blocks;
    a->blocks = b;
    a->at = b->data + bytes;
    a->end = b->data + b->bytes;
    return b->data;
}

void *arena_calloc(struct arena *a, size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return NULL;
    void *p = arena_alloc(a, total);
    if (p)
        memset(p, 0, total);
    return p;
}

bool arena_copy(struct arena *a, struct slice s, struct slice *out)
{
    uint8_t *p = arena_alloc(a, s.len + 1);
    if (!p)
        return false;
    if (s.len)
        memcpy(p, s.ptr, s.len);
    p[s.len] = 0;
    *out = slice_of(p, s.len);
    return true;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        return NULL;
    char *p = arena_alloc(a, (size_t)n + 1);
    if (!p)
        return NULL;
    va_start(args, format);
    vsnprintf(p, (size_t)n + 1, format, args);
    va_end(args);
    return p;
}

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->blocks;
    if (!b)
        return;
    free_blocks(b->next);
    if (b->bytes > BLOCK_BYTES_MAX) {
        free(b);
        *a = (struct arena){0};
        return;
    }
    b->next = NULL;
    a->bytes = b->bytes;
    a->at = b->data;
    a->end = b->data + b->bytes;
}

void arena_release(struct arena *a)
{
    free_blocks(a->blocks);
    *a = (struct arena){0};
}
