/* schema/decode/decode.c - Avro binary to JSON text: one pass over the bytes, driven by the program, with a stack of
 * the records, arrays and maps that are open. */
#include "schema/decode/decode.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/num.h"
#include "schema/decode/avro_read.h"
#include "schema/decode/json_out.h"
#include "schema/encode/name_set.h"
#include "schema/encode/spelling.h"

/* A record, array or map that is open. */
struct frame {
    uint8_t code; /* OP_RECORD, OP_ARRAY, OP_MAP; OP_NULL: the bottom */
    uint8_t lead; /* what goes before the next member: the bracket, from the second on the comma */
    bool tagged;  /* it stands under a union's tag, to be closed with it */
    union {
        struct {
            const struct op_field *next, *end;
        } record;
        struct {
            const struct op *item;
            uint64_t left;            /* items of this block still to come */
            const uint8_t *block_end; /* if the block told its size, else NULL */
            uint64_t index;           /* array: items begun, of all blocks */
            const uint8_t *key;       /* map: where the member's key stands */
            struct name_scope keys;   /* map */
        } items;
    };
};

struct decoder {
    const struct program *program;
    const uint8_t *start, *end; /* of the datum */
    const uint8_t *origin;      /* offsets in messages count from here */
    struct json_out out;
    uint8_t bare_flag;         /* unions with this flag are printed without tag */
    uint64_t empty_items_left; /* budget of items that take no bytes */
    struct name_set keys;      /* of the maps that are open */
    struct slice name;         /* path of the datum, for messages */
    struct err *err;
    struct frame *top;
    struct frame frames[LIMIT_DATA_DEPTH_MAX + 2]; /* the bottom, and on top perhaps what does not count */
};

/* ---- faults ---- */

/* A text of bounded size that grows by whole pieces: a piece that does not fit is left out, and all behind
 * it. */
struct path {
    char text[128];
    size_t len;
    bool full;
};

static void path_add(struct path *p, struct slice segment)
{
    static const char dots[] = "/...";
    if (p->full)
        return;
    p->full = segment.len + 1 + sizeof dots > sizeof p->text - p->len;
    if (p->full) {
        memcpy(p->text + p->len, dots, sizeof dots);
        return;
    }
    p->text[p->len++] = '/';
    memcpy(p->text + p->len, segment.ptr, segment.len);
    p->len += segment.len;
    p->text[p->len] = 0;
}

static void path_add_frame(struct path *p, const struct decoder *d, const struct frame *f)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    int64_t len;
    const uint8_t *key;
    switch (f->code) {
    case OP_RECORD: path_add(p, f->record.next[-1].name); break;
    case OP_ARRAY: path_add(p, slice_of(digits, num_print_u64(f->items.index - 1, digits))); break;
    case OP_MAP: /* checked when it was printed */
        key = avro_read_long(f->items.key, d->end, &len);
        path_add(p, slice_of(key, (size_t)len));
        break;
    }
}

/* Fill *err: what is wrong, at which byte, in which value. `inside`: the frames up to this one have a member
 * that is concerned. Returns NULL, so that it can be returned in place of a moved pointer. */
static COLD void *fail(struct decoder *d, enum err_code code, const struct frame *inside, const uint8_t *at,
                       const char *format, ...) PRINTF_LIKE(5, 6);
static COLD void *fail(struct decoder *d, enum err_code code, const struct frame *inside, const uint8_t *at,
                       const char *format, ...)
{
    char what[96];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct path path = {.len = 0};
    if (d->name.len)
        path_add(&path, d->name);
    for (const struct frame *f = d->frames + 1; f <= inside; f++)
        path_add_frame(&path, d, f);
    bool is_file = d->end - d->origin >= 4 && memcmp(d->origin, "Obj\1", 4) == 0;
    err_set(d->err, code, "Avro binary: %s at byte %zu%s%s.%s", what, (size_t)(at - d->origin),
            path.text[0] ? " in " : "", path.text, is_file ? " It looks like an object container file." : "");
    return NULL;
}

#define BAD(d, at, ...) fail(d, ERR_BAD_AVRO, (d)->top, at, __VA_ARGS__)

/* ---- scalars ---- */

/* Each reads the value at *at, moves *at behind it and returns w moved; NULL: failed. They are inlined into
 * the loop, so that both pointers stay in registers. */

static inline uint8_t *put_literal(uint8_t *w, const char *text, size_t len)
{
    memcpy(w, text, len);
    return w + len;
}

#define PUT(w, literal) put_literal(w, literal, sizeof(literal) - 1)

static inline uint8_t *put_boolean(struct decoder *d, const uint8_t **at, uint8_t *w)
{
    const uint8_t *p = *at;
    if (unlikely(p == d->end))
        return BAD(d, p, "a boolean is cut off");
    if (unlikely(*p > 1))
        return BAD(d, p, "a boolean of %u, neither 0 nor 1,", *p);
    *at = p + 1;
    return *p ? PUT(w, "true") : PUT(w, "false");
}

static inline uint8_t *put_int(struct decoder *d, const uint8_t **at, uint8_t *w)
{
    int64_t v;
    const uint8_t *p = avro_read_long(*at, d->end, &v);
    if (unlikely(!p || v != (int32_t)v || p - *at > AVRO_INT_MAX))
        return BAD(d, *at, "%s", avro_int_fault(*at, d->end));
    *at = p;
    return w + num_print_i64(v, w);
}

static inline uint8_t *put_long(struct decoder *d, const uint8_t **at, uint8_t *w)
{
    int64_t v;
    const uint8_t *p = avro_read_long(*at, d->end, &v);
    if (unlikely(!p))
        return BAD(d, *at, "%s", avro_int_fault(*at, d->end));
    *at = p;
    return w + num_print_i64(v, w);
}

/* What JSON has no number for is a string. */
static COLD uint8_t *put_not_finite(double v, uint8_t *w)
{
    *w++ = '"';
    w += num_print_double(v, w);
    *w++ = '"';
    return w;
}

static inline uint8_t *put_float(struct decoder *d, const uint8_t **at, uint8_t *w)
{
    const uint8_t *p = *at;
    if (unlikely(d->end - p < 4))
        return BAD(d, p, "a float is cut off");
    uint32_t bits = get_le32(p);
    float v;
    memcpy(&v, &bits, sizeof v);
    *at = p + 4;
    return likely(isfinite(v)) ? w + num_print_float(v, w) : put_not_finite((double)v, w);
}

static inline uint8_t *put_double(struct decoder *d, const uint8_t **at, uint8_t *w)
{
    const uint8_t *p = *at;
    if (unlikely(d->end - p < 8))
        return BAD(d, p, "a double is cut off");
    uint64_t bits = get_le64(p);
    double v;
    memcpy(&v, &bits, sizeof v);
    *at = p + 8;
    return likely(isfinite(v)) ? w + num_print_double(v, w) : put_not_finite(v, w);
}

/* A length and as many bytes. */
static inline bool read_text(struct decoder *d, const struct frame *inside, const uint8_t **at,
                             struct slice *out)
{
    int64_t len;
    const uint8_t *p = avro_read_long(*at, d->end, &len);
    if (unlikely(!p || len < 0 || len > d->end - p)) {
        fail(d, ERR_BAD_AVRO, inside, *at, "%s", avro_length_fault(*at, d->end));
        return false;
    }
    *out = slice_of(p, (size_t)len);
    *at = p + len;
    return true;
}

static inline uint8_t *put_text(struct decoder *d, const struct frame *inside, struct slice text, uint8_t *w)
{
    const uint8_t *bad;
    w = json_out_string(&d->out, w, text, d->end, &bad);
    if (unlikely(!w) && bad)
        fail(d, ERR_BAD_AVRO, inside, bad, "a string that is not UTF-8");
    return w;
}

static inline uint8_t *put_string(struct decoder *d, const struct frame *inside, const uint8_t **at,
                                  uint8_t *w)
{
    struct slice text;
    return likely(read_text(d, inside, at, &text)) ? put_text(d, inside, text, w) : NULL;
}

static inline uint8_t *put_bytes(struct decoder *d, const uint8_t **at, uint8_t *w)
{
    struct slice bytes;
    if (unlikely(!read_text(d, d->top, at, &bytes)))
        return NULL;
    return json_out_bytes(&d->out, w, bytes, d->end);
}

static inline uint8_t *put_fixed(struct decoder *d, const struct op *op, const uint8_t **at, uint8_t *w)
{
    const uint8_t *p = *at;
    if (unlikely((size_t)(d->end - p) < op->a))
        return BAD(d, p, "a fixed of %u bytes is cut off", op->a);
    *at = p + op->a;
    return json_out_bytes(&d->out, w, slice_of(p, op->a), d->end);
}

/* A text of the program's. */
static inline uint8_t *put_prepared(struct decoder *d, uint8_t *w, struct slice text)
{
    w = json_out_room(&d->out, w, text.len);
    return likely(w) ? json_out_copy(w, text) : NULL;
}

/* The index of an enum's symbol or a union's branch, below `n`. False: *err is filled. */
static inline bool read_index(struct decoder *d, const uint8_t **at, uint32_t n, const char *what,
                              uint32_t *out)
{
    int64_t index;
    const uint8_t *p = avro_read_long(*at, d->end, &index);
    if (unlikely(!p)) {
        BAD(d, *at, "%s", avro_int_fault(*at, d->end));
        return false;
    }
    if (unlikely(index < 0 || index >= n)) {
        BAD(d, *at, "%s %lld of %u", what, (long long)index, n);
        return false;
    }
    *at = p;
    *out = (uint32_t)index;
    return true;
}

static inline uint8_t *put_symbol(struct decoder *d, const struct op *op, const uint8_t **at, uint8_t *w)
{
    uint32_t index;
    if (unlikely(!read_index(d, at, op->b, "enum symbol", &index)))
        return NULL;
    return put_prepared(d, w, d->program->symbols[op->a + index].text);
}

/* What is spelled readably. Moves no pointer that the loop holds: *behind is behind the value. */
static NOINLINE uint8_t *put_spelled(struct decoder *d, const struct op *op, const uint8_t *at, uint8_t *w,
                                     const uint8_t **behind)
{
    struct spelled v;
    const char *fault;
    *behind = spelling_take(op, at, d->end, &v, &fault);
    if (unlikely(!*behind))
        return BAD(d, at, "%s", fault);
    w = json_out_room(&d->out, w, spelling_chars_max(op, &v));
    return likely(w) ? spelling_print(op, &v, w) : NULL;
}

/* ---- containers ---- */

/* Open a frame for op. NULL: too deep. What is a record in JSON alone does not count. */
static inline struct frame *push(struct decoder *d, const struct op *op, bool tagged, const uint8_t *at)
{
    if (unlikely(d->top >= d->frames + LIMIT_DATA_DEPTH_MAX) && !(op->flags & OP_FLAG_FLAT))
        return fail(d, ERR_TOO_DEEP, d->top, at, "more than %d records, arrays and maps inside each other",
                    LIMIT_DATA_DEPTH_MAX);
    struct frame *f = ++d->top;
    f->code = op->code;
    f->tagged = tagged;
    if (op->code == OP_RECORD) {
        f->lead = '{';
        f->record.next = d->program->fields + op->a;
        f->record.end = f->record.next + op->b;
        return f;
    }
    f->lead = op->code == OP_ARRAY ? '[' : '{';
    f->items.item = d->program->ops + op->a;
    f->items.left = 0;
    f->items.block_end = NULL;
    f->items.index = 0;
    if (op->code == OP_MAP)
        f->items.keys = name_scope_open(&d->keys);
    return f;
}

/* Can what is left hold so many items? Those that take no bytes at all have a budget, since nothing else
 * bounds them. */
static bool check_count(struct decoder *d, const struct frame *f, const uint8_t *at, const uint8_t *behind)
{
    uint64_t least, count = f->items.left;
    uint64_t each = (uint64_t)f->items.item->size_min + (f->code == OP_MAP);
    const uint8_t *end = f->items.block_end ? f->items.block_end : d->end;
    if (unlikely(each == 0)) {
        if (count > d->empty_items_left) {
            fail(d, ERR_TOO_MUCH_WORK, d->top - 1, at, "more than %d items of no bytes",
                 LIMIT_EMPTY_ITEMS_MAX);
            return false;
        }
        d->empty_items_left -= count;
        return true;
    }
    if (__builtin_mul_overflow(count, each, &least) || least > (uint64_t)(end - behind)) {
        fail(d, ERR_BAD_AVRO, d->top - 1, at, "a block of more items than the data can hold");
        return false;
    }
    return true;
}

/* Begin the next block of the array or map f; none left: f->items.left stays 0. False: *err is filled. */
static bool next_block(struct decoder *d, struct frame *f, const uint8_t **at)
{
    const char *fault;
    if (unlikely(f->items.block_end && f->items.block_end != *at)) {
        fail(d, ERR_BAD_AVRO, d->top - 1, *at, "the items of a block end elsewhere than its size says,");
        return false;
    }
    const uint8_t *p = avro_read_block(*at, d->end, &f->items.left, &f->items.block_end, &fault);
    if (unlikely(!p)) {
        fail(d, ERR_BAD_AVRO, d->top - 1, *at, "%s", fault);
        return false;
    }
    if (f->items.left != 0 && unlikely(!check_count(d, f, *at, p)))
        return false;
    *at = p;
    return true;
}

/* A key twice would be a name twice in the JSON, of which readers take the one or the other. */
static inline bool add_key(struct decoder *d, struct frame *f, struct slice key)
{
    switch (
        name_set_add(&d->keys, &f->items.keys, d->start, (uint32_t)(key.ptr - d->start), (uint32_t)key.len)) {
    case NAMES_NEW: return true;
    case NAMES_DUPLICATE: fail(d, ERR_BAD_AVRO, f, f->items.key, "a key that stands twice"); break;
    case NAMES_NO_MEMORY: err_oom(d->err); break;
    }
    return false;
}

static inline uint8_t *put_key(struct decoder *d, struct frame *f, const uint8_t **at, uint8_t *w)
{
    struct slice key;
    f->items.key = *at;
    if (unlikely(!read_text(d, f - 1, at, &key)))
        return NULL;
    w = put_text(d, f - 1, key, w);
    if (unlikely(!w) || unlikely(!add_key(d, f, key)))
        return NULL;
    *w++ = ':';
    return w;
}

/* ---- the loop ---- */

/* Print the datum of `op` at d->start to its end. Returns w moved; NULL: *err is filled. */
static uint8_t *run(struct decoder *d, const struct op *op, uint8_t *w)
{
    const struct op *ops = d->program->ops;
    const uint8_t *at = d->start;
    struct frame *f = d->top;
    bool tagged = false;

value: /* of op; under a tag if tagged */
    switch ((enum opcode)op->code) {
    case OP_NULL: w = PUT(w, "null"); break;
    case OP_BOOLEAN: w = put_boolean(d, &at, w); break;
    case OP_INT: w = put_int(d, &at, w); break;
    case OP_LONG: w = put_long(d, &at, w); break;
    case OP_FLOAT: w = put_float(d, &at, w); break;
    case OP_DOUBLE: w = put_double(d, &at, w); break;
    case OP_BYTES: w = put_bytes(d, &at, w); break;
    case OP_STRING:
    case OP_UUID_STRING: w = put_string(d, f, &at, w); break;
    case OP_FIXED: w = put_fixed(d, op, &at, w); break;
    case OP_ENUM: w = put_symbol(d, op, &at, w); break;

    case OP_MOMENT:
    case OP_DECIMAL:
    case OP_UUID:
    case OP_BASE64:
    case OP_INT64:
    case OP_UINT32: {
        const uint8_t *behind;
        w = put_spelled(d, op, at, w, &behind);
        at = behind;
        break;
    }

    case OP_UNION: {
        uint32_t index;
        if (unlikely(!read_index(d, &at, op->b, "union branch", &index)))
            return NULL;
        const struct op_branch *branch = &d->program->branches[op->a + index];
        bool bare = (op->flags & d->bare_flag) || ops[branch->op].code == OP_NULL;
        op = &ops[branch->op];
        if (!bare) {
            w = put_prepared(d, w, branch->open);
            if (unlikely(!w))
                return NULL;
            tagged = true;
        }
        goto value;
    }

    case OP_RECORD:
    case OP_ARRAY:
    case OP_MAP:
        f = push(d, op, tagged, at);
        if (unlikely(!f))
            return NULL;
        goto member;

    case OPCODES: assert(!"no instruction");
    }
    if (unlikely(!w))
        return NULL;

close_tag:
    if (tagged)
        *w++ = '}';

member: /* the next of the innermost open frame */
    tagged = false;
    w = json_out_room(&d->out, w, 0);
    if (unlikely(!w))
        return NULL;
    switch (f->code) {
    case OP_RECORD:
        if (f->record.next == f->record.end)
            goto close;
        *w++ = f->lead;
        f->lead = ',';
        w = put_prepared(d, w, f->record.next->key);
        if (unlikely(!w))
            return NULL;
        op = &ops[f->record.next++->op];
        goto value;

    case OP_ARRAY:
    case OP_MAP:
        if (f->items.left == 0 && unlikely(!next_block(d, f, &at)))
            return NULL;
        if (f->items.left == 0)
            goto close;
        f->items.left--;
        *w++ = f->lead;
        f->lead = ',';
        if (f->code == OP_MAP) {
            w = put_key(d, f, &at, w);
            if (unlikely(!w))
                return NULL;
        }
        f->items.index++;
        op = f->items.item;
        goto value;
    }
    /* the bottom: the datum is done */
    if (unlikely(at != d->end))
        return BAD(d, at, "%zu bytes left over", (size_t)(d->end - at));
    return w;

close:
    if (f->lead != ',') /* it had no members */
        *w++ = f->lead;
    *w++ = f->code == OP_ARRAY ? ']' : '}';
    if (f->code == OP_MAP)
        name_scope_close(&d->keys, &f->items.keys);
    tagged = f->tagged;
    f = --d->top;
    goto close_tag;
}

enum rc decode_json(const struct program *p, uint32_t op, enum json_form form, size_t bytes_max,
                    struct slice avro, struct slice value, struct slice name, struct buf *out,
                    struct err *err)
{
    struct decoder d; /* the frames stay uninitialised */
    d.program = p;
    d.start = value.ptr;
    d.end = value.ptr + value.len;
    d.origin = avro.ptr;
    d.bare_flag = form == JSON_AVRO ? 0 : OP_FLAG_SINGLE;
    d.empty_items_left = LIMIT_EMPTY_ITEMS_MAX;
    d.keys = (struct name_set){0};
    d.name = name;
    d.err = err;
    d.top = d.frames;
    d.frames[0].code = OP_NULL;
    uint8_t *w = json_out_begin(&d.out, out, bytes_max, err);
    if (unlikely(!w))
        return RC_ERR;
    w = run(&d, &p->ops[op], w);
    name_set_release(&d.keys);
    if (unlikely(!w))
        return RC_ERR;
    json_out_finish(&d.out, w);
    return RC_OK;
}

static enum rc whole_to_json(const struct schema *schema, enum json_form form, size_t bytes_max,
                             struct slice avro, struct buf *out, struct err *err)
{
    const struct program *p = schema_program_of(schema, form);
    if (unlikely(!p))
        return err_oom(err);
    avro = slice_not_null(avro);
    return decode_json(p, p->root, form, bytes_max, avro, avro, SLICE(""), out, err);
}

static enum rc field_to_json(const struct schema *schema, int field, enum json_form form, size_t bytes_max,
                             struct slice avro, struct buf *out, struct err *err)
{
    const struct program *p = schema_program_of(schema, form);
    struct slice value;
    if (unlikely(!p))
        return err_oom(err);
    avro = slice_not_null(avro);
    if (codec_field_span(schema, field, avro, &value, err) != RC_OK)
        return RC_ERR;
    const struct op_field *f = &p->fields[p->ops[p->root].a + (uint32_t)field];
    return decode_json(p, f->op, form, bytes_max, avro, value, f->name, out, err);
}

enum rc codec_to_json(const struct schema *schema, enum json_form form, struct slice avro, struct buf *out,
                      struct err *err)
{
    return whole_to_json(schema, form, LIMIT_JSON_MAX, avro, out, err);
}

enum rc codec_field_to_json(const struct schema *schema, int field, enum json_form form, struct slice avro,
                            struct buf *out, struct err *err)
{
    return field_to_json(schema, field, form, LIMIT_JSON_MAX, avro, out, err);
}

enum rc codec_to_json_within(const struct schema *schema, int field, enum json_form form, size_t bytes_max,
                             struct slice avro, struct buf *out, struct err *err)
{
    if (field >= 0)
        return field_to_json(schema, field, form, bytes_max, avro, out, err);
    return whole_to_json(schema, form, bytes_max, avro, out, err);
}
