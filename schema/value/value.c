/* schema/value/value.c - a datum that is opened where somebody looks: its beginning, its end, and how a value's parts are
 * found in its bytes. */
#include "schema/value/value.h"

#include <assert.h>

#include "schema/decode/avro_skip.h"
#include "schema/value/value_parts.h"

static const struct codec_opts default_opts;

/* A byte of a long text costs nothing, one of a nest of small values much more. Who must be brief takes it for the latter;
 * others would be refused so what is long and not deep at all. */
enum { COST_SKIP = 1, COST_SKIP_BRIEF = 4 };

/* What is brief stays so, however much there is to look at. */
enum { BUDGET_BRIEF_MAX = 2 * LIMIT_WORK_BRIEF_MAX };

void datum_allow(struct datum *d, size_t bytes)
{
    d->budget += LIMIT_WORK_PER_BYTE * (int64_t)bytes;
    if (d->is_brief && d->budget > BUDGET_BRIEF_MAX)
        d->budget = BUDGET_BRIEF_MAX;
}

/* To make a value: most of it is memory that nobody has touched yet. */
enum { COST_MADE = 48 };

void datum_init(struct datum *d, const struct schema *schema, const struct codec_opts *opts,
                struct codec *codec, bool brief, struct slice avro, struct arena *arena)
{
    const struct program *p = schema_program(schema);
    *d = (struct datum){.schema = schema,
                        .program = p,
                        .opts = opts ? opts : &default_opts,
                        .codec = codec,
                        .arena = arena,
                        .is_brief = brief,
                        .budget = encode_budget(0, brief),
                        .values = 1,
                        .root = {.op = p->root, .avro = slice_not_null(avro)}};
    datum_allow(d, avro.len);
}

enum rc datum_pay(struct datum *d, uint64_t cost, struct err *err)
{
    if (unlikely(cost > (uint64_t)INT64_MAX || d->budget < (int64_t)cost)) {
        d->budget = -1;
        return err_set(err, ERR_TOO_MUCH_WORK, "Looking into this record takes too much work.");
    }
    d->budget -= (int64_t)cost;
    return RC_OK;
}

/* ---- what was put in must not break a limit of the whole ---- */

static enum rc check_whole(const struct datum *d, struct slice avro, struct err *err)
{
    uint64_t empty_items = 0;
    struct err why;
    if (!decode_count(d->program, d->program->root, avro, avro.ptr, &empty_items, &why)) {
        if (why.code != ERR_TOO_DEEP)
            return err_set(err, why.code, "%s", why.message);
        return value_too_deep(err);
    }
    if (empty_items > LIMIT_EMPTY_ITEMS_MAX)
        return err_set(err, ERR_TOO_MUCH_WORK, "The record has more than %d array items of no bytes.",
                       LIMIT_EMPTY_ITEMS_MAX);
    return RC_OK;
}

enum rc datum_finish(struct datum *d, struct buf *out, struct err *err)
{
    size_t before = out->len;
    enum rc rc = value_write(d, &d->root, out, err);
    if (rc == RC_OK && (d->may_be_deep || d->program->has_empty_items)) {
        struct slice whole = slice_not_null(buf_slice(out));
        struct slice avro = slice_of(whole.ptr + before, whole.len - before);
        rc = check_whole(d, avro, err);
    }
    if (rc != RC_OK)
        out->len = before;
    return rc;
}

/* ---- making parts ---- */

bool parts_reserve(struct datum *d, struct value *v, uint32_t more)
{
    if (likely(v->part_cap - v->nparts >= more))
        return true;
    uint64_t cap = (uint64_t)v->nparts + more; /* first as many as are known to come */
    if (v->part_cap && cap < 2 * (uint64_t)v->part_cap)
        cap = 2 * (uint64_t)v->part_cap;
    struct value **part = arena_alloc(d->arena, cap * sizeof *part);
    if (!part)
        return false;
    if (v->nparts)
        memcpy(part, v->part, v->nparts * sizeof *part);
    v->part = part;
    v->part_cap = (uint32_t)cap;
    return true;
}

struct value *values_make(struct datum *d, uint64_t n, uint32_t op, struct err *err)
{
    if (unlikely(n > LIMIT_VALUES_MAX - d->values)) {
        err_set(err, ERR_TOO_MUCH_WORK, "More than %d values of this record would have to be looked at.",
                LIMIT_VALUES_MAX);
        return NULL;
    }
    if (datum_pay(d, n * COST_MADE, err) != RC_OK)
        return NULL;
    struct value *values = arena_calloc(d->arena, n, sizeof *values);
    if (unlikely(!values)) {
        err_oom(err);
        return NULL;
    }
    d->values += (uint32_t)n;
    for (uint64_t i = 0; i < n; i++)
        values[i].op = op;
    return values;
}

/* Append n values of instruction `op`, whose bytes are still to be found. NULL: *err is filled. */
static struct value *add_parts(struct datum *d, struct value *v, uint64_t n, uint32_t op, struct err *err)
{
    struct value *values = values_make(d, n, op, err);
    if (unlikely(!values))
        return NULL;
    if (unlikely(!parts_reserve(d, v, (uint32_t)n))) {
        err_oom(err);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        values[i].parent = v;
        values[i].place = v->nparts;
        v->part[v->nparts++] = &values[i];
    }
    return values;
}

/* ---- opening ---- */

static COLD const uint8_t *bad(const struct value *v, const uint8_t *at, const char *what, struct err *err)
{
    err_set(err, ERR_BAD_AVRO, "Avro binary: %s at byte %zu.", what, (size_t)(at - v->avro.ptr));
    return NULL;
}

/* The part's bytes begin at `at`, in those of v. What stands behind them. */
static const uint8_t *find_part(struct datum *d, const struct value *v, struct value *part, const uint8_t *at,
                                struct err *err)
{
    const uint8_t *end = avro_skip(d->program, part->op, v->avro, at, err);
    if (unlikely(!end))
        return NULL;
    part->avro = slice_of(at, (size_t)(end - at));
    uint64_t cost = d->is_brief ? COST_SKIP_BRIEF : COST_SKIP;
    return datum_pay(d, part->avro.len * cost, err) == RC_OK ? end : NULL;
}

/* Behind the last field there is nothing, so its end is not looked for. */
static const uint8_t *open_record(struct datum *d, struct value *v, struct err *err)
{
    const struct op *op = &d->program->ops[v->op];
    const uint8_t *at = v->avro.ptr, *end = at + v->avro.len;
    struct value *parts = add_parts(d, v, op->b, 0, err);
    if (!parts)
        return NULL;
    for (uint32_t i = 0; i < op->b; i++) {
        parts[i].op = d->program->fields[op->a + i].op;
        if (i + 1 == op->b)
            parts[i].avro = slice_of(at, (size_t)(end - at));
        else if (!(at = find_part(d, v, &parts[i], at, err)))
            return NULL;
    }
    return end;
}

static const uint8_t *open_union(struct datum *d, struct value *v, struct err *err)
{
    const struct op *op = &d->program->ops[v->op];
    const uint8_t *end = v->avro.ptr + v->avro.len;
    int64_t index;
    const uint8_t *at = avro_read_long(v->avro.ptr, end, &index);
    if (unlikely(!at || index < 0 || index >= op->b))
        return bad(v, v->avro.ptr, "a union branch that the union does not have", err);
    v->branch = (uint32_t)index;
    struct value *part = add_parts(d, v, 1, d->program->branches[op->a + v->branch].op, err);
    if (!part)
        return NULL;
    part->avro = slice_of(at, (size_t)(end - at));
    return end;
}

static const uint8_t *read_key(const struct value *v, const uint8_t *at, struct slice *key, struct err *err)
{
    const uint8_t *end = v->avro.ptr + v->avro.len;
    int64_t len;
    const uint8_t *p = avro_read_long(at, end, &len);
    if (unlikely(!p || len < 0 || len > end - p))
        return bad(v, at, avro_length_fault(at, end), err);
    *key = slice_of(p, (size_t)len);
    return p + len;
}

/* The n items or entries of a block, the first at `at`. */
static const uint8_t *open_block(struct datum *d, struct value *v, uint64_t n, const uint8_t *at,
                                 struct err *err)
{
    const struct op *op = &d->program->ops[v->op];
    bool is_map = op->code == OP_MAP;
    uint64_t least, each = (uint64_t)d->program->ops[op->a].size_min + is_map;
    const uint8_t *end = v->avro.ptr + v->avro.len;
    if (unlikely(__builtin_mul_overflow(n, each, &least) || least > (uint64_t)(end - at)))
        return bad(v, at, "a block of more items than the data can hold", err);
    struct value *parts = add_parts(d, v, n, op->a, err);
    if (!parts)
        return NULL;
    for (uint64_t i = 0; i < n && at; i++) {
        if (is_map)
            at = read_key(v, at, &parts[i].key, err);
        if (at)
            at = find_part(d, v, &parts[i], at, err);
    }
    return at;
}

static const uint8_t *open_blocks(struct datum *d, struct value *v, struct err *err)
{
    const uint8_t *at = v->avro.ptr, *end = at + v->avro.len, *block_end;
    const char *fault;
    uint64_t n;
    for (;;) {
        const uint8_t *p = avro_read_block(at, end, &n, &block_end, &fault);
        if (unlikely(!p))
            return bad(v, at, fault, err);
        if (n == 0)
            return p;
        at = open_block(d, v, n, p, err);
        if (unlikely(!at))
            return NULL;
        if (unlikely(block_end && block_end != at))
            return bad(v, at, "the items of a block end elsewhere than its size says,", err);
    }
}

enum rc value_open(struct datum *d, struct value *v, struct err *err)
{
    const uint8_t *end;
    if (v->is_open)
        return RC_OK;
    assert(v->avro.ptr);
    switch (d->program->ops[v->op].code) {
    case OP_RECORD: end = open_record(d, v, err); break;
    case OP_UNION: end = open_union(d, v, err); break;
    case OP_ARRAY:
    case OP_MAP: end = open_blocks(d, v, err); break;
    default: return RC_OK;
    }
    v->is_open = end != NULL;
    if (!v->is_open)
        v->nparts = 0;
    return v->is_open ? RC_OK : RC_ERR;
}

enum rc value_enter_union(struct datum *d, struct value **v, struct err *err)
{
    while (d->program->ops[(*v)->op].code == OP_UNION) {
        if (value_open(d, *v, err) != RC_OK)
            return RC_ERR;
        *v = (*v)->part[0];
    }
    return RC_OK;
}

/* ---- looking for parts ---- */

struct value *value_field(const struct datum *d, const struct value *record, struct slice name)
{
    assert(record->is_open);
    int field = program_field(d->program, &d->program->ops[record->op], name);
    return field < 0 ? NULL : record->part[field];
}

uint32_t value_place(const struct value *v)
{
    struct value *const *part = v->parent->part;
    uint32_t n = v->parent->nparts, at = v->place < n ? v->place : n - 1;
    for (uint32_t i = at + 1; i-- > 0;) /* what was before it may have gone */
        if (part[i] == v)
            return i;
    while (part[++at] != v)
        assert(at < n);
    return at;
}

static bool is_level(const struct datum *d, const struct value *v)
{
    return d->program->ops[v->op].code != OP_UNION;
}

uint32_t value_depth(const struct datum *d, const struct value *v)
{
    uint32_t depth = 0;
    for (v = v->parent; v; v = v->parent)
        depth += is_level(d, v);
    return depth;
}
