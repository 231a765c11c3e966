/* schema/path/path_compute.c - arithmetic of predicates: exact as long as it is about integers that fit 64 bits, else with doubles. */
#include <math.h>

#include "schema/path/path_atom.h"

/* False: it is no integer, or not one of 64 bits. */
static bool compute_integers(enum path_op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case PATH_OP_PLUS: return !__builtin_add_overflow(a, b, out);
    case PATH_OP_MINUS: return !__builtin_sub_overflow(a, b, out);
    case PATH_OP_TIMES: return !__builtin_mul_overflow(a, b, out);
    default: break;
    }
    if (b == 0 || b == -1) /* -1: the least one would overflow */
        return false;
    *out = op == PATH_OP_DIVIDE ? a / b : a % b;
    return op == PATH_OP_MODULO || a % b == 0;
}

static double compute_doubles(enum path_op op, double a, double b)
{
    switch (op) {
    case PATH_OP_PLUS: return a + b;
    case PATH_OP_MINUS: return a - b;
    case PATH_OP_TIMES: return a * b;
    case PATH_OP_DIVIDE: return a / b;
    default: return fmod(a, b);
    }
}

static double double_of(const struct atom *a)
{
    return a->kind == ATOM_INTEGER ? (double)a->integer : a->number;
}

/* Where one of them is a text, + puts them one behind the other. What has none is null, or {}. */
static enum rc join(struct path_run *r, const struct atom *a, const struct atom *b, struct atom *out)
{
    struct slice x, y;
    bool has_x, has_y;
    if (atom_to_text(r, a, &x, &has_x) || atom_to_text(r, b, &y, &has_y))
        return RC_ERR;
    if (datum_pay(r->d, (x.len + y.len) * COST_TEXT_MADE, r->err))
        return RC_ERR;
    uint8_t *text = arena_alloc(&r->texts, x.len + y.len);
    if (!text)
        return err_oom(r->err);
    if (x.len)
        memcpy(text, x.ptr, x.len);
    if (y.len)
        memcpy(text + x.len, y.ptr, y.len);
    *out = (struct atom){.kind = ATOM_TEXT, .text = slice_of(text, x.len + y.len)};
    return RC_OK;
}

enum rc atom_compute(struct path_run *r, enum path_op op, const struct atom *a, const struct atom *b,
                     struct atom *out)
{
    struct atom x, y;
    if (op == PATH_OP_PLUS && (a->kind == ATOM_TEXT || b->kind == ATOM_TEXT))
        return join(r, a, b, out);
    if (datum_pay(r->d, COST_COMPARE, r->err) || atom_to_number(r, a, &x) || atom_to_number(r, b, &y))
        return RC_ERR;
    out->kind = ATOM_INTEGER;
    if (x.kind == ATOM_INTEGER && y.kind == ATOM_INTEGER &&
        compute_integers(op, x.integer, y.integer, &out->integer))
        return RC_OK;
    *out = (struct atom){.kind = ATOM_DOUBLE, .number = compute_doubles(op, double_of(&x), double_of(&y))};
    return RC_OK;
}
