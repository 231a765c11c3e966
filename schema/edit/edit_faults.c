/* schema/edit/edit_faults.c - see edit_faults.h. */
#include "schema/edit/edit_faults.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"

/* As many as fit the list. */
static void take(struct faults *f, const struct err *err)
{
    f->err.truncated |= err->truncated;
    for (struct problem *p = err->first, *next; p; p = next) {
        next = p->next;
        f->pointer_bytes += p->pointer.len;
        if (f->err.problems == ERR_PROBLEMS_MAX || f->pointer_bytes > LIMIT_POINTERS_MAX) {
            f->err.truncated = true;
            return;
        }
        p->next = NULL;
        if (f->err.last)
            f->err.last->next = p;
        else
            f->err.first = p;
        f->err.last = p;
        f->err.problems++;
    }
}

enum rc faults_add(struct faults *f, const struct err *err)
{
    if (err->code != ERR_BAD_RECORD) {
        f->err = *err;
        return RC_ERR;
    }
    take(f, err);
    return f->err.truncated ? err_sum_up(&f->err, ERR_BAD_RECORD) : RC_OK;
}

enum rc faults_tell(struct faults *f, struct err *err)
{
    if (!f->err.code && !f->err.problems)
        return RC_OK;
    if (!f->err.code)
        (void)err_sum_up(&f->err, ERR_BAD_RECORD);
    *err = f->err;
    return RC_ERR;
}

struct slice fault_kind(enum json_kind kind)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    return slice_str(names[kind]);
}

const char *fault_name(struct slice name, char out[FAULT_NAME_BYTES])
{
    size_t n = 0;
    while (n < name.len) {
        size_t len = utf8_char_len(name.ptr + n, name.ptr + name.len);
        if (!len || n + len > FAULT_NAME_BYTES - 4)
            break;
        for (size_t i = 0; i < len; i++)
            out[n + i] = name.ptr[n + i] < 0x20 || name.ptr[n + i] == 0x7f ? '?' : (char)name.ptr[n + i];
        n += len;
    }
    memcpy(out + n, n < name.len ? "..." : "", n < name.len ? 4 : 1);
    return out;
}

static bool print_pointer(struct datum *d, const struct value *v, struct slice name, struct buf *out)
{
    return value_pointer(d, v, out) && (!name.len || json_pointer_push(out, name));
}

enum rc fault_at(struct datum *d, const struct value *v, struct slice name, enum problem_code code,
                 struct slice expected, struct slice got, struct err *err, const char *format, ...)
{
    char detail[256];
    struct buf pointer = {0};
    struct problem *p = NULL;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    *err = (struct err){0};
    if (n >= 0 && print_pointer(d, v, name, &pointer))
        p = err_problem(err, d->arena, code, buf_slice(&pointer));
    buf_release(&pointer);
    if (!p || !arena_copy(d->arena, slice_str(detail), &p->detail))
        return err_oom(err);
    p->expected = expected;
    p->got = got;
    return err_sum_up(err, ERR_BAD_RECORD);
}
