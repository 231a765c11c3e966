/* schema/edit/edit_merge_union.c - an object that stands where a union is expected: is its member a tag, or is it a value of a
 * branch? As put decides it (encode_union.c), but that what need not be whole belongs to the branch that is there. */
#include "schema/edit/edit_merge.h"

enum { COST_LOOK_AHEAD = 16, BYTES_PER_UNIT = 4 };

static const struct op *branch_op(const struct merge *m, const struct op *op, uint32_t branch)
{
    return merge_op(m, m->d->program->branches[op->a + branch].op);
}

/* The branch that an object without a tag is for, PROGRAM_NONE: that cannot be told. */
static uint32_t bare_branch(const struct merge *m, const struct op *op, uint32_t current)
{
    const struct op_union *u = &m->d->program->unions[op->info];
    if (current != PROGRAM_NONE && merge_takes_objects(branch_op(m, op, current)))
        return current;
    if (u->nobjects != 1)
        return PROGRAM_NONE;
    return u->first[OP_RECORD] != PROGRAM_NONE ? u->first[OP_RECORD] : u->first[OP_MAP];
}

static uint32_t tag_branch(const struct merge *m, const struct op *op, struct slice name)
{
    int branch = program_branch(m->d->program, op, name);
    return branch < 0 || branch_op(m, op, (uint32_t)branch)->code == OP_NULL ? PROGRAM_NONE
                                                                             : (uint32_t)branch;
}

static bool may_have(const struct merge *m, const struct op *object, struct slice name)
{
    return object->code == OP_MAP || program_field(m->d->program, object, name) >= 0;
}

/* Would put take the text that the walk is at for this type? */
static enum rc fits(struct merge *m, uint32_t op, struct slice json, bool *out, struct err *err)
{
    struct err why;
    struct value *v = value_new(m->d, op, err);
    if (!v)
        return RC_ERR;
    *out = value_set_json(m->d, v, json, SLICE(""), &why) == RC_OK;
    if (*out || why.code == ERR_BAD_RECORD)
        return RC_OK;
    *err = why;
    return RC_ERR;
}

/* The name of a branch is a name that a bare value may have too. */
static enum rc either(struct merge *m, const struct op *op, struct json_walk in, uint32_t tag, bool has_name,
                      struct merge_meaning *out, struct err *err)
{
    struct slice value = json_walk_value(&in);
    bool is_tag = true;
    if (datum_pay(m->d, value.len / BYTES_PER_UNIT, err) != RC_OK)
        return RC_ERR;
    if (json_walk_next(&in) || (has_name && op->flags & OP_FLAG_SINGLE))
        is_tag = false;
    else if (has_name && fits(m, m->d->program->branches[op->a + tag].op, value, &is_tag, err) != RC_OK)
        return RC_ERR;
    if (is_tag)
        *out = (struct merge_meaning){MEANS_TAG, tag};
    return RC_OK;
}

enum rc merge_union(struct merge *m, uint32_t op_index, uint32_t current, const struct json_walk *walk,
                    struct merge_meaning *out, struct err *err)
{
    const struct op *op = merge_op(m, op_index);
    struct json_walk in = json_walk_enter(walk);
    uint32_t bare = m->d->opts->form == JSON_AVRO ? PROGRAM_NONE : bare_branch(m, op, current), tag;
    struct slice name;
    *out = (struct merge_meaning){bare == PROGRAM_NONE ? MEANS_WHOLE : MEANS_BARE, bare};
    if (datum_pay(m->d, COST_LOOK_AHEAD, err) != RC_OK)
        return RC_ERR;
    if (!json_walk_next(&in))
        return RC_OK;
    m->name.len = 0;
    if (!json_token_text(in.name, &m->name, &name))
        return err_oom(err);
    tag = tag_branch(m, op, name);
    if (tag == PROGRAM_NONE)
        return RC_OK;
    bool has_name = bare != PROGRAM_NONE && may_have(m, branch_op(m, op, bare), name);
    bool ignores = bare != PROGRAM_NONE && m->d->opts->unknown == UNKNOWN_IGNORE;
    if (has_name || ignores)
        return either(m, op, in, tag, has_name, out, err);
    *out = (struct merge_meaning){MEANS_TAG, tag};
    return RC_OK;
}
