/* schema/program/zeros.c - the zero of each type, for missing=zero and the initial record: null if a union has it,
 * else its first branch that ends; an enum's default, else its first symbol; a fixed of zero bytes; empty
 * arrays and maps; of a record, each field's default, else its type's zero. Sizes come first, then bytes, and
 * only of what is not too large.
 *
 * A type is settled when all it needs is. A union waits for its first branch; when nothing else can be
 * settled, one that waits takes the first of its branches that is settled (those before it lead back to the
 * union). */
#include "schema/program/compile.h"

/* Of a zero, or a part of one; capped. */
struct extent {
    uint64_t size;
    uint32_t depth, empty_items, most_items; /* as in struct op_filling */
};

struct zero {
    struct extent extent;
    uint32_t pending; /* record: fields that wait for their type */
    uint32_t branch;  /* union: the one chosen */
    bool is_settled, is_listed;
    bool is_needed;     /* by a field or the root: others are not built */
    struct slice bytes; /* ptr NULL: too large to be built */
};

struct zeros {
    struct compiler *c;
    struct uses uses;
    struct zero *of;                           /* by type */
    uint32_t *order, n;                        /* settled types, in that order */
    uint32_t *waiting, nwaiting, next_waiting; /* unions of which a later branch is settled */
};

enum { TOO_LARGE = LIMIT_RECORD_MAX + 1 };

static uint32_t capped(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* ---- sizes, and which branch ---- */

static void settle(struct zeros *z, uint32_t t, struct extent extent)
{
    z->of[t].is_settled = true;
    z->of[t].extent = extent;
    z->order[z->n++] = t;
}

static void settle_bytes(struct zeros *z, uint32_t t, uint64_t size)
{
    settle(z, t, (struct extent){.size = capped(size)});
}

static void settle_union(struct zeros *z, uint32_t t, uint32_t branch)
{
    const struct type *type = z->c->model->types[t];
    struct extent extent = z->of[type->branches.branches[branch]->number].extent;
    extent.size = capped(extent.size + compile_branch_bytes(branch));
    z->of[t].branch = branch;
    settle(z, t, extent);
}

/* A field has its default, or its type is settled. */
static void add_field(struct zeros *z, uint32_t record, struct extent field)
{
    struct zero *zero = &z->of[record];
    struct extent *all = &zero->extent;
    all->size = capped(all->size + field.size);
    all->empty_items = capped((uint64_t)all->empty_items + field.empty_items);
    if (all->depth < field.depth + 1)
        all->depth = field.depth + 1;
    if (all->most_items < field.most_items)
        all->most_items = field.most_items;
    if (--zero->pending == 0)
        settle(z, record, *all);
}

static void tell_users(struct zeros *z, uint32_t t)
{
    for (uint32_t i = z->uses.first[t]; i < z->uses.first[t + 1]; i++) {
        struct use use = z->uses.at[i];
        struct zero *user = &z->of[use.user];
        if (z->c->model->types[use.user]->kind == TYPE_RECORD) {
            add_field(z, use.user, z->of[t].extent);
        } else if (!user->is_settled && use.index == 0) {
            settle_union(z, use.user, 0);
        } else if (!user->is_settled && !user->is_listed) {
            user->is_listed = true;
            z->waiting[z->nwaiting++] = use.user;
        }
    }
}

/* The first branch of a waiting union that is settled. */
static uint32_t first_settled(const struct zeros *z, const struct type *type)
{
    for (uint32_t i = 0; i < type->branches.nbranches; i++)
        if (z->of[type->branches.branches[i]->number].is_settled)
            return i;
    assert(!"a union waits only where a branch is settled");
    return 0;
}

/* Let one waiting union take what it has. False: none waits. */
static bool release_one(struct zeros *z)
{
    while (z->next_waiting < z->nwaiting) {
        uint32_t t = z->waiting[z->next_waiting++];
        if (!z->of[t].is_settled) {
            settle_union(z, t, first_settled(z, z->c->model->types[t]));
            return true;
        }
    }
    return false;
}

static uint32_t enum_index(const struct type *t)
{
    return t->enumeration.default_index < 0 ? 0 : (uint32_t)t->enumeration.default_index;
}

static void start_record(struct zeros *z, uint32_t t)
{
    const struct op *op = &z->c->program->ops[t];
    const struct op_field *fields = z->c->program->fields + op->a;
    z->of[t].pending = op->b + 1; /* one more, so that it is not settled while they are counted */
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op_filling *def = &fields[i].filling;
        if (fields[i].has_default)
            add_field(z, t, (struct extent){def->avro.len, def->depth, def->empty_items, def->most_items});
    }
    add_field(z, t, (struct extent){0});
}

static void start(struct zeros *z)
{
    const struct model *m = z->c->model;
    for (uint32_t t = 0; t < m->ntypes; t++) {
        const struct type *type = m->types[t];
        uint32_t null_branch;
        switch (type->kind) {
        case TYPE_RECORD: start_record(z, t); break;
        case TYPE_UNION:
            null_branch = z->c->program->unions[z->c->program->ops[t].info].first[TYPE_NULL];
            if (null_branch != PROGRAM_NONE) {
                z->of[t].branch = null_branch;
                settle_bytes(z, t, compile_branch_bytes(null_branch));
            }
            break;
        case TYPE_NULL: settle_bytes(z, t, 0); break;
        case TYPE_FLOAT: settle_bytes(z, t, 4); break;
        case TYPE_DOUBLE: settle_bytes(z, t, 8); break;
        case TYPE_FIXED: settle_bytes(z, t, type->fixed_size); break;
        case TYPE_ENUM: settle_bytes(z, t, compile_branch_bytes(enum_index(type))); break;
        case TYPE_ARRAY:
        case TYPE_MAP: settle(z, t, (struct extent){.size = 1, .depth = 1}); break;
        default: settle_bytes(z, t, 1); break;
        }
    }
}

static void settle_all(struct zeros *z)
{
    start(z);
    uint32_t done = 0;
    do
        for (; done < z->n; done++)
            tell_users(z, z->order[done]);
    while (release_one(z));
}

/* ---- bytes ---- */

static struct op_filling field_filling(const struct zeros *z, const struct op_field *f)
{
    if (f->has_default)
        return f->filling;
    const struct zero *zero = &z->of[f->op];
    return (struct op_filling){.avro = zero->bytes.ptr ? zero->bytes : slice_of(NULL, zero->extent.size),
                               .depth = zero->extent.depth,
                               .empty_items = zero->extent.empty_items,
                               .most_items = zero->extent.most_items};
}

static void put(uint8_t **to, struct slice s)
{
    if (s.len)
        memcpy(*to, s.ptr, s.len);
    *to += s.len;
}

static void put_varint(uint8_t **to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *(*to)++ = (uint8_t)(v | 0x80);
    *(*to)++ = (uint8_t)v;
}

static void write_zero(const struct zeros *z, uint32_t t, uint8_t *to)
{
    const struct type *type = z->c->model->types[t];
    const struct op *op = &z->c->program->ops[t];
    switch (type->kind) {
    case TYPE_RECORD:
        for (uint32_t i = 0; i < op->b; i++)
            put(&to, field_filling(z, &z->c->program->fields[op->a + i]).avro);
        break;
    case TYPE_UNION:
        put_varint(&to, (uint64_t)z->of[t].branch << 1);
        put(&to, z->of[type->branches.branches[z->of[t].branch]->number].bytes);
        break;
    case TYPE_ENUM: put_varint(&to, (uint64_t)enum_index(type) << 1); break;
    default: memset(to, 0, z->of[t].extent.size); break; /* zero bytes, whatever the type */
    }
}

static void need(struct zeros *z, uint32_t t)
{
    z->of[t].is_needed = true;
    const struct type *type = z->c->model->types[t];
    if (type->kind == TYPE_UNION)
        z->of[type->branches.branches[z->of[t].branch]->number].is_needed = true;
}

/* A union's branch is no union, and a record's fields are all looked at: no need to go any deeper. */
static void find_needed(struct zeros *z)
{
    const struct program *p = z->c->program;
    need(z, p->root);
    for (uint32_t i = 0; i < p->nfields; i++)
        if (!p->fields[i].has_default)
            need(z, p->fields[i].op);
}

/* Serves all types whose zero is nothing but zero bytes, of all schemas. Never written, so it takes no memory. */
static uint8_t nothing[TOO_LARGE];

static enum rc build(struct zeros *z, uint32_t t)
{
    struct zero *zero = &z->of[t];
    enum type_kind kind = z->c->model->types[t]->kind;
    size_t size = zero->extent.size;
    if (size >= TOO_LARGE || !zero->is_needed)
        return RC_OK;
    if (kind != TYPE_RECORD && kind != TYPE_UNION && kind != TYPE_ENUM) {
        zero->bytes = slice_of(nothing, size);
        return RC_OK;
    }
    if (compile_keep(z->c, size))
        return RC_ERR;
    uint8_t *bytes = arena_alloc(&z->c->program->arena, size + 1);
    if (!bytes)
        return err_oom(z->c->err);
    write_zero(z, t, bytes);
    zero->bytes = slice_of(bytes, size);
    return RC_OK;
}

/* What takes no bytes has one value, which is its zero. */
static void tell_depths(struct zeros *z)
{
    struct program *p = z->c->program;
    for (uint32_t t = 0; t < p->nops; t++)
        if (p->ops[t].size_min == 0)
            p->ops[t].depth_empty = z->of[t].extent.depth;
}

static enum rc build_all(struct zeros *z)
{
    struct program *p = z->c->program;
    tell_depths(z);
    find_needed(z);
    for (uint32_t i = 0; i < z->n; i++)
        if (build(z, z->order[i]))
            return RC_ERR;
    for (uint32_t i = 0; i < p->nfields; i++)
        p->fields[i].filling = field_filling(z, &p->fields[i]);
    return RC_OK;
}

static enum rc take_initial(struct zeros *z)
{
    const struct zero *root = &z->of[z->c->program->root];
    const struct place *place = z->c->model->root->place;
    enum rc rc = RC_OK;
    assert(root->is_settled);
    if (root->extent.size >= TOO_LARGE)
        compile_fault(z->c, &rc, PROBLEM_RANGE, place, NULL,
                      "The initial record, every field its default or zero, would take more than %d bytes.",
                      LIMIT_RECORD_MAX);
    if (root->extent.depth > LIMIT_DATA_DEPTH_MAX)
        compile_fault(z->c, &rc, PROBLEM_DEPTH, place, NULL,
                      "The initial record, every field its default or zero, would nest records, arrays and "
                      "maps more than %d levels deep.",
                      LIMIT_DATA_DEPTH_MAX);
    if (root->extent.empty_items > LIMIT_EMPTY_ITEMS_MAX)
        compile_fault(z->c, &rc, PROBLEM_RANGE, place, NULL,
                      "The initial record, every field its default or zero, would have more than %d array "
                      "items of no bytes.",
                      LIMIT_EMPTY_ITEMS_MAX);
    z->c->program->initial = root->bytes;
    return rc;
}

enum rc zeros_make(struct compiler *c)
{
    struct zeros z = {.c = c};
    uint32_t n = (uint32_t)c->model->ntypes;
    z.of = arena_calloc(&c->scratch, n, sizeof *z.of);
    z.order = arena_calloc(&c->scratch, n, sizeof *z.order);
    z.waiting = arena_calloc(&c->scratch, n, sizeof *z.waiting);
    if (!z.of || !z.order || !z.waiting || !uses_collect(c, true, &z.uses))
        return err_oom(c->err);
    settle_all(&z);
    return build_all(&z) ? RC_ERR : take_initial(&z);
}
