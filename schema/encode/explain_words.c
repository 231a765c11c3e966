/* schema/encode/explain_words.c - how the second pass tells a problem: what was expected, what was got, and a
 * sentence. */
#include <stdarg.h>
#include <stdio.h>

#include "schema/encode/explain_walk.h"
#include "schema/encode/spelling.h"
#include "schema/json.h"

enum {
    SHOWN_MAX = 60, /* bytes of a value or name in a sentence */
    LISTED_MAX = 8, /* names in a list of symbols or branches */
};

bool explain_stop(struct explain *x, enum explain_stop why)
{
    if (!x->stop)
        x->stop = why;
    return false;
}

bool explain_stop_deep(struct explain *x, struct slice branch)
{
    if (!x->stop)
        x->stop_branch = branch;
    return explain_stop(x, EXPLAIN_TOO_DEEP);
}

/* ---- members ---- */

const uint8_t *explain_read_member(struct explain *x, const uint8_t *p, struct explain_member *m)
{
    unsigned flags;
    m->name = p + 1;
    m->quote = scan_string(m->name, x->e.end, &flags);
    p = scan_space(m->quote + 1) + 1; /* json_check has seen the colon */
    m->value = scan_space(p);
    m->field = -1;
    return scan_space(skip_value(&x->e, m->value));
}

bool explain_name(struct explain *x, const struct explain_member *m, struct slice *out)
{
    size_t len = (size_t)(m->quote - m->name);
    x->name.len = 0;
    if (!buf_reserve(&x->name, len + 1))
        return explain_stop(x, EXPLAIN_NO_MEMORY);
    uint8_t *end = scan_unescape(m->name, m->quote, x->name.ptr);
    *out = slice_of(x->name.ptr, (size_t)(end - x->name.ptr));
    return true;
}

/* ---- texts ---- */

/* A list of names being made; what does not fit ends in "...". */
struct words {
    char text[512];
    size_t len;
};

static void add(struct words *w, struct slice s)
{
    s = utf8_cut(s, sizeof w->text - 1 - w->len);
    memcpy(w->text + w->len, s.ptr, s.len);
    w->len += s.len;
    w->text[w->len] = 0;
}

static void add_shown(struct words *w, struct slice s)
{
    if (s.len <= SHOWN_MAX) {
        add(w, s);
        return;
    }
    add(w, utf8_cut(s, SHOWN_MAX));
    add(w, SLICE("..."));
}

/* "a", "a or b", "a, b or c" - `total` in all, called for each of them. */
static void add_listed(struct words *w, uint32_t i, uint32_t total, struct slice name)
{
    if (i >= LISTED_MAX) {
        if (i == LISTED_MAX)
            add(w, SLICE(" or others"));
        return;
    }
    if (i)
        add(w, i + 1 == total ? SLICE(" or ") : SLICE(", "));
    add_shown(w, name);
}

struct slice explain_keep(struct explain *x, struct slice s)
{
    struct slice kept = SLICE("");
    if (!arena_copy(x->arena, s, &kept))
        explain_stop(x, EXPLAIN_NO_MEMORY);
    return kept;
}

static struct slice keep_words(struct explain *x, const struct words *w)
{
    return explain_keep(x, slice_of(w->text, w->len));
}

static struct slice json_kind(uint8_t first)
{
    switch (first) {
    case '{': return SLICE("object");
    case '[': return SLICE("array");
    case '"': return SLICE("string");
    case 'n': return SLICE("null");
    case 't':
    case 'f': return SLICE("boolean");
    default: return SLICE("number");
    }
}

/* The value's token, cut. */
struct slice explain_token(struct explain *x, const uint8_t *at)
{
    struct words w = {.len = 0};
    add_shown(&w, slice_of(at, (size_t)(skip_value(&x->e, at) - at)));
    return keep_words(x, &w);
}

/* ---- problems ---- */

/* NULL: it will not be listed. */
struct problem *explain_note(struct explain *x, enum problem_code code, struct slice expected,
                             struct slice got, struct slice branch)
{
    if (x->stop || x->err->truncated)
        return NULL;
    x->pointer_bytes += x->pointer.len;
    if (x->err->problems && x->pointer_bytes > LIMIT_POINTERS_MAX) {
        x->err->truncated = true;
        return NULL;
    }
    struct problem *p = err_problem(x->err, x->arena, code, buf_slice(&x->pointer));
    if (!p) {
        if (x->err->problems < ERR_PROBLEMS_MAX)
            explain_stop(x, EXPLAIN_NO_MEMORY);
        return NULL;
    }
    p->expected = expected;
    p->got = got;
    p->branch = branch.len ? explain_keep(x, branch) : branch;
    return p;
}

/* The problem in a sentence; all that goes into one is cut to size. p may be NULL. */
void explain_tell(struct explain *x, struct problem *p, const char *format, ...)
{
    char text[1024];
    if (!p)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->detail = explain_keep(x, slice_str(text));
}

struct slice explain_kind_name(struct explain *x, uint32_t op)
{
    char words[SPELLING_WORDS_MAX];
    if (x->program->ops[op].flags & OP_FLAG_FLAT)
        return SLICE("object of months, days and millis");
    if (!spelling_is(&x->program->ops[op]))
        return slice_str(type_kind_name((enum type_kind)x->program->ops[op].code));
    spelling_expected(&x->program->ops[op], words);
    return explain_keep(x, slice_str(words));
}

/* A value that is spelled as a text, or as an object of its own, is not what the name of its fixed says. */
static struct slice type_name(const struct explain *x, uint32_t op)
{
    const struct op *of = &x->program->ops[op];
    return of->flags & OP_FLAG_FLAT || spelling_is(of) ? (struct slice){0} : program_name(x->program, op);
}

void explain_type(struct explain *x, const struct explain_value *v)
{
    struct slice expected = explain_kind_name(x, v->op), got = json_kind(*v->at);
    struct slice name = type_name(x, v->op);
    struct words w = {.len = 0};
    if (name.len) {
        add(&w, SLICE(" "));
        add_shown(&w, name);
    }
    explain_tell(x, explain_note(x, PROBLEM_TYPE, expected, got, v->branch), "Expected %s%s, got %s.",
                 (const char *)expected.ptr, w.text, (const char *)got.ptr);
}

void explain_missing(struct explain *x, const struct op_field *field, struct slice branch)
{
    struct words w = {.len = 0};
    add_shown(&w, field->name);
    const char *why = field->has_default ? "and this type takes no defaults" : "and has no default";
    explain_tell(x, explain_note(x, PROBLEM_MISSING, explain_kind_name(x, field->op), SLICE(""), branch),
                 "The field \"%s\" is missing %s.", w.text, why);
}

void explain_unknown(struct explain *x, uint32_t record, struct slice name, const uint8_t *value,
                     struct slice branch)
{
    struct words w = {.len = 0}, of = {.len = 0};
    add_shown(&w, name);
    add_shown(&of, program_name(x->program, record));
    explain_tell(x, explain_note(x, PROBLEM_UNKNOWN, SLICE(""), json_kind(*value), branch),
                 "The record %s has no field \"%s\".", of.text, w.text);
}

static void list_branches(const struct explain *x, const struct op *op, const bool *which, struct words *w)
{
    uint32_t total = 0, n = 0;
    for (uint32_t i = 0; i < op->b; i++)
        total += !which || which[i];
    for (uint32_t i = 0; i < op->b; i++)
        if (!which || which[i])
            add_listed(w, n++, total, x->program->branches[op->a + i].tag);
}

void explain_no_branch(struct explain *x, const struct explain_value *v)
{
    struct words w = {.len = 0};
    list_branches(x, &x->program->ops[v->op], NULL, &w);
    struct slice got = json_kind(*v->at);
    if (*v->at != '{' && *v->at != '[')
        got = explain_token(x, v->at);
    explain_tell(x, explain_note(x, PROBLEM_NO_BRANCH, keep_words(x, &w), got, v->branch),
                 "No branch of the union takes this %s: expected %s.", (const char *)json_kind(*v->at).ptr,
                 w.text);
}

void explain_ambiguous(struct explain *x, const struct explain_value *v, const bool *fits)
{
    const struct op *op = &x->program->ops[v->op];
    struct words w = {.len = 0}, tag = {.len = 0};
    list_branches(x, op, fits, &w);
    for (uint32_t i = 0; i < op->b && !tag.len; i++)
        if (fits[i])
            add_shown(&tag, x->program->branches[op->a + i].tag);
    explain_tell(x, explain_note(x, PROBLEM_AMBIGUOUS, keep_words(x, &w), SLICE("object"), v->branch),
                 "The object fits more than one branch; say which, as in {\"%s\": ...}.", tag.text);
}

/* ---- scalars ---- */

void explain_range(struct explain *x, const struct explain_value *v)
{
    struct slice expected = explain_kind_name(x, v->op), got = explain_token(x, v->at);
    explain_tell(x, explain_note(x, PROBLEM_RANGE, expected, got, v->branch), "%s is beyond the range of %s.",
                 (const char *)got.ptr, (const char *)expected.ptr);
}

void explain_fraction(struct explain *x, const struct explain_value *v)
{
    struct slice expected = explain_kind_name(x, v->op), got = explain_token(x, v->at);
    explain_tell(x, explain_note(x, PROBLEM_TYPE, expected, got, v->branch),
                 "Expected %s, got %s, which is no whole number.", (const char *)expected.ptr,
                 (const char *)got.ptr);
}

static void number(struct explain *x, const struct explain_value *v, enum opcode code)
{
    struct slice text = slice_of(v->at, (size_t)(skip_value(&x->e, v->at) - v->at));
    int64_t i;
    float f;
    double d;
    if (code == OP_FLOAT || code == OP_DOUBLE) {
        if (code == OP_FLOAT ? !num_parse_float(text, &f) : !num_parse_double(text, &d))
            explain_range(x, v);
        return;
    }
    switch (num_parse_i64(text, &i)) {
    case NUM_FRACTION: explain_fraction(x, v); break;
    case NUM_HUGE: explain_range(x, v); break;
    case NUM_INTEGER:
        if (code == OP_INT && i != (int32_t)i)
            explain_range(x, v);
    }
}

static void symbol(struct explain *x, const struct explain_value *v, struct slice content)
{
    const struct op *op = &x->program->ops[v->op];
    if (program_symbol(x->program, op, content) >= 0)
        return;
    struct words w = {.len = 0}, of = {.len = 0};
    for (uint32_t i = 0; i < op->b; i++)
        add_listed(&w, i, op->b, x->program->symbols[op->a + i].name);
    add_shown(&of, program_name(x->program, v->op));
    struct slice got = explain_token(x, v->at);
    explain_tell(x, explain_note(x, PROBLEM_SYMBOL, keep_words(x, &w), got, v->branch),
                 "%s is no symbol of %s: expected %s.", (const char *)got.ptr, of.text, w.text);
}

void explain_size(struct explain *x, const struct explain_value *v, size_t bytes)
{
    uint32_t want = x->program->ops[v->op].a;
    char text[64];
    snprintf(text, sizeof text, "%zu bytes", bytes);
    struct slice got = explain_keep(x, slice_str(text));
    snprintf(text, sizeof text, "%u bytes", want);
    explain_tell(x, explain_note(x, PROBLEM_SIZE, explain_keep(x, slice_str(text)), got, v->branch),
                 "Expected %u bytes, got %zu.", want, bytes);
}

/* bytes and fixed: `out` has room for the content. */
static void content(struct explain *x, const struct explain_value *v, const uint8_t *begin,
                    const uint8_t *quote, uint8_t *out)
{
    const struct op *op = &x->program->ops[v->op];
    struct scan_wide wide;
    char text[64];
    uint8_t *end = scan_bytes(begin, quote, out, &wide);
    if (!end) {
        snprintf(text, sizeof text, "U+%04X at index %zu", wide.code_point, wide.index);
        explain_tell(
            x,
            explain_note(x, PROBLEM_ENCODING, SLICE("code points up to U+00FF"),
                         explain_keep(x, slice_str(text)), v->branch),
            "Each character stands for one byte, but there is a code point above U+00FF at index %zu.",
            wide.index);
        return;
    }
    size_t n = (size_t)(end - out);
    if (op->code == OP_FIXED && n != op->a)
        explain_size(x, v, n);
}

static void string(struct explain *x, const struct explain_value *v, enum opcode code)
{
    unsigned flags;
    const uint8_t *begin = v->at + 1, *quote = scan_string(begin, x->e.end, &flags);
    struct explain_member as_name = {.name = begin, .quote = quote};
    struct slice text;
    switch (code) {
    case OP_STRING: break;
    case OP_ENUM:
        if (explain_name(x, &as_name, &text))
            symbol(x, v, text);
        break;
    case OP_FLOAT:
    case OP_DOUBLE:
        if (explain_name(x, &as_name, &text) &&
            !(slice_eq(text, SLICE("NaN")) || slice_eq(text, SLICE("Infinity")) ||
              slice_eq(text, SLICE("-Infinity"))))
            explain_type(x, v);
        break;
    default:
        if (explain_name(x, &as_name, &text)) /* for its room */
            content(x, v, begin, quote, x->name.ptr);
        break;
    }
}

static bool takes_strings(enum opcode code)
{
    return code == OP_STRING || code == OP_BYTES || code == OP_FIXED || code == OP_ENUM || code == OP_FLOAT ||
           code == OP_DOUBLE;
}

void explain_scalar(struct explain *x, const struct explain_value *v)
{
    enum opcode code = x->program->ops[v->op].code;
    uint8_t first = *v->at;
    bool is_number = first == '-' || scan_is_digit(first);
    if (spelling_is(&x->program->ops[v->op]))
        explain_spelled(x, v);
    else if (is_number && code >= OP_INT && code <= OP_DOUBLE)
        number(x, v, code);
    else if (first == '"' && takes_strings(code))
        string(x, v, code);
    else if (!((first == 'n' && code == OP_NULL) || ((first == 't' || first == 'f') && code == OP_BOOLEAN)))
        explain_type(x, v);
}
