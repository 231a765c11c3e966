/* schema/compat.c - the reasons in a match of two schemas: a walk over the pairs that not every datum
 * passes, with a stack in place of recursion, each pair once. */
#include "schema/compat.h"

#include "schema/resolve/match.h"

/* ---- modes ---- */

static const struct {
    const char *name;
    bool backward, forward, transitive;
} modes[] = {
#define COMPAT_MODE(name, text, backward, forward, transitive)                                               \
    [COMPAT_##name] = {text, backward, forward, transitive},
#include "schema/compat_modes.def"
#undef COMPAT_MODE
};

const char *compat_mode_name(enum compat_mode mode)
{
    assert(mode < COMPAT_MODES);
    return modes[mode].name;
}

bool compat_mode_is_transitive(enum compat_mode mode)
{
    assert(mode < COMPAT_MODES);
    return modes[mode].transitive;
}

/* ---- the walk ---- */

/* A pair, and where it was met in both texts. */
struct visit {
    uint32_t pair;
    struct place reader, writer;
};

struct collector {
    struct match match;
    struct compat *out;
    struct arena *arena;
    struct buf words; /* of the reason that is being made */
    struct stack visits;
    bool *seen; /* by pair */
    bool is_backward;
    uint32_t version;
    struct err *err;
};

static bool copy_pointer(struct collector *c, const struct place *at, struct slice *out)
{
    struct buf pointer = {0};
    bool ok = place_print(at, &pointer) && arena_copy(c->arena, buf_slice(&pointer), out);
    buf_release(&pointer);
    return ok;
}

/* A reason with the words that are in c->words. `ok`: they are whole. */
static enum rc add_reason(struct collector *c, bool ok, enum problem_code code, const struct place *reader,
                          const struct place *writer)
{
    struct compat *out = c->out;
    if (out->n == COMPAT_REASONS_MAX) {
        out->truncated = true;
        return RC_OK;
    }
    struct compat_reason *r = ok ? arena_calloc(c->arena, 1, sizeof *r) : NULL;
    if (!r || !arena_copy(c->arena, buf_slice(&c->words), &r->words) ||
        !copy_pointer(c, reader, &r->reader) || !copy_pointer(c, writer, &r->writer))
        return err_oom(c->err);
    r->code = code;
    r->is_backward = c->is_backward;
    r->version = c->version;
    if (out->last)
        out->last->next = r;
    else
        out->first = r;
    out->last = r;
    out->n++;
    return RC_OK;
}

static int shown(struct slice s)
{
    return s.len < 200 ? (int)s.len : 200;
}

/* ---- the reasons ---- */

static enum rc tell_fault(struct collector *c, const struct visit *v, enum match_fault fault)
{
    const struct match_pair *p = &c->match.pairs[v->pair];
    c->words.len = 0;
    bool ok =
        buf_printf(&c->words, "A value ") &&
        match_describe(match_writer_type(&c->match, p), match_reader_type(&c->match, p), fault, &c->words) &&
        buf_printf(&c->words, ".");
    return add_reason(c, ok, match_problem(fault), &v->reader, &v->writer);
}

static enum rc tell_symbols(struct collector *c, const struct visit *v)
{
    enum { SHOWN = 10 };
    const struct match_pair *p = &c->match.pairs[v->pair];
    const struct type *w = match_writer_type(&c->match, p), *r = match_reader_type(&c->match, p);
    uint32_t n = 0;
    c->words.len = 0;
    bool ok = buf_printf(&c->words, "The enum %.*s that reads has no default and lacks ", shown(r->fullname),
                         (const char *)r->fullname.ptr);
    for (size_t i = 0; ok && i < w->enumeration.nsymbols; i++) {
        struct slice s = w->enumeration.symbols[i];
        if (match_symbol(&c->match, p, i) < 0 && n++ < SHOWN)
            ok = buf_printf(&c->words, "%s\"%.*s\"", n > 1 ? ", " : "", shown(s), (const char *)s.ptr);
    }
    if (ok && n > SHOWN)
        ok = buf_printf(&c->words, " and %u more", n - SHOWN);
    ok = ok && buf_printf(&c->words, " of the one that writes.");
    struct place reader = {r->place, "symbols", PLACE_NO_INDEX},
                 writer = {w->place, "symbols", PLACE_NO_INDEX};
    return add_reason(c, ok, PROBLEM_SYMBOL, &reader, &writer);
}

static enum rc tell_field(struct collector *c, const struct match_pair *p, uint32_t i, enum match_field what)
{
    const struct type *w = match_writer_type(&c->match, p), *r = match_reader_type(&c->match, p);
    const struct field *f = &r->record.fields[i];
    c->words.len = 0;
    bool ok =
        what == MATCH_FIELD_MISSING
            ? buf_printf(&c->words,
                         "The field \"%.*s\" of %.*s has no default, and who writes does not have it.",
                         shown(f->name), (const char *)f->name.ptr, shown(r->fullname),
                         (const char *)r->fullname.ptr)
            : buf_printf(&c->words,
                         "The name and the aliases of the field \"%.*s\" of %.*s are several fields of who "
                         "writes.",
                         shown(f->name), (const char *)f->name.ptr, shown(r->fullname),
                         (const char *)r->fullname.ptr);
    return add_reason(c, ok, what == MATCH_FIELD_MISSING ? PROBLEM_MISSING : PROBLEM_AMBIGUOUS, f->place,
                      w->place);
}

static enum rc tell_fields(struct collector *c, const struct match_pair *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        enum match_field what = (enum match_field)c->match.edges[p->edges + i].field;
        if ((what == MATCH_FIELD_MISSING || what == MATCH_FIELD_AMBIGUOUS) && tell_field(c, p, i, what))
            return RC_ERR;
    }
    return RC_OK;
}

static enum rc tell(struct collector *c, const struct visit *v)
{
    const struct match_pair *p = &c->match.pairs[v->pair];
    switch ((enum match_kind)p->kind) {
    case MATCH_NOT: return tell_fault(c, v, (enum match_fault)p->fault);
    case MATCH_ENUM: return tell_symbols(c, v);
    case MATCH_RECORD: return tell_fields(c, p);
    case MATCH_READER_UNION: return p->n ? RC_OK : tell_fault(c, v, MATCH_FAULT_BRANCH);
    default: return RC_OK;
    }
}

/* ---- what is inside ---- */

static struct place place_of_branch(const struct type *u, uint32_t i)
{
    return (struct place){u->place, NULL, i};
}

static struct place place_of_items(const struct type *t)
{
    return (struct place){t->place, t->kind == TYPE_ARRAY ? "items" : "values", PLACE_NO_INDEX};
}

static struct place place_of_field(const struct type *t, uint32_t i)
{
    return (struct place){t->record.fields[i].place, "type", PLACE_NO_INDEX};
}

/* The i-th edge's pair, and where it stands. */
static struct visit visit_edge(const struct match *m, const struct visit *v, uint32_t i)
{
    const struct match_pair *p = &m->pairs[v->pair];
    const struct match_edge *e = &m->edges[p->edges + i];
    const struct type *w = match_writer_type(m, p), *r = match_reader_type(m, p);
    switch ((enum match_kind)p->kind) {
    case MATCH_ITEMS: return (struct visit){e->pair, place_of_items(r), place_of_items(w)};
    case MATCH_RECORD: return (struct visit){e->pair, place_of_field(r, i), place_of_field(w, e->index)};
    case MATCH_WRITER_UNION: return (struct visit){e->pair, v->reader, place_of_branch(w, i)};
    default: return (struct visit){e->pair, place_of_branch(r, e->index), v->writer};
    }
}

/* Of the reader's union only the branch that would be taken. */
static bool is_asked(const struct match *m, const struct match_pair *p, uint32_t i)
{
    uint32_t e = p->edges + i;
    return m->edges[e].pair != MATCH_NONE && !m->pairs[m->edges[e].pair].is_full &&
           (p->kind != MATCH_READER_UNION || e == p->chosen);
}

static enum rc push_inner(struct collector *c, const struct visit *v)
{
    const struct match_pair *p = &c->match.pairs[v->pair];
    for (uint32_t i = p->n; i-- > 0;) { /* the last first, so that the first is taken first */
        if (!is_asked(&c->match, p, i) || c->seen[c->match.edges[p->edges + i].pair])
            continue;
        struct visit inner = visit_edge(&c->match, v, i);
        if (!stack_reserve(&c->visits, 1, sizeof inner))
            return err_oom(c->err);
        ((struct visit *)c->visits.ptr)[c->visits.n++] = inner;
    }
    return RC_OK;
}

static enum rc walk(struct collector *c)
{
    if (c->match.pairs[0].is_full)
        return RC_OK;
    struct visit root = {.reader = *match_reader_type(&c->match, &c->match.pairs[0])->place,
                         .writer = *match_writer_type(&c->match, &c->match.pairs[0])->place};
    if (!stack_reserve(&c->visits, 1, sizeof root))
        return err_oom(c->err);
    ((struct visit *)c->visits.ptr)[c->visits.n++] = root;
    while (c->visits.n && !c->out->truncated) {
        struct visit v = ((struct visit *)c->visits.ptr)[--c->visits.n];
        if (c->seen[v.pair])
            continue;
        c->seen[v.pair] = true;
        if (tell(c, &v) || push_inner(c, &v))
            return RC_ERR;
    }
    return RC_OK;
}

/* ---- the front ---- */

static enum rc compare(struct collector *c, const struct schema *writer, const struct schema *reader)
{
    struct arena scratch = {0};
    if (match_make(&c->match, schema_program(writer), schema_program(reader), c->err))
        return RC_ERR;
    c->seen = arena_calloc(&scratch, c->match.npairs, sizeof *c->seen);
    enum rc rc = c->seen ? walk(c) : err_oom(c->err);
    stack_release(&c->visits);
    buf_release(&c->words);
    match_release(&c->match);
    arena_release(&scratch);
    return rc;
}

static enum rc compare_version(struct collector *c, enum compat_mode mode, const struct schema *new,
                               const struct schema *version)
{
    c->is_backward = true;
    if (modes[mode].backward && compare(c, version, new))
        return RC_ERR;
    c->is_backward = false;
    return modes[mode].forward ? compare(c, new, version) : RC_OK;
}

enum rc compat_check(enum compat_mode mode, const struct schema *new, const struct schema *const *versions,
                     size_t n, struct arena *arena, struct compat *out, struct err *err)
{
    assert(mode < COMPAT_MODES);
    *out = (struct compat){0};
    struct collector c = {.out = out, .arena = arena, .err = err};
    size_t i = modes[mode].transitive || !n ? 0 : n - 1;
    for (; i < n && !out->truncated; i++) {
        c.version = (uint32_t)i;
        if (compare_version(&c, mode, new, versions[i]))
            return RC_ERR;
    }
    return RC_OK;
}
