/* schema/resolve/resolve_walk.c - walks over values of the writer's with a stack of what is open, and keeps where
 * each record, array and map ends. Only what holds records that are scattered is entered; the rest is
 * passed over by decode_skip. */
#include "schema/resolve/resolve_walk.h"

#include <assert.h>

struct frame {
    const struct op *op;
    uint32_t span; /* index into walk.spans */
    union {
        const struct op_field *next; /* record */
        struct {                     /* array, map */
            uint64_t left;
            const uint8_t *block_end;
        };
    };
};

struct walker {
    struct walk *w;
    const struct program *p;
    const uint8_t *end;
    uint32_t depth; /* around the value */
    struct frame *top;
    struct frame frames[LIMIT_DATA_DEPTH_MAX + 1];
};

static COLD const uint8_t *bad(const struct walker *k, const uint8_t *at, const char *what)
{
    err_set(k->w->err, ERR_BAD_AVRO, "Avro binary: %s at byte %zu.", what, (size_t)(at - k->w->avro.ptr));
    return NULL;
}

/* ---- spans ---- */

static struct walk_span *spans_of(const struct walk *w)
{
    return w->spans.ptr;
}

/* A container that is not open yet. */
static bool open_span(struct walker *k, const uint8_t *at, uint32_t *index)
{
    struct stack *s = &k->w->spans;
    if (!stack_reserve(s, 1, sizeof(struct walk_span))) {
        err_oom(k->w->err);
        return false;
    }
    *index = s->n;
    spans_of(k->w)[s->n++] = (struct walk_span){.begin = (uint32_t)(at - k->w->avro.ptr),
                                                .depth = k->depth + (uint32_t)(k->top - k->frames)};
    return true;
}

/* What is short is taken out again; nothing inside it is long enough to stand behind it. */
static void close_span(struct walker *k, uint32_t index, const uint8_t *at)
{
    struct walk_span *s = &spans_of(k->w)[index];
    s->end = (uint32_t)(at - k->w->avro.ptr);
    if (s->end - s->begin < WALK_KEEP_BYTES)
        k->w->spans.n = index;
}

/* ---- values ---- */

static bool is_container(const struct op *op)
{
    return op->code == OP_RECORD || op->code == OP_ARRAY || op->code == OP_MAP;
}

/* Over a value that is not entered. */
static const uint8_t *pass(struct walker *k, const struct op *op, const uint8_t *at)
{
    uint32_t span = 0;
    bool is_kept = is_container(op);
    if (is_kept && !open_span(k, at, &span))
        return NULL;
    at = avro_skip(k->p, (uint32_t)(op - k->p->ops), k->w->avro, at, k->w->err);
    if (is_kept && at)
        close_span(k, span, at);
    return at;
}

static const uint8_t *enter(struct walker *k, const struct op *op, const uint8_t *at)
{
    if (unlikely(k->top == k->frames + LIMIT_DATA_DEPTH_MAX)) {
        err_set(k->w->err, ERR_TOO_DEEP,
                "Avro binary: more than %d records, arrays and maps inside each other.",
                LIMIT_DATA_DEPTH_MAX);
        return NULL;
    }
    uint32_t span = 0;
    if (!open_span(k, at, &span))
        return NULL;
    struct frame *f = ++k->top;
    f->op = op;
    f->span = span;
    f->left = 0;
    f->block_end = NULL;
    if (op->code == OP_RECORD)
        f->next = &k->p->fields[op->a];
    return at;
}

/* The branch's value stands behind what is returned. */
static const uint8_t *read_branch(struct walker *k, const struct op **op, const uint8_t *at)
{
    int64_t index;
    const uint8_t *q = avro_read_long(at, k->end, &index);
    if (unlikely(!q || index < 0 || index >= (*op)->b))
        return bad(k, at, "a union branch that the union does not have");
    *op = &k->p->ops[k->p->branches[(*op)->a + (uint32_t)index].op];
    return q;
}

static const uint8_t *begin(struct walker *k, const struct op *op, const uint8_t *at)
{
    while (at && op->code == OP_UNION)
        at = read_branch(k, &op, at);
    if (unlikely(!at))
        return NULL;
    bool is_entered = is_container(op) && (k->w->resolver->holds[op - k->p->ops] & HOLDS_SCATTERED);
    return is_entered ? enter(k, op, at) : pass(k, op, at);
}

/* ---- blocks ---- */

static const uint8_t *next_block(struct walker *k, struct frame *f, const uint8_t *at)
{
    const char *fault;
    if (unlikely(f->block_end && f->block_end != at))
        return bad(k, at, "the items of a block end elsewhere than its size says,");
    const uint8_t *q = avro_read_block(at, k->end, &f->left, &f->block_end, &fault);
    return likely(q) ? q : bad(k, at, fault);
}

static const uint8_t *skip_key(struct walker *k, const uint8_t *at)
{
    int64_t len;
    const uint8_t *q = avro_read_long(at, k->end, &len);
    if (unlikely(!q || len < 0 || len > k->end - q))
        return bad(k, at, avro_length_fault(at, k->end));
    return q + len;
}

/* ---- the loop ---- */

/* The next member of what is open; closes it if there is none. */
static const uint8_t *step(struct walker *k, const uint8_t *at)
{
    struct frame *f = k->top;
    bool is_done;
    const struct op *op = NULL;
    if (f->op->code == OP_RECORD) {
        is_done = f->next == &k->p->fields[f->op->a + f->op->b];
        if (!is_done)
            op = &k->p->ops[f->next++->op];
    } else {
        if (f->left == 0 && !(at = next_block(k, f, at)))
            return NULL;
        is_done = f->left == 0;
        if (!is_done) {
            f->left--;
            op = &k->p->ops[f->op->a];
            if (f->op->code == OP_MAP && !(at = skip_key(k, at)))
                return NULL;
        }
    }
    if (!is_done)
        return begin(k, op, at);
    close_span(k, f->span, at);
    k->top--;
    return at;
}

const uint8_t *walk_index(struct walk *w, uint32_t op, const uint8_t *at, uint32_t depth)
{
    struct walker k; /* the frames stay uninitialised */
    k.w = w;
    k.p = w->resolver->writer;
    k.end = w->avro.ptr + w->avro.len;
    k.depth = depth;
    k.top = k.frames;
    at = begin(&k, &k.p->ops[op], at);
    while (at && k.top != k.frames)
        at = step(&k, at);
    return at;
}

/* ---- looking up ---- */

/* Where the container at `begin` ends; 0: it was not kept. */
static uint32_t find_span(const struct walk *w, uint32_t begin, uint32_t depth)
{
    const struct walk_span *s = w->spans.ptr;
    uint32_t low = 0, high = w->spans.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s[middle].begin < begin || (s[middle].begin == begin && s[middle].depth < depth))
            low = middle + 1;
        else
            high = middle;
    }
    bool is_found = low < w->spans.n && s[low].begin == begin && s[low].depth == depth;
    return is_found ? s[low].end : 0;
}

const uint8_t *walk_find(struct walk *w, uint32_t first, const uint8_t *at, uint32_t depth)
{
    const struct program *p = w->resolver->writer;
    const struct op *op = &p->ops[first];
    int64_t index;
    const uint8_t *q = at;
    while (op->code == OP_UNION) {
        q = avro_read_long(q, w->avro.ptr + w->avro.len, &index);
        if (!q || index < 0 || index >= op->b)
            return avro_skip(p, first, w->avro, at, w->err); /* which says what is wrong */
        op = &p->ops[p->branches[op->a + (uint32_t)index].op];
    }
    uint32_t number = (uint32_t)(op - p->ops);
    uint32_t end = is_container(op) ? find_span(w, (uint32_t)(q - w->avro.ptr), depth) : 0;
    return end ? w->avro.ptr + end : avro_skip(p, number, w->avro, q, w->err);
}
