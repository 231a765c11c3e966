/* schema/resolve/resolve.c - from a match of two schemas to a resolver: one instruction for each pair that is met,
 * with the steps of records. */
#include "schema/resolve/resolve.h"

#include "schema/resolve/match.h"

struct resolve_compiler {
    struct resolver *resolver;
    struct match match;
    struct arena scratch;
    uint32_t *op_of;         /* pair -> instruction + 1 */
    uint32_t *queue, nqueue; /* instruction -> pair */
    bool is_out;             /* of memory */
};

/* ---- what grows ---- */

static void push(struct resolve_compiler *c, struct stack *s, const void *item, size_t size)
{
    if (!stack_reserve(s, 1, size)) {
        c->is_out = true;
        return;
    }
    memcpy((uint8_t *)s->ptr + s->n++ * size, item, size);
}

static void push_u32(struct resolve_compiler *c, struct stack *s, uint32_t v)
{
    push(c, s, &v, sizeof v);
}

/* The instruction of a pair: made now, if it is new, and filled in when its turn comes. */
static uint32_t op_for(struct resolve_compiler *c, uint32_t pair)
{
    if (!c->op_of[pair]) {
        push(c, &c->resolver->op_stack, &(struct resolver_op){0}, sizeof(struct resolver_op));
        c->queue[c->nqueue++] = pair;
        c->op_of[pair] = c->nqueue;
    }
    return c->op_of[pair] - 1;
}

/* ---- records ---- */

/* The fields of a record of the writer's that take bytes have a place; the others are wherever one looks. */
struct record {
    struct resolve_compiler *c;
    const struct match_pair *pair;
    const struct op *writer, *reader;
    bool is_scattered;
    uint32_t at;    /* in order: the next field of the writer's */
    uint32_t first; /* its first step */
};

static bool takes_bytes(const struct program *p, uint32_t field)
{
    return p->ops[p->fields[field].op].size_min > 0;
}

/* The writer's field of an edge, as an index into program.fields. */
static uint32_t writer_field(const struct record *r, const struct match_edge *e)
{
    return r->writer->a + e->index;
}

static bool is_scattered(const struct record *r)
{
    const struct match *m = &r->c->match;
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->pair->n; i++) {
        const struct match_edge *e = &m->edges[r->pair->edges + i];
        if (e->field != MATCH_FIELD_FOUND || !takes_bytes(m->writer, writer_field(r, e)))
            continue;
        if (e->index < last)
            return true;
        last = e->index;
    }
    return false;
}

static struct resolver_step *last_step(const struct record *r)
{
    const struct stack *s = &r->c->resolver->step_stack;
    return s->n > r->first ? (struct resolver_step *)s->ptr + s->n - 1 : NULL;
}

static void push_step(const struct record *r, struct resolver_step s)
{
    push(r->c, &r->c->resolver->step_stack, &s, sizeof s);
}

/* Pass over the fields before `field`, if there is anything to pass over. */
static void skip_to(struct record *r, uint32_t field)
{
    const struct program *p = r->c->match.writer;
    while (r->at < field && !takes_bytes(p, r->at))
        r->at++;
    while (field > r->at && !takes_bytes(p, field - 1))
        field--;
    if (r->at < field)
        push_step(r, (struct resolver_step){
                         .code = STEP_SKIP, .first = r->at, .n = field - r->at, .find = RESOLVE_NONE});
    r->at = field;
}

/* One copy, with the one before if that ends here; what takes no bytes does not keep them apart. */
static void add_copy(const struct record *r, struct resolver_step s)
{
    struct resolver_step *last = last_step(r);
    if (!last || last->code != STEP_COPY || (r->is_scattered && last->stop != s.find)) {
        push_step(r, s);
        return;
    }
    last->n = s.first + s.n - last->first;
    last->stop = s.stop;
}

static void add_found(struct record *r, const struct match_edge *e, uint32_t field, const uint32_t *places)
{
    const struct match_pair *p = &r->c->match.pairs[e->pair];
    uint32_t from = writer_field(r, e);
    bool has_bytes = takes_bytes(r->c->match.writer, from);
    struct resolver_step s = {.code = STEP_COPY, .first = from, .n = 1, .find = RESOLVE_NONE, .field = field};
    if (!p->is_same || p->kind == MATCH_READER_UNION) {
        s.code = STEP_VALUE;
        s.op = op_for(r->c, e->pair);
    }
    if (has_bytes && r->is_scattered) {
        s.find = places[e->index];
        s.stop = s.find + 1;
    } else if (has_bytes) {
        skip_to(r, from);
        r->at = from + 1;
    }
    if (s.code == STEP_VALUE)
        push_step(r, s);
    else if (has_bytes)
        add_copy(r, s);
}

static void add_field(struct record *r, const struct match_edge *e, uint32_t field, const uint32_t *places)
{
    static const uint8_t codes[] = {[MATCH_FIELD_DEFAULT] = STEP_LITERAL,
                                    [MATCH_FIELD_MISSING] = STEP_MISSING,
                                    [MATCH_FIELD_AMBIGUOUS] = STEP_AMBIGUOUS};
    if (e->field == MATCH_FIELD_FOUND)
        add_found(r, e, field, places);
    else if (e->field != MATCH_FIELD_DEFAULT || r->c->match.reader->fields[field].filling.avro.len)
        push_step(r, (struct resolver_step){.code = codes[e->field], .find = RESOLVE_NONE, .field = field});
}

/* The edge of a field without which no datum can be read; n: there is none. */
static uint32_t first_lacking(const struct record *r)
{
    uint32_t i = 0;
    for (; i < r->pair->n; i++) {
        uint8_t field = r->c->match.edges[r->pair->edges + i].field;
        if (field == MATCH_FIELD_MISSING || field == MATCH_FIELD_AMBIGUOUS)
            break;
    }
    return i;
}

/* The places of the writer's fields, and what is to be found. */
static uint32_t *list_finds(struct record *r, struct resolver_op *op)
{
    struct resolve_compiler *c = r->c;
    uint32_t *places = arena_calloc(&c->scratch, (size_t)r->writer->b + 1, sizeof *places);
    if (!places) {
        c->is_out = true;
        return NULL;
    }
    op->c = c->resolver->find_stack.n;
    op->e = r->pair->writer;
    for (uint32_t i = 0; i < r->writer->b; i++) {
        places[i] = op->d;
        if (!takes_bytes(c->match.writer, r->writer->a + i))
            continue;
        push_u32(c, &c->resolver->find_stack, r->writer->a + i);
        op->d++;
    }
    return places;
}

static void fill_record(struct resolve_compiler *c, struct resolver_op *op, const struct match_pair *p)
{
    struct record r = {.c = c, .pair = p, .first = c->resolver->step_stack.n};
    r.writer = &c->match.writer->ops[p->writer];
    r.reader = &c->match.reader->ops[p->reader];
    r.at = r.writer->a;
    uint32_t lacking = first_lacking(&r), *places = NULL;
    r.is_scattered = lacking == p->n && is_scattered(&r);
    op->code = r.is_scattered ? RESOLVE_SCATTERED : RESOLVE_RECORD;
    op->a = r.first;
    if (r.is_scattered)
        places = list_finds(&r, op);
    if (lacking < p->n) {
        add_field(&r, &c->match.edges[p->edges + lacking], r.reader->a + lacking, places);
    } else if (!r.is_scattered || places) {
        for (uint32_t i = 0; i < p->n; i++)
            add_field(&r, &c->match.edges[p->edges + i], r.reader->a + i, places);
        if (!r.is_scattered)
            skip_to(&r, r.writer->a + r.writer->b);
    }
    op->b = c->resolver->step_stack.n - r.first;
}

/* ---- the others ---- */

static enum resolve_code promotion(enum type_kind writer, enum type_kind reader)
{
    switch (writer) {
    case TYPE_INT: return reader == TYPE_FLOAT ? RESOLVE_INT_FLOAT : RESOLVE_INT_DOUBLE;
    case TYPE_LONG: return reader == TYPE_FLOAT ? RESOLVE_LONG_FLOAT : RESOLVE_LONG_DOUBLE;
    case TYPE_FLOAT: return RESOLVE_FLOAT_DOUBLE;
    default: return RESOLVE_BYTES_STRING;
    }
}

static void fill_symbols(struct resolve_compiler *c, struct resolver_op *op, const struct match_pair *p)
{
    op->code = RESOLVE_ENUM;
    op->a = c->resolver->symbol_stack.n;
    op->b = (uint32_t)match_writer_type(&c->match, p)->enumeration.nsymbols;
    op->c = p->writer;
    op->d = p->reader;
    for (uint32_t i = 0; i < op->b; i++) {
        int64_t found = match_symbol(&c->match, p, i);
        push_u32(c, &c->resolver->symbol_stack, found < 0 ? RESOLVE_NONE : (uint32_t)found);
    }
}

static void fill_items(struct resolve_compiler *c, struct resolver_op *op, const struct match_pair *p)
{
    const struct type *w = match_writer_type(&c->match, p), *r = match_reader_type(&c->match, p);
    op->code = w->kind == TYPE_ARRAY ? RESOLVE_ARRAY : RESOLVE_MAP;
    op->a = op_for(c, c->match.edges[p->edges].pair);
    op->b = w->items->number;
    if (w->kind == TYPE_ARRAY && c->match.reader->ops[r->items->number].size_min == 0)
        op->flags = RESOLVE_COUNTED;
}

static void fill_union(struct resolve_compiler *c, struct resolver_op *op, const struct match_pair *p)
{
    op->code = RESOLVE_UNION;
    op->a = c->resolver->branch_stack.n;
    op->b = p->n;
    for (uint32_t i = 0; i < p->n; i++)
        push_u32(c, &c->resolver->branch_stack, op_for(c, c->match.edges[p->edges + i].pair));
}

static void fill_not(struct resolver_op *op, const struct match_pair *p, enum match_fault fault)
{
    *op = (struct resolver_op){.code = RESOLVE_NOT, .a = p->writer, .b = p->reader, .c = fault};
}

static void fill_into(struct resolve_compiler *c, struct resolver_op *op, const struct match_pair *p)
{
    if (p->chosen == MATCH_NONE) {
        fill_not(op, p, MATCH_FAULT_BRANCH);
        return;
    }
    op->code = RESOLVE_INTO;
    op->a = op_for(c, c->match.edges[p->chosen].pair);
    op->b = c->match.edges[p->chosen].index;
}

static void fill(struct resolve_compiler *c, struct resolver_op *op, const struct match_pair *p)
{
    if (p->is_same && p->kind != MATCH_READER_UNION) {
        *op = (struct resolver_op){.code = RESOLVE_COPY, .a = p->writer};
        return;
    }
    switch ((enum match_kind)p->kind) {
    case MATCH_NOT: fill_not(op, p, (enum match_fault)p->fault); break;
    case MATCH_SCALAR:
        op->code =
            (uint8_t)promotion(match_writer_type(&c->match, p)->kind, match_reader_type(&c->match, p)->kind);
        break;
    case MATCH_ENUM: fill_symbols(c, op, p); break;
    case MATCH_ITEMS: fill_items(c, op, p); break;
    case MATCH_RECORD: fill_record(c, op, p); break;
    case MATCH_WRITER_UNION: fill_union(c, op, p); break;
    case MATCH_READER_UNION: fill_into(c, op, p); break;
    }
}

/* ---- flags that need the whole ---- */

static bool fields_hold(const struct resolver *r, uint32_t first, uint32_t n, uint8_t what)
{
    for (uint32_t i = first; i < first + n; i++)
        if (r->holds[r->writer->fields[i].op] & what)
            return true;
    return false;
}

static void set_flags(struct resolver *r)
{
    for (uint32_t i = 0; i < r->nops; i++) {
        struct resolver_op *op = &r->ops[i];
        if (op->code == RESOLVE_COPY && r->holds[op->a] & HOLDS_EMPTY)
            op->flags |= RESOLVE_COUNTED;
        for (uint32_t k = 0; op->code == RESOLVE_SCATTERED && k < op->d; k++)
            if (fields_hold(r, r->finds[op->c + k], 1, HOLDS_SCATTERED))
                op->flags |= RESOLVE_INDEXED;
    }
    for (uint32_t i = 0; i < r->nsteps; i++)
        if (r->steps[i].code == STEP_COPY && fields_hold(r, r->steps[i].first, r->steps[i].n, HOLDS_EMPTY))
            r->steps[i].flags |= RESOLVE_COUNTED;
}

/* ---- the front ---- */

static void publish(struct resolver *r)
{
    r->ops = r->op_stack.ptr;
    r->nops = r->op_stack.n;
    r->steps = r->step_stack.ptr;
    r->nsteps = r->step_stack.n;
    r->symbols = r->symbol_stack.ptr;
    r->branches = r->branch_stack.ptr;
    r->finds = r->find_stack.ptr;
}

static bool make_ops(struct resolve_compiler *c)
{
    uint32_t npairs = c->match.npairs;
    c->op_of = arena_calloc(&c->scratch, npairs, sizeof *c->op_of);
    c->queue = arena_calloc(&c->scratch, npairs, sizeof *c->queue);
    if (!c->op_of || !c->queue)
        return false;
    op_for(c, 0);
    for (uint32_t i = 0; i < c->nqueue && !c->is_out; i++) {
        struct resolver_op op = {0}; /* the stack moves while others are added */
        fill(c, &op, &c->match.pairs[c->queue[i]]);
        ((struct resolver_op *)c->resolver->op_stack.ptr)[i] = op;
    }
    publish(c->resolver);
    return !c->is_out;
}

static enum rc compile(struct resolve_compiler *c, struct err *err)
{
    struct resolver *r = c->resolver;
    if (match_make(&c->match, r->writer, r->reader, err))
        return RC_ERR;
    r->is_full = c->match.pairs[0].is_full;
    r->is_possible = c->match.pairs[0].is_possible;
    bool ok = make_ops(c) && resolver_find_holds(r);
    if (ok)
        set_flags(r);
    match_release(&c->match);
    return ok ? RC_OK : err_oom(err);
}

enum rc resolver_compile(struct resolver **out, const struct program *writer, const struct program *reader,
                         struct err *err)
{
    struct resolve_compiler c = {.resolver = calloc(1, sizeof *c.resolver)};
    if (!c.resolver)
        return err_oom(err);
    c.resolver->writer = writer;
    c.resolver->reader = reader;
    enum rc rc = compile(&c, err);
    arena_release(&c.scratch);
    if (rc)
        resolver_free(c.resolver);
    else
        *out = c.resolver;
    return rc;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    stack_release(&r->op_stack);
    stack_release(&r->step_stack);
    stack_release(&r->symbol_stack);
    stack_release(&r->branch_stack);
    stack_release(&r->find_stack);
    arena_release(&r->arena);
    free(r);
}
