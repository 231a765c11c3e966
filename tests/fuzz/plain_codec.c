/* tests/fuzz/plain_codec.c - see plain_codec.h. */
#include "tests/fuzz/plain_codec.h"

#include "base/bytes.h"
#include "base/num.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/plain_spelling.h"

enum { DEPTH_MAX = 100, WORK_MAX = 20000 };

/* ---- the tree ---- */

struct node {
    uint8_t first;      /* of the value: { [ " n t f, a digit or - */
    struct slice token; /* number or string as it stands */
    struct slice text;  /* string: its content */
    struct slice name;  /* as a member */
    struct node *child, *next;
    size_t n; /* children */
};

struct reader {
    const uint8_t *p, *end;
    struct arena arena;
    unsigned depth;
    bool is_too_deep;
};

static void skip_space(struct reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p))
        r->p++;
}

static struct slice read_string(struct reader *r, struct slice *token)
{
    struct buf text = {0};
    struct slice kept;
    const uint8_t *from = r->p++;
    while (*r->p != '"')
        r->p += *r->p == '\\' ? 2 : 1;
    r->p++;
    *token = slice_of(from, (size_t)(r->p - from));
    CHECK(json_unescape(*token, &text) && arena_copy(&r->arena, buf_slice(&text), &kept), "memory is out");
    buf_release(&text);
    return kept;
}

static struct node *read_value(struct reader *r);

static void read_children(struct reader *r, struct node *v)
{
    struct node **last = &v->child;
    uint8_t close = v->first == '{' ? '}' : ']';
    r->p++;
    skip_space(r);
    while (*r->p != close) {
        struct slice name = {0}, token;
        if (v->first == '{') {
            name = read_string(r, &token);
            skip_space(r);
            r->p++; /* the colon */
        }
        *last = read_value(r);
        if (r->is_too_deep)
            return;
        (*last)->name = name;
        last = &(*last)->next;
        v->n++;
        skip_space(r);
        r->p += *r->p == ',';
        skip_space(r);
    }
    r->p++;
}

static struct node *read_value(struct reader *r)
{
    struct node *v = arena_calloc(&r->arena, 1, sizeof *v);
    CHECK(v, "memory is out");
    skip_space(r);
    v->first = *r->p;
    if (v->first == '{' || v->first == '[') {
        r->is_too_deep |= ++r->depth > DEPTH_MAX;
        if (!r->is_too_deep)
            read_children(r, v);
        r->depth--;
    } else if (v->first == '"') {
        v->text = read_string(r, &v->token);
    } else {
        const uint8_t *from = r->p;
        while (r->p < r->end && !strchr(" \t\r\n,]}", *r->p))
            r->p++;
        v->token = slice_of(from, (size_t)(r->p - from));
    }
    return v;
}

/* ---- the rules ---- */

struct rules {
    unsigned missing, unknown;
};

struct plain {
    const struct program *program;
    enum json_form form;
    bool is_default;
    struct rules level[5];
    unsigned levels, work;
};

static bool encode(struct plain *c, uint32_t op, const struct node *v, unsigned level, struct buf *out);

static void put(struct buf *out, struct slice s)
{
    CHECK(buf_append(out, s), "memory is out");
}

static bool put_long(struct buf *out, int64_t v)
{
    uint64_t bits = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    for (; bits >= 0x80; bits >>= 7)
        put(out, slice_of(&(uint8_t){(uint8_t)(bits | 0x80)}, 1));
    put(out, slice_of(&(uint8_t){(uint8_t)bits}, 1));
    return true;
}

static bool is_number(const struct node *v)
{
    return v->first == '-' || (v->first >= '0' && v->first <= '9');
}

static bool integer_of(const struct node *v, int64_t *out)
{
    return is_number(v) && num_parse_i64(v->token, out) == NUM_INTEGER;
}

/* By the C library: strtod, strtof. */
static bool real_of(struct plain *c, const struct node *v, bool is_float, uint8_t *out)
{
    static const char *const specials[] = {"NaN", "Infinity", "-Infinity"};
    char text[512];
    struct slice s = v->first == '"' ? v->text : v->token;
    if (s.len >= sizeof text) {
        c->work = WORK_MAX + 1;
        return false;
    }
    snprintf(text, sizeof text, "%.*s", (int)s.len, (const char *)s.ptr);
    if (v->first == '"') {
        bool is_special = false;
        for (size_t i = 0; i < 3; i++)
            is_special |= slice_eq(s, slice_str(specials[i]));
        if (!is_special)
            return false;
    } else if (!is_number(v)) {
        return false;
    }
    double d = strtod(text, NULL);
    float f = strtof(text, NULL);
    if (v->first != '"' && (is_float ? __builtin_isinf(f) : __builtin_isinf(d)))
        return false;
    uint32_t word;
    uint64_t words;
    memcpy(&word, &f, sizeof word);
    memcpy(&words, &d, sizeof words);
    if (is_float)
        put_le32(out, word);
    else
        put_le64(out, words);
    return true;
}

/* The string's code points as bytes. */
static bool bytes_of(const struct node *v, struct buf *out)
{
    if (v->first != '"')
        return false;
    for (size_t i = 0; i < v->text.len; i++) {
        uint8_t c = v->text.ptr[i];
        if (c >= 0xc4)
            return false;
        if (c >= 0xc2)
            c = (uint8_t)(c << 6 | (v->text.ptr[++i] & 0x3f));
        put(out, slice_of(&c, 1));
    }
    return true;
}

static bool encode_bytes(const struct op *op, const struct node *v, struct buf *out)
{
    struct buf content = {0};
    bool ok = bytes_of(v, &content) && (op->code == OP_BYTES || content.len == op->a);
    if (ok && op->code == OP_BYTES)
        put_long(out, (int64_t)content.len);
    if (ok)
        put(out, buf_slice(&content));
    buf_release(&content);
    return ok;
}

/* What is spelled readably; *why, if it does not fit. */
static bool spell(struct plain *c, const struct op *op, const struct node *v, struct buf *out,
                  enum problem_code *why)
{
    *why = PROBLEM_TYPE;
    if (v->first != '"' && !is_number(v))
        return false;
    switch (plain_spell(op, v->first == '"' ? v->text : v->token, v->first == '"', out, why)) {
    case SPELLED_FITS: return true;
    case SPELLED_MISFIT: return false;
    case SPELLED_GIVES_UP: break;
    }
    c->work = WORK_MAX + 1;
    return false;
}

static bool encode_spelled(struct plain *c, const struct op *op, const struct node *v, struct buf *out)
{
    enum problem_code why;
    return spell(c, op, v, out, &why);
}

static bool encode_scalar(struct plain *c, const struct op *op, const struct node *v, struct buf *out)
{
    int64_t i;
    uint8_t real[8];
    switch ((enum opcode)op->code) {
    case OP_NULL: return v->first == 'n';
    case OP_BOOLEAN:
        put(out, slice_of(&(uint8_t){v->first == 't'}, 1));
        return v->first == 't' || v->first == 'f';
    case OP_INT: return integer_of(v, &i) && i == (int32_t)i && put_long(out, i);
    case OP_LONG: return integer_of(v, &i) && put_long(out, i);
    case OP_FLOAT:
    case OP_DOUBLE:
        if (!real_of(c, v, op->code == OP_FLOAT, real))
            return false;
        put(out, slice_of(real, op->code == OP_FLOAT ? 4 : 8));
        return true;
    case OP_STRING:
        put_long(out, (int64_t)v->text.len);
        put(out, v->text);
        return v->first == '"';
    case OP_BYTES:
    case OP_FIXED: return encode_bytes(op, v, out);
    case OP_ENUM:
        i = v->first == '"' ? program_symbol(c->program, op, v->text) : -1;
        return i >= 0 && put_long(out, i);
    default: return encode_spelled(c, op, v, out);
    }
    return false;
}

static const struct node *member_of(const struct node *v, struct slice name)
{
    const struct node *m = v->child;
    while (m && !slice_eq(m->name, name))
        m = m->next;
    return m;
}

static bool encode_record(struct plain *c, const struct op *op, const struct node *v, unsigned level,
                          struct buf *out)
{
    struct rules rules = c->level[level];
    size_t known = 0;
    if (v->first != '{')
        return false;
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op_field *f = &c->program->fields[op->a + i];
        const struct node *m = member_of(v, f->name);
        if (m) {
            known++;
            if (!encode(c, f->op, m, level, out))
                return false;
        } else if (rules.missing == MISSING_REJECT || (rules.missing == MISSING_DEFAULT && !f->has_default)) {
            return false;
        } else if (f->filling.avro.len > WORK_MAX) { /* which may not even be there */
            c->work = WORK_MAX + 1;
            return false;
        } else {
            put(out, f->filling.avro);
        }
    }
    return known == v->n || rules.unknown == UNKNOWN_IGNORE;
}

static bool encode_block(struct plain *c, const struct op *op, const struct node *v, unsigned level,
                         struct buf *out)
{
    if (v->first != (op->code == OP_ARRAY ? '[' : '{'))
        return false;
    if (v->n)
        put_long(out, (int64_t)v->n);
    for (const struct node *m = v->child; m; m = m->next) {
        if (op->code == OP_MAP) {
            put_long(out, (int64_t)m->name.len);
            put(out, m->name);
        }
        if (!encode(c, op->a, m, level, out))
            return false;
    }
    return put_long(out, 0);
}

/* ---- unions ---- */

static const struct op *branch_op(const struct plain *c, const struct op *op, uint32_t i)
{
    return &c->program->ops[c->program->branches[op->a + i].op];
}

static bool encode_branch(struct plain *c, const struct op *op, uint32_t i, const struct node *v,
                          unsigned level, struct buf *out)
{
    if (i >= op->b)
        return false;
    put_long(out, i);
    return encode(c, c->program->branches[op->a + i].op, v, level, out);
}

static bool fits(struct plain *c, const struct op *op, uint32_t i, const struct node *v, unsigned level)
{
    struct buf dropped = {0};
    bool ok = encode_branch(c, op, i, v, level, &dropped);
    buf_release(&dropped);
    return ok;
}

static uint32_t first_of(const struct plain *c, const struct op *op, enum opcode code)
{
    uint32_t i = 0;
    while (i < op->b && branch_op(c, op, i)->code != code)
        i++;
    return i;
}

/* Without loss: the number that is read back is the same. */
static bool holds(enum opcode code, int64_t v)
{
    switch (code) {
    case OP_INT: return v >= INT32_MIN && v <= INT32_MAX;
    case OP_LONG: return true;
    case OP_FLOAT: return (__int128)(float)v == v;
    case OP_DOUBLE: return (__int128)(double)v == v;
    default: return false;
    }
}

static uint32_t number_branch(struct plain *c, const struct op *op, const struct node *v)
{
    int64_t i;
    if (integer_of(v, &i))
        for (uint32_t b = 0; b < op->b; b++)
            if (holds(plain_kind(branch_op(c, op, b)), i))
                return b;
    uint32_t real = first_of(c, op, OP_DOUBLE);
    if (real == op->b)
        real = first_of(c, op, OP_FLOAT);
    for (uint32_t b = 0; b < op->b && real == op->b; b++)
        if (branch_op(c, op, b)->code == OP_DECIMAL && fits(c, op, b, v, 0))
            real = b;
    return real;
}

static uint32_t string_branch(struct plain *c, const struct op *op, const struct node *v)
{
    for (int pass = 0; pass < 2; pass++) /* "NaN" is a number only where nothing else takes it */
        for (uint32_t b = 0; b < op->b; b++) {
            enum opcode code = branch_op(c, op, b)->code;
            if ((code == OP_FLOAT || code == OP_DOUBLE) == pass && code < OPCODES && fits(c, op, b, v, 0))
                return b;
        }
    return op->b;
}

static bool takes_objects(const struct op *op)
{
    return op->code == OP_RECORD || op->code == OP_MAP;
}

/* The branch that the object fits bare, by the rules of `level` alone; more than one: none, *is_ambiguous. */
static uint32_t bare_branch(struct plain *c, const struct op *op, const struct node *v, unsigned level,
                            bool *is_ambiguous)
{
    uint32_t found = op->b, n = 0;
    for (uint32_t b = 0; b < op->b; b++)
        if (takes_objects(branch_op(c, op, b)) && fits(c, op, b, v, level)) {
            found = b;
            n++;
        }
    *is_ambiguous = n > 1;
    return n == 1 ? found : op->b;
}

/* Whatever `inner` lets pass, `outer` does. */
static bool is_within(struct rules inner, struct rules outer)
{
    return (inner.missing == MISSING_REJECT || outer.missing != MISSING_REJECT) &&
           (inner.unknown == UNKNOWN_REJECT || outer.unknown == UNKNOWN_IGNORE);
}

/* Bare by the rules of `from`, then of the next level, up to `level`. */
static bool encode_bare(struct plain *c, const struct op *op, const struct node *v, unsigned from,
                        unsigned level, struct buf *out, bool *is_settled)
{
    for (unsigned i = from; i <= level; i++) {
        if (!is_within(c->level[i], c->level[level]))
            continue;
        uint32_t b = bare_branch(c, op, v, i, is_settled);
        if (*is_settled)
            return false;
        if (b < op->b) {
            *is_settled = true;
            return encode_branch(c, op, b, v, level, out);
        }
    }
    return false;
}

/* Is a member of this name something that a branch has, so that the object need not be a tag? */
static bool may_be_bare(const struct plain *c, const struct op *op, struct slice name)
{
    for (uint32_t b = 0; b < op->b; b++) {
        const struct op *branch = branch_op(c, op, b);
        if (branch->code == OP_MAP ||
            (branch->code == OP_RECORD && program_field(c->program, branch, name) >= 0))
            return true;
    }
    return false;
}

static bool encode_object(struct plain *c, const struct op *op, const struct node *v, unsigned level,
                          struct buf *out)
{
    uint32_t values = op->b - (first_of(c, op, OP_NULL) < op->b);
    int tag = v->n == 1 ? program_branch(c->program, op, v->child->name) : -1;
    bool is_settled = false, ok;
    if (c->form == JSON_AVRO)
        return tag >= 0 && encode_branch(c, op, (uint32_t)tag, v->child, level, out);
    if (tag < 0)
        return encode_bare(c, op, v, 0, level, out, &is_settled);
    if (!may_be_bare(c, op, v->child->name))
        return encode_branch(c, op, (uint32_t)tag, v->child, level, out);
    if (values == 1) {
        ok = encode_bare(c, op, v, 0, 0, out, &is_settled);
        if (is_settled) /* strictly bare; the value is encoded with all rules */
            return ok;
    }
    if (fits(c, op, (uint32_t)tag, v->child, level))
        return encode_branch(c, op, (uint32_t)tag, v->child, level, out);
    return encode_bare(c, op, v, values == 1, level, out, &is_settled);
}

static bool encode_first(struct plain *c, const struct op *op, const struct node *v, unsigned level,
                         struct buf *out)
{
    for (uint32_t b = 0; b < op->b; b++)
        if (fits(c, op, b, v, level))
            return encode_branch(c, op, b, v, level, out);
    return false;
}

static bool encode_union(struct plain *c, const struct op *op, const struct node *v, unsigned level,
                         struct buf *out)
{
    if (c->is_default)
        return encode_first(c, op, v, level, out);
    if (v->first == 'n')
        return encode_branch(c, op, first_of(c, op, OP_NULL), v, level, out);
    if (v->first == '{')
        return encode_object(c, op, v, level, out);
    if (c->form == JSON_AVRO)
        return false;
    switch (v->first) {
    case '[': return encode_branch(c, op, first_of(c, op, OP_ARRAY), v, level, out);
    case '"': return encode_branch(c, op, string_branch(c, op, v), v, level, out);
    case 't':
    case 'f': return encode_branch(c, op, first_of(c, op, OP_BOOLEAN), v, level, out);
    default: return encode_branch(c, op, number_branch(c, op, v), v, level, out);
    }
}

/* ---- the front ---- */

static bool encode(struct plain *c, uint32_t i, const struct node *v, unsigned level, struct buf *out)
{
    const struct op *op = &c->program->ops[i];
    if (c->work > WORK_MAX)
        return false;
    c->work++;
    switch ((enum opcode)op->code) {
    case OP_UNION: return encode_union(c, op, v, level, out);
    case OP_RECORD: return encode_record(c, op, v, level, out);
    case OP_ARRAY:
    case OP_MAP: return encode_block(c, op, v, level, out);
    default: return encode_scalar(c, op, v, out);
    }
}

static void set_levels(struct plain *c, const struct codec_opts *opts)
{
    const struct rules all[] = {{MISSING_REJECT, UNKNOWN_REJECT},
                                {MISSING_DEFAULT, UNKNOWN_REJECT},
                                {MISSING_REJECT, UNKNOWN_IGNORE},
                                {MISSING_DEFAULT, UNKNOWN_IGNORE}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if ((all[i].missing == MISSING_REJECT || opts->missing != MISSING_REJECT) &&
            (all[i].unknown == UNKNOWN_REJECT || opts->unknown == UNKNOWN_IGNORE))
            c->level[c->levels++] = all[i];
    if (opts->missing == MISSING_ZERO)
        c->level[c->levels++] = (struct rules){opts->missing, opts->unknown};
}

static enum plain_result run(struct plain *c, uint32_t op, struct slice json, struct buf *out)
{
    struct reader r = {.p = json.ptr, .end = json.ptr + json.len};
    const struct node *v = read_value(&r);
    enum plain_result result = PLAIN_GIVES_UP;
    if (!r.is_too_deep) {
        bool ok = encode(c, op, v, c->levels - 1, out);
        if (c->work <= WORK_MAX)
            result = ok ? PLAIN_FITS : PLAIN_MISFIT;
    }
    arena_release(&r.arena);
    return result;
}

enum plain_result plain_encode(const struct program *p, uint32_t op, const struct codec_opts *opts,
                               struct slice json, struct buf *out)
{
    struct plain c = {.program = p, .form = opts->form};
    set_levels(&c, opts);
    return run(&c, op, json, out);
}

enum plain_result plain_default(const struct program *p, uint32_t op, struct slice json, struct buf *out)
{
    struct plain c = {.program = p, .is_default = true, .levels = 1};
    c.level[0] = (struct rules){MISSING_DEFAULT, UNKNOWN_REJECT};
    return run(&c, op, json, out);
}

/* ---- what is wrong ---- */

struct explanation {
    const struct program *program;
    const struct codec_opts *opts;
    struct buf pointer, *out;
    bool gives_up;
};

static void explain(struct explanation *x, uint32_t op, const struct node *v);

static void problem(struct explanation *x, enum problem_code code)
{
    CHECK(buf_append(x->out, buf_slice(&x->pointer)) && buf_printf(x->out, " %s\n", problem_slug(code)),
          "memory is out");
}

/* One step down, to what `op` is of; v NULL: to nothing, which is a problem. */
static void explain_member(struct explanation *x, struct slice name, uint32_t op, const struct node *v,
                           enum problem_code code)
{
    size_t len = x->pointer.len;
    CHECK(json_pointer_push(&x->pointer, name), "memory is out");
    if (v)
        explain(x, op, v);
    else
        problem(x, code);
    x->pointer.len = len;
}

static bool is_field(const struct explanation *x, const struct op *op, struct slice name)
{
    for (uint32_t i = 0; i < op->b; i++)
        if (slice_eq(x->program->fields[op->a + i].name, name))
            return true;
    return false;
}

static void explain_record(struct explanation *x, const struct op *op, const struct node *v)
{
    unsigned missing = x->opts->missing;
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op_field *f = &x->program->fields[op->a + i];
        const struct node *m = member_of(v, f->name);
        if (m || missing == MISSING_REJECT || (missing == MISSING_DEFAULT && !f->has_default))
            explain_member(x, f->name, f->op, m, PROBLEM_MISSING);
    }
    for (const struct node *m = v->child; m; m = m->next)
        if (x->opts->unknown == UNKNOWN_REJECT && !is_field(x, op, m->name))
            explain_member(x, m->name, 0, NULL, PROBLEM_UNKNOWN);
}

static void explain_block(struct explanation *x, const struct op *op, const struct node *v)
{
    unsigned index = 0;
    for (const struct node *m = v->child; m; m = m->next) {
        char digits[16];
        snprintf(digits, sizeof digits, "%u", index++);
        explain_member(x, op->code == OP_MAP ? m->name : slice_str(digits), op->a, m, PROBLEM_MISSING);
    }
}

static void explain_union(struct explanation *x, const struct op *op, const struct node *v)
{
    int tag = v->n == 1 && v->first == '{' ? program_branch(x->program, op, v->child->name) : -1;
    for (uint32_t b = 0; b < op->b; b++)
        if (v->first == 'n' && x->program->ops[x->program->branches[op->a + b].op].code == OP_NULL)
            return;
    if (tag < 0)
        problem(x, PROBLEM_NO_BRANCH);
    else
        explain_member(x, v->child->name, x->program->branches[op->a + (uint32_t)tag].op, v->child,
                       PROBLEM_TYPE);
}

/* Of a scalar that does not fit. */
static enum problem_code explain_scalar(const struct op *op, const struct node *v)
{
    int64_t i;
    struct buf content = {0};
    enum problem_code code = PROBLEM_TYPE;
    switch ((enum opcode)op->code) {
    case OP_INT:
    case OP_LONG:
        if (is_number(v) && num_parse_i64(v->token, &i) != NUM_FRACTION)
            code = PROBLEM_RANGE;
        break;
    case OP_FLOAT:
    case OP_DOUBLE:
        if (is_number(v))
            code = PROBLEM_RANGE;
        break;
    case OP_ENUM:
        if (v->first == '"')
            code = PROBLEM_SYMBOL;
        break;
    case OP_BYTES:
    case OP_FIXED:
        if (v->first == '"')
            code = bytes_of(v, &content) ? PROBLEM_SIZE : PROBLEM_ENCODING;
        break;
    default:
        if (op->code >= TYPE_KINDS)
            spell(&(struct plain){.work = 0}, op, v, &content, &code);
    }
    buf_release(&content);
    return code;
}

static void explain(struct explanation *x, uint32_t i, const struct node *v)
{
    const struct op *op = &x->program->ops[i];
    struct buf dropped = {0};
    struct plain c = {.program = x->program};
    bool is_right = v->first == (op->code == OP_ARRAY ? '[' : '{');
    switch ((enum opcode)op->code) {
    case OP_UNION: explain_union(x, op, v); break;
    case OP_RECORD: is_right ? explain_record(x, op, v) : problem(x, PROBLEM_TYPE); break;
    case OP_ARRAY:
    case OP_MAP: is_right ? explain_block(x, op, v) : problem(x, PROBLEM_TYPE); break;
    default:
        if (!encode_scalar(&c, op, v, &dropped))
            problem(x, explain_scalar(op, v));
        x->gives_up |= c.work > WORK_MAX;
    }
    buf_release(&dropped);
}

enum plain_result plain_explain(const struct program *p, uint32_t op, const struct codec_opts *opts,
                                struct slice json, struct buf *out)
{
    struct reader r = {.p = json.ptr, .end = json.ptr + json.len};
    struct explanation x = {.program = p, .opts = opts, .out = out};
    const struct node *v = read_value(&r);
    bool is_certain = !r.is_too_deep && (opts->form == JSON_AVRO || p->nunions == 0);
    if (is_certain)
        explain(&x, op, v);
    buf_release(&x.pointer);
    arena_release(&r.arena);
    return !is_certain || x.gives_up ? PLAIN_GIVES_UP : out->len ? PLAIN_MISFIT : PLAIN_FITS;
}

/* ---- is it Avro? ---- */

struct check {
    const struct program *program;
    struct slice rest;
    bool is_strict; /* about how long an index is */
    unsigned depth, work;
    uint32_t levels; /* records, arrays and maps around it */
    struct codec_limits most;
};

static bool check(struct check *c, uint32_t op);

static bool take(struct check *c, uint64_t n)
{
    if (n > c->rest.len)
        return false;
    c->rest = slice_of(c->rest.ptr + n, c->rest.len - n);
    return true;
}

static bool take_long(struct check *c, int64_t *out)
{
    unsigned __int128 bits = 0;
    for (unsigned i = 0; i < 10; i++) {
        if (!c->rest.len)
            return false;
        uint8_t byte = fuzz_byte(&c->rest);
        bits |= (unsigned __int128)(byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            *out = (int64_t)(uint64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return bits <= UINT64_MAX;
        }
    }
    return false;
}

static bool check_int(struct check *c)
{
    int64_t v;
    size_t before = c->rest.len;
    return take_long(c, &v) && v >= INT32_MIN && v <= INT32_MAX && before - c->rest.len <= 5;
}

static bool check_text(struct check *c, bool is_string)
{
    int64_t len;
    if (!take_long(c, &len) || len < 0 || (uint64_t)len > c->rest.len)
        return false;
    struct slice text = slice_of(c->rest.ptr, (size_t)len);
    return (!is_string || utf8_valid(text)) && take(c, (uint64_t)len);
}

/* A key, which `keys` does not have yet. */
static bool check_key(struct check *c, struct buf *keys)
{
    const uint8_t *begin = c->rest.ptr;
    if (!check_text(c, true))
        return false;
    struct slice key = slice_of(begin, (size_t)(c->rest.ptr - begin));
    struct slice all = buf_slice(keys);
    for (size_t i = 0; i < all.len; i += sizeof key) {
        struct slice other;
        memcpy(&other, all.ptr + i, sizeof other);
        if (slice_eq(key, other) || ++c->work > WORK_MAX)
            return false;
    }
    put(keys, slice_of((const uint8_t *)&key, sizeof key));
    return true;
}

static bool check_items(struct check *c, const struct op *op, struct buf *keys)
{
    int64_t count, bytes = -1;
    uint64_t total = 0;
    do {
        if (!take_long(c, &count))
            return false;
        bool has_size = count < 0;
        if (has_size && (!take_long(c, &bytes) || bytes < 0 || (uint64_t)bytes > c->rest.len))
            return false;
        uint64_t n = has_size ? -(uint64_t)count : (uint64_t)count;
        const uint8_t *end = c->rest.ptr + (has_size ? (size_t)bytes : 0);
        for (uint64_t i = 0; i < n; i++)
            if ((op->code == OP_MAP && !check_key(c, keys)) || !check(c, op->a))
                return false;
        if (has_size && c->rest.ptr != end)
            return false;
        total += n;
    } while (count != 0);
    if (total > c->most.items)
        c->most.items = (uint32_t)total;
    return true;
}

static bool check_block(struct check *c, const struct op *op)
{
    struct buf keys = {0};
    bool ok = check_items(c, op, &keys);
    buf_release(&keys);
    return ok;
}

static bool check_index(struct check *c, uint32_t n, uint32_t *out)
{
    int64_t v;
    size_t before = c->rest.len;
    if (!take_long(c, &v) || v < 0 || v >= n)
        return false;
    *out = (uint32_t)v;
    return !c->is_strict || before - c->rest.len <= 5;
}

static bool check_value(struct check *c, const struct op *op)
{
    uint32_t index;
    switch ((enum opcode)op->code) {
    case OP_NULL: return true;
    case OP_BOOLEAN: return c->rest.len && c->rest.ptr[0] <= 1 && take(c, 1);
    case OP_INT: return check_int(c);
    case OP_LONG: return take_long(c, &(int64_t){0});
    case OP_FLOAT: return take(c, 4);
    case OP_DOUBLE: return take(c, 8);
    case OP_STRING:
    case OP_BYTES: return check_text(c, op->code == OP_STRING);
    case OP_FIXED: return take(c, op->a);
    case OP_ENUM: return check_index(c, op->b, &index);
    case OP_UNION: return check_index(c, op->b, &index) && check(c, c->program->branches[op->a + index].op);
    case OP_RECORD:
        for (uint32_t i = 0; i < op->b; i++)
            if (!check(c, c->program->fields[op->a + i].op))
                return false;
        return true;
    case OP_ARRAY:
    case OP_MAP: return check_block(c, op);
    default: break; /* spelled: that is for JSON alone */
    }
    return false;
}

static bool check(struct check *c, uint32_t op)
{
    if (++c->work > WORK_MAX || c->depth == DEPTH_MAX) {
        c->work = WORK_MAX + 1;
        return false;
    }
    uint8_t code = c->program->ops[op].code;
    bool is_level = code == OP_RECORD || code == OP_ARRAY || code == OP_MAP;
    c->depth++;
    c->levels += is_level;
    if (c->levels > c->most.depth)
        c->most.depth = c->levels;
    bool ok = check_value(c, &c->program->ops[op]);
    c->levels -= is_level;
    c->depth--;
    return ok;
}

static enum plain_result result_of(struct check *c, uint32_t op)
{
    bool ok = check(c, op) && c->rest.len == 0;
    return c->work > WORK_MAX ? PLAIN_GIVES_UP : ok ? PLAIN_FITS : PLAIN_MISFIT;
}

static enum plain_result check_all(const struct program *p, uint32_t op, struct slice avro, bool is_strict)
{
    struct check c = {.program = p, .rest = avro, .is_strict = is_strict};
    return result_of(&c, op);
}

enum plain_result plain_measure(const struct program *p, uint32_t op, struct slice avro,
                                struct codec_limits *out)
{
    struct check c = {.program = p, .rest = avro, .most.bytes = (uint32_t)avro.len};
    enum plain_result result = result_of(&c, op);
    *out = c.most;
    return result;
}

enum plain_result plain_check(const struct program *p, uint32_t op, struct slice avro)
{
    return check_all(p, op, avro, false);
}

enum plain_result plain_check_strictly(const struct program *p, uint32_t op, struct slice avro)
{
    return check_all(p, op, avro, true);
}
