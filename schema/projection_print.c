/* schema/projection_print.c - some fields of a datum as JSON: one pass over the bytes, with a stack of what is open where
 * a path goes on. What is not asked for is passed over; what is shown whole is the decoder's. */
#include <assert.h>

#include "base/json_quote.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/decode/avro_skip.h"
#include "schema/projection_parts.h"

/* A record, array or map that is open, and shown in part. */
struct frame {
    const struct op *op;
    bool tagged; /* it stands under a union's tag, to be closed with it */
    bool any;    /* it has a member already */
    union {
        struct {
            const struct projection_field *next, *end; /* what is shown of it */
            uint32_t index;                            /* of the field whose bytes come next */
        } record;
        struct {
            uint32_t node;
            uint64_t left; /* of the block */
            const uint8_t *block_end;
        } items;
    };
};

struct printer {
    const struct projection *projection;
    const struct program *program; /* the plain one */
    const struct program *speller; /* of the form */
    enum json_form form;
    struct slice avro;
    const uint8_t *end;
    struct buf *out;
    size_t before, bytes_max;
    uint64_t empty_items_left;
    struct err *err;
    struct frame *top;
    struct frame frames[LIMIT_DATA_DEPTH_MAX + 1]; /* the bottom is not used */
};

/* ---- faults ---- */

static COLD const uint8_t *bad(struct printer *p, const uint8_t *at, const char *what)
{
    err_set(p->err, ERR_BAD_AVRO, "Avro binary: %s at byte %zu.", what, (size_t)(at - p->avro.ptr));
    return NULL;
}

static COLD bool too_large(struct printer *p)
{
    err_set(p->err, ERR_JSON_TOO_LARGE, "The record's JSON form would take more than %zu bytes.",
            p->bytes_max);
    return false;
}

static COLD bool no_memory(struct printer *p)
{
    err_oom(p->err);
    return false;
}

/* ---- output ---- */

static bool put(struct printer *p, struct slice text)
{
    if (unlikely(text.len > p->bytes_max - (p->out->len - p->before)))
        return too_large(p);
    return likely(buf_append(p->out, text)) || no_memory(p);
}

static bool put_byte(struct printer *p, char c)
{
    return put(p, slice_of(&c, 1));
}

/* What stands before the next member of what is open. */
static bool put_lead(struct printer *p, struct frame *f)
{
    bool first = !f->any;
    f->any = true;
    return first || put_byte(p, ',');
}

static bool put_key(struct printer *p, struct slice key)
{
    if (unlikely(!json_quote(key, p->out)))
        return no_memory(p);
    if (unlikely(p->out->len - p->before > p->bytes_max))
        return too_large(p);
    return put_byte(p, ':');
}

/* All of the value at `at`. */
static const uint8_t *put_whole(struct printer *p, uint32_t op, const uint8_t *at)
{
    const uint8_t *end = avro_skip(p->program, op, p->avro, at, p->err);
    if (unlikely(!end))
        return NULL;
    size_t left = p->bytes_max - (p->out->len - p->before);
    enum rc rc = decode_json(p->speller, op, p->form, left, p->avro, slice_of(at, (size_t)(end - at)),
                             SLICE(""), p->out, p->err);
    if (unlikely(rc != RC_OK)) {
        if (p->err->code == ERR_JSON_TOO_LARGE)
            too_large(p);
        return NULL;
    }
    /* the decoder may go beyond what is left, into room that there was */
    if (unlikely(p->out->len - p->before > p->bytes_max) && !too_large(p))
        return NULL;
    return end;
}

/* ---- what is open ---- */

/* The fields of this record that are shown at the node. */
static void find_fields(const struct printer *p, uint32_t node, uint32_t record, struct frame *f)
{
    const struct projection_node *n = &p->projection->nodes[node];
    const struct projection_field *fields = p->projection->fields + n->first;
    uint32_t low = 0, high = n->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (fields[middle].record < record)
            low = middle + 1;
        else
            high = middle;
    }
    f->record.next = f->record.end = fields + low;
    while (f->record.end < fields + n->n && f->record.end->record == record)
        f->record.end++;
    f->record.index = 0;
}

static const uint8_t *open_frame(struct printer *p, uint32_t op, uint32_t node, bool tagged,
                                 const uint8_t *at)
{
    if (unlikely(p->top == p->frames + LIMIT_DATA_DEPTH_MAX)) {
        err_set(p->err, ERR_TOO_DEEP, "Avro binary: more than %d records, arrays and maps inside each other.",
                LIMIT_DATA_DEPTH_MAX);
        return NULL;
    }
    struct frame *f = ++p->top;
    f->op = &p->program->ops[op];
    f->tagged = tagged;
    f->any = false;
    if (f->op->code == OP_RECORD) {
        find_fields(p, node, op, f);
    } else {
        f->items.node = node;
        f->items.left = 0;
        f->items.block_end = NULL;
    }
    return put_byte(p, f->op->code == OP_ARRAY ? '[' : '{') ? at : NULL;
}

static bool close_frame(struct printer *p)
{
    const struct frame *f = p->top--;
    return put_byte(p, f->op->code == OP_ARRAY ? ']' : '}') && (!f->tagged || put_byte(p, '}'));
}

/* Into the union's branch, whose instruction goes to *op; under its tag, if it is printed with one. */
static const uint8_t *enter_union(struct printer *p, uint32_t *op, bool *tagged, const uint8_t *at)
{
    const struct op *u = &p->program->ops[*op];
    int64_t index;
    const uint8_t *behind = avro_read_long(at, p->end, &index);
    if (unlikely(!behind || index < 0 || index >= u->b))
        return bad(p, at, "a union branch that the union does not have");
    const struct op_branch *branch = &p->program->branches[u->a + (uint32_t)index];
    *op = branch->op;
    *tagged =
        !(p->form != JSON_AVRO && u->flags & OP_FLAG_SINGLE) && p->program->ops[branch->op].code != OP_NULL;
    return !*tagged || put(p, branch->open) ? behind : NULL;
}

/* The value at `at`: all of it, or it is opened. */
static const uint8_t *begin(struct printer *p, uint32_t op, uint32_t node, const uint8_t *at)
{
    bool tagged = false;
    if (node == PROJECTION_WHOLE)
        return put_whole(p, op, at);
    if (p->program->ops[op].code == OP_UNION && !(at = enter_union(p, &op, &tagged, at)))
        return NULL;
    uint8_t code = p->program->ops[op].code;
    if (code == OP_RECORD || code == OP_ARRAY || code == OP_MAP)
        return open_frame(p, op, node, tagged, at);
    at = put_whole(p, op, at);
    return likely(at) && (!tagged || put_byte(p, '}')) ? at : NULL;
}

/* ---- arrays and maps ---- */

/* Can what is left hold so many items? Those that take no bytes at all have a budget. */
static const uint8_t *check_count(struct printer *p, const struct frame *f, const uint8_t *at)
{
    uint64_t least, each = (uint64_t)p->program->ops[f->op->a].size_min + (f->op->code == OP_MAP);
    const uint8_t *end = f->items.block_end ? f->items.block_end : p->end;
    if (each == 0) {
        if (f->items.left > p->empty_items_left) {
            err_set(p->err, ERR_TOO_MUCH_WORK, "Avro binary: more than %d items of no bytes.",
                    LIMIT_EMPTY_ITEMS_MAX);
            return NULL;
        }
        p->empty_items_left -= f->items.left;
        return at;
    }
    if (unlikely(__builtin_mul_overflow(f->items.left, each, &least) || least > (uint64_t)(end - at)))
        return bad(p, at, "a block of more items than the data can hold");
    return at;
}

static const uint8_t *next_block(struct printer *p, struct frame *f, const uint8_t *at)
{
    const char *fault;
    if (unlikely(f->items.block_end && f->items.block_end != at))
        return bad(p, at, "the items of a block end elsewhere than its size says,");
    const uint8_t *q = avro_read_block(at, p->end, &f->items.left, &f->items.block_end, &fault);
    if (unlikely(!q))
        return bad(p, at, fault);
    return f->items.left ? check_count(p, f, q) : q;
}

static const uint8_t *read_key(struct printer *p, const uint8_t *at)
{
    int64_t len;
    const uint8_t *q = avro_read_long(at, p->end, &len);
    if (unlikely(!q || len < 0 || len > p->end - q))
        return bad(p, at, avro_length_fault(at, p->end));
    struct slice key = slice_of(q, (size_t)len);
    if (unlikely(!utf8_valid(key)))
        return bad(p, q, "a string that is not UTF-8");
    return put_key(p, key) ? q + len : NULL;
}

static const uint8_t *step_items(struct printer *p, const uint8_t *at)
{
    struct frame *f = p->top;
    if (f->items.left == 0 && !(at = next_block(p, f, at)))
        return NULL;
    if (f->items.left == 0)
        return close_frame(p) ? at : NULL;
    f->items.left--;
    if (!put_lead(p, f) || (f->op->code == OP_MAP && !(at = read_key(p, at))))
        return NULL;
    return begin(p, f->op->a, f->items.node, at);
}

/* ---- records ---- */

/* Over the fields before `index`. */
static const uint8_t *pass_fields(struct printer *p, struct frame *f, uint32_t index, const uint8_t *at)
{
    for (; at && f->record.index < index; f->record.index++)
        at = avro_skip(p->program, p->program->fields[f->op->a + f->record.index].op, p->avro, at, p->err);
    return at;
}

static const uint8_t *step_record(struct printer *p, const uint8_t *at)
{
    struct frame *f = p->top;
    if (f->record.next == f->record.end) {
        bool is_last = f == p->frames + 1; /* nobody wants to know where it ends */
        if (!is_last && !(at = pass_fields(p, f, f->op->b, at)))
            return NULL;
        return close_frame(p) ? at : NULL;
    }
    const struct projection_field *shown = f->record.next++;
    const struct op_field *field = &p->program->fields[f->op->a + shown->index];
    at = pass_fields(p, f, shown->index, at);
    if (unlikely(!at) || !put_lead(p, f) || !put(p, field->key))
        return NULL;
    f->record.index++;
    return begin(p, field->op, shown->node, at);
}

static bool print(struct printer *p)
{
    const uint8_t *at = begin(p, p->program->root, 0, p->avro.ptr);
    while (at && p->top != p->frames)
        at = p->top->op->code == OP_RECORD ? step_record(p, at) : step_items(p, at);
    return at;
}

enum rc projection_print(const struct projection *projection, enum json_form form, size_t bytes_max,
                         struct slice avro, struct buf *out, struct err *err)
{
    struct printer p; /* the frames stay uninitialised */
    p.projection = projection;
    p.program = schema_program(projection->schema);
    p.speller = schema_program_of(projection->schema, form);
    if (unlikely(!p.speller))
        return err_oom(err);
    p.form = form;
    p.avro = slice_not_null(avro);
    p.end = p.avro.ptr + p.avro.len;
    p.out = out;
    p.before = out->len;
    p.bytes_max = bytes_max;
    p.empty_items_left = LIMIT_EMPTY_ITEMS_MAX;
    p.err = err;
    p.top = p.frames;
    if (likely(print(&p)))
        return RC_OK;
    out->len = p.before;
    return RC_ERR;
}
