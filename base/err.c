/* base/err.c - errors and their tables. */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static const struct {
    uint16_t status;
    const char *slug, *title;
} codes[] = {
    [ERR_NONE] = {200, "none", "No error"},
#define ERROR(name, status, slug, title) [ERR_##name] = {status, slug, title},
#include "base/errors.def"
#undef ERROR
};

static const char *const problem_slugs[] = {
#define PROBLEM(name, slug) [PROBLEM_##name] = slug,
#include "base/problems.def"
#undef PROBLEM
};

enum rc err_set(struct err *err, enum err_code code, const char *format, ...)
{
    va_list args;
    *err = (struct err){.code = code};
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    err->message[utf8_cut(slice_str(err->message), sizeof err->message).len] = 0;
    return RC_ERR;
}

enum rc err_oom(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "Memory is out; try again.");
}

struct problem *err_problem(struct err *err, struct arena *arena, enum problem_code code,
                            struct slice pointer)
{
    if (err->problems == ERR_PROBLEMS_MAX) {
        err->truncated = true;
        return NULL;
    }
    struct problem *p = arena_alloc(arena, sizeof *p);
    struct slice copy;
    if (!p || !arena_copy(arena, pointer, &copy)) {
        err->truncated = true;
        return NULL;
    }
    *p = (struct problem){.pointer = copy, .code = code};
    if (err->last)
        err->last->next = p;
    else
        err->first = p;
    err->last = p;
    err->problems++;
    return p;
}

enum rc err_sum_up(struct err *err, enum err_code code)
{
    enum { POINTER_MAX = 60 };
    const struct problem *p = err->first;
    char *at = err->message, *end = at + sizeof err->message;
    err->code = code;
    *at = '\0';
    if (err->problems > 1 || err->truncated)
        at += snprintf(at, (size_t)(end - at), "%u%s problems; the first: ", err->problems,
                       err->truncated ? " or more" : "");
    if (p->pointer.len)
        at += snprintf(at, (size_t)(end - at), "At %.*s%s: ", (int)utf8_cut(p->pointer, POINTER_MAX).len,
                       (const char *)p->pointer.ptr, p->pointer.len > POINTER_MAX ? "..." : "");
    snprintf(at, (size_t)(end - at), "%.*s", (int)utf8_cut(p->detail, (size_t)(end - at) - 1).len,
             (const char *)p->detail.ptr);
    return RC_ERR;
}

unsigned err_status(enum err_code code)
{
    assert(code < ERR_CODES);
    return codes[code].status;
}

const char *err_slug(enum err_code code)
{
    assert(code < ERR_CODES);
    return codes[code].slug;
}

const char *err_title(enum err_code code)
{
    assert(code < ERR_CODES);
    return codes[code].title;
}

const char *problem_slug(enum problem_code code)
{
    assert(code < PROBLEM_CODES);
    return problem_slugs[code];
}
