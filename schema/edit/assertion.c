/* schema/edit/assertion.c - see assertion.h. */
#include "schema/assertion.h"

#include <math.h>

#include "base/num.h"
#include "schema/edit/edit_pointer.h"
#include "schema/json_members.h"
#include "schema/schema.h"
#include "schema/value/value.h"

struct assertion {
    const struct schema *schema;
    struct codec_opts opts; /* nothing is filled in or left out */
    struct slice pointer, json;
    enum comparison is;
};

/* How what is there stands to what is asked for. */
enum order { ORDER_BELOW, ORDER_SAME, ORDER_ABOVE, ORDER_NONE };

/* ---- comparisons ---- */

#define TEXT(s)                                                                                              \
    {                                                                                                        \
        (const uint8_t *)(s), sizeof(s) - 1                                                                  \
    }
static const struct {
    struct slice text;
    bool by_order[4]; /* enum order */
} comparisons[] = {
    [IS_EQUAL] = {TEXT("="), {[ORDER_SAME] = true}},
    [IS_OTHER] = {TEXT("!="), {[ORDER_BELOW] = true, [ORDER_ABOVE] = true, [ORDER_NONE] = true}},
    [IS_BELOW] = {TEXT("<"), {[ORDER_BELOW] = true}},
    [IS_AT_MOST] = {TEXT("<="), {[ORDER_BELOW] = true, [ORDER_SAME] = true}},
    [IS_ABOVE] = {TEXT(">"), {[ORDER_ABOVE] = true}},
    [IS_AT_LEAST] = {TEXT(">="), {[ORDER_ABOVE] = true, [ORDER_SAME] = true}},
};

bool comparison_find(struct slice text, enum comparison *out)
{
    for (size_t i = 0; i < ARRAY_LEN(comparisons); i++)
        if (slice_eq(comparisons[i].text, text)) {
            *out = (enum comparison)i;
            return true;
        }
    return false;
}

/* ---- preparing ---- */

/* A misspelled field of the record itself would make a claim that never holds, or always. */
static enum rc check_field(const struct schema *schema, struct slice pointer, struct err *err)
{
    const struct program *p = schema_program(schema);
    if (!pointer.len || p->ops[p->root].code != OP_RECORD || memchr(pointer.ptr, '~', pointer.len))
        return RC_OK;
    struct slice name = slice_of(pointer.ptr + 1, pointer.len - 1);
    const uint8_t *slash = memchr(name.ptr, '/', name.len);
    if (slash)
        name.len = (size_t)(slash - name.ptr);
    if (schema_field(schema, name) >= 0)
        return RC_OK;
    return err_set(err, ERR_NOT_APPLICABLE,
                   "The pointer leads nowhere: no record of this type has its field.");
}

enum rc assertion_of(struct assertion **out, const struct schema *schema, const struct codec_opts *opts,
                     struct slice pointer, enum comparison is, struct slice json, struct arena *arena,
                     struct err *err)
{
    if (!pointer_is_valid(pointer))
        return err_set(err, ERR_BAD_PATH,
                       "The pointer is no JSON Pointer (RFC 6901): empty, or \"/\" and a name.");
    if (check_field(schema, pointer, err) != RC_OK)
        return RC_ERR;
    struct assertion *a = arena_alloc(arena, sizeof *a);
    if (!a)
        return err_oom(err);
    *a =
        (struct assertion){.schema = schema,
                           .opts = {.form = opts->form, .missing = MISSING_REJECT, .unknown = UNKNOWN_REJECT},
                           .pointer = pointer,
                           .json = json_trim(json),
                           .is = is};
    *out = a;
    return RC_OK;
}

/* ---- numbers ---- */

struct number {
    bool is_double;
    int64_t i;
    double d;
};

static enum order order_of_longs(int64_t a, int64_t b)
{
    return a < b ? ORDER_BELOW : a > b ? ORDER_ABOVE : ORDER_SAME;
}

static enum order order_of_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? ORDER_SAME : ORDER_NONE;
    return a < b ? ORDER_BELOW : a > b ? ORDER_ABOVE : ORDER_SAME;
}

/* Exact: what has a fraction is below 2^53, and so is its floor. */
static enum order order_long_to_double(int64_t a, double b)
{
    static const double beyond = 9223372036854775808.0; /* 2^63 */
    if (isnan(b))
        return ORDER_NONE;
    if (b >= beyond)
        return ORDER_BELOW;
    if (b < -beyond)
        return ORDER_ABOVE;
    enum order o = order_of_longs(a, (int64_t)floor(b));
    return o == ORDER_SAME && floor(b) != b ? ORDER_BELOW : o;
}

static enum order reverse(enum order o)
{
    return o == ORDER_BELOW ? ORDER_ABOVE : o == ORDER_ABOVE ? ORDER_BELOW : o;
}

static enum order order_of_numbers(const struct number *a, const struct number *b)
{
    if (a->is_double == b->is_double)
        return a->is_double ? order_of_doubles(a->d, b->d) : order_of_longs(a->i, b->i);
    return a->is_double ? reverse(order_long_to_double(b->i, a->d)) : order_long_to_double(a->i, b->d);
}

static bool is_number(const struct op *op)
{
    return op->code == OP_INT || op->code == OP_LONG || op->code == OP_FLOAT || op->code == OP_DOUBLE;
}

static enum rc read_number(const struct datum *d, const struct value *v, struct number *out, struct err *err)
{
    enum opcode code = (enum opcode)d->program->ops[v->op].code;
    out->is_double = code == OP_FLOAT || code == OP_DOUBLE;
    return out->is_double ? value_double(d, v, &out->d, err) : value_long(d, v, &out->i, err);
}

/* A JSON number that an int or long cannot be. A fraction that is rounded away next to 2^53 is told apart no more. */
static enum order order_to_token(int64_t a, struct slice json)
{
    struct number b = {0};
    enum num_kind kind = num_parse_i64(json, &b.i);
    if (kind == NUM_INTEGER)
        return order_of_longs(a, b.i);
    if (!num_parse_double(json, &b.d))
        return json.ptr[0] == '-' ? ORDER_ABOVE : ORDER_BELOW;
    enum order o = order_long_to_double(a, b.d);
    return o == ORDER_SAME ? ORDER_NONE : o;
}

/* ---- values ---- */

static enum order order_of_bytes(struct slice a, struct slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return c < 0 ? ORDER_BELOW : c > 0 ? ORDER_ABOVE : order_of_longs((int64_t)a.len, (int64_t)b.len);
}

static enum rc order_of_texts(const struct datum *d, const struct value *a, const struct value *b,
                              enum order *out, struct err *err)
{
    struct slice x, y;
    if (value_text(d, a, &x, err) != RC_OK || value_text(d, b, &y, err) != RC_OK)
        return RC_ERR;
    *out = order_of_bytes(x, y);
    return RC_OK;
}

static enum rc order_of_integers(const struct datum *d, const struct value *a, const struct value *b,
                                 enum order *out, struct err *err)
{
    int64_t x, y;
    if (value_long(d, a, &x, err) != RC_OK || value_long(d, b, &y, err) != RC_OK)
        return RC_ERR;
    *out = order_of_longs(x, y);
    return RC_OK;
}

static enum rc order_of_booleans(const struct datum *d, const struct value *a, const struct value *b,
                                 enum order *out, struct err *err)
{
    bool x, y;
    if (value_boolean(d, a, &x, err) != RC_OK || value_boolean(d, b, &y, err) != RC_OK)
        return RC_ERR;
    *out = order_of_longs(x, y);
    return RC_OK;
}

static bool asks_for_order(enum comparison is)
{
    return is != IS_EQUAL && is != IS_OTHER;
}

static enum rc order_of_wholes(const struct assertion *c, struct datum *d, struct value *a, struct value *b,
                               enum order *out, struct err *err)
{
    bool equal;
    if (asks_for_order(c->is))
        return err_set(err, ERR_NOT_APPLICABLE,
                       "Records, arrays and maps are equal (=) or not (!=); they have no order.");
    if (value_equal(d, a, b, &equal, err) != RC_OK)
        return RC_ERR;
    *out = equal ? ORDER_SAME : ORDER_NONE;
    return RC_OK;
}

/* Of two values of one instruction, which is no union. */
static enum rc order_alike(const struct assertion *c, struct datum *d, struct value *a, struct value *b,
                           enum order *out, struct err *err)
{
    switch ((enum opcode)d->program->ops[a->op].code) {
    case OP_NULL: *out = ORDER_SAME; return RC_OK;
    case OP_BOOLEAN: return order_of_booleans(d, a, b, out, err);
    case OP_ENUM: return order_of_integers(d, a, b, out, err);
    case OP_STRING:
    case OP_BYTES:
    case OP_FIXED: return order_of_texts(d, a, b, out, err);
    default: return order_of_wholes(c, d, a, b, out, err);
    }
}

static enum rc order_of_values(const struct assertion *c, struct datum *d, struct value *a, struct value *b,
                               enum order *out, struct err *err)
{
    struct number x, y;
    if (value_enter_union(d, &a, err) != RC_OK || value_enter_union(d, &b, err) != RC_OK)
        return RC_ERR;
    if (is_number(&d->program->ops[a->op]) && is_number(&d->program->ops[b->op])) {
        if (read_number(d, a, &x, err) != RC_OK || read_number(d, b, &y, err) != RC_OK)
            return RC_ERR;
        *out = order_of_numbers(&x, &y);
        return RC_OK;
    }
    *out = ORDER_NONE;
    return a->op == b->op ? order_alike(c, d, a, b, out, err) : RC_OK;
}

/* The JSON cannot be of the value's type: null is only different, and a number may be one that an int cannot be. */
static enum rc order_to_other(const struct assertion *c, struct datum *d, struct value *v, enum order *out,
                              struct err *err)
{
    struct err why = *err;
    int64_t i;
    *out = ORDER_NONE;
    if (json_kind(c->json) == JSON_IS_NULL)
        return RC_OK;
    if (value_enter_union(d, &v, err) != RC_OK)
        return RC_ERR;
    enum opcode code = (enum opcode)d->program->ops[v->op].code;
    if (json_kind(c->json) != JSON_IS_NUMBER || (code != OP_INT && code != OP_LONG)) {
        *err = why;
        return RC_ERR;
    }
    if (value_long(d, v, &i, err) != RC_OK)
        return RC_ERR;
    *out = order_to_token(i, c->json);
    return RC_OK;
}

static enum rc order_to_json(const struct assertion *c, struct datum *d, struct value *v, enum order *out,
                             struct err *err)
{
    struct value *asked = value_new(d, v->op, err);
    if (!asked)
        return RC_ERR;
    if (value_set_json(d, asked, c->json, SLICE(""), err) == RC_OK)
        return order_of_values(c, d, v, asked, out, err);
    return err->code == ERR_BAD_RECORD ? order_to_other(c, d, v, out, err) : RC_ERR;
}

enum rc assertion_holds(const struct assertion *c, struct codec *codec, bool brief, struct slice avro,
                        bool *holds, struct arena *scratch, struct err *err)
{
    struct datum d;
    struct spot spot;
    struct buf name = {0};
    enum order order = ORDER_NONE; /* of what is not there */
    *err = (struct err){0};
    datum_init(&d, c->schema, &c->opts, codec, brief, avro, scratch);
    datum_allow(&d, c->pointer.len + c->json.len);
    enum rc rc = pointer_find(&d, c->pointer, POINTER_LOOKS, false, &name, &spot, err);
    buf_release(&name);
    if (rc == RC_OK)
        rc = order_to_json(c, &d, spot.value, &order, err);
    else if (err->code == ERR_NOT_APPLICABLE)
        rc = RC_OK;
    *holds = rc == RC_OK && comparisons[c->is].by_order[order];
    return rc;
}
