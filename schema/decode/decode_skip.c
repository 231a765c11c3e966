/* schema/decode/decode_skip.c - finding values in Avro binary without reading them: fields of a record, the content
 * of a raw datum, how many items take no bytes. */
#include "schema/decode/decode.h"

#include <assert.h>

#include "base/limits.h"
#include "schema/decode/avro_read.h"

/* A record, or a block of an array or map, that is being passed over. */
struct frame {
    const struct op *op; /* NULL: the bottom */
    union {
        const struct op_field *next; /* record */
        struct {
            uint64_t left, total; /* array, map: items of the block, of all blocks so far */
        };
    };
};

struct skipper {
    const struct program *program;
    const uint8_t *start, *end;
    struct err *err;
    bool counts;        /* empty_items, also inside of blocks that tell their size */
    uint64_t items_max; /* of one array or map */
    uint32_t depth_max;
    uint64_t empty_items; /* of arrays, that take no bytes; no more than one beyond LIMIT_EMPTY_ITEMS_MAX */
    struct frame *top;
    struct frame frames[LIMIT_DATA_DEPTH_MAX + 1];
};

static COLD void *bad(struct skipper *s, const uint8_t *at, const char *what)
{
    err_set(s->err, ERR_BAD_AVRO, "Avro binary: %s at byte %zu.", what, (size_t)(at - s->start));
    return NULL;
}

static const uint8_t *skip_bytes(struct skipper *s, const uint8_t *at, uint64_t n)
{
    if (unlikely(n > (uint64_t)(s->end - at)))
        return bad(s, at, "a value that is cut off");
    return at + n;
}

static const uint8_t *skip_number(struct skipper *s, const uint8_t *at)
{
    int64_t v;
    const uint8_t *p = avro_read_long(at, s->end, &v);
    return likely(p) ? p : bad(s, at, avro_int_fault(at, s->end));
}

static const uint8_t *skip_text(struct skipper *s, const uint8_t *at)
{
    int64_t len;
    const uint8_t *p = avro_read_long(at, s->end, &len);
    if (unlikely(!p || len < 0 || len > s->end - p))
        return bad(s, at, avro_length_fault(at, s->end));
    return p + len;
}

/* The branch's instruction goes to *op. */
static const uint8_t *skip_branch_index(struct skipper *s, const uint8_t *at, const struct op **op)
{
    int64_t index;
    const uint8_t *p = avro_read_long(at, s->end, &index);
    if (unlikely(!p))
        return bad(s, at, avro_int_fault(at, s->end));
    if (unlikely(index < 0 || index >= (*op)->b))
        return bad(s, at, "a union branch that the union does not have");
    *op = &s->program->ops[s->program->branches[(*op)->a + (uint32_t)index].op];
    return p;
}

/* The bytes of every datum of this type, if they are always as many; else -1. Types whose least size is 0
 * take no bytes ever: null, a fixed of 0, records of such. */
static int64_t constant_size(const struct op *op)
{
    switch ((enum opcode)op->code) {
    case OP_BOOLEAN: return 1;
    case OP_FLOAT: return 4;
    case OP_DOUBLE: return 8;
    case OP_FIXED: return op->a;
    default: return op->size_min == 0 ? 0 : -1;
    }
}

static bool too_deep(struct skipper *s)
{
    err_set(s->err, ERR_TOO_DEEP, "Avro binary: more than %u records, arrays and maps inside each other.",
            s->depth_max);
    return false;
}

static COLD void *too_many(struct skipper *s)
{
    err_set(s->err, ERR_TOO_MANY_ITEMS, "Avro binary: more than %llu items in one array or map.",
            (unsigned long long)s->items_max);
    return NULL;
}

/* Items that are passed over without a look: they may be records that are too deep. */
static bool count_empty(struct skipper *s, const struct op *item, uint64_t items)
{
    uint64_t most = LIMIT_EMPTY_ITEMS_MAX + 1 - s->empty_items;
    s->empty_items += items < most ? items : most;
    return likely((size_t)(s->top - s->frames) + item->depth_empty <= s->depth_max) || too_deep(s);
}

/* To the next item of the array or map in s->top, over whole blocks where that can be done. Afterwards, with
 * top->left 0: there is none, and what is returned is behind the end mark. */
static const uint8_t *next_item(struct skipper *s, const uint8_t *at)
{
    struct frame *f = s->top;
    const struct op *item = &s->program->ops[f->op->a];
    int64_t each = f->op->code == OP_ARRAY ? constant_size(item) : -1;
    uint64_t least = each >= 0 ? (uint64_t)each : (uint64_t)item->size_min + (f->op->code == OP_MAP);
    while (f->left == 0) {
        const uint8_t *block_end;
        const char *fault;
        uint64_t bytes;
        const uint8_t *p = avro_read_block(at, s->end, &f->left, &block_end, &fault);
        if (unlikely(!p))
            return bad(s, at, fault);
        if (f->left == 0)
            return p;
        const uint8_t *end = block_end ? block_end : s->end;
        if (__builtin_mul_overflow(f->left, least, &bytes) || bytes > (uint64_t)(end - p))
            return bad(s, at, "a block of more items than the data can hold");
        at = p;
        if (each == 0 && !count_empty(s, item, f->left))
            return NULL;
        f->total += f->left;
        if (unlikely(f->total > s->items_max))
            return too_many(s);
        if ((block_end && !s->counts) || each >= 0) {
            at = block_end ? block_end : p + bytes;
            f->left = 0;
        }
    }
    return at;
}

static bool push(struct skipper *s, const struct op *op)
{
    if (unlikely(s->top == s->frames + s->depth_max))
        return too_deep(s);
    struct frame *f = ++s->top;
    f->op = op;
    f->left = f->total = 0;
    if (op->code == OP_RECORD)
        f->next = &s->program->fields[op->a];
    return true;
}

/* Over a value without members. A container is opened; of a union only the index is passed over, the branch's
 * instruction goes to *op. */
static const uint8_t *skip_value(struct skipper *s, const struct op **op, const uint8_t *at)
{
    switch ((enum opcode)(*op)->code) {
    case OP_NULL: return at;
    case OP_BOOLEAN: return skip_bytes(s, at, 1);
    case OP_INT:
    case OP_LONG:
    case OP_ENUM: return skip_number(s, at);
    case OP_FLOAT: return skip_bytes(s, at, 4);
    case OP_DOUBLE: return skip_bytes(s, at, 8);
    case OP_BYTES:
    case OP_STRING: return skip_text(s, at);
    case OP_FIXED: return skip_bytes(s, at, (*op)->a);
    case OP_UNION: return skip_branch_index(s, at, op);
    case OP_RECORD:
    case OP_ARRAY:
    case OP_MAP: return push(s, *op) ? at : NULL;
    default: break; /* spelled: that is for JSON alone */
    }
    assert(!"no instruction");
    return NULL;
}

/* The next value inside the open containers, closing those that are done: its instruction goes to *op, NULL
 * at the bottom. */
static const uint8_t *next_value(struct skipper *s, const struct op **op, const uint8_t *at)
{
    *op = NULL;
    for (; s->top->op; s->top--) {
        struct frame *f = s->top;
        if (f->op->code == OP_RECORD) {
            if (f->next == &s->program->fields[f->op->a + f->op->b])
                continue;
            *op = &s->program->ops[f->next++->op];
            return at;
        }
        at = next_item(s, at);
        if (unlikely(!at))
            return NULL;
        if (f->left == 0)
            continue;
        f->left--;
        *op = &s->program->ops[f->op->a];
        return f->op->code == OP_MAP ? skip_text(s, at) : at;
    }
    return at;
}

/* The frames stay uninitialised. */
static void skipper_init(struct skipper *s, const struct program *p, struct slice avro, struct err *err)
{
    s->program = p;
    s->start = avro.ptr;
    s->end = avro.ptr + avro.len;
    s->err = err;
    s->counts = false;
    s->empty_items = 0;
    s->items_max = UINT64_MAX;
    s->depth_max = LIMIT_DATA_DEPTH_MAX;
    s->top = s->frames;
    s->frames[0].op = NULL;
}

static const uint8_t *skip_datum(struct skipper *s, uint32_t first, const uint8_t *at)
{
    const struct op *op = &s->program->ops[first];
    while (op) {
        bool is_union = op->code == OP_UNION;
        at = skip_value(s, &op, at);
        if (at && !is_union)
            at = next_value(s, &op, at);
        if (unlikely(!at))
            return NULL;
    }
    return at;
}

const uint8_t *decode_skip(const struct program *p, uint32_t first, struct slice avro, const uint8_t *at,
                           struct err *err)
{
    struct skipper s;
    skipper_init(&s, p, avro, err);
    return skip_datum(&s, first, at);
}

const uint8_t *decode_count(const struct program *p, uint32_t first, struct slice avro, const uint8_t *at,
                            uint64_t *empty_items, struct err *err)
{
    struct skipper s;
    skipper_init(&s, p, avro, err);
    s.counts = true;
    at = skip_datum(&s, first, at);
    *empty_items += s.empty_items;
    return at;
}

bool decode_within(const struct program *p, uint32_t first, const struct codec_limits *limits,
                   struct slice avro)
{
    struct skipper s;
    struct err err;
    skipper_init(&s, p, avro, &err);
    s.counts = true;
    s.items_max = limits->items ? limits->items : UINT64_MAX;
    s.depth_max = limits->depth ? limits->depth : LIMIT_DATA_DEPTH_MAX;
    return skip_datum(&s, first, avro.ptr);
}

enum rc codec_check_items(const struct schema *schema, struct slice avro, struct err *err)
{
    const struct program *p = schema_program(schema);
    if (likely(!p->has_empty_items))
        return RC_OK;
    uint64_t empty_items = 0;
    avro = slice_not_null(avro);
    if (!decode_count(p, p->root, avro, avro.ptr, &empty_items, err))
        return RC_ERR;
    if (empty_items > LIMIT_EMPTY_ITEMS_MAX)
        return err_set(err, ERR_TOO_MUCH_WORK, "The record has more than %d array items of no bytes.",
                       LIMIT_EMPTY_ITEMS_MAX);
    return RC_OK;
}

enum rc codec_field_span(const struct schema *schema, int field, struct slice avro, struct slice *out,
                         struct err *err)
{
    const struct program *p = schema_program(schema);
    const struct op *root = &p->ops[p->root];
    assert(root->code == OP_RECORD && field >= 0 && (uint32_t)field < root->b);
    avro = slice_not_null(avro);
    const uint8_t *at = avro.ptr, *start = at;
    for (uint32_t i = 0; i <= (uint32_t)field; i++) {
        start = at;
        at = decode_skip(p, p->fields[root->a + i].op, avro, at, err);
        if (!at)
            return RC_ERR;
    }
    *out = slice_of(start, (size_t)(at - start));
    return RC_OK;
}

size_t codec_put_length(uint64_t len, uint8_t *out)
{
    assert(len <= INT64_MAX);
    uint64_t v = len << 1;
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

enum rc codec_raw_prefix(struct slice avro, uint64_t total, size_t *out, struct err *err)
{
    avro = slice_not_null(avro);
    assert(total <= INT64_MAX && avro.len <= total);
    const uint8_t *end = avro.ptr + avro.len;
    int64_t len;
    const uint8_t *p = avro_read_long(avro.ptr, end, &len);
    int64_t rest = p ? (int64_t)total - (p - avro.ptr) : 0;
    if (!p || len < 0 || len > rest)
        return err_set(err, ERR_BAD_AVRO, "Avro binary: %s at byte 0.", avro_length_fault(avro.ptr, end));
    if (len < rest)
        return err_set(err, ERR_BAD_AVRO, "Avro binary: %llu bytes left over at byte %llu.",
                       (unsigned long long)(rest - len), (unsigned long long)(p + len - avro.ptr));
    *out = (size_t)(p - avro.ptr);
    return RC_OK;
}

enum rc codec_raw_content(struct slice avro, struct slice *out, struct err *err)
{
    size_t prefix;
    avro = slice_not_null(avro);
    if (codec_raw_prefix(avro, avro.len, &prefix, err) != RC_OK)
        return RC_ERR;
    *out = slice_of(avro.ptr + prefix, avro.len - prefix);
    return RC_OK;
}
