/* tests/fuzz/plain_tree.c - see plain_tree.h. */
#include "tests/fuzz/plain_tree.h"

#include "tests/fuzz/fuzz.h"

json_t *plain_at(const struct plain_place *p)
{
    json_t *value = !p->in                 ? *p->root
                    : json_is_array(p->in) ? json_array_get(p->in, p->index)
                                           : json_object_getn(p->in, (const char *)p->name.ptr, p->name.len);
    CHECK(value, "nothing is there");
    return value;
}

void plain_set(const struct plain_place *p, json_t *value)
{
    CHECK(value, "memory is out");
    if (!p->in) {
        json_decref(*p->root);
        *p->root = value;
    } else if (json_is_array(p->in)) {
        CHECK(json_array_set_new(p->in, p->index, value) == 0, "memory is out");
    } else {
        CHECK(json_object_setn_new(p->in, (const char *)p->name.ptr, p->name.len, value) == 0,
              "memory is out");
    }
}

static struct slice key_of(json_t *object, size_t n)
{
    void *member = json_object_iter(object);
    while (n--)
        member = json_object_iter_next(object, member);
    CHECK(member, "no such member");
    return slice_of(json_object_iter_key(member), json_object_iter_key_len(member));
}

struct plain_place plain_part(const struct program *p, uint32_t op, const struct plain_place *place, size_t n)
{
    json_t *at = plain_at(place);
    struct plain_place part = {.in = at, .index = n};
    switch (p->ops[op].code) {
    case OP_RECORD: part.name = p->fields[p->ops[op].a + n].name; break;
    case OP_MAP: part.name = key_of(at, n); break;
    case OP_UNION:
        if (json_is_null(at))
            return *place;
        part.name = key_of(at, 0);
        break;
    }
    return part;
}

/* ---- projections ---- */

static json_t *project_record(const struct program *p, const struct op *record, json_t *value,
                              const struct slice *paths, size_t n)
{
    json_t *out = json_object();
    struct slice *inner = calloc(n + 1, sizeof *inner);
    CHECK(out && inner, "memory is out");
    for (uint32_t i = 0; i < record->b; i++) {
        const struct op_field *f = &p->fields[record->a + i];
        const char *name = (const char *)f->name.ptr;
        json_t *at = json_object_getn(value, name, f->name.len);
        size_t ninner = 0;
        bool whole = false;
        for (size_t k = 0; k < n; k++) {
            if (!slice_starts(paths[k], f->name))
                continue;
            struct slice rest = slice_of(paths[k].ptr + f->name.len, paths[k].len - f->name.len);
            whole |= rest.len == 0;
            if (rest.len && *rest.ptr == '.')
                inner[ninner++] = slice_of(rest.ptr + 1, rest.len - 1);
        }
        if (whole)
            json_object_setn(out, name, f->name.len, at);
        else if (ninner)
            json_object_setn_new(out, name, f->name.len, plain_project(p, f->op, at, inner, ninner));
    }
    free(inner);
    return out;
}

static json_t *project_members(const struct program *p, uint32_t op, json_t *value, const struct slice *paths,
                               size_t n)
{
    json_t *out = json_object(), *member;
    const char *key;
    size_t len;
    CHECK(out, "memory is out");
    json_object_keylen_foreach(value, key, len, member)
        json_object_setn_new(out, key, len, plain_project(p, op, member, paths, n));
    return out;
}

json_t *plain_project(const struct program *p, uint32_t op, json_t *value, const struct slice *paths,
                      size_t n)
{
    const struct op *o = &p->ops[op];
    json_t *out, *item;
    size_t i;
    switch (o->code) {
    case OP_RECORD: return project_record(p, o, value, paths, n);
    case OP_MAP: return project_members(p, o->a, value, paths, n);
    case OP_ARRAY:
        out = json_array();
        CHECK(out, "memory is out");
        json_array_foreach(value, i, item) json_array_append_new(out, plain_project(p, o->a, item, paths, n));
        return out;
    case OP_UNION:
        for (i = 0; i < o->b && !json_is_null(value); i++) {
            const struct op_branch *b = &p->branches[o->a + i];
            if (slice_eq(key_of(value, 0), b->tag))
                return project_members(p, b->op, value, paths, n);
        }
        return json_incref(value);
    default: return json_incref(value);
    }
}
