/* schema/model/canonical.c - prints a model in Parsing Canonical Form: a stack of the records and unions that are
 * being written, in place of recursion. */
#include "schema/model/canonical.h"

#include "base/crc64.h"
#include "schema/json.h"

struct frame {
    const struct type *type;
    size_t next; /* field, branch; array, map: 1 once the inner type is written */
};

struct printer {
    struct buf frames;
    struct buf *out;
    bool *is_defined; /* by number */
};

static bool put(struct printer *p, struct slice s)
{
    return buf_append(p->out, s);
}

static bool put_name(struct printer *p, struct slice before, struct slice name)
{
    return put(p, before) && json_quote(name, p->out);
}

static bool put_symbols(struct printer *p, const struct type *t)
{
    bool ok = put(p, SLICE(",\"type\":\"enum\",\"symbols\":["));
    for (size_t i = 0; ok && i < t->enumeration.nsymbols; i++)
        ok = put_name(p, i ? SLICE(",") : SLICE(""), t->enumeration.symbols[i]);
    return ok && put(p, SLICE("]}"));
}

static bool push(struct printer *p, const struct type *t)
{
    struct frame f = {.type = t};
    return buf_append(&p->frames, slice_of(&f, sizeof f));
}

/* A type from its beginning; what has types inside is finished by later steps. */
static bool begin(struct printer *p, const struct type *t)
{
    if (t->fullname.len && p->is_defined[t->number])
        return put_name(p, SLICE(""), t->fullname);
    p->is_defined[t->number] = true;
    switch (t->kind) {
    case TYPE_RECORD:
        return put_name(p, SLICE("{\"name\":"), t->fullname) &&
               put(p, SLICE(",\"type\":\"record\",\"fields\":[")) && push(p, t);
    case TYPE_ENUM: return put_name(p, SLICE("{\"name\":"), t->fullname) && put_symbols(p, t);
    case TYPE_FIXED:
        return put_name(p, SLICE("{\"name\":"), t->fullname) &&
               buf_printf(p->out, ",\"type\":\"fixed\",\"size\":%llu}", (unsigned long long)t->fixed_size);
    case TYPE_ARRAY: return put(p, SLICE("{\"type\":\"array\",\"items\":")) && push(p, t);
    case TYPE_MAP: return put(p, SLICE("{\"type\":\"map\",\"values\":")) && push(p, t);
    case TYPE_UNION: return put(p, SLICE("[")) && push(p, t);
    default: return put_name(p, SLICE(""), slice_str(type_kind_name(t->kind)));
    }
}

static bool close(struct printer *p, struct slice end)
{
    p->frames.len -= sizeof(struct frame);
    return put(p, end);
}

static bool next_field(struct printer *p, const struct type *t, size_t i)
{
    if (i == t->record.nfields)
        return close(p, SLICE("]}"));
    const struct field *f = &t->record.fields[i];
    return put(p, i ? SLICE("},") : SLICE("")) && put_name(p, SLICE("{\"name\":"), f->name) &&
           put(p, SLICE(",\"type\":")) && begin(p, f->type);
}

static bool next_branch(struct printer *p, const struct type *t, size_t i)
{
    if (i == t->branches.nbranches)
        return close(p, SLICE("]"));
    return put(p, i ? SLICE(",") : SLICE("")) && begin(p, t->branches.branches[i]);
}

/* The next part of what is open. */
static bool step(struct printer *p)
{
    struct frame *f = (struct frame *)(p->frames.ptr + p->frames.len) - 1;
    const struct type *t = f->type;
    size_t i = f->next++;
    switch (t->kind) {
    case TYPE_RECORD:
        if (i && i == t->record.nfields && !put(p, SLICE("}")))
            return false;
        return next_field(p, t, i);
    case TYPE_UNION: return next_branch(p, t, i);
    default: return i ? close(p, SLICE("}")) : begin(p, t->kind == TYPE_ARRAY ? t->items : t->values);
    }
}

bool canonical_print(const struct model *m, struct buf *out)
{
    struct arena scratch = {0};
    struct printer p = {.out = out, .is_defined = arena_calloc(&scratch, m->ntypes, sizeof *p.is_defined)};
    bool ok = p.is_defined && begin(&p, m->root);
    while (ok && p.frames.len)
        ok = step(&p);
    buf_release(&p.frames);
    arena_release(&scratch);
    return ok;
}

bool canonical_fingerprint(const struct model *m, uint64_t *out)
{
    struct buf text = {0};
    bool ok = canonical_print(m, &text);
    *out = crc64_avro(CRC64_AVRO_EMPTY, buf_slice(&text));
    buf_release(&text);
    return ok;
}
