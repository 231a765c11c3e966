/* schema/path/path_compare.c - two scalars, compared: by value or by kind as well, and texts by what is in them. */
#include <math.h>

#include "base/lower.h"
#include "schema/path/path_atom.h"

enum order { ORDER_LESS, ORDER_EQUAL, ORDER_MORE, ORDER_NONE };

/* ---- numbers ---- */

static enum order order_of_doubles(double a, double b)
{
    return a < b ? ORDER_LESS : a > b ? ORDER_MORE : a == b ? ORDER_EQUAL : ORDER_NONE;
}

/* Exactly: not every long is a double. */
static enum order order_of_mixed(int64_t a, double b)
{
    if (isnan(b))
        return ORDER_NONE;
    if (b >= 0x1p63)
        return ORDER_LESS;
    if (b < -0x1p63)
        return ORDER_MORE;
    int64_t whole = (int64_t)b;
    return a == whole ? order_of_doubles(0, b - (double)whole) : a < whole ? ORDER_LESS : ORDER_MORE;
}

static enum order reverse(enum order o)
{
    return o == ORDER_LESS ? ORDER_MORE : o == ORDER_MORE ? ORDER_LESS : o;
}

static enum order order_of_numbers(const struct atom *a, const struct atom *b)
{
    if (a->kind == ATOM_DOUBLE)
        return b->kind == ATOM_DOUBLE ? order_of_doubles(a->number, b->number)
                                      : reverse(order_of_mixed(b->integer, a->number));
    if (b->kind == ATOM_DOUBLE)
        return order_of_mixed(a->integer, b->number);
    return a->integer < b->integer ? ORDER_LESS : a->integer > b->integer ? ORDER_MORE : ORDER_EQUAL;
}

static enum rc order_as_numbers(struct path_run *r, const struct atom *a, const struct atom *b,
                                enum order *out)
{
    struct atom x, y;
    if (atom_to_number(r, a, &x) || atom_to_number(r, b, &y))
        return RC_ERR;
    *out = order_of_numbers(&x, &y);
    return RC_OK;
}

static bool is_number(const struct atom *a)
{
    return a->kind == ATOM_INTEGER || a->kind == ATOM_DOUBLE;
}

static enum rc pay_texts(struct path_run *r, struct slice a, struct slice b)
{
    return datum_pay(r->d, (a.len + b.len) * COST_TEXT_BYTE, r->err);
}

/* ---- equal ---- */

static enum rc same(struct path_run *r, const struct atom *a, const struct atom *b, bool *holds)
{
    if (is_number(a) && is_number(b)) {
        *holds = order_of_numbers(a, b) == ORDER_EQUAL;
        return RC_OK;
    }
    *holds = a->kind == b->kind;
    if (!*holds || a->kind == ATOM_NULL)
        return RC_OK;
    if (a->kind == ATOM_PARTS)
        return value_equal(r->d, a->parts, b->parts, holds, r->err);
    *holds = a->kind == ATOM_BOOLEAN ? a->boolean == b->boolean : slice_eq(a->text, b->text);
    return a->kind == ATOM_BOOLEAN ? RC_OK : pay_texts(r, a->text, b->text);
}

/* null is null only. */
static enum rc equal(struct path_run *r, const struct atom *a, const struct atom *b, bool *holds)
{
    enum order order;
    *holds = false;
    if (a->kind == ATOM_TEXT && b->kind == ATOM_TEXT) {
        *holds = lower_equal(a->text, b->text);
        return pay_texts(r, a->text, b->text);
    }
    if (a->kind == b->kind)
        return same(r, a, b, holds);
    if (a->kind == ATOM_NULL || b->kind == ATOM_NULL || a->kind == ATOM_PARTS || b->kind == ATOM_PARTS)
        return RC_OK;
    if (order_as_numbers(r, a, b, &order))
        return RC_ERR;
    *holds = order == ORDER_EQUAL;
    return RC_OK;
}

/* ---- less and more ---- */

static enum rc order_of(struct path_run *r, const struct atom *a, const struct atom *b, enum order *out)
{
    if (a->kind != ATOM_TEXT || b->kind != ATOM_TEXT)
        return order_as_numbers(r, a, b, out);
    int c = slice_cmp(slice_not_null(a->text), slice_not_null(b->text));
    *out = c < 0 ? ORDER_LESS : c > 0 ? ORDER_MORE : ORDER_EQUAL;
    return pay_texts(r, a->text, b->text);
}

static bool order_holds(enum path_op op, enum order o)
{
    switch (op) {
    case PATH_OP_LESS: return o == ORDER_LESS;
    case PATH_OP_LESS_EQUAL: return o == ORDER_LESS || o == ORDER_EQUAL;
    case PATH_OP_MORE: return o == ORDER_MORE;
    default: return o == ORDER_MORE || o == ORDER_EQUAL;
    }
}

/* ---- texts ---- */

static enum rc lower(struct path_run *r, struct slice *text)
{
    if (datum_pay(r->d, text->len * COST_TEXT_MADE, r->err))
        return RC_ERR;
    uint8_t *out = arena_alloc(&r->texts, lower_bytes_max(text->len));
    if (!out)
        return err_oom(r->err);
    *text = slice_of(out, lower_text(*text, out));
    return RC_OK;
}

static bool text_holds(enum path_op op, struct slice a, struct slice b)
{
    if (a.len < b.len)
        return false;
    switch (op) {
    case PATH_OP_BEGINS:
    case PATH_OP_BEGINS_ANY_CASE: return slice_starts(a, b);
    case PATH_OP_ENDS:
    case PATH_OP_ENDS_ANY_CASE: return slice_starts(slice_of(a.ptr + a.len - b.len, b.len), b);
    default: return b.len == 0 || memmem(a.ptr, a.len, b.ptr, b.len);
    }
}

static enum rc compare_texts(struct path_run *r, enum path_op op, struct slice a, struct slice b,
                             bool any_case, bool *holds)
{
    if (pay_texts(r, a, b) || (any_case && (lower(r, &a) || lower(r, &b))))
        return RC_ERR;
    *holds = text_holds(op, slice_not_null(a), slice_not_null(b));
    return RC_OK;
}

/* With regard to case only texts, without it whatever has one. */
static enum rc compare_as_texts(struct path_run *r, enum path_op op, const struct atom *a,
                                const struct atom *b, bool *holds)
{
    bool any_case =
        op == PATH_OP_BEGINS_ANY_CASE || op == PATH_OP_ENDS_ANY_CASE || op == PATH_OP_HOLDS_ANY_CASE;
    bool has_a, has_b;
    struct slice x, y;
    *holds = false;
    if (!any_case && (a->kind != ATOM_TEXT || b->kind != ATOM_TEXT))
        return RC_OK;
    if (atom_to_text(r, a, &x, &has_a) || atom_to_text(r, b, &y, &has_b))
        return RC_ERR;
    return has_a && has_b ? compare_texts(r, op, x, y, any_case, holds) : RC_OK;
}

/* ---- all of them ---- */

static enum rc compare_by_order(struct path_run *r, enum path_op op, const struct atom *a,
                                const struct atom *b, bool *holds)
{
    enum order order;
    if (order_of(r, a, b, &order))
        return RC_ERR;
    *holds = order_holds(op, order);
    return RC_OK;
}

enum rc atom_compare(struct path_run *r, enum path_op op, const struct atom *a, const struct atom *b,
                     bool *holds)
{
    enum rc rc;
    if (datum_pay(r->d, COST_COMPARE, r->err))
        return RC_ERR;
    switch (op) {
    case PATH_OP_SAME: return same(r, a, b, holds);
    case PATH_OP_EQUAL: return equal(r, a, b, holds);
    case PATH_OP_NOT_SAME:
        rc = same(r, a, b, holds);
        *holds = !*holds;
        return rc;
    case PATH_OP_NOT_EQUAL:
        rc = equal(r, a, b, holds);
        *holds = !*holds;
        return rc;
    case PATH_OP_LESS:
    case PATH_OP_LESS_EQUAL:
    case PATH_OP_MORE:
    case PATH_OP_MORE_EQUAL: return compare_by_order(r, op, a, b, holds);
    default: return compare_as_texts(r, op, a, b, holds);
    }
}
