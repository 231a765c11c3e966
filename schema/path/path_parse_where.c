/* schema/path/path_parse_where.c - predicates, by precedence climbing. A parenthesis may hold an expression, or begin a path: what
 * stands in it and behind it tells. */
#include "schema/path/path_parse.h"

#include "base/limits.h"
#include "base/num.h"

static enum rc parse_expr(struct path_parser *p, const struct path_types *item, unsigned precedence,
                          struct path_expr **out);

static struct path_expr *expr_new(struct path_parser *p, enum path_expr_kind kind)
{
    struct path_expr *e = arena_calloc(p->arena, 1, sizeof *e);
    if (!e)
        err_oom(p->err);
    else
        *e = (struct path_expr){.kind = kind, .depth = 1};
    return e;
}

/* ---- atoms ---- */

static enum rc atom_of(struct path_parser *p, const struct token *t, struct atom *a)
{
    if (t->kind == TOKEN_STRING) {
        *a = (struct atom){.kind = ATOM_TEXT, .text = t->text};
    } else if (t->kind == TOKEN_WORD) {
        *a = (struct atom){.kind = t->text.ptr[0] == 'n' ? ATOM_NULL : ATOM_BOOLEAN,
                           .boolean = t->text.ptr[0] == 't'};
    } else if (num_parse_i64(t->text, &a->integer) == NUM_INTEGER) {
        a->kind = ATOM_INTEGER;
    } else {
        a->kind = ATOM_DOUBLE;
        if (!num_parse_double(t->text, &a->number))
            return path_fault(p->err, t->column, "a number beyond what a double holds.");
    }
    return RC_OK;
}

static enum rc parse_atom(struct path_parser *p, struct path_expr **out)
{
    struct path_expr *e = *out = expr_new(p, EXPR_ATOM);
    return e && atom_of(p, &p->token, &e->atom) == RC_OK ? path_next(p) : RC_ERR;
}

/* ---- paths ---- */

static enum rc parse_way(struct path_parser *p, const struct path_types *item, struct path_step *first,
                         struct path_expr **out)
{
    struct path_expr *e = *out = expr_new(p, EXPR_WAY);
    if (!e || path_parse_way(p, item, first, &e->way, NULL))
        return RC_ERR;
    e->depth = e->way->depth + 1;
    return RC_OK;
}

/* What stood behind a parenthesis may be the first of keys or alternatives, the only one even, if more steps follow. */
static enum rc parse_way_of(struct path_parser *p, const struct path_types *item, uint32_t column,
                            struct path_expr **inner)
{
    struct path_step *s = arena_calloc(p->arena, 1, sizeof *s);
    bool is_key = (*inner)->kind == EXPR_ATOM;
    if (!s)
        return err_oom(p->err);
    s->column = column;
    if (is_key ? path_parse_keys(p, &(*inner)->atom.text, s) : path_parse_either(p, item, (*inner)->way, s))
        return RC_ERR;
    bool is_list = is_key ? s->keys->next != NULL : s->ways->next != NULL;
    return is_list || path_at_step(p) ? parse_way(p, item, s, inner) : RC_OK;
}

static bool may_begin_way(const struct path_expr *e)
{
    return e->kind == EXPR_WAY || (e->kind == EXPR_ATOM && e->atom.kind == ATOM_TEXT);
}

static enum rc parse_group(struct path_parser *p, const struct path_types *item, struct path_expr **out)
{
    uint32_t column = p->token.column;
    if (path_next(p))
        return RC_ERR;
    if (path_at_mark(p, '~')) { /* keys of a map, for certain */
        struct path_step *s = arena_calloc(p->arena, 1, sizeof *s);
        if (!s)
            return err_oom(p->err);
        s->column = column;
        return path_parse_keys(p, NULL, s) ? RC_ERR : parse_way(p, item, s, out);
    }
    if (path_enter(p) || parse_expr(p, item, 1, out))
        return RC_ERR;
    path_leave(p);
    return may_begin_way(*out) ? parse_way_of(p, item, column, out) : path_expect(p, ')', "(");
}

/* ---- operands ---- */

static enum rc parse_operand(struct path_parser *p, const struct path_types *item, struct path_expr **out)
{
    switch (p->token.kind) {
    case TOKEN_NUMBER:
    case TOKEN_STRING:
    case TOKEN_WORD: return parse_atom(p, out);
    case TOKEN_STEP: return parse_way(p, item, NULL, out);
    case TOKEN_MARK:
        if (path_at_mark(p, '('))
            return parse_group(p, item, out);
        if (path_at_mark(p, '^') || path_at_step(p))
            return parse_way(p, item, NULL, out);
        break;
    default: break;
    }
    return path_unexpected(p, "a number, a text or a path");
}

static void add_operand(struct path_expr *e, struct path_expr *operand)
{
    *(e->last ? &e->last->next : &e->operands) = operand;
    e->last = operand;
    e->depth = operand->depth + 1 > e->depth ? operand->depth + 1 : e->depth;
}

static enum rc check_depth(struct path_parser *p, const struct path_expr *e, uint32_t column)
{
    if (e->depth <= LIMIT_PATH_DEPTH_MAX)
        return RC_OK;
    return path_fault(p->err, column, "more than %d levels inside of each other.", LIMIT_PATH_DEPTH_MAX);
}

/* The sign of a number is part of it. Minus zero is a double, zero is none. */
static bool negate_number(struct path_expr *e)
{
    if (e->kind != EXPR_ATOM || (e->atom.kind != ATOM_INTEGER && e->atom.kind != ATOM_DOUBLE))
        return false;
    bool is_integer = e->atom.kind == ATOM_INTEGER;
    if (is_integer && e->atom.integer)
        e->atom.integer = -e->atom.integer;
    else if (is_integer)
        e->atom = (struct atom){.kind = ATOM_DOUBLE, .number = -0.0};
    else if (e->atom.number == 0)
        e->atom = (struct atom){.kind = ATOM_INTEGER, .integer = 0};
    else
        e->atom.number = -e->atom.number;
    return true;
}

static enum rc parse_unary(struct path_parser *p, const struct path_types *item, struct path_expr **out)
{
    bool is_minus = p->token.kind == TOKEN_OP && p->token.op == PATH_OP_MINUS;
    uint32_t column = p->token.column;
    struct path_expr *operand;
    if (!is_minus && p->token.kind != TOKEN_NOT)
        return parse_operand(p, item, out);
    if (path_enter(p) || path_next(p) || parse_unary(p, item, &operand))
        return RC_ERR;
    path_leave(p);
    *out = operand;
    if (is_minus && negate_number(operand))
        return RC_OK;
    struct path_expr *e = *out = expr_new(p, is_minus ? EXPR_MINUS : EXPR_NOT);
    if (!e)
        return RC_ERR;
    add_operand(e, operand);
    return check_depth(p, e, column);
}

/* ---- operators ---- */

static bool is_chain(const struct path_expr *e, enum path_op op)
{
    return (op == PATH_OP_OR || op == PATH_OP_AND) && e->kind == EXPR_TWO && e->op == op;
}

static enum rc join(struct path_parser *p, enum path_op op, struct path_expr **left, struct path_expr *right,
                    uint32_t column)
{
    struct path_expr *e = *left;
    if (!is_chain(e, op)) {
        if (!(e = expr_new(p, EXPR_TWO)))
            return RC_ERR;
        e->op = op;
        add_operand(e, *left);
    }
    add_operand(e, right);
    *left = e;
    return check_depth(p, e, column);
}

/* Operators that bind at least so strongly. */
static enum rc parse_expr(struct path_parser *p, const struct path_types *item, unsigned precedence,
                          struct path_expr **out)
{
    if (parse_unary(p, item, out))
        return RC_ERR;
    while (p->token.kind == TOKEN_OP && path_op_precedence(p->token.op) >= precedence) {
        enum path_op op = p->token.op;
        uint32_t column = p->token.column;
        struct path_expr *right;
        if (path_next(p) || parse_expr(p, item, path_op_precedence(op) + 1, &right) ||
            join(p, op, out, right, column))
            return RC_ERR;
    }
    return RC_OK;
}

enum rc path_parse_where(struct path_parser *p, const struct path_types *item, struct path_expr **out)
{
    if (path_enter(p) || parse_expr(p, item, 1, out))
        return RC_ERR;
    path_leave(p);
    return RC_OK;
}
