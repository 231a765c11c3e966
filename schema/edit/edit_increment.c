/* schema/edit/edit_increment.c - a number that grows where it stands. Nothing wraps: beyond the type's range nothing is done. */
#include <math.h>

#include "base/num.h"
#include "schema/edit/edit_faults.h"
#include "schema/edit/edit_patch.h"
#include "schema/encode/encode.h"

static struct slice type_name(const struct op *op)
{
    return slice_str(type_kind_name((enum type_kind)op->code));
}

static COLD enum rc beyond(struct datum *d, const struct value *v, const char *is, struct slice by,
                           struct err *err)
{
    struct slice type = type_name(&d->program->ops[v->op]);
    char shown[FAULT_NAME_BYTES];
    const char *got = arena_printf(d->arena, "%s + %s", is, fault_name(by, shown));
    if (!got)
        return err_oom(err);
    return fault_at(d, v, SLICE(""), PROBLEM_RANGE, type, slice_str(got), err,
                    "%s is beyond the range of %s.", got, (const char *)type.ptr);
}

/* The bytes, in the arena. */
static enum rc become(struct datum *d, struct value *v, const uint8_t *bytes, size_t n, struct err *err)
{
    struct slice avro;
    if (!arena_copy(d->arena, slice_of(bytes, n), &avro))
        return err_oom(err);
    value_set(d, v, avro);
    return RC_OK;
}

static enum rc add_integer(struct datum *d, struct value *v, enum opcode code, struct slice by,
                           struct err *err)
{
    int64_t is, more, sum;
    uint8_t bytes[10];
    if (value_long(d, v, &is, err) != RC_OK)
        return RC_ERR;
    enum num_kind kind = num_parse_i64(by, &more);
    if (kind == NUM_FRACTION)
        return err_set(err, ERR_NOT_APPLICABLE, "A value of type %s is incremented by whole numbers.",
                       (const char *)type_name(&d->program->ops[v->op]).ptr);
    if (kind == NUM_HUGE || __builtin_add_overflow(is, more, &sum) ||
        (code == OP_INT && sum != (int32_t)sum)) {
        uint8_t digits[NUM_I64_MAX_CHARS + 1];
        digits[num_print_i64(is, digits)] = 0;
        return beyond(d, v, (const char *)digits, by, err);
    }
    return become(d, v, bytes, (size_t)(encode_varint(bytes, encode_zigzag(sum)) - bytes), err);
}

static void put_float(uint8_t *out, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_le32(out, bits);
}

static void put_double(uint8_t *out, double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_le64(out, bits);
}

/* A float's sum is computed as a double and then rounded. What is no finite number stays none. */
static enum rc add_floating(struct datum *d, struct value *v, enum opcode code, struct slice by,
                            struct err *err)
{
    double is, more, sum = 0;
    uint8_t bytes[8];
    if (value_double(d, v, &is, err) != RC_OK)
        return RC_ERR;
    bool fits = num_parse_double(by, &more);
    if (fits)
        sum = code == OP_FLOAT ? (double)(float)(is + more) : is + more;
    if (!fits || (isfinite(is) && !isfinite(sum))) {
        uint8_t digits[NUM_DOUBLE_MAX_CHARS + 1];
        digits[code == OP_FLOAT ? num_print_float((float)is, digits) : num_print_double(is, digits)] = 0;
        return beyond(d, v, (const char *)digits, by, err);
    }
    if (code == OP_FLOAT)
        put_float(bytes, (float)sum);
    else
        put_double(bytes, sum);
    return become(d, v, bytes, code == OP_FLOAT ? 4 : 8, err);
}

enum rc patch_increment(struct datum *d, struct value *v, struct slice by, struct err *err)
{
    const struct op *op = &d->program->ops[v->op];
    switch ((enum opcode)op->code) {
    case OP_INT:
    case OP_LONG: return add_integer(d, v, op->code, by, err);
    case OP_FLOAT:
    case OP_DOUBLE: return add_floating(d, v, op->code, by, err);
    case OP_UNION:
        return err_set(
            err, ERR_NOT_APPLICABLE, "%s",
            op->flags & OP_FLAG_SINGLE || d->program->ops[v->part[0]->op].code == OP_NULL
                ? "There is null, which is no number to increment."
                : "There is a union's value with its tag; the path to the number goes on with the tag.");
    default:
        return err_set(err, ERR_NOT_APPLICABLE,
                       "There is a value of type %s, which is no number to increment.",
                       (const char *)type_name(op).ptr);
    }
}
