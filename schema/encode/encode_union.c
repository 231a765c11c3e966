/* schema/encode/encode_union.c - which branch of a union a JSON value belongs to (docs/http-api.md, "JSON and Avro").
 * Scalars are told by their look. An object that may belong to several records or maps, or be read as a tag
 * or bare, is passed over once, then tried; memo.c keeps what came out of each attempt, so nested unions stay
 * linear. */
#include "schema/encode/encode.h"

#include "base/hash.h"
#include "schema/encode/encode_scalar.h"
#include "schema/encode/encode_spelled.h"
#include "schema/encode/spelling.h"

static const struct op *current_op(const struct encode *e)
{
    return &e->program->ops[e->op];
}

static const struct op_union *union_of(const struct encode *e, const struct op *op)
{
    return &e->program->unions[op->info];
}

static const struct op_branch *branch_of(const struct encode *e, const struct op *op, uint32_t branch)
{
    return &e->program->branches[op->a + branch];
}

static const struct op *branch_op(const struct encode *e, const struct op *op, uint32_t branch)
{
    return &e->program->ops[branch_of(e, op, branch)->op];
}

/* The value at p, bare, is the branch's. */
static enum step take(struct encode *e, const struct op *op, uint32_t branch, const uint8_t *p)
{
    if (branch == PROGRAM_NONE)
        return STEP_FAIL;
    e->o = encode_varint(e->o, (uint64_t)branch << 1);
    e->p = p;
    e->op = branch_of(e, op, branch)->op;
    return STEP_VALUE;
}

/* The value at p stands behind a tag and is the branch's. */
static enum step take_tagged(struct encode *e, const struct op *op, uint32_t branch, const uint8_t *p)
{
    if (!encode_push(e, FRAME_TAG, e->op))
        return STEP_FAIL;
    return take(e, op, branch, p);
}

enum step union_resume_tag(struct encode *e)
{
    if (e->p == e->end)
        return STEP_FAIL;
    const uint8_t *p = scan_space(e->p);
    if (*p != '}')
        return STEP_FAIL;
    e->p = p + 1;
    encode_pop(e);
    return STEP_DONE;
}

/* ---- numbers ---- */

static bool holds_exactly(enum opcode code, int64_t v)
{
    switch (code) {
    case OP_INT: return v == (int32_t)v;
    case OP_LONG: return true;
    /* 2^63, to which the largest round up, would not convert back */
    case OP_FLOAT: return (float)v < 0x1p63f && (int64_t)(float)v == v;
    case OP_DOUBLE: return (double)v < 0x1p63 && (int64_t)(double)v == v;
    default: return false;
    }
}

static uint32_t integer_branch(const struct op_union *u, int64_t v)
{
    uint32_t best = PROGRAM_NONE;
    for (enum opcode code = OP_INT; code <= OP_DOUBLE; code++)
        if (u->first[code] < best && holds_exactly(code, v))
            best = u->first[code];
    return best;
}

static enum step open_number(struct encode *e, const struct op *op, const uint8_t *p)
{
    const struct op_union *u = union_of(e, op);
    const uint8_t *behind = scan_number(p);
    int64_t v;
    if (!behind)
        return STEP_FAIL;
    uint32_t branch = PROGRAM_NONE;
    if (num_parse_i64(slice_of(p, (size_t)(behind - p)), &v) == NUM_INTEGER)
        branch = integer_branch(u, v);
    if (branch == PROGRAM_NONE)
        branch = u->first[OP_DOUBLE] != PROGRAM_NONE ? u->first[OP_DOUBLE] : u->first[OP_FLOAT];
    if (branch == PROGRAM_NONE) {
        branch = encode_spelled_number(e, op, slice_of(p, (size_t)(behind - p)));
        if (e->result != ENCODE_MISFIT)
            return STEP_FAIL;
    }
    return take(e, op, branch, p);
}

/* ---- strings ---- */

/* What the string is, counted when first asked. */
struct string_look {
    const uint8_t *begin, *quote;
    unsigned flags;
    struct slice content; /* ptr NULL: nobody has asked for it */
    uint64_t hash;        /* of it, only where the union has an enum */
    bool is_counted, all_bytes;
    size_t count;
};

static bool has_content(struct encode *e, struct string_look *s)
{
    return s->content.ptr || scalar_content(e, s->begin, s->quote, s->flags, &s->content);
}

static void look_at(struct string_look *s)
{
    if (!s->is_counted)
        s->count = scan_count(s->begin, s->quote, &s->all_bytes);
    s->is_counted = true;
}

static bool string_fits(struct encode *e, const struct op *op, struct string_look *s)
{
    encode_pay(e, COST_BRANCH);
    switch (op->code) {
    case OP_STRING: return true;
    case OP_ENUM:
        encode_pay(e, COST_LOOKUP);
        return program_symbol_hashed(e->program, op, s->content, s->hash) >= 0;
    case OP_BYTES: look_at(s); return s->all_bytes;
    case OP_FIXED: look_at(s); return s->all_bytes && s->count == op->a;
    default: return spelling_is(op) && has_content(e, s) && encode_spelled_fits(e, op, s->content, true);
    }
}

static enum step open_string(struct encode *e, const struct op *op, const uint8_t *p)
{
    const struct op_union *u = union_of(e, op);
    struct string_look s = {.begin = p + 1};
    s.quote = scan_string(s.begin, e->end, &s.flags);
    if (!s.quote)
        return STEP_FAIL;
    if (u->first[OP_ENUM] != PROGRAM_NONE) {
        if (!has_content(e, &s))
            return STEP_FAIL;
        s.hash = hash_bytes(s.content);
    }
    encode_pay_token(e, (size_t)(s.quote - s.begin));
    for (uint32_t i = 0; i < op->b && e->budget >= 0; i++) {
        if (string_fits(e, branch_op(e, op, i), &s))
            return take(e, op, i, p);
        if (e->result != ENCODE_MISFIT)
            return STEP_FAIL;
    }
    if (e->budget < 0)
        return encode_fail(e, ENCODE_TOO_MUCH_WORK);
    uint32_t number = u->first[OP_FLOAT] < u->first[OP_DOUBLE] ? u->first[OP_FLOAT] : u->first[OP_DOUBLE];
    return take(e, op, number, p); /* which takes "NaN" and the like */
}

/* ---- objects ---- */

/* The branch that the first member of the object at p names, *value behind its colon; PROGRAM_NONE: no
 * branch. The name in *name, in the text or in codec.name_text. */
static uint32_t read_tag(struct encode *e, const struct op *op, const uint8_t *p, const uint8_t **value,
                         struct slice *name)
{
    unsigned flags;
    p = scan_space(p + 1);
    const uint8_t *quote = *p == '"' ? scan_string(p + 1, e->end, &flags) : NULL;
    if (!quote || quote + 1 == e->end)
        return PROGRAM_NONE;
    *value = scan_space(quote + 1);
    if (*(*value)++ != ':')
        return PROGRAM_NONE;
    if (!scalar_content(e, p + 1, quote, flags, name))
        return PROGRAM_NONE;
    encode_pay_token(e, name->len);
    int branch = program_branch(e->program, op, *name);
    return branch < 0 ? PROGRAM_NONE : (uint32_t)branch;
}

/* Could the object be a bare value of the union, its first member having this name? A record that ignores
 * unknown members does not get to ignore a tag, if it is the only member. */
static bool may_be_bare(struct encode *e, const struct op *op, struct slice name)
{
    const struct op_union *u = union_of(e, op);
    if (u->first[OP_MAP] != PROGRAM_NONE)
        return true;
    if (u->first[OP_RECORD] == PROGRAM_NONE)
        return false;
    uint64_t hash = hash_bytes(name);
    for (uint32_t i = u->first[OP_RECORD]; i < op->b && e->budget >= 0; i++) {
        const struct op *record = branch_op(e, op, i);
        encode_pay(e, COST_BRANCH);
        if (record->code != OP_RECORD)
            continue;
        encode_pay(e, COST_LOOKUP);
        if (program_field_hashed(e->program, record, name, hash) >= 0)
            return true;
    }
    return false;
}

/* Has the object at p, whose first member's value begins at `value`,
 * no other? False also with e->result set. */
static bool is_only_member(struct encode *e, const uint8_t *p, const uint8_t *value)
{
    const uint8_t *behind =
        skip_value(e, p); /* first, so that brackets are looked at in the order of the text */
    return behind && scan_space(skip_value(e, scan_space(value))) == behind - 1;
}

static uint32_t first_object_branch(const struct op_union *u)
{
    return u->first[OP_RECORD] < u->first[OP_MAP] ? u->first[OP_RECORD] : u->first[OP_MAP];
}

static bool takes_objects(const struct op *op)
{
    return op->code == OP_RECORD || op->code == OP_MAP;
}

/* ---- attempts ---- */

/* What the memo says of a union's value, if it fits: branch and form. */
static uint32_t decision(uint32_t branch, bool is_tagged)
{
    return MEMO_FITS + 1 + (branch << 1 | is_tagged);
}

/* The value at p is known to be the branch's, in whichever form. */
static enum step follow(struct encode *e, const struct op *op, const uint8_t *p, uint32_t what)
{
    uint32_t branch = (what - MEMO_FITS - 1) >> 1;
    bool is_tagged = (what - MEMO_FITS - 1) & 1;
    if (e->trials) { /* nobody wants its bytes */
        e->p = skip_value(e, p);
        return e->p ? STEP_DONE : STEP_FAIL;
    }
    if (e->mode == UNION_DEFAULT && branch > 0)
        e->was_later_branch = true;
    if (!is_tagged)
        return take(e, op, branch, p);
    const uint8_t *value;
    struct slice name;
    uint32_t tag = read_tag(e, op, p, &value, &name);
    assert(tag == branch);
    e->p = p;
    return take_tagged(e, op, branch, value);
}

/* What an attempt wrote is taken back, the counts that it left for the end too. */
static void take_back(struct encode *e, const struct frame *f)
{
    e->o = e->out + f->attempt.out;
    e->codec->blocks.n = f->attempt.blocks;
    e->deepest = f->attempt.deepest;
    e->most_items = f->attempt.most_items;
    e->empty_items = f->attempt.empty_items;
}

/* The attempts are over: leave them, remember what came out. */
static enum step decide(struct encode *e, struct frame *f, uint32_t what)
{
    const uint8_t *p = e->text + f->begin;
    take_back(e, f);
    e->op = f->op;
    e->level = f->attempt.level;
    e->trials--;
    encode_pop(e);
    if (!memo_put(e, encode_at(e, p), e->op, e->level, what))
        return STEP_FAIL;
    return what == MEMO_MISFIT ? STEP_FAIL : follow(e, current_op(e), p, what);
}

/* Begin one attempt. */
static enum step attempt(struct encode *e, struct frame *f, const struct op *op, uint32_t branch,
                         bool is_tagged)
{
    take_back(e, f);
    e->result = ENCODE_MISFIT;
    encode_pay(e, COST_ATTEMPT);
    if (e->budget < 0)
        return encode_fail(e, ENCODE_TOO_MUCH_WORK);
    e->p = e->text + f->begin;
    e->op = f->op;
    if (is_tagged)
        return take_tagged(e, op, branch, e->text + f->attempt.tag_value);
    return take(e, op, branch, e->text + f->begin);
}

/* The next branch that a bare value may belong to, from f->attempt.branch on. */
static bool next_candidate(struct encode *e, struct frame *f, const struct op *op, uint32_t *branch)
{
    for (uint32_t i = f->attempt.branch; i < op->b; i++) {
        encode_pay(e, COST_BRANCH);
        if (e->mode == UNION_DEFAULT || takes_objects(branch_op(e, op, i))) {
            f->attempt.branch = i + 1;
            *branch = i;
            return true;
        }
    }
    f->attempt.branch = op->b;
    return false;
}

enum step union_next_try(struct encode *e, struct frame *f)
{
    const struct op *op = &e->program->ops[f->op];
    for (; f->attempt.step < f->attempt.nsteps; f->attempt.step++) {
        uint8_t level = f->attempt.steps[f->attempt.step];
        if (level == TRY_TAG) {
            f->attempt.step++;
            e->level = f->attempt.level;
            return attempt(e, f, op, f->attempt.tag, true);
        }
        uint32_t branch;
        e->level = level;
        if (next_candidate(e, f, op, &branch))
            return attempt(e, f, op, branch, false);
        if (f->attempt.found != PROGRAM_NONE)
            return decide(e, f, decision(f->attempt.found, false));
        f->attempt.branch = 0;
    }
    e->result = ENCODE_MISFIT;
    return decide(e, f, MEMO_MISFIT);
}

enum step union_resume_try(struct encode *e, struct frame *f)
{
    bool was_tagged = f->attempt.step > 0 && f->attempt.branch == 0;
    if (was_tagged)
        return decide(e, f, decision(f->attempt.tag, true));
    uint32_t branch = f->attempt.branch - 1;
    if (e->mode == UNION_DEFAULT)
        return decide(e, f, decision(branch, false));
    if (f->attempt.found != PROGRAM_NONE) /* ambiguous */
        return decide(e, f, MEMO_MISFIT);
    f->attempt.found = branch;
    return union_next_try(e, f);
}

/* Does `level` allow nothing that the rules around the union do not? */
static bool is_within(const struct encode *e, uint8_t level)
{
    const struct encode_rules *r = &e->levels[level], *around = &e->levels[e->level];
    bool fills_in = r->missing != MISSING_REJECT, ignores = r->unknown != UNKNOWN_REJECT;
    return (!fills_in || around->missing != MISSING_REJECT) &&
           (!ignores || around->unknown != UNKNOWN_REJECT);
}

/* The order of attempts. With one value branch: bare strictly, tag, bare with what the options allow; else
 * tag, bare strictly, bare with the options. A schema's default belongs to the first branch that takes it in
 * any way. */
static void plan(struct encode *e, struct frame *f, const struct op_union *u)
{
    bool has_tag = f->attempt.tag != PROGRAM_NONE;
    uint8_t n = 0, first = e->mode == UNION_DEFAULT ? e->level : 0;
    if (has_tag && u->nvalues == 1)
        f->attempt.steps[n++] = first++;
    if (has_tag)
        f->attempt.steps[n++] = TRY_TAG;
    for (uint8_t level = first; level <= e->level; level++)
        if (is_within(e, level))
            f->attempt.steps[n++] = level;
    f->attempt.nsteps = n;
    f->attempt.step = 0;
}

static enum step start_attempts(struct encode *e, const struct op *op, const uint8_t *p, uint32_t tag,
                                const uint8_t *tag_value)
{
    uint32_t known = memo_get(e, encode_at(e, p), e->op, e->level);
    if (known == MEMO_MISFIT)
        return STEP_FAIL;
    if (known > MEMO_FITS)
        return follow(e, op, p, known);
    const uint8_t *behind = skip_value(e, p);
    if (!behind)
        return STEP_FAIL;
    memo_enter(e, encode_at(e, p), encode_at(e, behind));
    e->p = p;
    struct frame *f = encode_push(e, FRAME_TRY, e->op);
    if (!f)
        return STEP_FAIL;
    f->attempt.out = (uint32_t)(e->o - e->out);
    f->attempt.blocks = e->codec->blocks.n;
    f->attempt.deepest = e->deepest;
    f->attempt.most_items = e->most_items;
    f->attempt.empty_items = e->empty_items;
    f->attempt.branch = 0;
    f->attempt.found = PROGRAM_NONE;
    f->attempt.tag = tag;
    f->attempt.tag_value = tag == PROGRAM_NONE ? 0 : encode_at(e, tag_value);
    f->attempt.level = e->level;
    plan(e, f, union_of(e, op));
    e->trials++;
    return union_next_try(e, f);
}

static enum step open_bare_object(struct encode *e, const struct op *op, const uint8_t *p)
{
    const struct op_union *u = union_of(e, op);
    if (u->nobjects > 1)
        return start_attempts(e, op, p, PROGRAM_NONE, NULL);
    return take(e, op, first_object_branch(u), p);
}

static enum step open_object(struct encode *e, const struct op *op, const uint8_t *p)
{
    const uint8_t *value = NULL;
    struct slice name;
    uint32_t tag = read_tag(e, op, p, &value, &name);
    if (e->result != ENCODE_MISFIT)
        return STEP_FAIL;
    if (e->mode == UNION_TAGGED)
        return tag == PROGRAM_NONE ? STEP_FAIL : take_tagged(e, op, tag, value);
    if (tag == PROGRAM_NONE)
        return open_bare_object(e, op, p);
    bool may_be_either = may_be_bare(e, op, name);
    bool ignores = e->levels[e->level].unknown == UNKNOWN_IGNORE && union_of(e, op)->nobjects > 0;
    if ((may_be_either || ignores) && !is_only_member(e, p, value))
        return e->result == ENCODE_MISFIT ? open_bare_object(e, op, p) : STEP_FAIL;
    return may_be_either ? start_attempts(e, op, p, tag, value) : take_tagged(e, op, tag, value);
}

/* ---- the front ---- */

static enum step open_free(struct encode *e, const struct op *op, const uint8_t *p)
{
    const struct op_union *u = union_of(e, op);
    if (*p == 'n')
        return take(e, op, u->first[OP_NULL], p);
    if (*p == '{')
        return open_object(e, op, p);
    if (op->flags & OP_FLAG_SINGLE)
        return take(e, op, op->single_branch, p);
    switch (*p) {
    case '"': return open_string(e, op, p);
    case '[': return take(e, op, u->first[OP_ARRAY], p);
    case 't':
    case 'f': return take(e, op, u->first[OP_BOOLEAN], p);
    default: return open_number(e, op, p);
    }
}

enum step union_open(struct encode *e, const uint8_t *p)
{
    const struct op *op = current_op(e);
    switch (e->mode) {
    case UNION_DEFAULT: return start_attempts(e, op, p, PROGRAM_NONE, NULL);
    case UNION_TAGGED:
        if (*p == 'n')
            return take(e, op, union_of(e, op)->first[OP_NULL], p);
        return *p == '{' ? open_object(e, op, p) : STEP_FAIL;
    case UNION_FREE: break;
    }
    return open_free(e, op, p);
}
