/* base/compiler.h - what gcc and clang offer beyond C11, under one name each. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#define MUST_USE          __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NOINLINE          __attribute__((noinline))
#define COLD              __attribute__((cold, noinline))
#define likely(x)         __builtin_expect(!!(x), 1)
#define unlikely(x)       __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a)      (sizeof(a) / sizeof((a)[0]))

/* The struct that embeds `member` at `ptr`. */
#define CONTAINER_OF(ptr, type, member) ((type *)(((char *)(ptr)) - offsetof(type, member)))

#endif
