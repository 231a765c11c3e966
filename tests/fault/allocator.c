/* tests/fault/allocator.c - malloc and its kin, counted. The linker finds these definitions before the C
 * library's and a sanitizer's, which do the work. */
#include "tests/fault/allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A sanitizer's where there is one, else the C library's. */
#define REAL(type, name, ...)                                                                                \
    type __interceptor_##name(__VA_ARGS__) __attribute__((weak));                                            \
    type __libc_##name(__VA_ARGS__) __attribute__((weak))
#define CALL(name, ...)                                                                                      \
    (__interceptor_##name ? __interceptor_##name(__VA_ARGS__) : __libc_##name(__VA_ARGS__))

REAL(void *, malloc, size_t);
REAL(void *, calloc, size_t, size_t);
REAL(void *, realloc, void *, size_t);
REAL(void *, memalign, size_t, size_t);
REAL(void, free, void *);

static struct allocator_fault none;
static _Atomic(struct allocator_fault *) fault = &none;
static _Atomic int64_t blocks;
static _Thread_local bool exempt;

/* A sanitizer's: it would spend most of the time on who called whom. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "malloc_context_size=8";
}

void allocator_use(struct allocator_fault *f)
{
    atomic_store(&fault, f ? f : &none);
}

int64_t allocator_blocks(void)
{
    return atomic_load(&blocks);
}

static bool fails(void)
{
    struct allocator_fault *f = atomic_load(&fault);
    if (exempt || atomic_load(&f->countdown) <= 0)
        return false;
    int64_t before = atomic_fetch_sub(&f->countdown, 1);
    if (before > 1)
        return false;
    if (atomic_load(&f->forever))
        atomic_store(&f->countdown, 1);
    else if (before < 1)
        return false; /* another thread was faster */
    atomic_fetch_add(&f->failed, 1);
    errno = ENOMEM;
    return true;
}

/* A sanitizer asks this when a thread starts, and ends the process if there is no answer. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    static int (*real)(pthread_t, pthread_attr_t *);
    exempt = true;
    if (!real)
        real = (int (*)(pthread_t, pthread_attr_t *))dlsym(RTLD_NEXT, "pthread_getattr_np");
    int error = real(thread, attr);
    exempt = false;
    return error;
}

static void *given(void *p)
{
    if (p)
        atomic_fetch_add(&blocks, 1);
    return p;
}

void *malloc(size_t n)
{
    return fails() ? NULL : given(CALL(malloc, n));
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : given(CALL(calloc, n, size));
}

void *realloc(void *p, size_t n)
{
    if (fails())
        return NULL;
    void *moved = CALL(realloc, p, n);
    return p ? moved : given(moved);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (!__builtin_mul_overflow(n, size, &bytes))
        return realloc(p, bytes);
    errno = ENOMEM;
    return NULL;
}

void free(void *p)
{
    if (p)
        atomic_fetch_sub(&blocks, 1);
    CALL(free, p);
}

void *memalign(size_t align, size_t n)
{
    return fails() ? NULL : given(CALL(memalign, align, n));
}

void *aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = memalign(align, n);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = malloc(n);
    return p ? memcpy(p, s, n) : NULL;
}

char *strndup(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    char *p = malloc(n + 1);
    if (!p)
        return NULL;
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}
