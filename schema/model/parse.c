/* schema/model/parse.c - model_parse: a schema text, checked as JSON, made a tree, walked into a model; or all its
 * faults. */
#include <stdlib.h>

#include "base/limits.h"
#include "schema/json.h"
#include "schema/model/parse.h"

/* ---- the verdict ---- */

/* RC_OK if nothing is wrong so far. */
static enum rc verdict(struct parser *p)
{
    if (p->stop == STOP_NO_MEMORY)
        return err_oom(p->err);
    if (!p->err->problems) {
        *p->err = (struct err){0};
        return RC_OK;
    }
    return err_sum_up(p->err, p->stop == STOP_TOO_DEEP ? ERR_TOO_DEEP : ERR_BAD_SCHEMA);
}

/* ---- one entry of a top-level union ---- */

static bool is_called(const struct type *t, struct slice fullname)
{
    return t->fullname.len && slice_eq(t->fullname, fullname);
}

/* A guess among what can be picked; memory out: none. */
static struct slice guess_entry(struct parser *p, struct slice fullname)
{
    struct name_table entries = {.arena = &p->scratch};
    const struct type *root = p->model->root;
    size_t n = root->kind == TYPE_UNION ? root->branches.nbranches : 1;
    for (size_t i = 0; i < n; i++) {
        const struct type *t = root->kind == TYPE_UNION ? root->branches.branches[i] : root;
        void *taken;
        if (t->fullname.len && !parse_ok(p, name_add(&entries, t->fullname, p->model->root, &taken)))
            break;
    }
    struct slice guess = name_guess(&entries, fullname);
    return name_find(&entries, guess) ? guess : (struct slice){0}; /* it may be a primitive's name */
}

static void fault_no_entry(struct parser *p, struct slice fullname)
{
    const char *quoted = parse_quote(p, fullname);
    struct slice guess = guess_entry(p, fullname);
    if (guess.len)
        parse_fault(p, PROBLEM_UNKNOWN_TYPE, NULL, "the full name of an entry", NULL,
                    "The schema has no entry with the full name %s; did you mean %s?", quoted,
                    parse_quote(p, guess));
    else
        parse_fault(
            p, PROBLEM_UNKNOWN_TYPE, NULL, "the full name of an entry", NULL,
            "The schema has no entry with the full name %s: it must be a record, enum or fixed that stands "
            "in the top-level union.",
            quoted);
}

/* Make the entry the root: *source is its JSON value. */
static void pick_entry(struct parser *p, struct slice fullname, json_t **source)
{
    struct type *root = p->model->root;
    if (root->kind != TYPE_UNION) {
        if (!is_called(root, fullname))
            fault_no_entry(p, fullname);
        return;
    }
    for (size_t i = 0; i < root->branches.nbranches; i++) {
        if (is_called(root->branches.branches[i], fullname)) {
            p->model->root = root->branches.branches[i];
            *source = json_array_get(p->tree, i);
            return;
        }
    }
    fault_no_entry(p, fullname);
}

/* ---- numbers ---- */

static bool push_type(struct buf *stack, struct type *t)
{
    return buf_append(stack, slice_of(&t, sizeof t));
}

/* The types inside t, the last first, so that the first is taken first. */
static bool push_inner(struct buf *stack, const struct type *t)
{
    bool ok = true;
    switch (t->kind) {
    case TYPE_RECORD:
        for (size_t i = t->record.nfields; ok && i > 0; i--)
            ok = push_type(stack, t->record.fields[i - 1].type);
        return ok;
    case TYPE_UNION:
        for (size_t i = t->branches.nbranches; ok && i > 0; i--)
            ok = push_type(stack, t->branches.branches[i - 1]);
        return ok;
    case TYPE_ARRAY: return push_type(stack, t->items);
    case TYPE_MAP: return push_type(stack, t->values);
    default: return true;
    }
}

/* Number what the root reaches, in order of first appearance; the rest is left out of the model. */
static bool number_types(struct parser *p)
{
    struct model *m = p->model;
    struct buf stack = {0};
    m->types = arena_calloc(&m->arena, (size_t)p->ntypes + 1, sizeof *m->types);
    bool ok = m->types && push_type(&stack, m->root);
    for (uint32_t i = 0; i < p->ntypes; i++)
        p->types[i].type->number = UINT32_MAX;
    while (ok && stack.len) {
        struct type *t;
        stack.len -= sizeof t;
        memcpy(&t, stack.ptr + stack.len, sizeof t);
        if (t->number != UINT32_MAX)
            continue;
        t->number = (uint32_t)m->ntypes;
        m->types[m->ntypes++] = t;
        ok = push_inner(&stack, t);
    }
    buf_release(&stack);
    return ok;
}

/* ---- the whole ---- */

static bool keep(struct parser *p, struct buf *b, struct slice *out)
{
    return parse_ok(p, arena_copy(&p->model->arena, buf_slice(b), out));
}

/* The text to store and the normal form, while the tree is still there. */
static enum rc write_texts(struct parser *p, struct slice text, json_t *source)
{
    struct buf b = {0};
    enum rc rc = RC_OK;
    if (source == p->tree && !p->nknown)
        parse_ok(p, arena_copy(&p->model->arena, text, &p->model->text));
    else if (!(rc = normal_standalone(p, p->model->root, source, &b)))
        keep(p, &b, &p->model->text);
    if (p->model->text.len > LIMIT_SCHEMA_TEXT_MAX)
        parse_fault(p, PROBLEM_SIZE, NULL, "shorter names or fewer types", NULL,
                    "As a text of its own, with all types that it uses, the schema takes more than %d bytes.",
                    LIMIT_SCHEMA_TEXT_MAX);
    b.len = 0;
    if (!rc && !p->stop && !p->err->problems && !(rc = normal_form(p, p->model->root, source, &b)))
        keep(p, &b, &p->model->normal_form);
    buf_release(&b);
    return rc;
}

static enum rc parse(struct parser *p, const struct model_source *from)
{
    for (size_t i = 0; i < p->nknown; i++)
        parse_known_types(p, p->known[i], (struct place){NULL, "references", (uint32_t)i});
    parse_types(p);
    if (verdict(p))
        return RC_ERR;
    json_t *source = p->tree;
    if (from->fullname.len)
        pick_entry(p, from->fullname, &source);
    if (verdict(p) || write_texts(p, from->text, source) || verdict(p))
        return RC_ERR;
    return number_types(p) ? RC_OK : err_oom(p->err);
}

/* Of a schema with faults. False: nothing is left, or memory is out, as *err says then. */
static bool keep_remains(struct parser *p)
{
    bool some = p->err->code == ERR_BAD_SCHEMA && parse_remains(p);
    if (p->stop == STOP_NO_MEMORY || (some && !number_types(p))) {
        err_oom(p->err);
        return false;
    }
    return some;
}

/* A text as a tree: JSON, and nothing else is known of it yet. */
static enum rc read_text(struct parser *p, struct slice text, json_t **out)
{
    if (text.len > LIMIT_SCHEMA_TEXT_MAX)
        return err_set(p->err, ERR_BODY_TOO_LARGE, "A schema may have at most %d bytes; this one has %zu.",
                       LIMIT_SCHEMA_TEXT_MAX, text.len);
    if (json_check(text, LIMIT_SCHEMA_JSON_DEPTH_MAX, p->problems, p->err))
        return RC_ERR;
    return tree_parse(out, text, &p->scratch, p->err);
}

static enum rc read_texts(struct parser *p, const struct model_source *from)
{
    if (read_text(p, from->text, &p->tree) || !from->nknown)
        return p->tree ? RC_OK : RC_ERR;
    p->known = calloc(from->nknown, sizeof(json_t *));
    if (!p->known)
        return err_oom(p->err);
    for (; p->nknown < from->nknown; p->nknown++)
        if (read_text(p, from->known[p->nknown], &p->known[p->nknown]))
            return RC_ERR;
    return RC_OK;
}

static void release(struct parser *p)
{
    free(p->known);
    arena_release(&p->scratch);
    buf_release(&p->joined);
    free(p->types);
}

enum rc model_parse(struct model **out, const struct model_source *from, struct arena *problems,
                    struct err *err)
{
    struct parser p = {.problems = problems, .err = err};
    if (read_texts(&p, from)) {
        release(&p);
        return RC_ERR;
    }
    *err = (struct err){0};
    p.names.arena = &p.scratch;
    p.unresolved_end = &p.unresolved;
    p.model = calloc(1, sizeof *p.model);
    enum rc rc = p.model ? parse(&p, from) : err_oom(err);
    bool is_kept = !rc || keep_remains(&p);
    release(&p);
    *out = is_kept ? p.model : NULL;
    if (!is_kept)
        model_free(p.model);
    return rc;
}
