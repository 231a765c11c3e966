/* schema/program/compile.c - model to program: one instruction a type, with the tables that it needs; then the steps
 * that check what only a program can check: sizes, defaults, zeros. */
#include "schema/program/compile.h"

#include <stdarg.h>
#include <stdio.h>

#include "schema/json.h"

/* ---- faults ---- */

static char *print_detail(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = n < 0 ? NULL : arena_alloc(arena, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

struct problem *compile_fault(struct compiler *c, enum rc *rc, enum problem_code code,
                              const struct place *place, const char *member, const char *format, ...)
{
    if (c->err->problems == ERR_PROBLEMS_MAX) {
        c->err->truncated = true;
        return NULL;
    }
    struct buf pointer = {0};
    bool ok = place_print(place, &pointer) && (!member || json_pointer_push(&pointer, slice_str(member)));
    struct problem *p = ok ? err_problem(c->err, c->problems, code, buf_slice(&pointer)) : NULL;
    buf_release(&pointer);
    va_list args;
    va_start(args, format);
    char *detail = p ? print_detail(c->problems, format, args) : NULL;
    va_end(args);
    if (!detail) {
        *rc = err_oom(c->err);
        return NULL;
    }
    p->detail = slice_str(detail);
    return p;
}

enum rc compile_keep(struct compiler *c, size_t bytes)
{
    c->bytes += bytes;
    if (c->bytes <= LIMIT_DEFAULTS_MAX)
        return RC_OK;
    return err_set(c->err, ERR_BAD_SCHEMA,
                   "Defaults and zero values of this schema's records take more than %d bytes.",
                   LIMIT_DEFAULTS_MAX);
}

/* ---- texts ---- */

/* before + quoted + behind, in the program's arena; head may be NULL. */
static bool make_text(struct program *p, struct buf *b, const char *before, struct slice name,
                      const char *behind, struct slice *out, struct op_head *head)
{
    b->len = 0;
    if (!buf_append(b, slice_str(before)) || !json_quote(name, b) || !buf_append(b, slice_str(behind)) ||
        !arena_copy(&p->arena, buf_slice(b), out))
        return false;
    if (!head)
        return true;
    size_t n = out->len < 8 ? out->len : 8;
    *head = (struct op_head){0};
    memcpy(&head->word, out->ptr, n);
    memset(&head->mask, 0xff, n);
    return true;
}

/* ---- instructions ---- */

static void count(struct program *p, const struct type *t)
{
    switch (t->kind) {
    case TYPE_RECORD: p->nfields += (uint32_t)t->record.nfields; break;
    case TYPE_ENUM: p->nsymbols += (uint32_t)t->enumeration.nsymbols; break;
    case TYPE_UNION:
        p->nbranches += (uint32_t)t->branches.nbranches;
        p->nunions++;
        break;
    default: break;
    }
}

static bool allocate(struct program *p, const struct model *m)
{
    p->nops = (uint32_t)m->ntypes;
    p->root = m->root->number;
    for (size_t i = 0; i < m->ntypes; i++)
        count(p, m->types[i]);
    p->ops = arena_calloc(&p->arena, (size_t)p->nops + 1, sizeof *p->ops);
    p->fields = arena_calloc(&p->arena, (size_t)p->nfields + 1, sizeof *p->fields);
    p->symbols = arena_calloc(&p->arena, (size_t)p->nsymbols + 1, sizeof *p->symbols);
    p->branches = arena_calloc(&p->arena, (size_t)p->nbranches + 1, sizeof *p->branches);
    p->unions = arena_calloc(&p->arena, (size_t)p->nunions + 1, sizeof *p->unions);
    return p->ops && p->fields && p->symbols && p->branches && p->unions;
}

/* How far the arrays of the program are filled. */
struct filling {
    struct program *program;
    uint32_t fields, symbols, branches, unions;
    struct buf text;
};

static bool fill_record(struct filling *f, struct op *op, const struct type *t)
{
    op->a = f->fields;
    op->b = (uint32_t)t->record.nfields;
    for (uint32_t i = 0; i < op->b; i++) {
        const struct field *from = &t->record.fields[i];
        struct op_field *to = &f->program->fields[f->fields++];
        to->name = from->name;
        to->op = from->type->number;
        to->has_default = from->has_default;
        if (!make_text(f->program, &f->text, "", from->name, ":", &to->key, &to->head))
            return false;
    }
    return true;
}

static bool fill_enum(struct filling *f, struct op *op, const struct type *t)
{
    op->a = f->symbols;
    op->b = (uint32_t)t->enumeration.nsymbols;
    for (uint32_t i = 0; i < op->b; i++) {
        struct op_symbol *to = &f->program->symbols[f->symbols++];
        to->name = t->enumeration.symbols[i];
        if (!make_text(f->program, &f->text, "", to->name, "", &to->text, &to->head))
            return false;
    }
    return true;
}

/* What the union is asked of by the encoder, and its flags. */
static void describe_union(struct op *op, struct op_union *u, const struct type *t)
{
    uint32_t value = 0;
    for (int kind = 0; kind < TYPE_KINDS; kind++)
        u->first[kind] = PROGRAM_NONE;
    for (uint32_t i = op->b; i-- > 0;) {
        enum type_kind kind = t->branches.branches[i]->kind;
        u->first[kind] = i;
        u->nobjects += kind == TYPE_RECORD || kind == TYPE_MAP;
        if (kind != TYPE_NULL) {
            u->nvalues++;
            value = i;
        }
    }
    if (u->first[TYPE_NULL] != PROGRAM_NONE)
        op->flags |= OP_FLAG_NULLABLE;
    if (u->nvalues == 1) {
        op->flags |= OP_FLAG_SINGLE;
        op->single_branch = (uint8_t)value;
    }
}

static bool fill_union(struct filling *f, struct op *op, const struct type *t)
{
    op->a = f->branches;
    op->b = (uint32_t)t->branches.nbranches;
    op->info = f->unions;
    for (uint32_t i = 0; i < op->b; i++) {
        const struct type *from = t->branches.branches[i];
        struct op_branch *to = &f->program->branches[f->branches++];
        to->op = from->number;
        to->tag = from->fullname.len ? from->fullname : slice_str(type_kind_name(from->kind));
        if (!make_text(f->program, &f->text, "{", to->tag, ":", &to->open, NULL))
            return false;
    }
    describe_union(op, &f->program->unions[f->unions++], t);
    return true;
}

static bool fill_op(struct filling *f, const struct type *t)
{
    struct op *op = &f->program->ops[t->number];
    op->code = (uint8_t)t->kind;
    switch (t->kind) {
    case TYPE_RECORD: return fill_record(f, op, t);
    case TYPE_ENUM: return fill_enum(f, op, t);
    case TYPE_UNION: return fill_union(f, op, t);
    case TYPE_FIXED: op->a = (uint32_t)t->fixed_size; return true;
    case TYPE_ARRAY: op->a = t->items->number; return true;
    case TYPE_MAP: op->a = t->values->number; return true;
    default: return true;
    }
}

static enum rc make_ops(struct compiler *c)
{
    struct filling f = {.program = c->program};
    bool ok = allocate(c->program, c->model);
    for (size_t i = 0; i < c->model->ntypes && ok; i++) {
        assert(c->model->types[i]->number == i);
        ok = fill_op(&f, c->model->types[i]);
    }
    buf_release(&f.text);
    return ok ? RC_OK : err_oom(c->err);
}

/* ---- the front ---- */

static void find_empty_items(struct program *p)
{
    for (uint32_t i = 0; i < p->nops; i++)
        if (p->ops[i].code == OP_ARRAY && p->ops[p->ops[i].a].size_min == 0)
            p->has_empty_items = true;
}

static enum rc run_steps(struct compiler *c)
{
    if (make_ops(c) || tables_make(c) || sizes_compute(c))
        return RC_ERR;
    find_empty_items(c->program);
    if (defaults_encode(c))
        return RC_ERR;
    if (c->err->problems == 0 && zeros_make(c)) /* they are made of defaults */
        return RC_ERR;
    return c->err->problems ? err_sum_up(c->err, ERR_BAD_SCHEMA) : RC_OK;
}

enum rc program_compile(struct program **out, struct model *m, struct arena *problems, struct err *err)
{
    struct compiler c = {.model = m, .problems = problems, .err = err, .budget = LIMIT_DEFAULTS_WORK_MAX};
    *err = (struct err){0};
    c.program = calloc(1, sizeof *c.program);
    c.codec = codec_new();
    enum rc rc = RC_ERR;
    if (!c.program || !c.codec) {
        err_oom(err);
    } else {
        c.program->model = m;
        rc = run_steps(&c);
    }
    codec_free(c.codec);
    arena_release(&c.scratch);
    if (rc)
        program_free(c.program);
    else
        *out = c.program;
    return rc;
}

/* Faults of a program that is not the schema's own are told by nobody, but for a lack of memory. */
static enum rc make_for_defaults(struct compiler *c)
{
    struct err ignored = {0}, *err = c->err;
    if (!c->program || !c->codec)
        return err_oom(err);
    c->program->model = c->model;
    c->err = &ignored;
    enum rc rc = make_ops(c) || tables_make(c) || sizes_compute(c) ? RC_ERR : RC_OK;
    c->err = err;
    if (rc)
        *err = ignored;
    return rc;
}

void program_check_defaults(struct model *left, struct arena *problems, struct err *err)
{
    struct err more = *err;
    struct problem *last = err->last;
    struct compiler c = {.model = left,
                         .problems = problems,
                         .err = &more,
                         .budget = LIMIT_DEFAULTS_WORK_MAX,
                         .program = calloc(1, sizeof *c.program),
                         .codec = codec_new()};
    if (make_for_defaults(&c) == RC_OK && defaults_encode(&c) == RC_OK) {
        *err = more;
        err_sum_up(err, ERR_BAD_SCHEMA);
    } else if (more.code == ERR_NO_MEMORY) {
        *err = more;
    } else {
        last->next = NULL; /* too much work: the list is what it was */
    }
    codec_free(c.codec);
    arena_release(&c.scratch);
    program_free(c.program);
}

void program_free(struct program *p)
{
    if (!p)
        return;
    arena_release(&p->arena);
    free(p);
}
