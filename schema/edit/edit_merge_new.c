/* schema/edit/edit_merge_new.c - a patch that meets nothing that it could merge into becomes the text of a new value. RFC 7396:
 * members that are null are left out. But a field that may be null becomes it, and one that may not and has no
 * default stays, for the encoder to refuse. */
#include "schema/edit/edit_merge.h"

enum { COST_DEFAULT_BYTE = 8 };

struct new_frame {
    uint32_t op; /* record or map; PROGRAM_NONE: a tag around its value */
    bool has_members;
    bool is_wrapped; /* in a tag that the patch has not written */
    struct json_walk walk;
};

static struct new_frame *top(const struct merge *m)
{
    return (struct new_frame *)m->news.ptr + m->news.n - 1;
}

static bool put(struct merge *m, struct slice s)
{
    return buf_append(&m->text, s);
}

static bool push(struct merge *m, uint32_t op, const struct json_walk *walk)
{
    struct new_frame f = {.op = op, .walk = json_walk_enter(walk)};
    if (!stack_reserve(&m->news, 1, sizeof(struct new_frame)))
        return false;
    ((struct new_frame *)m->news.ptr)[m->news.n++] = f;
    return put(m, SLICE("{"));
}

/* The name of the member that the top frame is at. */
static bool put_name(struct merge *m)
{
    struct new_frame *f = top(m);
    bool ok = (!f->has_members || put(m, SLICE(","))) && put(m, f->walk.name) && put(m, SLICE(":"));
    f->has_members = true;
    return ok;
}

/* ---- members that are null ---- */

static bool may_be_null(const struct merge *m, uint32_t op)
{
    const struct op *o = merge_op(m, op);
    return o->code == OP_NULL || (o->code == OP_UNION && o->flags & OP_FLAG_NULLABLE);
}

/* The default in its place: without the member the object might look like a tag, or the type fill in nothing. */
static enum rc put_default(struct merge *m, const struct op_field *field, struct err *err)
{
    struct value *v = value_new(m->d, field->op, err);
    if (!v)
        return RC_ERR;
    value_set(m->d, v, field->filling.avro);
    if (!put_name(m))
        return err_oom(err);
    /* A default may be as long as a record, and be wanted as often as the patch has room to say null. */
    if (datum_pay(m->d, field->filling.avro.len * COST_DEFAULT_BYTE, err) != RC_OK)
        return RC_ERR;
    return value_print(m->d, v, m->d->opts->form, LIMIT_JSON_MAX, &m->text, err);
}

/* *drops: the member does not go into the text as it is. */
static enum rc look_at_null(struct merge *m, const struct op *op, struct slice name, bool *drops,
                            struct err *err)
{
    int i = op->code == OP_MAP ? -1 : program_field(m->d->program, op, name);
    const struct op_field *field = i < 0 ? NULL : &m->d->program->fields[op->a + (uint32_t)i];
    *drops = op->code == OP_MAP || (field && field->has_default && !may_be_null(m, field->op));
    if (field && *drops && field->filling.avro.ptr)
        return put_default(m, field, err);
    return RC_OK;
}

/* ---- the walk ---- */

/* The value that the walk is at, as it is. */
static enum rc copy(struct merge *m, struct json_walk *walk, struct err *err)
{
    return put(m, json_walk_value(walk)) ? RC_OK : err_oom(err);
}

/* The value that the walk is at, of a type that is no union. */
static enum rc begin_plain(struct merge *m, uint32_t op, struct json_walk *walk, struct err *err)
{
    if (json_walk_kind(walk) != JSON_IS_OBJECT || !merge_takes_objects(merge_op(m, op)))
        return copy(m, walk, err);
    return push(m, op, walk) ? RC_OK : err_oom(err);
}

static enum rc begin_tagged(struct merge *m, uint32_t op, const struct json_walk *walk, struct err *err)
{
    if (!push(m, PROGRAM_NONE, walk) || !json_walk_next(&top(m)->walk) || !put_name(m))
        return err_oom(err);
    return begin_plain(m, op, &top(m)->walk, err);
}

/* With its tag, where the union is shown with one: what is left of the object must not look like another. */
static enum rc begin_bare(struct merge *m, const struct op *op, uint32_t branch, const struct json_walk *walk,
                          struct err *err)
{
    const struct op_branch *b = &m->d->program->branches[op->a + branch];
    bool wraps = !(op->flags & OP_FLAG_SINGLE);
    if ((wraps && !put(m, b->open)) || !push(m, b->op, walk))
        return err_oom(err);
    top(m)->is_wrapped = wraps;
    return RC_OK;
}

static enum rc begin(struct merge *m, uint32_t op, uint32_t current, struct json_walk *walk, struct err *err)
{
    struct merge_meaning means;
    if (op == PROGRAM_NONE || json_walk_kind(walk) != JSON_IS_OBJECT)
        return copy(m, walk, err);
    const struct op *o = merge_op(m, op);
    if (o->code != OP_UNION)
        return begin_plain(m, op, walk, err);
    if (merge_union(m, op, current, walk, &means, err) != RC_OK)
        return RC_ERR;
    switch (means.how) {
    case MEANS_WHOLE: break;
    case MEANS_BARE: return begin_bare(m, o, means.branch, walk, err);
    case MEANS_TAG: return begin_tagged(m, m->d->program->branches[o->a + means.branch].op, walk, err);
    }
    return copy(m, walk, err);
}

/* Which type the member has that the top frame is at. */
static enum rc member(struct merge *m, struct err *err)
{
    struct new_frame *f = top(m);
    const struct op *op = f->op == PROGRAM_NONE ? NULL : merge_op(m, f->op);
    uint32_t child = PROGRAM_NONE;
    if (op) { /* else a second one beside the tag, which is none then: put tells */
        struct slice name;
        bool drops = false;
        if (!json_token_text(f->walk.name, &m->name, &name))
            return err_oom(err);
        if (json_walk_kind(&f->walk) == JSON_IS_NULL && look_at_null(m, op, name, &drops, err) != RC_OK)
            return RC_ERR;
        if (drops)
            return RC_OK;
        int i = op->code == OP_MAP ? -1 : program_field(m->d->program, op, name);
        child = op->code == OP_MAP ? op->a
                : i < 0            ? PROGRAM_NONE
                                   : m->d->program->fields[op->a + (uint32_t)i].op;
    }
    return put_name(m) ? begin(m, child, PROGRAM_NONE, &top(m)->walk, err) : err_oom(err);
}

/* The top frame is done: go on behind it. */
static enum rc end(struct merge *m, struct json_walk *outermost, struct err *err)
{
    struct new_frame f = *top(m);
    m->news.n--;
    json_walk_leave(m->news.n ? &top(m)->walk : outermost, &f.walk);
    return put(m, f.is_wrapped ? SLICE("}}") : SLICE("}")) ? RC_OK : err_oom(err);
}

enum rc merge_new_text(struct merge *m, uint32_t op, uint32_t current, struct json_walk *walk,
                       struct slice *out, struct err *err)
{
    m->text.len = 0;
    m->news.n = 0;
    enum rc rc = begin(m, op, current, walk, err);
    while (rc == RC_OK && m->news.n)
        rc = json_walk_next(&top(m)->walk) ? member(m, err) : end(m, walk, err);
    *out = buf_slice(&m->text);
    return rc;
}
