/* schema/edit/edit_patch.c - JSON Patch (RFC 6902) on typed data: what each operation does, and one more, increment. */
#include "schema/edit/edit_patch.h"

#include "base/limits.h"
#include "schema/edit/edit_faults.h"
#include "schema/edit/edit_pointer.h"
#include "schema/edit/edit_unset.h"
#include "schema/json.h"
#include "schema/json_members.h"
#include "schema/scratch.h"

enum { MANY = 8, PARTS_PER_UNIT = 8, COST_PRINTED_BYTE = 4 };

static enum rc find(struct patch *p, struct slice path, enum pointer_use use, struct spot *s, struct err *err)
{
    return pointer_find(p->d, path, use, p->many, &p->name, s, err);
}

/* ---- what they share ---- */

/* A new value, where there is none yet. */
static enum rc make(struct patch *p, struct spot *s, struct err *err)
{
    const struct op *op = &p->d->program->ops[s->holder->op];
    s->value = value_new(p->d, op->a, err);
    if (!s->value)
        return RC_ERR;
    if (op->code == OP_MAP)
        return value_put(p->d, s->holder, s->key, s->value, err);
    return value_insert(p->d, s->holder, s->index, s->value, err);
}

static enum rc put(struct patch *p, struct spot *s, struct slice json, struct err *err)
{
    p->changed++;
    if (!s->value && make(p, s, err) != RC_OK)
        return RC_ERR;
    return value_set_json(p->d, s->value, json, SLICE(""), err);
}

static enum rc add(struct patch *p, struct slice path, struct slice json, struct err *err)
{
    struct spot s;
    if (find(p, path, POINTER_ADDS, &s, err) != RC_OK)
        return RC_ERR;
    return put(p, &s, json, err);
}

static enum rc take_out(struct patch *p, struct spot *s, struct err *err)
{
    p->changed++;
    if (!s->holder)
        return err_set(err, ERR_NOT_APPLICABLE,
                       "The whole record cannot be removed by a patch; DELETE removes it.");
    switch ((enum opcode)p->d->program->ops[s->holder->op].code) {
    case OP_RECORD: return edit_unset_field(p->d, s->value, err);
    case OP_UNION:
        return err_set(
            err, ERR_NOT_APPLICABLE,
            "A union's tag cannot be removed from its value; the path to the union is one step shorter.");
    default: break;
    }
    if (datum_pay(p->d, s->holder->nparts / PARTS_PER_UNIT, err) != RC_OK)
        return RC_ERR;
    value_remove(s->value);
    return RC_OK;
}

/* The value's JSON, in p->json: it is checked and encoded anew where it goes to, whatever the type is there. */
static enum rc print(struct patch *p, struct value *v, struct err *err)
{
    p->json.len = 0;
    enum rc rc = value_print(p->d, v, p->d->opts->form, LIMIT_JSON_MAX, &p->json, err);
    if (rc != RC_OK && err->code == ERR_JSON_TOO_LARGE)
        return err_set(err, ERR_RECORD_TOO_LARGE, "What is copied takes more than %d bytes as JSON.",
                       LIMIT_JSON_MAX);
    return rc == RC_OK ? datum_pay(p->d, (uint64_t)p->json.len * COST_PRINTED_BYTE, err) : rc;
}

/* ---- the operations ---- */

static enum rc apply_add(struct patch *p, const struct patch_operation *o, struct err *err)
{
    return add(p, o->path, o->value, err);
}

static enum rc apply_remove(struct patch *p, const struct patch_operation *o, struct err *err)
{
    struct spot s;
    if (find(p, o->path, POINTER_LOOKS, &s, err) != RC_OK)
        return RC_ERR;
    return take_out(p, &s, err);
}

static enum rc apply_replace(struct patch *p, const struct patch_operation *o, struct err *err)
{
    struct spot s;
    if (find(p, o->path, POINTER_LOOKS, &s, err) != RC_OK)
        return RC_ERR;
    return put(p, &s, o->value, err);
}

static enum rc apply_move(struct patch *p, const struct patch_operation *o, struct err *err)
{
    struct spot s;
    if (find(p, o->from, POINTER_LOOKS, &s, err) != RC_OK)
        return RC_ERR;
    if (slice_eq(o->from, o->path))
        return RC_OK;
    if (print(p, s.value, err) != RC_OK || take_out(p, &s, err) != RC_OK)
        return RC_ERR;
    return add(p, o->path, buf_slice(&p->json), err);
}

static enum rc apply_copy(struct patch *p, const struct patch_operation *o, struct err *err)
{
    struct spot s;
    if (find(p, o->from, POINTER_LOOKS, &s, err) != RC_OK || print(p, s.value, err) != RC_OK)
        return RC_ERR;
    return add(p, o->path, buf_slice(&p->json), err);
}

/* What the test's value is as data of v's type, nothing filled in or left out. *v NULL: it cannot be. */
static enum rc expected(struct patch *p, uint32_t op, struct slice json, struct value **v, struct err *err)
{
    struct datum *d = p->d;
    const struct codec_opts *opts = d->opts;
    struct codec_opts strict = {.form = opts->form, .missing = MISSING_REJECT, .unknown = UNKNOWN_REJECT};
    *v = value_new(d, op, err);
    if (!*v)
        return RC_ERR;
    d->opts = &strict;
    enum rc rc = value_set_json(d, *v, json, SLICE(""), err);
    d->opts = opts;
    if (rc == RC_OK || (err->code != ERR_BAD_RECORD && err->code != ERR_TOO_DEEP))
        return rc;
    *v = NULL;
    return RC_OK;
}

static enum rc apply_test(struct patch *p, const struct patch_operation *o, struct err *err)
{
    struct spot s;
    struct value *want;
    bool equal = false;
    if (find(p, o->path, POINTER_LOOKS, &s, err) != RC_OK ||
        expected(p, s.value->op, o->value, &want, err) != RC_OK ||
        (want && value_equal(p->d, s.value, want, &equal, err) != RC_OK))
        return RC_ERR;
    if (equal)
        return RC_OK;
    char shown[FAULT_NAME_BYTES];
    return err_set(err, ERR_TEST_FAILED, "The test failed: the value at \"%s\" is another.",
                   fault_name(o->path, shown));
}

static enum rc apply_increment(struct patch *p, const struct patch_operation *o, struct err *err)
{
    struct spot s;
    if (find(p, o->path, POINTER_LOOKS, &s, err) != RC_OK || pointer_enter(p->d, &s.value, err) != RC_OK)
        return RC_ERR;
    p->changed++;
    return patch_increment(p->d, s.value, o->value, err);
}

#define NAME(name)                                                                                           \
    {                                                                                                        \
        (const uint8_t *)name, sizeof name - 1                                                               \
    }
static const struct patch_kind kinds[] = {
    {NAME("add"), PATCH_NEEDS_VALUE, false, apply_add},
    {NAME("remove"), PATCH_NEEDS_NOTHING, false, apply_remove},
    {NAME("replace"), PATCH_NEEDS_VALUE, false, apply_replace},
    {NAME("move"), PATCH_NEEDS_FROM, true, apply_move},
    {NAME("copy"), PATCH_NEEDS_FROM, false, apply_copy},
    {NAME("test"), PATCH_NEEDS_VALUE, false, apply_test},
    {NAME("increment"), PATCH_NEEDS_BY, false, apply_increment},
};
#undef NAME

const struct patch_kind *patch_kind_at(unsigned i)
{
    return i < ARRAY_LEN(kinds) ? &kinds[i] : NULL;
}

const struct patch_kind *patch_kind_of(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (slice_eq(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

/* ---- the edit ---- */

/* Of what is this operation's fault, and not the moment's or the record's. */
static bool is_its_fault(const struct err *err)
{
    switch (err->code) {
    case ERR_BAD_RECORD:
    case ERR_NOT_APPLICABLE:
    case ERR_TEST_FAILED:
    case ERR_TOO_DEEP:
    case ERR_RECORD_TOO_LARGE: return true;
    default: return false;
    }
}

static enum rc apply(struct datum *d, const struct edit *edit, uint64_t *changed, struct err *err)
{
    const struct edit_patch *e = CONTAINER_OF(edit, const struct edit_patch, base);
    struct patch p = {.d = d, .many = e->n > MANY};
    enum rc rc = RC_OK;
    for (uint32_t i = 0; rc == RC_OK && i < e->n; i++) {
        rc = e->operation[i].kind->apply(&p, &e->operation[i], err);
        if (rc != RC_OK && is_its_fault(err))
            err->operation = i + 1;
    }
    *changed = p.changed;
    buf_release(&p.name);
    buf_release(&p.json);
    return rc;
}

static const struct edit_kind kind = {.apply = apply};

/* An operation's value may nest as deep as a body, within the object within the array. */
enum { DOCUMENT_NEST_MAX = JSON_NEST_MAX + 2 };

enum rc edit_of_patch(struct edit **out, const struct schema *schema, const struct codec_opts *opts,
                      struct slice json, struct arena *arena, struct err *err)
{
    *err = (struct err){0};
    if (json_check(json, DOCUMENT_NEST_MAX, arena, err) != RC_OK)
        return RC_ERR;
    struct edit_patch *e = arena_alloc(arena, sizeof *e);
    if (!e)
        return err_oom(err);
    *e = (struct edit_patch){.base = {.kind = &kind, .schema = schema, .opts = opts, .bytes = json.len}};
    *out = &e->base;
    return patch_parse(e, json, arena, err);
}
