/* schema/decode/avro_check.c - is it one datum of its schema? Each byte of Avro binary is looked at, driven by the
 * program, with a stack of the records, arrays and maps that are open. What passes is what decode.c prints,
 * but for indexes of more bytes than other readers take. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/num.h"
#include "base/utf8.h"
#include "schema/decode/avro_read.h"
#include "schema/decode/decode.h"
#include "schema/encode/name_set.h"
#include "schema/json.h"
#include "schema/program/program.h"

/* What is paid for out of the budget: values may take no bytes, so that nothing else bounds them. */
enum { COST_DATUM = 8, COST_NAME = 24 };

/* A record, array or map that is open. */
struct frame {
    const struct op *op; /* NULL: the bottom */
    union {
        const struct op_field *next; /* record */
        struct {
            uint64_t left;            /* items of this block still to come */
            const uint8_t *block_end; /* if the block told its size, else NULL */
            uint64_t index;           /* items begun, of all blocks */
            uint64_t total;           /* items of all blocks so far */
            const uint8_t *key;       /* map: where the member's key stands */
            struct name_scope keys;   /* map */
        } items;
    };
};

struct checker {
    const struct program *program;
    const uint8_t *start, *end; /* of the datum */
    size_t before;              /* bytes of the body that stand before it */
    int64_t budget;
    uint64_t empty_items_left;
    uint32_t items_max, depth_max; /* of the type, or of all */
    bool is_ours;          /* what the datum is made of has been checked: nobody has sent these bytes */
    struct name_set *keys; /* of the maps that are open */
    struct arena *arena;
    struct err *err;
    struct frame *top;
    struct frame frames[LIMIT_DATA_DEPTH_MAX + 1];
};

/* ---- faults ---- */

static bool add_frame(const struct checker *c, const struct frame *f, struct buf *pointer)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    int64_t len;
    const uint8_t *key;
    switch (f->op->code) {
    case OP_RECORD: return json_pointer_push(pointer, f->next[-1].name);
    case OP_ARRAY:
        return json_pointer_push(pointer, slice_of(digits, num_print_u64(f->items.index - 1, digits)));
    default: /* the key has been checked */
        key = avro_read_long(f->items.key, c->end, &len);
        return json_pointer_push(pointer, slice_of(key, (size_t)len));
    }
}

static bool pointer_to(const struct checker *c, const struct frame *inside, struct buf *out)
{
    for (const struct frame *f = c->frames + 1; f <= inside; f++)
        if (!add_frame(c, f, out))
            return false;
    return true;
}

/* One problem, with its pointer; if that is endless, with the sentence alone. */
static enum rc tell(struct checker *c, enum err_code code, enum problem_code kind, struct slice pointer,
                    const char *sentence)
{
    if (pointer.len > LIMIT_POINTERS_MAX)
        return err_set(c->err, code, "%s", sentence);
    *c->err = (struct err){0};
    struct problem *p = err_problem(c->err, c->arena, kind, pointer);
    if (!p || !arena_copy(c->arena, slice_str(sentence), &p->detail))
        return err_oom(c->err);
    return err_sum_up(c->err, code);
}

static enum err_code code_of(enum problem_code kind)
{
    switch (kind) {
    case PROBLEM_DEPTH: return ERR_TOO_DEEP;
    case PROBLEM_ITEMS: return ERR_TOO_MANY_ITEMS;
    default: return ERR_BAD_AVRO;
    }
}

/* Fill *err: what is wrong, at which byte, in which value. `inside`: the frames up to this one have a member
 * that is concerned. Returns NULL, so that it can be returned in place of a moved pointer. */
static COLD void *fail(struct checker *c, enum problem_code kind, const struct frame *inside,
                       const uint8_t *at, const char *format, ...) PRINTF_LIKE(5, 6);
static COLD void *fail(struct checker *c, enum problem_code kind, const struct frame *inside,
                       const uint8_t *at, const char *format, ...)
{
    char what[96], sentence[192];
    struct buf pointer = {0};
    bool is_file = c->end - c->start >= 4 && memcmp(c->start, "Obj\1", 4) == 0;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (c->is_ours)
        snprintf(sentence, sizeof sentence, "With this the record would have %s.", what);
    else
        snprintf(sentence, sizeof sentence, "Avro binary: %s at byte %zu.%s", what,
                 c->before + (size_t)(at - c->start),
                 is_file ? " It looks like an object container file." : "");
    if (pointer_to(c, inside, &pointer))
        (void)tell(c, code_of(kind), kind, buf_slice(&pointer), sentence);
    else
        err_oom(c->err);
    buf_release(&pointer);
    return NULL;
}

static COLD void *too_much_work(struct checker *c)
{
    err_set(c->err, ERR_TOO_MUCH_WORK, "Checking this body takes too much work.");
    return NULL;
}

static COLD void *too_deep(struct checker *c, const struct frame *inside, const uint8_t *at)
{
    return fail(c, PROBLEM_DEPTH, inside, at, "more than %u records, arrays and maps inside each other",
                c->depth_max);
}

static COLD void *bad_number(struct checker *c, const uint8_t *at)
{
    return fail(c, PROBLEM_RANGE, c->top, at, "%s", avro_int_fault(at, c->end));
}

/* ---- values without members ---- */

/* Each returns what stands behind the value at `at`; NULL: *err is filled. */

static const uint8_t *check_bytes(struct checker *c, const uint8_t *at, size_t n, const char *what)
{
    if (unlikely((size_t)(c->end - at) < n))
        return fail(c, PROBLEM_SIZE, c->top, at, "%s is cut off", what);
    return at + n;
}

static const uint8_t *check_boolean(struct checker *c, const uint8_t *at)
{
    if (unlikely(at == c->end))
        return fail(c, PROBLEM_SIZE, c->top, at, "a boolean is cut off");
    if (unlikely(*at > 1))
        return fail(c, PROBLEM_RANGE, c->top, at, "a boolean of %u, neither 0 nor 1,", *at);
    return at + 1;
}

static const uint8_t *check_int(struct checker *c, const uint8_t *at)
{
    int64_t v;
    const uint8_t *p = avro_read_long(at, c->end, &v);
    if (unlikely(!p || v != (int32_t)v || p - at > AVRO_INT_MAX))
        return bad_number(c, at);
    return p;
}

static const uint8_t *check_long(struct checker *c, const uint8_t *at)
{
    int64_t v;
    const uint8_t *p = avro_read_long(at, c->end, &v);
    return likely(p) ? p : bad_number(c, at);
}

/* A length and as many bytes, which are *out. */
static const uint8_t *check_text(struct checker *c, const struct frame *inside, const uint8_t *at,
                                 struct slice *out)
{
    int64_t len;
    const uint8_t *p = avro_read_long(at, c->end, &len);
    if (unlikely(!p || len < 0 || len > c->end - p))
        return fail(c, PROBLEM_SIZE, inside, at, "%s", avro_length_fault(at, c->end));
    *out = slice_of(p, (size_t)len);
    return p + len;
}

static const uint8_t *check_string(struct checker *c, const struct frame *inside, const uint8_t *at,
                                   struct slice *out)
{
    const uint8_t *p = check_text(c, inside, at, out);
    if (unlikely(!p))
        return NULL;
    size_t valid = utf8_valid_len(*out);
    if (unlikely(valid != out->len))
        return fail(c, PROBLEM_ENCODING, inside, out->ptr + valid, "a string that is not UTF-8");
    return p;
}

/* An enum's symbol or a union's branch, below `n`: *out. The specification says int; some readers take it for
 * a long, and some do not. */
static const uint8_t *check_index(struct checker *c, enum problem_code kind, const uint8_t *at, uint32_t n,
                                  uint32_t *out)
{
    int64_t index;
    const uint8_t *p = avro_read_long(at, c->end, &index);
    if (unlikely(!p))
        return bad_number(c, at);
    if (unlikely(index < 0 || index >= n))
        return fail(c, kind, c->top, at, "%s %lld of %u",
                    kind == PROBLEM_SYMBOL ? "enum symbol" : "union branch", (long long)index, n);
    if (unlikely(p - at > AVRO_INT_MAX))
        return fail(c, PROBLEM_RANGE, c->top, at, "an index of more than %d bytes", AVRO_INT_MAX);
    *out = (uint32_t)index;
    return p;
}

/* ---- containers ---- */

static bool open_frame(struct checker *c, const struct op *op, const uint8_t *at)
{
    if (unlikely(c->top == c->frames + c->depth_max))
        return too_deep(c, c->top, at);
    struct frame *f = ++c->top;
    f->op = op;
    if (op->code == OP_RECORD) {
        f->next = c->program->fields + op->a;
        return true;
    }
    f->items.left = 0;
    f->items.block_end = NULL;
    f->items.index = f->items.total = 0;
    if (op->code == OP_MAP)
        f->items.keys = name_scope_open(c->keys);
    return true;
}

static void close_frame(struct checker *c)
{
    if (c->top->op->code == OP_MAP)
        name_scope_close(c->keys, &c->top->items.keys);
    c->top--;
}

/* A value that takes no bytes, whatever there is in it: only how deep it goes is to be seen. */
static bool check_empty(struct checker *c, const struct op *op, const struct frame *inside, const uint8_t *at)
{
    size_t open = (size_t)(c->top - c->frames);
    return likely(open + op->depth_empty <= c->depth_max) || too_deep(c, inside, at);
}

/* The bytes of each datum of this type whose bytes may be any; else -1. */
static int64_t free_bytes(const struct op *op)
{
    switch ((enum opcode)op->code) {
    case OP_FLOAT: return 4;
    case OP_DOUBLE: return 8;
    case OP_FIXED: return op->a;
    default: return op->size_min == 0 ? 0 : -1;
    }
}

/* Can what is left hold the items of this block, whose beginning is at `at` and first item at `items`? Those
 * that take no bytes at all have a budget of their own. */
static bool check_count(struct checker *c, const uint8_t *at, const uint8_t *items)
{
    struct frame *f = c->top;
    const struct op *item = &c->program->ops[f->op->a];
    uint64_t least, each = (uint64_t)item->size_min + (f->op->code == OP_MAP);
    const uint8_t *end = f->items.block_end ? f->items.block_end : c->end;
    if (unlikely(each == 0)) {
        if (f->items.left > c->empty_items_left) {
            err_set(c->err, ERR_TOO_MUCH_WORK, "The record has more than %d array items of no bytes.",
                    LIMIT_EMPTY_ITEMS_MAX);
            return false;
        }
        c->empty_items_left -= f->items.left;
        return check_empty(c, item, f - 1, at);
    }
    if (unlikely(__builtin_mul_overflow(f->items.left, each, &least) || least > (uint64_t)(end - items)))
        return fail(c, PROBLEM_SIZE, c->top - 1, at, "a block of more items than the data can hold");
    return true;
}

static bool check_items(struct checker *c, const uint8_t *at)
{
    struct frame *f = c->top;
    f->items.total += f->items.left;
    return likely(f->items.total <= c->items_max) ||
           fail(c, PROBLEM_ITEMS, f - 1, at, "more than %u items in one array or map", c->items_max);
}

/* Does the block that ends here say so, if it tells its size? */
static bool check_block_end(struct checker *c, const uint8_t *at)
{
    const uint8_t *told = c->top->items.block_end;
    return likely(!told || told == at) ||
           fail(c, PROBLEM_SIZE, c->top - 1, at, "the items of a block end elsewhere than its size says,");
}

/* To the first item of the next block of the array or map in c->top; over the block if there is nothing in it
 * that could be wrong. With items.left 0 there is none, and what is returned stands behind the end mark. */
static const uint8_t *next_block(struct checker *c, const uint8_t *at)
{
    struct frame *f = c->top;
    int64_t each = f->op->code == OP_ARRAY ? free_bytes(&c->program->ops[f->op->a]) : -1;
    const char *fault;
    for (;;) {
        if (unlikely(!check_block_end(c, at)))
            return NULL;
        const uint8_t *p = avro_read_block(at, c->end, &f->items.left, &f->items.block_end, &fault);
        if (unlikely(!p))
            return fail(c, PROBLEM_SIZE, c->top - 1, at, "%s", fault);
        if (f->items.left == 0)
            return p;
        if (unlikely(!check_count(c, at, p) || !check_items(c, at)))
            return NULL;
        at = p;
        if (each < 0)
            return at;
        at += f->items.left * (uint64_t)each;
        f->items.left = 0;
    }
}

/* A key twice would be a name twice in the JSON, of which readers take the one or the other. */
static bool add_key(struct checker *c, struct slice key)
{
    struct frame *f = c->top;
    c->budget -= COST_NAME;
    switch (
        name_set_add(c->keys, &f->items.keys, c->start, (uint32_t)(key.ptr - c->start), (uint32_t)key.len)) {
    case NAMES_NEW: return true;
    case NAMES_DUPLICATE: return fail(c, PROBLEM_DUPLICATE, f, f->items.key, "a key that stands twice");
    case NAMES_NO_MEMORY: err_oom(c->err); break;
    }
    return false;
}

static const uint8_t *check_key(struct checker *c, const uint8_t *at)
{
    struct slice key;
    c->top->items.key = at;
    at = check_string(c, c->top - 1, at, &key);
    return likely(at) && likely(add_key(c, key)) ? at : NULL;
}

/* ---- the loop ---- */

/* Over a value without members. A record, array or map is opened; of a union only the index is passed over,
 * and the branch's instruction goes to *op. */
static const uint8_t *check_value(struct checker *c, const struct op **op, const uint8_t *at)
{
    struct slice text;
    uint32_t index;
    switch ((enum opcode)(*op)->code) {
    case OP_NULL: return at;
    case OP_BOOLEAN: return check_boolean(c, at);
    case OP_INT: return check_int(c, at);
    case OP_LONG: return check_long(c, at);
    case OP_FLOAT: return check_bytes(c, at, 4, "a float");
    case OP_DOUBLE: return check_bytes(c, at, 8, "a double");
    case OP_BYTES: return check_text(c, c->top, at, &text);
    case OP_STRING: return check_string(c, c->top, at, &text);
    case OP_FIXED: return check_bytes(c, at, (*op)->a, "a fixed");
    case OP_ENUM: return check_index(c, PROBLEM_SYMBOL, at, (*op)->b, &index);
    case OP_UNION:
        at = check_index(c, PROBLEM_NO_BRANCH, at, (*op)->b, &index);
        if (likely(at))
            *op = &c->program->ops[c->program->branches[(*op)->a + index].op];
        return at;
    case OP_RECORD:
        if (unlikely((*op)->size_min == 0))
            return check_empty(c, *op, c->top, at) ? at : NULL;
        return open_frame(c, *op, at) ? at : NULL;
    case OP_ARRAY:
    case OP_MAP: return open_frame(c, *op, at) ? at : NULL;
    default: break; /* spelled: that is for JSON alone */
    }
    assert(!"no instruction");
    return NULL;
}

/* The next value inside the open containers, closing those that are done: its instruction goes to *op, NULL
 * at the bottom. */
static const uint8_t *next_value(struct checker *c, const struct op **op, const uint8_t *at)
{
    *op = NULL;
    for (; c->top->op; close_frame(c)) {
        struct frame *f = c->top;
        if (f->op->code == OP_RECORD) {
            if (f->next == c->program->fields + f->op->a + f->op->b)
                continue;
            *op = &c->program->ops[f->next++->op];
            return at;
        }
        if (f->items.left == 0) {
            at = next_block(c, at);
            if (unlikely(!at))
                return NULL;
            if (f->items.left == 0)
                continue;
        }
        f->items.left--;
        f->items.index++;
        *op = &c->program->ops[f->op->a];
        return f->op->code == OP_MAP ? check_key(c, at) : at;
    }
    return at;
}

static const uint8_t *check_datum(struct checker *c, const struct op *op)
{
    const uint8_t *at = c->start;
    while (op) {
        bool is_union = op->code == OP_UNION;
        c->budget -= COST_DATUM;
        if (unlikely(c->budget < 0))
            return too_much_work(c);
        at = check_value(c, &op, at);
        if (likely(at) && !is_union)
            at = next_value(c, &op, at);
        if (unlikely(!at))
            return NULL;
    }
    if (unlikely(at != c->end))
        return fail(c, PROBLEM_SIZE, c->top, at, "%zu bytes left over", (size_t)(c->end - at));
    return at;
}

static enum rc check(struct codec *codec, const struct schema *schema, const struct codec_opts *opts,
                     struct slice body, size_t before, bool is_ours, struct arena *arena, struct err *err)
{
    const struct program *p = schema_program(schema);
    struct slice avro = slice_not_null(body);
    struct checker c; /* the frames stay uninitialised */
    c.program = p;
    c.start = avro.ptr + before;
    c.end = avro.ptr + avro.len;
    c.before = before;
    c.budget = encode_budget(avro.len - before, opts->brief);
    c.empty_items_left = LIMIT_EMPTY_ITEMS_MAX;
    c.items_max = opts->limits.items ? opts->limits.items : UINT32_MAX;
    c.depth_max = opts->limits.depth ? opts->limits.depth : LIMIT_DATA_DEPTH_MAX;
    c.is_ours = is_ours;
    c.keys = &codec->names;
    c.arena = arena;
    c.err = err;
    c.top = c.frames;
    c.frames[0].op = NULL;
    name_set_clear(c.keys);
    bool ok = check_datum(&c, &p->ops[p->root]);
    name_set_reset(c.keys);
    return ok ? RC_OK : RC_ERR;
}

enum rc codec_check(struct codec *codec, const struct schema *schema, const struct codec_opts *opts,
                    struct slice body, size_t before, struct arena *arena, struct err *err)
{
    assert(before <= body.len);
    if (body.len - before > LIMIT_RECORD_MAX)
        return err_set(err, ERR_RECORD_TOO_LARGE, "The record takes more than %d bytes as Avro binary.",
                       LIMIT_RECORD_MAX);
    if (codec_check_bytes(opts, body.len - before, err) != RC_OK)
        return RC_ERR;
    return check(codec, schema, opts, body, before, false, arena, err);
}

enum rc codec_check_limits(struct codec *codec, const struct schema *schema, const struct codec_opts *opts,
                           struct slice avro, struct arena *arena, struct err *err)
{
    const struct codec_limits *limits = &opts->limits;
    const struct program *p = schema_program(schema);
    if (codec_check_bytes(opts, avro.len, err) != RC_OK)
        return RC_ERR;
    if ((!limits->items && !limits->depth) || decode_within(p, p->root, limits, slice_not_null(avro)))
        return RC_OK;
    return check(codec, schema, opts, avro, 0, true, arena, err);
}
