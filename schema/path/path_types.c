/* schema/path/path_types.c - sets of types, and where each step leads from them. */
#include "schema/path/path_types.h"

#include "base/limits.h"
#include "schema/path/path_lex.h"

/* ---- sets ---- */

struct path_types *path_types_take(struct path_checker *c)
{
    struct path_types *t = c->free;
    if (t) {
        c->free = t->free;
        return t;
    }
    uint32_t nops = c->program->nops;
    t = arena_calloc(c->arena, 1, sizeof *t);
    if (t) {
        t->bits = arena_calloc(c->arena, nops / 64 + 1, sizeof *t->bits);
        t->op = arena_alloc(c->arena, nops * sizeof *t->op);
    }
    if (t && t->bits && t->op)
        return t;
    err_oom(c->err);
    return NULL;
}

void path_types_give(struct path_checker *c, struct path_types *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        t->bits[t->op[i] / 64] = 0;
    t->n = 0;
    t->free = c->free;
    c->free = t;
}

enum rc path_types_add(struct path_checker *c, struct path_types *t, uint32_t op)
{
    uint64_t bit = UINT64_C(1) << op % 64;
    if (--c->work < 0)
        return err_set(c->err, ERR_TOO_MUCH_WORK,
                       "The path has too many steps for a schema of so many types.");
    if (!(t->bits[op / 64] & bit)) {
        t->bits[op / 64] |= bit;
        t->op[t->n++] = op;
    }
    return RC_OK;
}

enum rc path_types_add_all(struct path_checker *c, struct path_types *t, const struct path_types *more)
{
    for (uint32_t i = 0; i < more->n; i++)
        if (path_types_add(c, t, more->op[i]))
            return RC_ERR;
    return RC_OK;
}

/* ---- what is inside a type ---- */

enum { IN_UNION = 1, IN_ARRAY = 2, IN_MAP = 4, IN_RECORD = 8 };

static enum rc add_fields(struct path_checker *c, struct path_types *t, const struct op *op)
{
    const struct op_field *f = c->program->fields + op->a;
    for (uint32_t i = 0; i < op->b; i++)
        if (path_types_add(c, t, f[i].op))
            return RC_ERR;
    return RC_OK;
}

static enum rc add_branches(struct path_checker *c, struct path_types *t, const struct op *op)
{
    const struct op_branch *b = c->program->branches + op->a;
    for (uint32_t i = 0; i < op->b; i++)
        if (path_types_add(c, t, b[i].op))
            return RC_ERR;
    return RC_OK;
}

static enum rc add_parts(struct path_checker *c, struct path_types *t, const struct op *op, unsigned in)
{
    switch (op->code) {
    case OP_UNION: return in & IN_UNION ? add_branches(c, t, op) : RC_OK;
    case OP_ARRAY: return in & IN_ARRAY ? path_types_add(c, t, op->a) : RC_OK;
    case OP_MAP: return in & IN_MAP ? path_types_add(c, t, op->a) : RC_OK;
    case OP_RECORD: return in & IN_RECORD ? add_fields(c, t, op) : RC_OK;
    default: return RC_OK;
    }
}

/* Add what is inside of those, and inside of that ... */
static enum rc close_over(struct path_checker *c, struct path_types *t, unsigned in)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (add_parts(c, t, &c->program->ops[t->op[i]], in))
            return RC_ERR;
    return RC_OK;
}

/* ---- steps ---- */

static enum rc find_fields(struct path_checker *c, const struct path_step *s, const struct path_types *from,
                           struct path_types *to)
{
    const struct program *p = c->program;
    int name_bytes = (int)(s->name.len < 100 ? s->name.len : 100);
    for (uint32_t i = 0; i < from->n; i++) {
        const struct op *op = &p->ops[from->op[i]];
        int field = op->code == OP_RECORD ? program_field(p, op, s->name) : -1;
        if (field >= 0 && path_types_add(c, to, p->fields[op->a + (uint32_t)field].op))
            return RC_ERR;
    }
    return to->n ? RC_OK
                 : path_fault(c->err, s->column, "no record there has a field '%.*s'.", name_bytes,
                              (const char *)s->name.ptr);
}

/* To the parts of all of them. */
static enum rc find_parts(struct path_checker *c, const struct path_types *from, struct path_types *to,
                          unsigned in)
{
    for (uint32_t i = 0; i < from->n; i++)
        if (add_parts(c, to, &c->program->ops[from->op[i]], in))
            return RC_ERR;
    return RC_OK;
}

static enum rc find_keys(struct path_checker *c, const struct path_step *s, const struct path_types *from,
                         struct path_types *to)
{
    if (find_parts(c, from, to, IN_MAP | IN_RECORD))
        return RC_ERR;
    return to->n ? RC_OK : path_fault(c->err, s->column, "there is no map here whose keys these could be.");
}

/* How far it looks through what it stands before. */
static unsigned through(enum path_step_kind kind)
{
    switch (kind) {
    case STEP_DEEP_FIELD:
    case STEP_DEEP_ALL: return IN_UNION | IN_ARRAY | IN_MAP | IN_RECORD;
    case STEP_FIELD:
    case STEP_ALL:
    case STEP_KEYS: return IN_UNION | IN_ARRAY;
    case STEP_INDEX:
    case STEP_SLICE:
    case STEP_WHERE: return IN_UNION;
    default: return 0;
    }
}

static enum rc step(struct path_checker *c, const struct path_step *s, struct path_types *from,
                    struct path_types *to)
{
    if (close_over(c, from, through(s->kind)))
        return RC_ERR;
    switch (s->kind) {
    case STEP_FIELD:
    case STEP_DEEP_FIELD: return find_fields(c, s, from, to);
    case STEP_ALL:
    case STEP_DEEP_ALL: return find_parts(c, from, to, IN_RECORD | IN_MAP);
    case STEP_KEYS: return find_keys(c, s, from, to);
    case STEP_WHERE: /* an item, or what kept it once more */
        return path_types_add_all(c, to, from) ? RC_ERR : find_parts(c, from, to, IN_ARRAY | IN_MAP);
    case STEP_INDEX:
    case STEP_SLICE: return path_types_add_all(c, to, from) ? RC_ERR : find_parts(c, from, to, IN_ARRAY);
    default: return path_types_add_all(c, to, from);
    }
}

enum rc path_types_step(struct path_checker *c, const struct path_step *s, struct path_types **types)
{
    struct path_types *to = path_types_take(c);
    if (!to)
        return RC_ERR;
    enum rc rc = step(c, s, *types, to);
    path_types_give(c, *types);
    *types = to;
    return rc;
}

bool path_union_has(const struct program *p, uint32_t op, enum opcode code)
{
    const struct op *u = &p->ops[op];
    const struct op_branch *b = p->branches + u->a;
    for (uint32_t i = 0; u->code == OP_UNION && i < u->b; i++)
        if (p->ops[b[i].op].code == code)
            return true;
    return false;
}

bool path_types_have(const struct path_checker *c, const struct path_types *t, enum opcode code)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (c->program->ops[t->op[i]].code == code || path_union_has(c->program, t->op[i], code))
            return true;
    return false;
}
