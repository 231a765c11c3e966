/* schema/edit/edit_path_update.c - what a path finds becomes what the text says; the record itself takes over the members of an
 * object. */
#include "schema/edit/edit_path.h"

#include "schema/encode/encode.h"

/* ---- the record itself ---- */

/* The members of the object by the fields that they name, those that name none in `rest`. */
struct members {
    struct slice *field; /* empty: not given */
    struct slice *rest_name, *rest;
    uint32_t nrest;
};

static enum rc count_members(struct path_change *c, uint32_t *n)
{
    struct json_walk walk = json_walk_of(c->json);
    for (*n = 0; json_walk_next(&walk); ++*n)
        (void)json_walk_value(&walk);
    return datum_pay(c->d, c->json.len + (uint64_t)*n * COST_LOOKUP, c->err);
}

static enum rc sort_member(struct path_change *c, const struct op *record, struct json_walk *walk,
                           struct buf *scratch, struct members *m)
{
    struct slice name;
    if (!json_token_text(walk->name, scratch, &name))
        return err_oom(c->err);
    int field = program_field(c->d->program, record, name);
    struct slice value = json_walk_value(walk);
    if (field >= 0) {
        m->field[field] = value;
    } else {
        if (!arena_copy(c->d->arena, name, &m->rest_name[m->nrest]))
            return err_oom(c->err);
        m->rest[m->nrest++] = value;
    }
    return RC_OK;
}

static enum rc sort_members(struct path_change *c, const struct op *record, struct members *m)
{
    struct json_walk walk = json_walk_of(c->json);
    struct buf scratch = {0};
    uint32_t n;
    if (count_members(c, &n))
        return RC_ERR;
    m->field = arena_calloc(c->d->arena, record->b, sizeof *m->field);
    m->rest = arena_calloc(c->d->arena, n, sizeof *m->rest);
    m->rest_name = arena_calloc(c->d->arena, n, sizeof *m->rest_name);
    enum rc rc = m->field && m->rest && m->rest_name ? RC_OK : err_oom(c->err);
    while (rc == RC_OK && json_walk_next(&walk))
        rc = sort_member(c, record, &walk, &scratch, m);
    buf_release(&scratch);
    return rc;
}

static enum rc tell_unknown(struct path_change *c, const struct value *record, const struct members *m,
                            struct faults *faults)
{
    char name[FAULT_NAME_BYTES], of[FAULT_NAME_BYTES];
    if (c->d->opts->unknown == UNKNOWN_IGNORE)
        return RC_OK;
    for (uint32_t i = 0; i < m->nrest; i++) {
        struct err err;
        (void)fault_at(c->d, record, m->rest_name[i], PROBLEM_UNKNOWN, SLICE(""),
                       fault_kind(json_kind(m->rest[i])), &err, "The record %s has no field \"%s\".",
                       fault_name(program_name(c->d->program, record->op), of),
                       fault_name(m->rest_name[i], name));
        if (faults_add(faults, &err))
            return RC_ERR;
    }
    return RC_OK;
}

static enum rc set_fields(struct path_change *c, struct value *record, const struct members *m,
                          struct faults *faults)
{
    for (uint32_t i = 0; i < record->nparts; i++) {
        struct err err;
        if (!m->field[i].ptr)
            continue;
        if (value_set_json(c->d, record->part[i], m->field[i], SLICE(""), &err) == RC_OK)
            ++*c->changed;
        else if (faults_add(faults, &err))
            return RC_ERR;
    }
    return RC_OK;
}

static enum rc merge_record(struct path_change *c, struct value *record)
{
    struct members m = {.nrest = 0};
    struct faults faults = {.pointer_bytes = 0};
    if (value_open(c->d, record, c->err) || sort_members(c, &c->d->program->ops[record->op], &m))
        return RC_ERR;
    if (set_fields(c, record, &m, &faults) == RC_OK)
        (void)tell_unknown(c, record, &m, &faults);
    return faults_tell(&faults, c->err);
}

static enum rc replace(struct path_change *c, struct value *v)
{
    if (value_set_json(c->d, v, c->json, SLICE(""), c->err))
        return RC_ERR;
    ++*c->changed;
    return RC_OK;
}

static enum rc update_root(struct path_change *c)
{
    struct value *v = &c->d->root;
    if (value_enter_union(c->d, &v, c->err))
        return RC_ERR;
    bool is_object = json_kind(c->json) == JSON_IS_OBJECT;
    if (is_object && c->d->program->ops[v->op].code == OP_RECORD)
        return merge_record(c, v);
    if (is_object && c->d->program->ops[v->op].code == OP_MAP)
        return value_open(c->d, v, c->err) ? RC_ERR : path_put_all(c, v);
    return replace(c, &c->d->root);
}

/* ---- all else ---- */

enum rc path_update(struct path_change *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        bool out;
        if (path_is_out(c, c->found[i], &out))
            return RC_ERR;
        if (!out && (c->found[i] == &c->d->root ? update_root(c) : replace(c, c->found[i])))
            return RC_ERR;
    }
    return RC_OK;
}
