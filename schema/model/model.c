/* schema/model/model.c - what the model of a schema offers besides its fields: names of kinds, places, warnings. */
#include "schema/model/model.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"

const char *type_kind_name(enum type_kind kind)
{
    static const char *const names[TYPE_KINDS] = {
        [TYPE_NULL] = "null",   [TYPE_BOOLEAN] = "boolean", [TYPE_INT] = "int",
        [TYPE_LONG] = "long",   [TYPE_FLOAT] = "float",     [TYPE_DOUBLE] = "double",
        [TYPE_BYTES] = "bytes", [TYPE_STRING] = "string",   [TYPE_RECORD] = "record",
        [TYPE_ENUM] = "enum",   [TYPE_FIXED] = "fixed",     [TYPE_ARRAY] = "array",
        [TYPE_MAP] = "map",     [TYPE_UNION] = "union",
    };
    assert(kind < TYPE_KINDS);
    return names[kind];
}

/* One step of a place as text: how many bytes, written before `end` unless that is NULL. */
static size_t place_step(const struct place *p, uint8_t *end)
{
    uint8_t text[64];
    size_t n = 0;
    if (p->step) {
        size_t len = strlen(p->step);
        assert(len < 32);
        text[n++] = '/';
        memcpy(text + n, p->step, len);
        n += len;
    }
    if (p->index != PLACE_NO_INDEX) {
        text[n++] = '/';
        n += num_print_u64(p->index, text + n);
    }
    if (end)
        memcpy(end - n, text, n);
    return n;
}

bool place_print(const struct place *place, struct buf *out)
{
    size_t bytes = 0;
    for (const struct place *p = place; p; p = p->up)
        bytes += place_step(p, NULL);
    if (!bytes)
        return true;
    if (!buf_reserve(out, bytes))
        return false;
    out->len += bytes;
    uint8_t *end = out->ptr + out->len;
    for (const struct place *p = place; p; p = p->up)
        end -= place_step(p, end);
    return true;
}

bool model_warn(struct model *m, const char *format, ...)
{
    if (m->nwarnings > MODEL_WARNINGS_MAX)
        return true;
    if (m->nwarnings == MODEL_WARNINGS_MAX)
        format = "There are more warnings than are listed here.";
    if (m->nwarnings == m->warnings_cap) {
        size_t cap = m->warnings_cap ? m->warnings_cap * 2 : 8;
        struct slice *more = arena_calloc(&m->arena, cap, sizeof *more);
        if (!more)
            return false;
        if (m->nwarnings)
            memcpy(more, m->warnings, m->nwarnings * sizeof *more);
        m->warnings = more;
        m->warnings_cap = cap;
    }
    char text[MODEL_WARNING_MAX + 1];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        return false;
    for (char *c = text; *c; c++)
        if (*c < 0x20 || *c >= 0x7f)
            *c = '?';
    struct slice *out = &m->warnings[m->nwarnings];
    if (!arena_copy(&m->arena, slice_str(text), out))
        return false;
    m->nwarnings++;
    return true;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    arena_release(&m->arena);
    free(m);
}
