/* schema/resolve/resolve_run.c - the writer's bytes to the reader's: one pass, driven by the resolver, with a
 * stack of the records, arrays and maps that are open. Fields that come in another order are found first. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "schema/resolve/match.h"
#include "schema/resolve/resolve_walk.h"

enum { SLACK = 32 }; /* what may be written without asking: any number, and what belongs to it */

/* A record, array or map that is open. */
struct frame {
    uint8_t code;    /* RESOLVE_RECORD, _SCATTERED, _ARRAY, _MAP; RESOLVE_CODES: the bottom */
    bool has_counts; /* array: its items are counted */
    bool owns_index; /* scattered: the outermost, whose spans were kept */
    union {
        struct {
            const struct resolver_step *next, *end;
            uint32_t places, nplaces; /* scattered: in run.places, the end of the record as the last */
        } record;
        struct {
            uint32_t item, writer_item;
            uint64_t left;            /* items of this block still to come */
            const uint8_t *block_end; /* if the block told its size, else NULL */
            uint64_t index;           /* items begun, of all blocks */
            const uint8_t *key;       /* map: where the member's key stands */
        } items;
    };
};

struct run {
    const struct resolver *resolver;
    const uint8_t *start, *end; /* of the writer's datum */
    struct walk walk;
    struct stack places; /* uint32_t: offsets of the fields of the scattered records that are open */
    bool is_indexed;     /* a scattered record is open whose spans are kept */
    struct buf *out;
    size_t before;        /* out's length before ... */
    size_t bytes_max;     /* ... and how much may be added */
    const uint8_t *limit; /* of the room in out */
    uint64_t empty_items; /* written so far */
    struct arena *arena;
    struct err *err;
    struct frame *top;
    struct frame frames[LIMIT_DATA_DEPTH_MAX + 1];
};

/* ---- faults ---- */

static COLD void *bad(struct run *r, const uint8_t *at, const char *what)
{
    err_set(r->err, ERR_BAD_AVRO, "Avro binary: %s at byte %zu.", what, (size_t)(at - r->start));
    return NULL;
}

static bool add_frame(const struct run *r, const struct frame *f, struct buf *pointer)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    int64_t len;
    const uint8_t *key;
    switch (f->code) {
    case RESOLVE_ARRAY:
        return json_pointer_push(pointer, slice_of(digits, num_print_u64(f->items.index - 1, digits)));
    case RESOLVE_MAP: /* it was passed over, so its length is right */
        key = avro_read_long(f->items.key, r->end, &len);
        return json_pointer_push(pointer, slice_of(key, (size_t)len));
    default: return json_pointer_push(pointer, r->resolver->reader->fields[f->record.next[-1].field].name);
    }
}

/* Fill *err: this datum cannot be read by the reader, and where. Returns NULL. */
static COLD void *cannot(struct run *r, enum problem_code code, const char *format, ...) PRINTF_LIKE(3, 4);
static COLD void *cannot(struct run *r, enum problem_code code, const char *format, ...)
{
    struct buf pointer = {0};
    char words[512];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    bool ok = true;
    for (const struct frame *f = r->frames + 1; ok && f <= r->top; f++)
        ok = add_frame(r, f, &pointer);
    *r->err = (struct err){0};
    struct problem *p = ok ? err_problem(r->err, r->arena, code, buf_slice(&pointer)) : NULL;
    if (!p || !arena_copy(r->arena, utf8_cut(slice_str(words), sizeof words), &p->detail))
        err_oom(r->err);
    else if (!utf8_valid(buf_slice(&pointer))) /* of a map's key */
        err_set(r->err, ERR_BAD_AVRO, "Avro binary: a map's key that is not UTF-8.");
    else
        err_sum_up(r->err, ERR_OTHER_VERSION);
    buf_release(&pointer);
    return NULL;
}

static COLD void *cannot_be_so_large(struct run *r)
{
    return cannot(r, PROBLEM_SIZE, "Read with this schema the record would take more than %d bytes.",
                  LIMIT_RECORD_MAX);
}

static COLD void *too_large(struct run *r)
{
    if (r->bytes_max == LIMIT_RECORD_MAX)
        return cannot_be_so_large(r);
    err_set(r->err, ERR_RECORD_TOO_LARGE, "Read with this schema the record takes more than %zu bytes.",
            r->bytes_max);
    return NULL;
}

/* A datum of a pair of types that is none. */
static COLD void *cannot_match(struct run *r, const struct resolver_op *op)
{
    struct buf words = {0};
    enum match_fault fault = (enum match_fault)op->c;
    const struct type *w = r->resolver->writer->model->types[op->a];
    const struct type *t = r->resolver->reader->model->types[op->b];
    if (match_describe(w, t, fault, &words))
        cannot(r, match_problem(fault), "The value was %.*s.", (int)words.len, (const char *)words.ptr);
    else
        err_oom(r->err);
    buf_release(&words);
    return NULL;
}

static int shown(struct slice s)
{
    return (int)utf8_cut(s, 100).len;
}

static COLD void *cannot_symbol(struct run *r, const struct resolver_op *op, uint32_t index)
{
    const struct type *w = r->resolver->writer->model->types[op->c];
    const struct type *t = r->resolver->reader->model->types[op->d];
    struct slice symbol = w->enumeration.symbols[index];
    return cannot(
        r, PROBLEM_SYMBOL,
        "\"%.*s\" was written as a symbol of %.*s; the enum %.*s of the reader does not have it, and "
        "no default.",
        shown(symbol), symbol.ptr, shown(w->fullname), w->fullname.ptr, shown(t->fullname), t->fullname.ptr);
}

static COLD void *cannot_fill(struct run *r, const struct resolver_step *s)
{
    struct slice name = r->resolver->reader->fields[s->field].name;
    if (s->code == STEP_AMBIGUOUS)
        return cannot(
            r, PROBLEM_AMBIGUOUS,
            "The name and the aliases of \"%.*s\" are several fields of the schema that it was written "
            "with.",
            shown(name), name.ptr);
    return cannot(r, PROBLEM_MISSING,
                  "\"%.*s\" is no field of the schema that it was written with, and has no default.",
                  shown(name), name.ptr);
}

/* ---- output ---- */

static COLD uint8_t *grow(struct run *r, uint8_t *w, size_t more)
{
    size_t len = (size_t)(w - r->out->ptr);
    if (len - r->before + more > r->bytes_max)
        return too_large(r);
    r->out->len = len;
    bool ok = buf_reserve(r->out, more + SLACK);
    r->out->len = r->before;
    if (!ok) {
        err_oom(r->err);
        return NULL;
    }
    r->limit = r->out->ptr + r->out->cap;
    return r->out->ptr + len;
}

/* Room for so many bytes and the slack behind them. */
static inline uint8_t *room(struct run *r, uint8_t *w, size_t more)
{
    return likely((size_t)(r->limit - w) >= more + SLACK) ? w : grow(r, w, more);
}

static inline uint8_t *put_bytes(struct run *r, uint8_t *w, const uint8_t *from, size_t n)
{
    w = room(r, w, n);
    if (unlikely(!w))
        return NULL;
    if (likely(n))
        memcpy(w, from, n);
    return w + n;
}

static inline uint8_t *put_varint(uint8_t *w, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *w++ = (uint8_t)(v | 0x80);
    *w++ = (uint8_t)v;
    return w;
}

/* ---- numbers ---- */

static inline const uint8_t *read_int(struct run *r, const uint8_t *at, int64_t *v)
{
    const uint8_t *q = avro_read_long(at, r->end, v);
    if (unlikely(!q || *v != (int32_t)*v || q - at > AVRO_INT_MAX))
        return bad(r, at, avro_int_fault(at, r->end));
    return q;
}

static inline const uint8_t *read_long(struct run *r, const uint8_t *at, int64_t *v)
{
    const uint8_t *q = avro_read_long(at, r->end, v);
    return likely(q) ? q : bad(r, at, avro_int_fault(at, r->end));
}

static inline const uint8_t *read_float(struct run *r, const uint8_t *at, double *v)
{
    if (unlikely(r->end - at < 4))
        return bad(r, at, "a float is cut off");
    uint32_t bits = get_le32(at);
    float f;
    memcpy(&f, &bits, sizeof f);
    *v = (double)f;
    return at + 4;
}

static inline uint8_t *put_double(uint8_t *w, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_le64(w, bits);
    return w + 8;
}

static inline uint8_t *put_float(uint8_t *w, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_le32(w, bits);
    return w + 4;
}

/* A number of another type. Source: Avro 1.12, "Schema Resolution": to the nearest, once. */
static inline uint8_t *put_promoted(struct run *r, enum resolve_code code, const uint8_t **at, uint8_t *w)
{
    int64_t v = 0;
    double d = 0;
    const uint8_t *q = NULL;
    switch (code) {
    case RESOLVE_INT_FLOAT:
    case RESOLVE_INT_DOUBLE: q = read_int(r, *at, &v); break;
    case RESOLVE_LONG_FLOAT:
    case RESOLVE_LONG_DOUBLE: q = read_long(r, *at, &v); break;
    default: q = read_float(r, *at, &d); break;
    }
    if (unlikely(!q))
        return NULL;
    *at = q;
    if (code == RESOLVE_FLOAT_DOUBLE)
        return put_double(w, d);
    return code == RESOLVE_INT_FLOAT || code == RESOLVE_LONG_FLOAT ? put_float(w, (float)v)
                                                                   : put_double(w, (double)v);
}

/* ---- other values ---- */

static uint8_t *put_text(struct run *r, const uint8_t **at, uint8_t *w)
{
    int64_t len;
    const uint8_t *q = avro_read_long(*at, r->end, &len);
    if (unlikely(!q || len < 0 || len > r->end - q))
        return bad(r, *at, avro_length_fault(*at, r->end));
    if (unlikely(!utf8_valid(slice_of(q, (size_t)len))))
        return cannot(r, PROBLEM_ENCODING,
                      "The value was written as bytes, to be read as string: it is not UTF-8.");
    const uint8_t *from = *at;
    *at = q + len;
    return put_bytes(r, w, from, (size_t)(*at - from));
}

/* The index of an enum's symbol or a union's branch. */
static inline const uint8_t *read_index(struct run *r, const uint8_t *at, uint32_t n, uint32_t *out)
{
    int64_t index;
    const uint8_t *q = avro_read_long(at, r->end, &index);
    if (unlikely(!q || index < 0 || index >= n))
        return bad(r, at, "the number of a symbol or branch that there is not");
    *out = (uint32_t)index;
    return q;
}

static inline uint8_t *put_symbol(struct run *r, const struct resolver_op *op, const uint8_t **at, uint8_t *w)
{
    uint32_t index = 0;
    const uint8_t *q = read_index(r, *at, op->b, &index);
    if (unlikely(!q))
        return NULL;
    uint32_t symbol = r->resolver->symbols[op->a + index];
    if (unlikely(symbol == RESOLVE_NONE))
        return cannot_symbol(r, op, index);
    *at = q;
    return put_varint(w, (uint64_t)symbol << 1);
}

/* So many more array items of no bytes. */
static bool count_empty(struct run *r, uint64_t n)
{
    if (likely(n <= LIMIT_EMPTY_ITEMS_MAX - r->empty_items)) {
        r->empty_items += n;
        return true;
    }
    cannot(r, PROBLEM_SIZE,
           "Read with this schema the record would have more than %d array items of no bytes.",
           LIMIT_EMPTY_ITEMS_MAX);
    return false;
}

/* Behind a value of the writer's that is copied, whose array items of no bytes count. */
static COLD const uint8_t *skip_counted(struct run *r, uint32_t op, const uint8_t *at)
{
    uint64_t n = 0;
    at = decode_count(r->resolver->writer, op, r->walk.avro, at, &n, r->err);
    return at && count_empty(r, n) ? at : NULL;
}

static inline uint8_t *put_copy(struct run *r, const struct resolver_op *op, const uint8_t **at, uint8_t *w)
{
    const uint8_t *from = *at;
    *at = unlikely(op->flags & RESOLVE_COUNTED)
              ? skip_counted(r, op->a, from)
              : avro_skip(r->resolver->writer, op->a, r->walk.avro, from, r->err);
    return likely(*at) ? put_bytes(r, w, from, (size_t)(*at - from)) : NULL;
}

/* ---- records ---- */

static inline const uint8_t *skip_fields(struct run *r, const struct resolver_step *s, const uint8_t *at)
{
    const struct op_field *fields = r->resolver->writer->fields + s->first;
    for (uint32_t i = 0; i < s->n && likely(at); i++)
        at = avro_skip(r->resolver->writer, fields[i].op, r->walk.avro, at, r->err);
    return at;
}

static COLD const uint8_t *skip_fields_counted(struct run *r, const struct resolver_step *s,
                                               const uint8_t *at)
{
    for (uint32_t i = 0; i < s->n && at; i++)
        at = skip_counted(r, r->resolver->writer->fields[s->first + i].op, at);
    return at;
}

static inline const uint32_t *places_of(const struct run *r, const struct frame *f)
{
    return (const uint32_t *)r->places.ptr + f->record.places;
}

static inline uint8_t *put_fields(struct run *r, const struct frame *f, const struct resolver_step *s,
                                  const uint8_t **at, uint8_t *w)
{
    const uint8_t *from = *at;
    if (unlikely(s->flags & RESOLVE_COUNTED))
        *at = skip_fields_counted(r, s, from);
    else if (f->code == RESOLVE_SCATTERED)
        *at = r->start + places_of(r, f)[s->stop];
    else
        *at = skip_fields(r, s, from);
    return likely(*at) ? put_bytes(r, w, from, (size_t)(*at - from)) : NULL;
}

static uint8_t *put_default(struct run *r, const struct resolver_step *s, uint8_t *w)
{
    const struct op_filling *filling = &r->resolver->reader->fields[s->field].filling;
    if (unlikely(filling->depth > (uint32_t)(LIMIT_DATA_DEPTH_MAX - (r->top - r->frames))))
        return cannot(
            r, PROBLEM_DEPTH,
            "With this default the record would nest records, arrays and maps more than %d levels deep.",
            LIMIT_DATA_DEPTH_MAX);
    if (unlikely(filling->empty_items) && !count_empty(r, filling->empty_items))
        return NULL;
    return put_bytes(r, w, filling->avro.ptr, filling->avro.len);
}

/* ---- fields that come in another order ---- */

/* Find out where each field begins that takes bytes. */
static bool find_places(struct run *r, struct frame *f, const struct resolver_op *op, const uint8_t *at)
{
    uint32_t depth = (uint32_t)(f - r->frames);
    if ((op->flags & RESOLVE_INDEXED) && !r->is_indexed) {
        r->walk.spans.n = 0;
        if (!walk_index(&r->walk, op->e, at, depth - 1))
            return false;
        r->is_indexed = f->owns_index = true;
    }
    f->record.places = r->places.n;
    f->record.nplaces = op->d;
    if (!stack_reserve(&r->places, op->d + 1, sizeof(uint32_t))) {
        err_oom(r->err);
        return false;
    }
    uint32_t *places = (uint32_t *)r->places.ptr + r->places.n;
    r->places.n += op->d + 1;
    for (uint32_t i = 0; i < op->d; i++) {
        uint32_t field = r->resolver->writer->fields[r->resolver->finds[op->c + i]].op;
        places[i] = (uint32_t)(at - r->start);
        at = r->is_indexed ? walk_find(&r->walk, field, at, depth)
                           : avro_skip(r->resolver->writer, field, r->walk.avro, at, r->err);
        if (unlikely(!at))
            return false;
    }
    places[op->d] = (uint32_t)(at - r->start);
    return true;
}

/* Behind the record. */
static const uint8_t *leave_places(struct run *r, const struct frame *f)
{
    const uint8_t *at = r->start + places_of(r, f)[f->record.nplaces];
    r->places.n = f->record.places;
    if (f->owns_index)
        r->is_indexed = false;
    return at;
}

/* ---- what is open ---- */

static struct frame *push(struct run *r, const struct resolver_op *op, const uint8_t *at)
{
    if (unlikely(r->top == r->frames + LIMIT_DATA_DEPTH_MAX)) {
        err_set(r->err, ERR_TOO_DEEP, "Avro binary: more than %d records, arrays and maps inside each other.",
                LIMIT_DATA_DEPTH_MAX);
        return NULL;
    }
    struct frame *f = r->top + 1;
    f->code = op->code;
    f->owns_index = false;
    if (op->code == RESOLVE_RECORD || op->code == RESOLVE_SCATTERED) {
        f->record.next = r->resolver->steps + op->a;
        f->record.end = f->record.next + op->b;
        if (op->code == RESOLVE_SCATTERED && unlikely(!find_places(r, f, op, at)))
            return NULL;
    } else {
        f->has_counts = op->flags & RESOLVE_COUNTED;
        f->items.item = op->a;
        f->items.writer_item = op->b;
        f->items.left = 0;
        f->items.block_end = NULL;
        f->items.index = 0;
    }
    r->top = f;
    return f;
}

/* Can what is left hold so many items, and may the reader have so many? */
static bool check_count(struct run *r, const struct frame *f, const uint8_t *at)
{
    bool takes_bytes = f->code == RESOLVE_MAP || r->resolver->writer->ops[f->items.writer_item].size_min > 0;
    if (takes_bytes && unlikely(f->items.left > (uint64_t)(r->end - at))) {
        bad(r, at, "a block of more items than the data can hold");
        return false;
    }
    if (f->has_counts)
        return count_empty(r, f->items.left);
    if (!takes_bytes && unlikely(f->items.left > LIMIT_RECORD_MAX)) {
        cannot_be_so_large(r);
        return false;
    }
    return true;
}

static uint8_t *begin_block(struct run *r, struct frame *f, const uint8_t **at, uint8_t *w)
{
    const char *fault;
    if (unlikely(f->items.block_end && f->items.block_end != *at))
        return bad(r, *at, "the items of a block end elsewhere than its size says,");
    const uint8_t *q = avro_read_block(*at, r->end, &f->items.left, &f->items.block_end, &fault);
    if (unlikely(!q))
        return bad(r, *at, fault);
    if (f->items.left && unlikely(!check_count(r, f, q)))
        return NULL;
    *at = q;
    w = room(r, w, 0);
    return likely(w) ? put_varint(w, f->items.left << 1) : NULL;
}

/* Begin the next block of the array or map f: its count is written without its size, the end mark too. */
static uint8_t *next_block(struct run *r, struct frame *f, const uint8_t **at, uint8_t *w)
{
    r->top--; /* a fault is of the array or map, not of a member */
    w = begin_block(r, f, at, w);
    r->top++;
    return w;
}

static inline uint8_t *put_key(struct run *r, struct frame *f, const uint8_t **at, uint8_t *w)
{
    int64_t len;
    f->items.key = *at;
    const uint8_t *q = avro_read_long(*at, r->end, &len);
    if (unlikely(!q || len < 0 || len > r->end - q))
        return bad(r, *at, avro_length_fault(*at, r->end));
    *at = q + len;
    return put_bytes(r, w, f->items.key, (size_t)(*at - f->items.key));
}

/* ---- the loop ---- */

/* Write the reader's form of the datum of `op`. Returns w moved; NULL: *err is filled. */
static uint8_t *run(struct run *r, const struct resolver_op *op, uint8_t *w)
{
    const struct resolver_op *ops = r->resolver->ops;
    const uint8_t *at = r->start;
    struct frame *f = r->top;
    const struct resolver_step *s;
    uint32_t index = 0;

value: /* of op */
    w = room(r, w, 0);
    if (unlikely(!w))
        return NULL;
    switch ((enum resolve_code)op->code) {
    case RESOLVE_COPY: w = put_copy(r, op, &at, w); break;
    case RESOLVE_INT_FLOAT:
    case RESOLVE_INT_DOUBLE:
    case RESOLVE_LONG_FLOAT:
    case RESOLVE_LONG_DOUBLE:
    case RESOLVE_FLOAT_DOUBLE: w = put_promoted(r, (enum resolve_code)op->code, &at, w); break;
    case RESOLVE_BYTES_STRING: w = put_text(r, &at, w); break;
    case RESOLVE_ENUM: w = put_symbol(r, op, &at, w); break;
    case RESOLVE_UNION:
        at = read_index(r, at, op->b, &index);
        if (unlikely(!at))
            return NULL;
        op = &ops[r->resolver->branches[op->a + index]];
        goto value;
    case RESOLVE_INTO:
        w = put_varint(w, (uint64_t)op->b << 1);
        op = &ops[op->a];
        goto value;
    case RESOLVE_ARRAY:
    case RESOLVE_MAP:
    case RESOLVE_RECORD:
    case RESOLVE_SCATTERED:
        f = push(r, op, at);
        if (unlikely(!f))
            return NULL;
        break;
    case RESOLVE_NOT: return cannot_match(r, op);
    case RESOLVE_CODES: assert(!"no instruction");
    }
    if (unlikely(!w))
        return NULL;

member: /* the next of the innermost open frame */
    switch (f->code) {
    case RESOLVE_SCATTERED:
        if (f->record.next == f->record.end) {
            at = leave_places(r, f);
            goto close;
        }
        if (f->record.next->find != RESOLVE_NONE)
            at = r->start + places_of(r, f)[f->record.next->find];
        goto field;
    case RESOLVE_RECORD:
        if (f->record.next == f->record.end)
            goto close;
        goto field;
    case RESOLVE_ARRAY:
    case RESOLVE_MAP:
        if (f->items.left == 0 && unlikely(!(w = next_block(r, f, &at, w))))
            return NULL;
        if (f->items.left == 0)
            goto close;
        f->items.left--;
        if (f->code == RESOLVE_MAP && unlikely(!(w = put_key(r, f, &at, w))))
            return NULL;
        f->items.index++;
        op = &ops[f->items.item];
        goto value;
    }
    /* the bottom: the datum is done */
    if (unlikely(at != r->end))
        return bad(r, at, "bytes are left over");
    return w;

field:
    s = f->record.next++;
    switch ((enum resolver_step_code)s->code) {
    case STEP_COPY: w = put_fields(r, f, s, &at, w); break;
    case STEP_SKIP:
        at = skip_fields(r, s, at);
        if (unlikely(!at))
            return NULL;
        break;
    case STEP_LITERAL: w = put_default(r, s, w); break;
    case STEP_VALUE: op = &ops[s->op]; goto value;
    case STEP_MISSING:
    case STEP_AMBIGUOUS: return cannot_fill(r, s);
    }
    if (unlikely(!w))
        return NULL;
    goto member;

close:
    f = --r->top;
    goto member;
}

enum rc codec_resolve_within(const struct resolver *resolver, size_t bytes_max, struct slice avro,
                             struct buf *out, struct arena *arena, struct err *err)
{
    avro = slice_not_null(avro);
    if (avro.len > LIMIT_RECORD_MAX)
        return err_set(err, ERR_BAD_AVRO, "Avro binary: a record of %zu bytes, more than %d.", avro.len,
                       LIMIT_RECORD_MAX);
    struct run r; /* the frames stay uninitialised */
    r.resolver = resolver;
    r.start = avro.ptr;
    r.end = avro.ptr + avro.len;
    r.walk = (struct walk){.resolver = resolver, .avro = avro, .err = err};
    r.places = (struct stack){0};
    r.is_indexed = false;
    r.out = out;
    r.before = out->len;
    r.bytes_max = bytes_max < LIMIT_RECORD_MAX ? bytes_max : LIMIT_RECORD_MAX;
    r.empty_items = 0;
    r.arena = arena;
    r.err = err;
    r.top = r.frames;
    r.frames[0].code = RESOLVE_CODES;
    if (!buf_reserve(out, avro.len + avro.len / 8 + SLACK))
        return err_oom(err);
    r.limit = out->ptr + out->cap;
    uint8_t *w = run(&r, resolver->ops, out->ptr + out->len);
    if (w && (size_t)(w - out->ptr) - r.before > r.bytes_max)
        w = too_large(&r);
    stack_release(&r.places);
    stack_release(&r.walk.spans);
    if (!w)
        return RC_ERR;
    out->len = (size_t)(w - out->ptr);
    return RC_OK;
}

enum rc codec_resolve(const struct resolver *resolver, struct slice avro, struct buf *out,
                      struct arena *arena, struct err *err)
{
    return codec_resolve_within(resolver, LIMIT_RECORD_MAX, avro, out, arena, err);
}
