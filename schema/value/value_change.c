/* schema/value/value_change.c - values become others, come and go. Each change is noted on the way up to the root, so that
 * writing knows what is as it was. */
#include <assert.h>

#include "schema/value/value_parts.h"

/* Up to the first that has been noted before: around that all have. */
static void touch(struct value *v)
{
    for (; v && !v->is_changed; v = v->parent)
        v->is_changed = true;
}

static enum opcode code_of(const struct datum *d, const struct value *v)
{
    return d->program->ops[v->op].code;
}

static bool is_container(const struct program *p, uint32_t op)
{
    return p->ops[op].code == OP_RECORD || p->ops[op].code == OP_ARRAY || p->ops[op].code == OP_MAP;
}

static bool may_nest(const struct program *p, uint32_t first)
{
    const struct op *op = &p->ops[first];
    if (op->code != OP_UNION)
        return is_container(p, first);
    for (uint32_t i = 0; i < op->b; i++)
        if (is_container(p, p->branches[op->a + i].op))
            return true;
    return false;
}

/* Nobody has looked how deep it is where it has come now. */
static void note_depth(struct datum *d, const struct value *v)
{
    d->may_be_deep |= v->avro.ptr && may_nest(d->program, v->op);
}

/* ---- becoming other data ---- */

static void drop_parts(struct value *v)
{
    for (uint32_t i = 0; i < v->nparts; i++)
        v->part[i]->parent = NULL;
    v->nparts = 0;
    v->is_open = false;
    v->index = NULL;
}

void value_set_seen(struct value *v, struct slice avro)
{
    drop_parts(v);
    v->avro = slice_not_null(avro);
    touch(v);
}

void value_set(struct datum *d, struct value *v, struct slice avro)
{
    value_set_seen(v, avro);
    note_depth(d, v);
}

enum rc value_set_branch(struct datum *d, struct value *v, uint32_t branch, struct slice avro,
                         struct err *err)
{
    const struct op *op = &d->program->ops[v->op];
    assert(op->code == OP_UNION && branch < op->b);
    struct value *part = value_new(d, d->program->branches[op->a + branch].op, err);
    if (!part)
        return RC_ERR;
    drop_parts(v);
    if (!parts_reserve(d, v, 1))
        return err_oom(err);
    v->branch = branch;
    v->part[v->nparts++] = part;
    v->is_open = true;
    part->parent = v;
    touch(v);
    if (avro.ptr)
        value_set(d, part, avro);
    return RC_OK;
}

/* ---- coming ---- */

struct value *value_new(struct datum *d, uint32_t op, struct err *err)
{
    return values_make(d, 1, op, err);
}

static void adopt(struct datum *d, struct value *container, uint32_t place, struct value *v)
{
    assert(container->is_open && !v->parent && v != &d->root);
    assert(v->op == d->program->ops[container->op].a);
    v->parent = container;
    v->place = place;
    container->part[place] = v;
    note_depth(d, v);
    touch(container);
}

enum rc value_insert(struct datum *d, struct value *array, uint32_t index, struct value *v, struct err *err)
{
    assert(code_of(d, array) == OP_ARRAY && index <= array->nparts);
    uint32_t behind = array->nparts - index;
    if (datum_pay(d, COST_SPAN + behind / 4, err) != RC_OK)
        return RC_ERR;
    if (!parts_reserve(d, array, 1))
        return err_oom(err);
    memmove(array->part + index + 1, array->part + index, behind * sizeof(struct value *));
    array->nparts++;
    adopt(d, array, index, v);
    return RC_OK;
}

/* Another entry of the same key. */
static enum rc replace(struct datum *d, struct value *map, struct value *old, struct value *v,
                       struct err *err)
{
    if (datum_pay(d, COST_SPAN + map->nparts / 4, err) != RC_OK)
        return RC_ERR;
    uint32_t place = value_place(old);
    old->parent = NULL;
    adopt(d, map, place, v);
    if (!map->index)
        return RC_OK;
    index_remove(map->index, old);
    return index_add(d, map, v) ? RC_OK : err_oom(err);
}

enum rc value_put(struct datum *d, struct value *map, struct slice key, struct value *v, struct err *err)
{
    assert(code_of(d, map) == OP_MAP);
    if (value_index(d, map, err) != RC_OK || datum_pay(d, COST_KEY + key.len, err) != RC_OK)
        return RC_ERR;
    struct value *old = value_entry(map, key);
    if (!arena_copy(d->arena, key, &v->key))
        return err_oom(err);
    if (old)
        return replace(d, map, old, v, err);
    if (!parts_reserve(d, map, 1))
        return err_oom(err);
    map->nparts++;
    adopt(d, map, map->nparts - 1, v);
    return !map->index || index_add(d, map, v) ? RC_OK : err_oom(err);
}

/* ---- going ---- */

void value_remove(struct value *v)
{
    struct value *container = v->parent;
    uint32_t place = value_place(v), behind = --container->nparts - place;
    memmove(container->part + place, container->part + place + 1, behind * sizeof(struct value *));
    if (container->index)
        index_remove(container->index, v);
    v->parent = NULL;
    touch(container);
}

uint32_t value_remove_marked(struct value *container)
{
    assert(container->is_open);
    uint32_t kept = 0, n = container->nparts;
    for (uint32_t i = 0; i < n; i++) {
        struct value *v = container->part[i];
        if (v->is_marked) {
            v->is_marked = false;
            v->parent = NULL;
            continue;
        }
        v->place = kept;
        container->part[kept++] = v;
    }
    if (kept == n)
        return 0;
    container->nparts = kept;
    container->index = NULL;
    touch(container);
    return n - kept;
}

void value_clear(struct value *container)
{
    drop_parts(container);
    container->avro = slice_of("", 1); /* no block but the last */
    touch(container);
}
