/* schema/model/parse_remains.c - what is left of a schema with faults: those types that are sound, so that defaults
 * can be checked nevertheless and all that is wrong is told at once. */
#include "schema/model/parse.h"

/* A type is unsound if it has a fault or contains one that is unsound. Types mostly come before those inside of
 * them, so going backwards a few passes find all; a schema that takes more is left alone. */
enum { PASSES_MAX = 16 };

static bool is_sound(const struct parser *p, const struct type *t)
{
    return t && !p->types[t->number].is_faulty;
}

static bool has_sound_parts(const struct parser *p, const struct type *t)
{
    switch (t->kind) {
    case TYPE_RECORD:
        for (size_t i = 0; i < t->record.nfields; i++)
            if (!is_sound(p, t->record.fields[i].type))
                return false;
        return true;
    case TYPE_UNION:
        for (size_t i = 0; i < t->branches.nbranches; i++)
            if (!is_sound(p, t->branches.branches[i]))
                return false;
        return true;
    case TYPE_ARRAY: return is_sound(p, t->items);
    case TYPE_MAP: return is_sound(p, t->values);
    default: return true;
    }
}

static bool find_unsound(struct parser *p)
{
    bool changed = true;
    for (int pass = 0; changed && pass < PASSES_MAX; pass++) {
        changed = false;
        for (uint32_t i = p->ntypes; i-- > 0;) {
            struct type_info *info = &p->types[i];
            if (info->is_faulty || has_sound_parts(p, info->type))
                continue;
            info->is_faulty = changed = true;
        }
    }
    return !changed;
}

/* Of a sound type the defaults are found below it. */
static bool has_loose_default(const struct parser *p, const struct field *f)
{
    return f->place && f->has_default && is_sound(p, f->type);
}

static size_t count_parts(const struct parser *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->ntypes; i++) {
        const struct type *t = p->types[i].type;
        if (!p->types[i].is_faulty)
            n++;
        else if (t->kind == TYPE_RECORD)
            for (size_t k = 0; k < t->record.nfields; k++)
                n += has_loose_default(p, &t->record.fields[k]);
    }
    return n;
}

static void collect_parts(const struct parser *p, struct type *root)
{
    struct field *to = root->record.fields;
    for (uint32_t i = 0; i < p->ntypes; i++) {
        struct type *t = p->types[i].type;
        if (!p->types[i].is_faulty)
            *to++ = (struct field){.name = SLICE("type"), .type = t, .place = t->place};
        else if (t->kind == TYPE_RECORD)
            for (size_t k = 0; k < t->record.nfields; k++)
                if (has_loose_default(p, &t->record.fields[k]))
                    *to++ = t->record.fields[k];
    }
    root->record.nfields = (size_t)(to - root->record.fields);
}

bool parse_remains(struct parser *p)
{
    if (p->stop || p->err->truncated || !find_unsound(p))
        return false;
    size_t n = count_parts(p);
    if (n == 0)
        return false;
    struct type *root = arena_calloc(&p->model->arena, 1, sizeof *root);
    if (!parse_ok(p, root))
        return false;
    root->kind = TYPE_RECORD;
    root->number = UINT32_MAX;
    root->record.fields = arena_calloc(&p->model->arena, n, sizeof *root->record.fields);
    if (!parse_ok(p, root->record.fields))
        return false;
    collect_parts(p, root);
    p->model->root = root;
    return true;
}
