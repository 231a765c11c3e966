/* schema/program/spell.c - a program in which some values are spelled readably: the instructions of their types are others,
 * all else is the base program's. Defaults and zeros are Avro binary, and so the same. A duration becomes a record of
 * three numbers, which is what its bytes are. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "schema/codec.h"
#include "schema/program/program.h"

enum { DURATION_FIELDS = 3, SPELLINGS = JSON_LOGICAL | JSON_BASE64 | JSON_INT64 };

struct speller {
    struct program *program;
    const struct program *base;
    unsigned form;
    uint32_t nchanged, ndurations;
};

/* ---- instructions ---- */

static bool is_moment(enum logical_kind logical)
{
    return logical >= LOGICAL_DATE && logical <= LOGICAL_LOCAL_TIMESTAMP_NANOS;
}

static void spell_moment(const struct speller *s, struct op *op, const struct type *t)
{
    op->code = OP_MOMENT;
    op->a = t->logical;
    if (s->form & JSON_INT64 && t->kind == TYPE_LONG)
        op->flags |= OP_FLAG_QUOTED;
}

static void spell_decimal(struct op *op, const struct type *t)
{
    op->code = OP_DECIMAL;
    if (t->kind == TYPE_BYTES)
        op->a = SPELL_ANY_SIZE;
    op->b = t->precision;
    op->info = t->scale;
}

static void spell_duration(struct speller *s, struct op *op)
{
    op->code = OP_RECORD;
    op->flags |= OP_FLAG_FLAT;
    op->a = s->base->nfields;
    op->b = DURATION_FIELDS;
    op->table = s->base->ntable;
    op->mask = program_table_entries(DURATION_FIELDS) - 1;
    s->ndurations++;
}

/* By its logical type; false: it has none, or none with a text. */
static bool spell_logical(struct speller *s, struct op *op, const struct type *t)
{
    if (is_moment(t->logical))
        spell_moment(s, op, t);
    else if (t->logical == LOGICAL_DECIMAL && t->precision <= LIMIT_DECIMAL_DIGITS_MAX)
        spell_decimal(op, t);
    else if (t->logical == LOGICAL_UUID)
        op->code = t->kind == TYPE_STRING ? OP_UUID_STRING : OP_UUID;
    else if (t->logical == LOGICAL_DURATION)
        spell_duration(s, op);
    else
        return false;
    return true;
}

static bool spell_op(struct speller *s, struct op *op, const struct type *t)
{
    if (s->form & JSON_LOGICAL && spell_logical(s, op, t))
        return true;
    if (s->form & JSON_INT64 && t->kind == TYPE_LONG) {
        op->code = OP_INT64;
        return true;
    }
    if (!(s->form & JSON_BASE64) || (t->kind != TYPE_BYTES && t->kind != TYPE_FIXED))
        return false;
    op->code = OP_BASE64;
    if (t->kind == TYPE_BYTES)
        op->a = SPELL_ANY_SIZE;
    return true;
}

static bool spell_ops(struct speller *s)
{
    struct program *p = s->program;
    const struct model *m = s->base->model;
    p->ops = arena_alloc(&p->arena, ((size_t)s->base->nops + 1) * sizeof *p->ops);
    if (!p->ops)
        return false;
    memcpy(p->ops, s->base->ops, s->base->nops * sizeof *p->ops);
    for (uint32_t i = 0; i < s->base->nops; i++)
        s->nchanged += spell_op(s, &p->ops[i], m->types[i]);
    return true;
}

/* ---- what a duration needs besides ---- */

static const uint8_t zero[4];
static const struct op_field duration_fields[DURATION_FIELDS] = {
#define FIELD(name_)                                                                                         \
    {                                                                                                        \
        .name = {(const uint8_t *)name_, sizeof name_ - 1},                                                  \
        .key = {(const uint8_t *)"\"" name_ "\":", sizeof name_ + 2}, .filling = {                           \
            .avro = {zero, sizeof zero}                                                                      \
        }                                                                                                    \
    }
    FIELD("months"),
    FIELD("days"),
    FIELD("millis"),
#undef FIELD
};

/* A copy with room for more. NULL: memory is out. */
static void *extend(struct arena *arena, const void *from, size_t n, size_t more, size_t size)
{
    uint8_t *p = arena_calloc(arena, n + more, size);
    if (p && n)
        memcpy(p, from, n * size);
    return p;
}

static void add_fields(struct program *p, const struct program *base)
{
    struct op_field *fields = p->fields + base->nfields;
    memcpy(fields, duration_fields, sizeof duration_fields);
    for (unsigned i = 0; i < DURATION_FIELDS; i++) {
        size_t n = fields[i].key.len < 8 ? fields[i].key.len : 8;
        memcpy(&fields[i].head.word, fields[i].key.ptr, n);
        memset(&fields[i].head.mask, 0xff, n);
        fields[i].op = base->nops;
    }
    p->nfields += DURATION_FIELDS;
}

/* It takes an object now. */
static void describe_unions(struct program *p)
{
    for (uint32_t i = 0; i < p->nops; i++) {
        const struct op *op = &p->ops[i];
        if (op->code != OP_UNION)
            continue;
        struct op_union *u = &p->unions[op->info];
        for (uint32_t b = op->b; b-- > 0;) {
            if (!(p->ops[p->branches[op->a + b].op].flags & OP_FLAG_FLAT))
                continue;
            u->nobjects++;
            if (u->first[TYPE_RECORD] == PROGRAM_NONE || b < u->first[TYPE_RECORD])
                u->first[TYPE_RECORD] = b;
        }
    }
}

static bool add_durations(struct speller *s)
{
    struct program *p = s->program;
    const struct program *base = s->base;
    uint32_t entries = program_table_entries(DURATION_FIELDS);
    if (!s->ndurations)
        return true;
    p->fields = extend(&p->arena, base->fields, base->nfields, DURATION_FIELDS, sizeof *p->fields);
    p->table = extend(&p->arena, base->table, base->ntable, entries, sizeof *p->table);
    p->unions = extend(&p->arena, base->unions, base->nunions, 1, sizeof *p->unions);
    if (!p->fields || !p->table || !p->unions)
        return false;
    add_fields(p, base);
    p->ntable += entries;
    program_table_fill(p, &(struct op){.code = OP_RECORD,
                                       .a = base->nfields,
                                       .b = DURATION_FIELDS,
                                       .table = base->ntable,
                                       .mask = entries - 1});
    describe_unions(p);
    p->ops[p->nops++] = (struct op){.code = OP_UINT32, .size_min = sizeof zero};
    return true;
}

/* ---- the front ---- */

bool program_spell(const struct program *base, unsigned form, struct program **out)
{
    assert(form && !(form & ~(unsigned)SPELLINGS));
    struct speller s = {.base = base, .form = form, .program = malloc(sizeof *s.program)};
    if (!s.program)
        return false;
    *s.program = *base;
    s.program->arena = (struct arena){0};
    bool ok = spell_ops(&s) && add_durations(&s);
    *out = s.program;
    if (!ok || !s.nchanged)
        program_free(s.program);
    if (ok && !s.nchanged)
        *out = (struct program *)(uintptr_t)base;
    return ok;
}
