/* schema/path/path_print.c - a parsed path as text again: for tests, and for people. */
#include "base/json_quote.h"
#include "base/num.h"
#include "schema/path/path.h"

/* Sticky: after the first failed append the rest is skipped. */
struct out {
    struct buf *buf;
    bool ok;
};

static void print_way(struct out *, const struct path_way *);
static void print_expr(struct out *, const struct path_expr *);

static void put(struct out *o, struct slice s)
{
    o->ok = o->ok && buf_append(o->buf, s);
}

static void put_text(struct out *o, struct slice s)
{
    o->ok = o->ok && json_quote(s, o->buf);
}

static void put_integer(struct out *o, int64_t n)
{
    uint8_t digits[NUM_I64_MAX_CHARS];
    put(o, slice_of(digits, num_print_i64(n, digits)));
}

/* ---- predicates ---- */

static void print_atom(struct out *o, const struct atom *a)
{
    uint8_t digits[NUM_DOUBLE_MAX_CHARS];
    switch (a->kind) {
    case ATOM_BOOLEAN: put(o, a->boolean ? SLICE("true") : SLICE("false")); break;
    case ATOM_INTEGER: put_integer(o, a->integer); break;
    case ATOM_DOUBLE: put(o, slice_of(digits, num_print_double(a->number, digits))); break;
    case ATOM_TEXT: put_text(o, a->text); break;
    default: put(o, SLICE("null"));
    }
}

static void print_operand(struct out *o, const struct path_expr *e, bool in_parens)
{
    if (in_parens)
        put(o, SLICE("("));
    print_expr(o, e);
    if (in_parens)
        put(o, SLICE(")"));
}

static void print_two(struct out *o, const struct path_expr *e)
{
    unsigned outer = path_op_precedence(e->op);
    for (const struct path_expr *a = e->operands; a; a = a->next) {
        bool is_first = a == e->operands;
        unsigned inner = a->kind == EXPR_TWO ? path_op_precedence(a->op) : UINT32_MAX;
        if (!is_first) {
            put(o, SLICE(" "));
            put(o, path_op_text(e->op));
            put(o, SLICE(" "));
        }
        print_operand(o, a, is_first ? inner < outer : inner <= outer);
    }
}

static void print_expr(struct out *o, const struct path_expr *e)
{
    switch (e->kind) {
    case EXPR_ATOM: print_atom(o, &e->atom); break;
    case EXPR_WAY: print_way(o, e->way); break;
    case EXPR_TWO: print_two(o, e); break;
    case EXPR_NOT:
    case EXPR_MINUS:
        put(o, e->kind == EXPR_NOT ? SLICE("!") : SLICE("-"));
        print_operand(o, e->operands, e->operands->kind == EXPR_TWO);
    }
}

/* ---- steps ---- */

static void print_keys(struct out *o, const struct path_key *keys)
{
    for (const struct path_key *k = keys; k; k = k->next) {
        put(o, k == keys ? SLICE("(") : SLICE("|"));
        if (k->regex)
            put(o, SLICE("~"));
        put_text(o, k->text);
    }
    put(o, SLICE(")"));
}

static void print_either(struct out *o, const struct path_way *ways)
{
    for (const struct path_way *w = ways; w; w = w->next) {
        put(o, w == ways ? SLICE("(") : SLICE("|"));
        print_way(o, w);
    }
    put(o, SLICE(")"));
}

static void print_positions(struct out *o, const struct path_step *s)
{
    put(o, SLICE("["));
    if (s->has_from)
        put_integer(o, s->from);
    if (s->kind == STEP_SLICE)
        put(o, SLICE(":"));
    if (s->has_to)
        put_integer(o, s->to);
    put(o, SLICE("]"));
}

static void print_step(struct out *o, const struct path_step *s)
{
    switch (s->kind) {
    case STEP_SELF: put(o, SLICE(".")); break;
    case STEP_ALL: put(o, SLICE(".*")); break;
    case STEP_DEEP_ALL: put(o, SLICE("..*")); break;
    case STEP_FIELD:
    case STEP_DEEP_FIELD:
        put(o, s->kind == STEP_FIELD ? SLICE(".") : SLICE(".."));
        put(o, s->name);
        break;
    case STEP_EITHER: print_either(o, s->ways); break;
    case STEP_KEYS: print_keys(o, s->keys); break;
    case STEP_INDEX:
    case STEP_SLICE: print_positions(o, s); break;
    case STEP_WHERE:
        put(o, SLICE("{"));
        print_expr(o, s->expr);
        put(o, SLICE("}"));
    }
}

static void print_way(struct out *o, const struct path_way *way)
{
    if (way->is_from_root)
        put(o, SLICE("^"));
    for (const struct path_step *s = way->first; s; s = s->next)
        print_step(o, s);
}

bool path_print(const struct path *path, struct buf *out)
{
    struct out o = {out, true};
    print_way(&o, path->way);
    return o.ok;
}
