/* schema/resolve/match.c - the pairs of types that meet when data of one schema are read with another, each made
 * once, those it needs behind it. */
#include "schema/resolve/match_build.h"

#include "base/hash.h"

enum rc match_pay(struct match_builder *b, uint64_t steps)
{
    b->budget -= (int64_t)steps;
    if (b->budget >= 0)
        return RC_OK;
    return err_set(
        b->err, ERR_TOO_MUCH_WORK,
        "The two schemas have too many types that could be read as each other: comparing them takes "
        "more than %d steps.",
        LIMIT_MATCH_MAX);
}

/* ---- each pair once ---- */

static uint32_t *memo_slot(const struct match_builder *b, uint32_t writer, uint32_t reader)
{
    uint32_t key[2] = {writer, reader};
    uint32_t i = (uint32_t)hash_bytes(slice_of(key, sizeof key)) & b->memo_mask;
    for (; b->memo[i]; i = (i + 1) & b->memo_mask) {
        const struct match_pair *p = &b->match->pairs[b->memo[i] - 1];
        if (p->writer == writer && p->reader == reader)
            break;
    }
    return &b->memo[i];
}

static bool memo_grow(struct match_builder *b)
{
    if (b->memo && b->match->npairs < b->memo_mask / 2)
        return true;
    uint32_t entries = b->memo ? (b->memo_mask + 1) * 2 : 64;
    uint32_t *bigger = calloc(entries, sizeof *bigger);
    if (!bigger)
        return false;
    free(b->memo);
    b->memo = bigger;
    b->memo_mask = entries - 1;
    for (uint32_t i = 0; i < b->match->npairs; i++)
        *memo_slot(b, b->match->pairs[i].writer, b->match->pairs[i].reader) = i + 1;
    return true;
}

static enum rc find_pair(struct match_builder *b, uint32_t writer, uint32_t reader, uint32_t *out)
{
    struct match *m = b->match;
    if (!memo_grow(b) || !stack_reserve(&m->pair_stack, 1, sizeof *m->pairs))
        return err_oom(b->err);
    m->pairs = m->pair_stack.ptr;
    uint32_t *slot = memo_slot(b, writer, reader);
    if (!*slot) {
        if (match_pay(b, 1))
            return RC_ERR;
        m->pairs[m->npairs] = (struct match_pair){.writer = writer, .reader = reader, .chosen = MATCH_NONE};
        m->pair_stack.n = ++m->npairs;
        *slot = m->npairs;
    }
    *out = *slot - 1;
    return RC_OK;
}

/* ---- edges ---- */

static enum rc push_edge(struct match_builder *b, struct match_edge e)
{
    struct match *m = b->match;
    if (!stack_reserve(&m->edge_stack, 1, sizeof e))
        return err_oom(b->err);
    m->edges = m->edge_stack.ptr;
    m->edges[m->nedges] = e;
    m->edge_stack.n = ++m->nedges;
    return match_pay(b, 1);
}

enum rc match_add_edge(struct match_builder *b, uint32_t writer, uint32_t reader, uint32_t index)
{
    struct match_edge e = {.index = index};
    return find_pair(b, writer, reader, &e.pair) ? RC_ERR : push_edge(b, e);
}

/* ---- records ---- */

/* The writer's field that a field of the reader reads. */
static enum match_field find_field(const struct match_builder *b, const struct op *record,
                                   const struct field *f, uint32_t *index)
{
    int found = program_field(b->match->writer, record, f->name);
    for (size_t i = 0; i < f->naliases; i++) {
        int other = program_field(b->match->writer, record, f->aliases[i]);
        if (other >= 0 && found >= 0 && other != found)
            return MATCH_FIELD_AMBIGUOUS;
        found = other >= 0 ? other : found;
    }
    if (found < 0)
        return f->has_default ? MATCH_FIELD_DEFAULT : MATCH_FIELD_MISSING;
    *index = (uint32_t)found;
    return MATCH_FIELD_FOUND;
}

static enum rc add_fields(struct match_builder *b, uint32_t writer, uint32_t reader)
{
    const struct type *w = b->match->writer->model->types[writer],
                      *r = b->match->reader->model->types[reader];
    const struct op *record = &b->match->writer->ops[writer];
    if (match_pay(b, w->record.nfields)) /* which the resolver will look at */
        return RC_ERR;
    for (size_t i = 0; i < r->record.nfields; i++) {
        const struct field *f = &r->record.fields[i];
        struct match_edge e = {.pair = MATCH_NONE};
        e.field = (uint8_t)find_field(b, record, f, &e.index);
        if (e.field == MATCH_FIELD_FOUND &&
            find_pair(b, w->record.fields[e.index].type->number, f->type->number, &e.pair))
            return RC_ERR;
        if (push_edge(b, e) || match_pay(b, f->naliases))
            return RC_ERR;
    }
    return RC_OK;
}

/* ---- one pair ---- */

int64_t match_symbol(const struct match *m, const struct match_pair *p, size_t symbol)
{
    const struct type *w = match_writer_type(m, p), *r = match_reader_type(m, p);
    int same = program_symbol(m->reader, &m->reader->ops[p->reader], w->enumeration.symbols[symbol]);
    return same >= 0 ? same : r->enumeration.default_index;
}

/* What the pair says of itself; match_judge adds what its edges do to it. */
static enum rc judge_symbols(struct match_builder *b, struct match_pair *p)
{
    const struct type *w = match_writer_type(b->match, p);
    p->is_full = p->is_same = true;
    for (size_t i = 0; i < w->enumeration.nsymbols; i++) {
        int64_t found = match_symbol(b->match, p, i);
        p->is_full &= found >= 0;
        p->is_same &= found == (int64_t)i;
    }
    return match_pay(b, w->enumeration.nsymbols);
}

static bool is_named(const struct type *t)
{
    return t->kind == TYPE_RECORD || t->kind == TYPE_ENUM || t->kind == TYPE_FIXED;
}

static void set_fault(struct match_pair *p, enum match_fault fault)
{
    p->kind = MATCH_NOT;
    p->fault = (uint8_t)fault;
}

static void match_same_kind(const struct match_builder *b, struct match_pair *p, const struct type *w,
                            const struct type *r)
{
    static const uint8_t kinds[TYPE_KINDS] = {
        [TYPE_NULL] = MATCH_SCALAR,   [TYPE_BOOLEAN] = MATCH_SCALAR, [TYPE_INT] = MATCH_SCALAR,
        [TYPE_LONG] = MATCH_SCALAR,   [TYPE_FLOAT] = MATCH_SCALAR,   [TYPE_DOUBLE] = MATCH_SCALAR,
        [TYPE_BYTES] = MATCH_SCALAR,  [TYPE_STRING] = MATCH_SCALAR,  [TYPE_FIXED] = MATCH_SCALAR,
        [TYPE_RECORD] = MATCH_RECORD, [TYPE_ENUM] = MATCH_ENUM,      [TYPE_ARRAY] = MATCH_ITEMS,
        [TYPE_MAP] = MATCH_ITEMS,
    };
    p->kind = kinds[w->kind];
    if (is_named(w) && !match_names_fit(b, w, r))
        set_fault(p, MATCH_FAULT_NAME);
    else if (w->kind == TYPE_FIXED && w->fixed_size != r->fixed_size)
        set_fault(p, MATCH_FAULT_SIZE);
    else if (w->logical == LOGICAL_DECIMAL && r->logical == LOGICAL_DECIMAL && w->scale != r->scale)
        set_fault(p, MATCH_FAULT_SCALE); /* values would shift by powers of ten */
}

static void classify(const struct match_builder *b, struct match_pair *p)
{
    const struct type *w = match_writer_type(b->match, p), *r = match_reader_type(b->match, p);
    if (w->kind == TYPE_UNION)
        p->kind = MATCH_WRITER_UNION;
    else if (r->kind == TYPE_UNION)
        p->kind = MATCH_READER_UNION;
    else if (w->kind == r->kind)
        match_same_kind(b, p, w, r);
    else if (match_promotes(w->kind, r->kind))
        p->kind = MATCH_SCALAR;
    else
        set_fault(p, MATCH_FAULT_TYPE);
}

static enum rc add_writer_branches(struct match_builder *b, const struct type *w, uint32_t reader)
{
    for (size_t i = 0; i < w->branches.nbranches; i++)
        if (match_add_edge(b, w->branches.branches[i]->number, reader, 0))
            return RC_ERR;
    return RC_OK;
}

static enum rc add_edges(struct match_builder *b, const struct match_pair *p)
{
    const struct type *w = match_writer_type(b->match, p), *r = match_reader_type(b->match, p);
    switch ((enum match_kind)p->kind) {
    case MATCH_ITEMS: /* items and values share their place */
        return match_add_edge(b, w->items->number, r->items->number, 0);
    case MATCH_RECORD: return add_fields(b, p->writer, p->reader);
    case MATCH_WRITER_UNION: return add_writer_branches(b, w, p->reader);
    case MATCH_READER_UNION: return match_branches(b, p->writer, p->reader);
    default: return RC_OK;
    }
}

static enum rc fill_pair(struct match_builder *b, uint32_t i)
{
    struct match *m = b->match;
    struct match_pair p = m->pairs[i]; /* m->pairs moves while edges are added */
    classify(b, &p);
    p.edges = m->nedges;
    if (p.kind == MATCH_ENUM ? judge_symbols(b, &p) : add_edges(b, &p))
        return RC_ERR;
    p.n = m->nedges - p.edges;
    m->pairs[i] = p;
    return RC_OK;
}

/* ---- the whole ---- */

static enum rc make(struct match_builder *b)
{
    struct match *m = b->match;
    uint32_t root;
    if (!match_names_make(b))
        return err_oom(b->err);
    if (find_pair(b, m->writer->root, m->reader->root, &root))
        return RC_ERR;
    for (uint32_t i = 0; i < m->npairs; i++)
        if (fill_pair(b, i))
            return RC_ERR;
    return match_judge(b) ? RC_OK : err_oom(b->err);
}

enum rc match_make(struct match *m, const struct program *writer, const struct program *reader,
                   struct err *err)
{
    *m = (struct match){.writer = writer, .reader = reader};
    struct match_builder b = {.match = m, .budget = LIMIT_MATCH_MAX, .err = err};
    enum rc rc = make(&b);
    free(b.memo);
    arena_release(&b.scratch);
    if (rc)
        match_release(m);
    return rc;
}

void match_release(struct match *m)
{
    stack_release(&m->pair_stack);
    stack_release(&m->edge_stack);
}

/* ---- words ---- */

static bool describe_type(const struct type *t, struct buf *out)
{
    enum { SHOWN = 100 };
    if (!buf_printf(out, "%s", type_kind_name(t->kind)))
        return false;
    if (!t->fullname.len)
        return true;
    return buf_printf(out, " %.*s%s", (int)(t->fullname.len < SHOWN ? t->fullname.len : SHOWN),
                      (const char *)t->fullname.ptr, t->fullname.len > SHOWN ? "..." : "");
}

bool match_describe(const struct type *w, const struct type *r, enum match_fault fault, struct buf *out)
{
    if (!buf_printf(out, "written as ") || !describe_type(w, out) || !buf_printf(out, ", to be read as ") ||
        !describe_type(r, out))
        return false;
    switch (fault) {
    case MATCH_FAULT_TYPE: return true;
    case MATCH_FAULT_NAME: return buf_printf(out, ": the names differ, and no alias joins them");
    case MATCH_FAULT_SIZE:
        return buf_printf(out, ": %llu and %llu bytes", (unsigned long long)w->fixed_size,
                          (unsigned long long)r->fixed_size);
    case MATCH_FAULT_SCALE: return buf_printf(out, ": decimals of the scales %u and %u", w->scale, r->scale);
    case MATCH_FAULT_BRANCH: return buf_printf(out, ": no branch of it takes that type");
    }
    return false;
}

enum problem_code match_problem(enum match_fault fault)
{
    static const enum problem_code codes[] = {
        [MATCH_FAULT_TYPE] = PROBLEM_TYPE,        [MATCH_FAULT_NAME] = PROBLEM_NAME,
        [MATCH_FAULT_SIZE] = PROBLEM_SIZE,        [MATCH_FAULT_SCALE] = PROBLEM_TYPE,
        [MATCH_FAULT_BRANCH] = PROBLEM_NO_BRANCH,
    };
    return codes[fault];
}
