/* schema/edit/edit_path.c - changes by path: a path is run over the record, and what it finds is changed by the verb. */
#include "schema/edit/edit_path.h"

#include "schema/encode/encode.h"
#include "schema/json.h"

enum rc path_is_out(struct path_change *c, const struct value *v, bool *out)
{
    uint64_t steps = 1;
    for (; v->parent; v = v->parent)
        steps++;
    *out = v != &c->d->root;
    return datum_pay(c->d, steps, c->err);
}

enum rc path_open_container(struct path_change *c, struct value **v, bool *is_open)
{
    bool is_out;
    *is_open = false;
    if (path_is_out(c, *v, &is_out))
        return RC_ERR;
    if (is_out)
        return RC_OK;
    if (value_enter_union(c->d, v, c->err))
        return RC_ERR;
    uint8_t code = c->d->program->ops[(*v)->op].code;
    *is_open = code == OP_ARRAY || code == OP_MAP;
    return *is_open ? value_open(c->d, *v, c->err) : RC_OK;
}

static enum rc change(const struct path_edit *e, struct path_change *c)
{
    switch (e->verb) {
    case PATH_UPDATE: return path_update(c);
    case PATH_INSERT: return path_insert(c);
    case PATH_INSERTALL: return path_insertall(c);
    case PATH_DELETE: return path_delete(c);
    case PATH_CLEAR: break;
    }
    return path_clear(c);
}

static enum rc apply(struct datum *d, const struct edit *edit, uint64_t *changed, struct err *err)
{
    const struct path_edit *e = CONTAINER_OF(edit, const struct path_edit, base);
    struct path_run run;
    struct path_found found;
    path_run_init(&run, d, err);
    enum rc rc = path_run_way(&run, e->path->way, &d->root, &found);
    path_run_release(&run);
    if (rc != RC_OK)
        return RC_ERR;
    struct path_change c = {.d = d,
                            .found = run.found.at + found.begin,
                            .n = run.found.n - found.begin,
                            .json = e->json,
                            .changed = changed,
                            .err = err};
    return change(e, &c);
}

static const struct edit_kind path_kind = {.apply = apply};

/* What cannot be, whatever the record is. */
static enum rc check_verb(const struct path_edit *e, struct err *err)
{
    bool is_insert = e->verb == PATH_INSERT || e->verb == PATH_INSERTALL;
    bool may_hold = e->path->may_end_in_array || e->path->may_end_in_map;
    if (may_hold || (!is_insert && e->verb != PATH_CLEAR))
        return RC_OK;
    return err_set(err, ERR_NOT_APPLICABLE,
                   "By this schema the path never leads to an array or a map, and nothing else can be %s.",
                   is_insert ? "inserted into" : "cleared");
}

enum rc edit_of_path(struct edit **out, const struct schema *schema, const struct codec_opts *opts,
                     enum path_verb verb, struct slice path, struct slice json, struct arena *arena,
                     struct err *err)
{
    struct path_edit *e = arena_alloc(arena, sizeof *e);
    bool has_json = verb != PATH_DELETE && verb != PATH_CLEAR;
    *err = (struct err){0};
    if (!e)
        return err_oom(err);
    *e = (struct path_edit){
        .base = {&path_kind, schema, opts, path.len + json.len}, .verb = verb, .json = json};
    if (path_parse(&e->path, schema, path, arena, err) || check_verb(e, err) ||
        (has_json && json_check(json, JSON_NEST_MAX, arena, err)))
        return RC_ERR;
    *out = &e->base;
    return RC_OK;
}
