/* schema/program/tables.c - finding a field, a symbol or a branch by its name: open addressing over a seeded hash, so
 * that who writes a schema or a body cannot choose who collides. */
#include "base/hash.h"
#include "schema/program/compile.h"

uint32_t program_table_entries(uint32_t names)
{
    uint32_t n = 4;
    while (n < names * 2)
        n *= 2;
    return n;
}

/* A branch has two names at the most. */
static uint32_t names_of(const struct op *op)
{
    return op->code == OP_UNION ? op->b * 2 : op->b;
}

static bool has_table(const struct op *op)
{
    return op->code == OP_RECORD || op->code == OP_ENUM || op->code == OP_UNION;
}

static void table_put(struct program *p, const struct op *op, struct slice name, uint32_t index)
{
    uint32_t *table = p->table + op->table, i = (uint32_t)hash_bytes(name) & op->mask;
    while (table[i])
        i = (i + 1) & op->mask;
    table[i] = index + 1;
}

void program_table_fill(struct program *p, const struct op *op)
{
    for (uint32_t i = 0; i < op->b; i++) {
        if (op->code == OP_RECORD) {
            table_put(p, op, p->fields[op->a + i].name, i);
        } else if (op->code == OP_ENUM) {
            table_put(p, op, p->symbols[op->a + i].name, i);
        } else {
            const struct op_branch *branch = &p->branches[op->a + i];
            if (p->ops[branch->op].code == OP_NULL)
                continue; /* null is never tagged */
            table_put(p, op, branch->tag, i);
            if (branch->short_tag.len)
                table_put(p, op, branch->short_tag, i);
        }
    }
}

int program_field_hashed(const struct program *p, const struct op *op, struct slice name, uint64_t hash)
{
    const uint32_t *table = p->table + op->table;
    for (uint32_t i = (uint32_t)hash & op->mask; table[i]; i = (i + 1) & op->mask)
        if (slice_eq(p->fields[op->a + table[i] - 1].name, name))
            return (int)table[i] - 1;
    return -1;
}

int program_field(const struct program *p, const struct op *op, struct slice name)
{
    return program_field_hashed(p, op, name, hash_bytes(name));
}

int program_symbol_hashed(const struct program *p, const struct op *op, struct slice name, uint64_t hash)
{
    const uint32_t *table = p->table + op->table;
    for (uint32_t i = (uint32_t)hash & op->mask; table[i]; i = (i + 1) & op->mask)
        if (slice_eq(p->symbols[op->a + table[i] - 1].name, name))
            return (int)table[i] - 1;
    return -1;
}

int program_symbol(const struct program *p, const struct op *op, struct slice name)
{
    return program_symbol_hashed(p, op, name, hash_bytes(name));
}

int program_branch(const struct program *p, const struct op *op, struct slice tag)
{
    const uint32_t *table = p->table + op->table;
    for (uint32_t i = (uint32_t)hash_bytes(tag) & op->mask; table[i]; i = (i + 1) & op->mask) {
        const struct op_branch *branch = &p->branches[op->a + table[i] - 1];
        if (slice_eq(branch->tag, tag) || (branch->short_tag.len && slice_eq(branch->short_tag, tag)))
            return (int)table[i] - 1;
    }
    return -1;
}

/* ---- short tags ---- */

static struct slice short_name(struct slice fullname)
{
    const uint8_t *dot = memrchr(fullname.ptr, '.', fullname.len);
    if (!dot)
        return slice_of(NULL, 0);
    return slice_of(dot + 1, fullname.len - (size_t)(dot + 1 - fullname.ptr));
}

static bool is_named(const struct op *op)
{
    return op->code == OP_RECORD || op->code == OP_ENUM || op->code == OP_FIXED;
}

/* One name of a branch in a table that holds every distinct name once. */
struct bearer {
    uint32_t branch;
    bool is_short;
};

static uint32_t bearer_code(struct bearer b)
{
    return (b.branch << 1 | b.is_short) + 1;
}

static struct bearer bearer_of(uint32_t code)
{
    return (struct bearer){(code - 1) >> 1, (code - 1) & 1};
}

static struct slice bearer_name(const struct op_branch *branches, struct bearer b)
{
    return b.is_short ? branches[b.branch].short_tag : branches[b.branch].tag;
}

/* Put the name in, or mark the short ones of the two that bear it. */
static void claim(const struct program *p, const struct op *op, struct bearer b, bool *is_shared)
{
    const struct op_branch *branches = p->branches + op->a;
    struct slice name = bearer_name(branches, b);
    uint32_t *table = p->table + op->table, i = (uint32_t)hash_bytes(name) & op->mask;
    while (table[i] && !slice_eq(bearer_name(branches, bearer_of(table[i])), name))
        i = (i + 1) & op->mask;
    if (!table[i]) {
        table[i] = bearer_code(b);
        return;
    }
    struct bearer other = bearer_of(table[i]);
    if (other.is_short)
        is_shared[other.branch] = true;
    if (b.is_short)
        is_shared[b.branch] = true;
}

/* Short tags are those names that only one branch bears, be it in short or in full. Uses the union's own
 * table, which is empty before and after. */
static bool settle_short_tags(struct compiler *c, const struct op *op)
{
    const struct program *p = c->program;
    struct op_branch *branches = p->branches + op->a;
    bool *is_shared = arena_calloc(&c->scratch, op->b, sizeof *is_shared);
    if (!is_shared)
        return false;
    for (uint32_t i = 0; i < op->b; i++) {
        claim(p, op, (struct bearer){i, false}, is_shared);
        if (!is_named(&p->ops[branches[i].op]))
            continue;
        branches[i].short_tag = short_name(branches[i].tag);
        if (branches[i].short_tag.len)
            claim(p, op, (struct bearer){i, true}, is_shared);
    }
    for (uint32_t i = 0; i < op->b; i++)
        if (is_shared[i])
            branches[i].short_tag = slice_of(NULL, 0);
    memset(p->table + op->table, 0, ((size_t)op->mask + 1) * sizeof *p->table);
    return true;
}

enum rc tables_make(struct compiler *c)
{
    struct program *p = c->program;
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->nops; i++)
        if (has_table(&p->ops[i]))
            total += program_table_entries(names_of(&p->ops[i]));
    if (total > UINT32_MAX)
        return err_oom(c->err);
    p->ntable = (uint32_t)total;
    p->table = arena_calloc(&p->arena, total, sizeof *p->table);
    if (!p->table)
        return err_oom(c->err);
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->nops; i++) {
        struct op *op = &p->ops[i];
        if (!has_table(op))
            continue;
        op->table = at;
        op->mask = program_table_entries(names_of(op)) - 1;
        at += op->mask + 1;
        if (op->code == OP_UNION && !settle_short_tags(c, op))
            return err_oom(c->err);
        program_table_fill(p, op);
    }
    return RC_OK;
}
