/* schema/encode/explain_union.c - which branch of a union a refused value was meant for: the one it is tagged with,
 * or the only one that its look allows. If that cannot be told, the union itself is the problem. */
#include "schema/encode/explain_walk.h"
#include "schema/encode/spelling.h"

static const struct op *op_of(const struct explain *x, const struct explain_value *v)
{
    return &x->program->ops[v->op];
}

static const struct op_branch *branch_of(const struct explain *x, const struct op *op, uint32_t i)
{
    return &x->program->branches[op->a + i];
}

/* Inside of a value that some branch misses for its depth, and what is known of its parts may be due to that. */
static bool is_inside_deep(const struct explain *x, const uint8_t *at)
{
    return x->deep_begin && at >= x->deep_begin && at < x->deep_end;
}

static void note_depth(struct explain *x, const uint8_t *at)
{
    if (x->e.was_too_deep && !is_inside_deep(x, at)) {
        x->deep_begin = at;
        x->deep_end = skip_value(&x->e, at);
    }
    x->e.was_too_deep = false;
}

/* Ask the encoder. On anything but yes or no the walk stops, and the answer is yes. */
static bool fits(struct explain *x, uint32_t op, const uint8_t *at, uint8_t level)
{
    switch (encode_fits(&x->e, op, at, x->depth, level)) {
    case ENCODE_FITS: return true;
    case ENCODE_MISFIT: note_depth(x, at); return false;
    case ENCODE_NO_MEMORY: explain_stop(x, EXPLAIN_NO_MEMORY); return true;
    case ENCODE_NEEDS_DEFAULT: return true; /* of a schema's default, whose own fault is told elsewhere */
    default: explain_stop(x, EXPLAIN_TOO_MUCH_WORK); return true;
    }
}

static bool choose(const struct explain *x, const struct op *op, uint32_t i, bool is_tagged,
                   struct explain_choice *out)
{
    const struct op_branch *branch = branch_of(x, op, i);
    *out = (struct explain_choice){branch->op, branch->tag, is_tagged};
    return true;
}

static bool no_branch(struct explain *x, const struct explain_value *v)
{
    if (is_inside_deep(x, v->at))
        return explain_stop_deep(x, v->branch);
    explain_no_branch(x, v);
    return false;
}

/* ---- tags ---- */

/* The branch that the object's only member names; PROGRAM_NONE: not a tag. */
static uint32_t tag_of(struct explain *x, const struct explain_value *v, struct slice *name)
{
    struct explain_member m;
    const uint8_t *p = scan_space(v->at + 1);
    if (*p == '}')
        return PROGRAM_NONE;
    p = scan_space(explain_read_member(x, p, &m));
    if (*p != '}' || !explain_name(x, &m, name))
        return PROGRAM_NONE;
    int branch = program_branch(x->program, op_of(x, v), *name);
    return branch < 0 ? PROGRAM_NONE : (uint32_t)branch;
}

static bool explain_tagged(struct explain *x, const struct explain_value *v, struct explain_choice *out)
{
    const struct op *op = op_of(x, v);
    if (*v->at == 'n' && x->program->unions[op->info].first[TYPE_NULL] != PROGRAM_NONE)
        return false;
    struct slice name;
    uint32_t tag = *v->at == '{' ? tag_of(x, v, &name) : PROGRAM_NONE;
    if (x->stop)
        return false;
    return tag == PROGRAM_NONE ? no_branch(x, v) : choose(x, op, tag, true, out);
}

/* ---- bare values ---- */

static bool looks_like_string(const struct op *op)
{
    return op->code == OP_STRING || op->code == OP_BYTES || op->code == OP_FIXED || op->code == OP_ENUM ||
           spelling_is(op);
}

static bool looks_like_number(const struct op *op)
{
    return (op->code >= OP_INT && op->code <= OP_DOUBLE) || op->code == OP_MOMENT || op->code == OP_INT64 ||
           op->code == OP_DECIMAL;
}

/* Could a JSON value that begins with this byte be of this type at all? */
static bool looks_like(uint8_t first, const struct op *op)
{
    switch (first) {
    case '{': return op->code == OP_RECORD || op->code == OP_MAP;
    case '[': return op->code == OP_ARRAY;
    case '"': return looks_like_string(op);
    case 'n': return op->code == OP_NULL;
    case 't':
    case 'f': return op->code == OP_BOOLEAN;
    default: return looks_like_number(op);
    }
}

/* How many of the object's members the record has as fields. */
static uint32_t count_known(struct explain *x, const struct op *record, const uint8_t *object)
{
    uint32_t known = 0;
    const uint8_t *p = scan_space(object + 1);
    while (*p != '}' && !x->stop) {
        struct explain_member m;
        struct slice name;
        p = scan_space(explain_read_member(x, p, &m));
        if (explain_name(x, &m, &name))
            known += program_field(x->program, record, name) >= 0;
        encode_pay(&x->e, COST_LOOKUP + (size_t)(p - m.name) / 2);
        if (x->e.budget < 0)
            explain_stop(x, EXPLAIN_TOO_MUCH_WORK);
        if (*p == ',')
            p = scan_space(p + 1);
    }
    return known;
}

/* Of several records, the one that knows the most of the object's members; PROGRAM_NONE: there is no such
 * one. */
static uint32_t best_record(struct explain *x, const struct op *op, const uint8_t *object)
{
    uint32_t best = PROGRAM_NONE, best_known = 0;
    for (uint32_t i = 0; i < op->b && !x->stop; i++) {
        const struct op *branch = &x->program->ops[branch_of(x, op, i)->op];
        if (branch->code != OP_RECORD)
            continue;
        uint32_t known = count_known(x, branch, object);
        if (known > best_known) {
            best = i;
            best_known = known;
        } else if (known == best_known) {
            best = PROGRAM_NONE;
        }
    }
    return best;
}

static uint32_t plausible(struct explain *x, const struct explain_value *v)
{
    const struct op *op = op_of(x, v);
    uint32_t found = PROGRAM_NONE, n = 0;
    encode_pay(&x->e, (size_t)op->b * COST_BRANCH);
    for (uint32_t i = 0; i < op->b; i++)
        if (looks_like(*v->at, &x->program->ops[branch_of(x, op, i)->op])) {
            found = i;
            n++;
        }
    if (n == 1)
        return found;
    if (n > 1)
        return *v->at == '{' ? best_record(x, op, v->at) : PROGRAM_NONE;
    return op->flags & OP_FLAG_SINGLE ? op->single_branch : PROGRAM_NONE;
}

/* Do several records or maps take the object, by the strictest rules by which any does? Notes the problem
 * then. */
static bool is_ambiguous(struct explain *x, const struct explain_value *v)
{
    const struct op *op = op_of(x, v);
    if (*v->at != '{' || x->program->unions[op->info].nobjects < 2 || x->mode == UNION_DEFAULT)
        return false;
    x->fits.len = 0;
    if (!buf_reserve(&x->fits, op->b * sizeof(bool)))
        return explain_stop(x, EXPLAIN_NO_MEMORY);
    bool *does = (bool *)x->fits.ptr;
    uint32_t n = 0;
    for (uint8_t level = 0; level < x->e.nlevels && n == 0; level++)
        for (uint32_t i = 0; i < op->b && !x->stop; i++) {
            uint32_t inner = branch_of(x, op, i)->op;
            encode_pay(&x->e, COST_BRANCH);
            does[i] = looks_like('{', &x->program->ops[inner]) && fits(x, inner, v->at, level);
            n += does[i];
        }
    if (n < 2 || x->stop)
        return false;
    explain_ambiguous(x, v, does);
    return true;
}

/* A record or map that knows the tag's name as a member of its own, in a union with no other branch: read it
 * bare. */
static bool is_bare_rather(const struct explain *x, const struct op *op, struct slice tag_name)
{
    if (!(op->flags & OP_FLAG_SINGLE))
        return false;
    const struct op *branch = &x->program->ops[branch_of(x, op, op->single_branch)->op];
    return branch->code == OP_MAP ||
           (branch->code == OP_RECORD && program_field(x->program, branch, tag_name) >= 0);
}

bool explain_union(struct explain *x, const struct explain_value *v, struct explain_choice *out)
{
    const struct op *op = op_of(x, v);
    if (x->mode == UNION_TAGGED)
        return explain_tagged(x, v, out);
    if (fits(x, v->op, v->at, x->e.nlevels - 1) || is_ambiguous(x, v) || x->stop)
        return false;
    struct slice name;
    uint32_t tag = *v->at == '{' && x->mode == UNION_FREE ? tag_of(x, v, &name) : PROGRAM_NONE;
    if (tag != PROGRAM_NONE && !is_bare_rather(x, op, name))
        return choose(x, op, tag, true, out);
    uint32_t branch = plausible(x, v);
    if (x->stop)
        return false;
    return branch == PROGRAM_NONE ? no_branch(x, v) : choose(x, op, branch, false, out);
}
