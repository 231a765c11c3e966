/* tests/fuzz/fuzz.h - what the fuzz targets share. A target is one file that defines LLVMFuzzerTestOneInput:
 * run by libFuzzer in the preset `fuzz`, and by replay.c over kept inputs in every preset. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input. Else says so and ends the process, so that the input is kept. */
#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold: ", __FILE__, __LINE__, #condition);                    \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* For "%.*s". */
#define SHOW(s) (int)((s).len < 400 ? (s).len : 400), (const char *)(s).ptr

/* The first byte, taken off; 0: there is none. */
static inline uint8_t fuzz_byte(struct slice *in)
{
    if (!in->len)
        return 0;
    in->len--;
    return *in->ptr++;
}

/* What stands before the first NUL, which is taken off with it; all, if there is none. */
static inline struct slice fuzz_text(struct slice *in)
{
    const uint8_t *nul = in->len ? memchr(in->ptr, 0, in->len) : NULL;
    struct slice text = slice_of(in->ptr, nul ? (size_t)(nul - in->ptr) : in->len);
    size_t taken = text.len + (nul != NULL);
    *in = slice_of(in->ptr + taken, in->len - taken);
    return text;
}

/* A copy of exactly the length, so that the sanitizers see a read beyond it; for free(). */
static inline struct slice fuzz_copy(struct slice s)
{
    uint8_t *copy = malloc(s.len ? s.len : 1);
    CHECK(copy, "memory is out");
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return slice_of(copy, s.len);
}

static inline void fuzz_free(struct slice copy)
{
    free((void *)(uintptr_t)copy.ptr);
}

#endif
