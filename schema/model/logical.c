/* schema/model/logical.c - logical types: the valid ones go to the model, the others are told of and ignored, as
 * the Avro 1.12 specification ("Logical Types") asks. */
#include "base/num.h"
#include "schema/model/parse.h"

static const struct {
    const char *name;
    enum logical_kind logical;
    enum type_kind kinds[2]; /* types that may bear it; the same twice: only one */
    uint64_t fixed_size;     /* of a fixed that may bear it; 0: any */
} logical_types[] = {
    {"decimal", LOGICAL_DECIMAL, {TYPE_BYTES, TYPE_FIXED}, 0},
    {"big-decimal", LOGICAL_BIG_DECIMAL, {TYPE_BYTES, TYPE_BYTES}, 0},
    {"uuid", LOGICAL_UUID, {TYPE_STRING, TYPE_FIXED}, 16},
    {"date", LOGICAL_DATE, {TYPE_INT, TYPE_INT}, 0},
    {"time-millis", LOGICAL_TIME_MILLIS, {TYPE_INT, TYPE_INT}, 0},
    {"time-micros", LOGICAL_TIME_MICROS, {TYPE_LONG, TYPE_LONG}, 0},
    {"timestamp-millis", LOGICAL_TIMESTAMP_MILLIS, {TYPE_LONG, TYPE_LONG}, 0},
    {"timestamp-micros", LOGICAL_TIMESTAMP_MICROS, {TYPE_LONG, TYPE_LONG}, 0},
    {"timestamp-nanos", LOGICAL_TIMESTAMP_NANOS, {TYPE_LONG, TYPE_LONG}, 0},
    {"local-timestamp-millis", LOGICAL_LOCAL_TIMESTAMP_MILLIS, {TYPE_LONG, TYPE_LONG}, 0},
    {"local-timestamp-micros", LOGICAL_LOCAL_TIMESTAMP_MICROS, {TYPE_LONG, TYPE_LONG}, 0},
    {"local-timestamp-nanos", LOGICAL_LOCAL_TIMESTAMP_NANOS, {TYPE_LONG, TYPE_LONG}, 0},
    {"duration", LOGICAL_DURATION, {TYPE_FIXED, TYPE_FIXED}, 12},
};

/* Digits that fit a two's complement number of so many bytes: the whole part of log10(2^(8n-1) - 1). */
static uint64_t decimal_digits_max(uint64_t bytes)
{
    return bytes ? (uint64_t)((double)(8 * bytes - 1) * 0.30102999566398119521) : 0;
}

static bool read_u32(const json_t *j, uint32_t *out)
{
    uint64_t v;
    if (!tree_is_number(j) || !num_parse_decimal(tree_number(j), UINT32_MAX, &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

/* NULL: valid, and taken over. Else why not. */
static const char *read_decimal(struct type *t, json_t *source)
{
    uint32_t precision, scale = 0;
    const json_t *j = json_object_get(source, "scale");
    if (!read_u32(json_object_get(source, "precision"), &precision) || !precision)
        return "its precision must be a whole number above 0";
    if (j && !read_u32(j, &scale))
        return "its scale must be a whole number, 0 or above";
    if (scale > precision)
        return "its scale exceeds its precision";
    if (t->kind == TYPE_FIXED && precision > decimal_digits_max(t->fixed_size))
        return "its precision does not fit the size of the fixed";
    t->precision = precision;
    t->scale = scale;
    return NULL;
}

static const char *read_known(struct type *t, json_t *source, size_t row)
{
    if (t->kind != logical_types[row].kinds[0] && t->kind != logical_types[row].kinds[1])
        return "the type cannot bear it";
    if (t->kind == TYPE_FIXED && logical_types[row].fixed_size &&
        t->fixed_size != logical_types[row].fixed_size)
        return logical_types[row].fixed_size == 16 ? "the fixed must have 16 bytes"
                                                   : "the fixed must have 12 bytes";
    const char *why = logical_types[row].logical == LOGICAL_DECIMAL ? read_decimal(t, source) : NULL;
    if (!why)
        t->logical = logical_types[row].logical;
    return why;
}

void logical_read(struct parser *p, struct type *t, json_t *source, const struct place *at)
{
    const json_t *j = json_object_get(source, "logicalType");
    if (!j)
        return;
    const char *why = tree_is_string(j) ? "it is not known" : "it must be a string";
    for (size_t i = 0; tree_is_string(j) && i < ARRAY_LEN(logical_types); i++)
        if (slice_eq(tree_string(j), slice_str(logical_types[i].name)))
            why = read_known(t, source, i);
    if (why)
        parse_warn(p, "The logicalType %s at %s is ignored: %s.",
                   tree_is_string(j) ? parse_quote(p, tree_string(j)) : tree_kind_name(j),
                   parse_pointer(p, at), why);
}
