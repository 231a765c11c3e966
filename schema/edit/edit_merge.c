/* schema/edit/edit_merge.c - JSON Merge Patch (RFC 7396) on typed data: the walk over the patch, and over the record beside it.
 * What stands in the patch and is no object replaces, as put would take it; what is null goes (a map's entry), or becomes
 * null or the default (a field). docs/http-api.md says it for people. */
#include "schema/edit/edit_merge.h"

#include <assert.h>

#include "schema/edit/edit_kinds.h"
#include "schema/edit/edit_unset.h"
#include "schema/json.h"

struct edit_merge {
    struct edit base;
    struct slice json; /* checked, without white space around it */
};

/* An object of the patch, and what it merges into. */
struct merge_frame {
    struct value *v; /* open: record or map, or the union whose value is tagged */
    bool is_tag;
    struct json_walk walk;
    bool has_marked; /* map: entries that are to go from it */
};

static struct merge_frame *top(const struct merge *m)
{
    return (struct merge_frame *)m->frames.ptr + m->frames.n - 1;
}

/* The value that the walk is at is an object, for v. */
static enum rc push(struct merge *m, struct value *v, bool is_tag, const struct json_walk *walk,
                    struct err *err)
{
    struct merge_frame f = {.v = v, .is_tag = is_tag, .walk = json_walk_enter(walk)};
    if (!stack_reserve(&m->frames, 1, sizeof f))
        return err_oom(err);
    ((struct merge_frame *)m->frames.ptr)[m->frames.n++] = f;
    return RC_OK;
}

/* ---- values that are replaced ---- */

/* A misfit is noted, and the walk goes on. */
static enum rc note(struct merge *m, const struct err *why, struct err *err)
{
    if (faults_add(&m->faults, why) == RC_OK)
        return RC_OK;
    *err = m->faults.err;
    return RC_ERR;
}

static enum rc set(struct merge *m, struct value *v, struct slice json, struct err *err)
{
    struct err why;
    m->changed++;
    return value_set_json(m->d, v, json, SLICE(""), &why) == RC_OK ? RC_OK : note(m, &why, err);
}

static enum rc set_new(struct merge *m, struct value *v, uint32_t current, struct json_walk *walk,
                       struct err *err)
{
    struct slice text;
    if (merge_new_text(m, v->op, current, walk, &text, err) != RC_OK)
        return RC_ERR;
    return set(m, v, text, err);
}

/* ---- what an object meets ---- */

static enum rc enter(struct merge *m, struct value *v, const struct json_walk *walk, struct err *err)
{
    if (value_open(m->d, v, err) != RC_OK)
        return RC_ERR;
    if (merge_op(m, v->op)->code == OP_MAP && value_index(m->d, v, err) != RC_OK)
        return RC_ERR;
    return push(m, v, false, walk, err);
}

/* The value is tagged with the union's branch as it is. */
static enum rc enter_tag(struct merge *m, struct value *v, const struct json_walk *walk, struct err *err)
{
    if (push(m, v, true, walk, err) != RC_OK)
        return RC_ERR;
    struct json_walk *in = &top(m)->walk;
    bool has_value = json_walk_next(in);
    assert(has_value);
    v = v->part[0];
    if (json_walk_kind(in) == JSON_IS_OBJECT && merge_takes_objects(merge_op(m, v->op)))
        return enter(m, v, in, err);
    return set(m, v, json_walk_value(in), err);
}

static enum rc meet_union(struct merge *m, struct value *v, struct json_walk *walk, struct err *err)
{
    struct merge_meaning means;
    if (value_open(m->d, v, err) != RC_OK || merge_union(m, v->op, v->branch, walk, &means, err) != RC_OK)
        return RC_ERR;
    if (means.how == MEANS_WHOLE)
        return set(m, v, json_walk_value(walk), err);
    if (means.branch != v->branch)
        return set_new(m, v, v->branch, walk, err);
    return means.how == MEANS_TAG ? enter_tag(m, v, walk, err) : enter(m, v->part[0], walk, err);
}

/* The value that the walk is at goes into v, which is there. */
static enum rc meet(struct merge *m, struct value *v, struct json_walk *walk, struct err *err)
{
    const struct op *op = merge_op(m, v->op);
    if (json_walk_kind(walk) != JSON_IS_OBJECT)
        return set(m, v, json_walk_value(walk), err);
    if (op->code == OP_UNION)
        return meet_union(m, v, walk, err);
    if (merge_takes_objects(op))
        return enter(m, v, walk, err);
    return set(m, v, json_walk_value(walk), err);
}

/* ---- members ---- */

static enum rc unknown(struct merge *m, const struct merge_frame *f, struct slice name, struct err *err)
{
    struct err why;
    char shown[FAULT_NAME_BYTES], of[FAULT_NAME_BYTES];
    if (m->d->opts->unknown == UNKNOWN_IGNORE)
        return RC_OK;
    (void)fault_at(m->d, f->v, name, PROBLEM_UNKNOWN, SLICE(""), fault_kind(json_walk_kind(&f->walk)), &why,
                   "The record %s has no field \"%s\".",
                   fault_name(program_name(m->d->program, f->v->op), of), fault_name(name, shown));
    return note(m, &why, err);
}

static enum rc field(struct merge *m, struct merge_frame *f, struct slice name, struct err *err)
{
    int i = program_field(m->d->program, merge_op(m, f->v->op), name);
    if (i < 0)
        return unknown(m, f, name, err);
    struct value *v = f->v->part[i];
    if (json_walk_kind(&f->walk) != JSON_IS_NULL)
        return meet(m, v, &f->walk, err);
    struct err why;
    m->changed++;
    return edit_unset_field(m->d, v, &why) == RC_OK ? RC_OK : note(m, &why, err);
}

static enum rc new_entry(struct merge *m, struct merge_frame *f, struct slice key, struct err *err)
{
    struct value *v = value_new(m->d, merge_op(m, f->v->op)->a, err);
    if (!v || value_put(m->d, f->v, key, v, err) != RC_OK)
        return RC_ERR;
    return set_new(m, v, PROGRAM_NONE, &f->walk, err);
}

/* All at once, at the end of the object: one by one, each would move all that are behind it. */
static void drop(struct merge *m, struct merge_frame *f, struct value *entry)
{
    value_mark(entry);
    f->has_marked = true;
    m->changed++;
}

static enum rc entry(struct merge *m, struct merge_frame *f, struct slice key, struct err *err)
{
    struct value *v = value_entry(f->v, key);
    if (json_walk_kind(&f->walk) == JSON_IS_NULL) {
        if (v)
            drop(m, f, v);
        return RC_OK;
    }
    return v ? meet(m, v, &f->walk, err) : new_entry(m, f, key, err);
}

/* Beside a tag there is nothing. */
static enum rc beside_tag(struct merge *m, struct slice name, struct err *err)
{
    const struct merge_frame *f = top(m);
    char shown[FAULT_NAME_BYTES];
    struct err why;
    (void)fault_at(m->d, f->v, name, PROBLEM_UNKNOWN, SLICE(""), fault_kind(json_walk_kind(&f->walk)), &why,
                   "An object that tags a value has no other member than the tag; here is \"%s\" too.",
                   fault_name(name, shown));
    return note(m, &why, err);
}

static enum rc member(struct merge *m, struct err *err)
{
    struct merge_frame *f = top(m);
    struct slice name;
    if (!json_token_text(f->walk.name, &m->name, &name))
        return err_oom(err);
    if (f->is_tag)
        return beside_tag(m, name, err);
    return merge_op(m, f->v->op)->code == OP_MAP ? entry(m, f, name, err) : field(m, f, name, err);
}

/* ---- the end of an object ---- */

/* The top frame is done: go on behind it. */
static void leave(struct merge *m, struct json_walk *outermost)
{
    struct json_walk inner = top(m)->walk;
    if (top(m)->has_marked)
        (void)value_remove_marked(top(m)->v);
    m->frames.n--;
    json_walk_leave(m->frames.n ? &top(m)->walk : outermost, &inner);
}

/* ---- the edit ---- */

/* Of a text that is one value: the walk that is at it. */
static struct json_walk walk_at(struct slice json)
{
    return (struct json_walk){
        .at = json.ptr, .end = json.ptr + json.len, .has_value = true, .is_begun = true};
}

static enum rc merge(struct merge *m, struct slice json, struct err *err)
{
    struct json_walk text = walk_at(json);
    enum rc rc = meet(m, &m->d->root, &text, err);
    while (rc == RC_OK && m->frames.n) {
        if (json_walk_next(&top(m)->walk))
            rc = member(m, err);
        else
            leave(m, &text);
    }
    return rc == RC_OK ? faults_tell(&m->faults, err) : rc;
}

static enum rc apply(struct datum *d, const struct edit *edit, uint64_t *changed, struct err *err)
{
    const struct edit_merge *e = CONTAINER_OF(edit, const struct edit_merge, base);
    struct merge m = {.d = d};
    enum rc rc = merge(&m, e->json, err);
    *changed = m.changed;
    stack_release(&m.frames);
    stack_release(&m.news);
    buf_release(&m.name);
    buf_release(&m.text);
    return rc;
}

static const struct edit_kind kind = {.apply = apply};

enum rc edit_of_merge(struct edit **out, const struct schema *schema, const struct codec_opts *opts,
                      struct slice json, struct arena *arena, struct err *err)
{
    *err = (struct err){0};
    if (json_check(json, JSON_NEST_MAX, arena, err) != RC_OK)
        return RC_ERR;
    struct edit_merge *e = arena_alloc(arena, sizeof *e);
    if (!e)
        return err_oom(err);
    *e = (struct edit_merge){
        .base = {.kind = &kind, .schema = schema, .opts = opts, .bytes = json.len},
        .json = json_trim(json),
    };
    *out = &e->base;
    return RC_OK;
}
