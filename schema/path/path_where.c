/* schema/path/path_where.c - predicates: expressions over lists of values and single ones. It calls itself as deep as the parser has
 * let expressions nest. */
#include "schema/path/path_atom.h"

/* What an expression comes to: one thing, or a list on the run's stack. */
struct operand {
    bool is_list;
    uint32_t begin, n;
    struct atom atom;
};

static enum rc eval(struct path_run *r, const struct path_expr *e, struct value *item, struct operand *out);

static bool is_true(const struct operand *o)
{
    return o->is_list ? o->n > 0 : atom_is_true(&o->atom);
}

static struct operand truth(bool holds)
{
    return (struct operand){.atom = {.kind = ATOM_BOOLEAN, .boolean = holds}};
}

static enum rc eval_way(struct path_run *r, const struct path_expr *e, struct value *item,
                        struct operand *out)
{
    struct path_found found;
    if (path_run_way(r, e->way, item, &found) || path_run_flatten(r, &found))
        return RC_ERR;
    *out = (struct operand){.is_list = true, .begin = found.begin, .n = r->found.n - found.begin};
    return RC_OK;
}

/* ---- comparisons ---- */

static uint32_t count(const struct operand *o)
{
    return o->is_list ? o->n : 1;
}

static enum rc atom_at(struct path_run *r, const struct operand *o, uint32_t i, struct atom *a)
{
    if (o->is_list)
        return atom_of_value(r, r->found.at[o->begin + i], a);
    *a = o->atom;
    return RC_OK;
}

/* It holds if it does of any two. */
static enum rc compare(struct path_run *r, enum path_op op, const struct operand *a, const struct operand *b,
                       bool *holds)
{
    *holds = false;
    for (uint32_t i = 0; i < count(a); i++) {
        struct atom x, y;
        if (atom_at(r, a, i, &x))
            return RC_ERR;
        for (uint32_t k = 0; k < count(b); k++)
            if (atom_at(r, b, k, &y) || atom_compare(r, op, &x, &y, holds))
                return RC_ERR;
            else if (*holds)
                return RC_OK;
    }
    return RC_OK;
}

/* ---- arithmetic ---- */

/* With the first of a list; without one there is nothing to compute with, and what comes of it is nothing. */
static enum rc compute(struct path_run *r, enum path_op op, const struct operand *a, const struct operand *b,
                       struct operand *out)
{
    struct atom x, y;
    *out = (struct operand){.is_list = true};
    if (!count(a) || !count(b))
        return RC_OK;
    out->is_list = false;
    if (atom_at(r, a, 0, &x) || atom_at(r, b, 0, &y))
        return RC_ERR;
    return atom_compute(r, op, &x, &y, &out->atom);
}

static enum rc negate(struct path_run *r, const struct operand *a, struct operand *out)
{
    const struct operand minus = {.atom = {.kind = ATOM_INTEGER, .integer = -1}};
    return compute(r, PATH_OP_TIMES, a, &minus, out);
}

/* ---- expressions ---- */

static enum rc eval_chain(struct path_run *r, const struct path_expr *e, struct value *item,
                          struct operand *out)
{
    bool ends_at = e->op == PATH_OP_OR;
    for (const struct path_expr *a = e->operands; a; a = a->next) {
        uint32_t before = r->found.n;
        if (eval(r, a, item, out))
            return RC_ERR;
        bool holds = is_true(out);
        r->found.n = before;
        *out = truth(holds);
        if (holds == ends_at)
            break;
    }
    return RC_OK;
}

static enum rc eval_two(struct path_run *r, const struct path_expr *e, struct value *item,
                        struct operand *out)
{
    struct operand a, b;
    bool holds;
    if (e->op == PATH_OP_OR || e->op == PATH_OP_AND)
        return eval_chain(r, e, item, out);
    if (eval(r, e->operands, item, &a) || eval(r, e->last, item, &b))
        return RC_ERR;
    if (path_op_precedence(e->op) > path_op_precedence(PATH_OP_LESS))
        return compute(r, e->op, &a, &b, out);
    if (compare(r, e->op, &a, &b, &holds))
        return RC_ERR;
    *out = truth(holds);
    return RC_OK;
}

static enum rc eval_one(struct path_run *r, const struct path_expr *e, struct value *item,
                        struct operand *out)
{
    struct operand a;
    if (eval(r, e->operands, item, &a))
        return RC_ERR;
    if (e->kind == EXPR_MINUS)
        return negate(r, &a, out);
    *out = truth(!is_true(&a));
    return RC_OK;
}

static enum rc eval(struct path_run *r, const struct path_expr *e, struct value *item, struct operand *out)
{
    if (datum_pay(r->d, COST_VISIT, r->err))
        return RC_ERR;
    switch (e->kind) {
    case EXPR_ATOM: *out = (struct operand){.atom = e->atom}; return RC_OK;
    case EXPR_WAY: return eval_way(r, e, item, out);
    case EXPR_TWO: return eval_two(r, e, item, out);
    default: return eval_one(r, e, item, out);
    }
}

enum rc path_where(struct path_run *r, const struct path_expr *e, struct value *item, bool *holds)
{
    struct operand out;
    uint32_t before = r->found.n;
    r->wheres++;
    if (eval(r, e, item, &out))
        return RC_ERR;
    *holds = is_true(&out);
    r->found.n = before;
    if (--r->wheres == 0)
        arena_reset(&r->texts);
    return RC_OK;
}
