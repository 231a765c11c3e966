/* schema/value/value_read.c - what scalars hold: numbers, booleans, texts. */
#include <assert.h>

#include "base/bytes.h"
#include "schema/decode/avro_read.h"
#include "schema/value/value.h"

static enum rc bad(const char *what, struct err *err)
{
    return err_set(err, ERR_BAD_AVRO, "Avro binary: %s.", what);
}

static const struct op *op_of(const struct datum *d, const struct value *v)
{
    assert(!v->is_open && v->avro.ptr);
    return &d->program->ops[v->op];
}

enum rc value_long(const struct datum *d, const struct value *v, int64_t *out, struct err *err)
{
    const struct op *op = op_of(d, v);
    const uint8_t *end = v->avro.ptr + v->avro.len;
    assert(op->code == OP_INT || op->code == OP_LONG || op->code == OP_ENUM);
    if (unlikely(!avro_read_long(v->avro.ptr, end, out)) ||
        unlikely(op->code == OP_INT && *out != (int32_t)*out))
        return bad(avro_int_fault(v->avro.ptr, end), err);
    if (unlikely(op->code == OP_ENUM && (*out < 0 || *out >= op->b)))
        return bad("an enum symbol that the enum does not have", err);
    return RC_OK;
}

static double float_at(const uint8_t *p)
{
    uint32_t bits = get_le32(p);
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static double double_at(const uint8_t *p)
{
    uint64_t bits = get_le64(p);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

enum rc value_double(const struct datum *d, const struct value *v, double *out, struct err *err)
{
    const struct op *op = op_of(d, v);
    assert(op->code == OP_FLOAT || op->code == OP_DOUBLE);
    bool is_float = op->code == OP_FLOAT;
    if (unlikely(v->avro.len < (is_float ? 4u : 8u)))
        return bad("a number that is cut off", err);
    *out = is_float ? float_at(v->avro.ptr) : double_at(v->avro.ptr);
    return RC_OK;
}

enum rc value_boolean(const struct datum *d, const struct value *v, bool *out, struct err *err)
{
    assert(op_of(d, v)->code == OP_BOOLEAN);
    (void)d;
    if (unlikely(v->avro.len == 0 || v->avro.ptr[0] > 1))
        return bad("a boolean that is neither 0 nor 1", err);
    *out = v->avro.ptr[0];
    return RC_OK;
}

static enum rc read_text(struct slice avro, struct slice *out, struct err *err)
{
    int64_t len;
    const uint8_t *end = avro.ptr + avro.len, *p = avro_read_long(avro.ptr, end, &len);
    if (unlikely(!p || len < 0 || len > end - p))
        return bad(avro_length_fault(avro.ptr, end), err);
    *out = slice_of(p, (size_t)len);
    return RC_OK;
}

enum rc value_text(const struct datum *d, const struct value *v, struct slice *out, struct err *err)
{
    const struct op *op = op_of(d, v);
    int64_t index;
    switch (op->code) {
    case OP_FIXED: *out = v->avro; return RC_OK;
    case OP_ENUM:
        if (value_long(d, v, &index, err) != RC_OK)
            return RC_ERR;
        *out = d->program->symbols[op->a + (uint32_t)index].name;
        return RC_OK;
    default: assert(op->code == OP_STRING || op->code == OP_BYTES); return read_text(v->avro, out, err);
    }
}
