/* schema/edit/edit_path_insert.c - elements for arrays, entries for maps. What is found and is neither is left alone. */
#include "schema/edit/edit_path.h"

#include "schema/encode/encode.h"

/* ---- one element, one entry ---- */

static enum rc append(struct path_change *c, struct value *array, struct slice json)
{
    struct value *v = value_new(c->d, c->d->program->ops[array->op].a, c->err);
    if (!v || value_insert(c->d, array, array->nparts, v, c->err) ||
        value_set_json(c->d, v, json, SLICE(""), c->err))
        return RC_ERR;
    ++*c->changed;
    return RC_OK;
}

static enum rc put(struct path_change *c, struct value *map, struct slice key, struct slice json)
{
    struct value *v = value_new(c->d, c->d->program->ops[map->op].a, c->err);
    if (!v || value_put(c->d, map, key, v, c->err) || value_set_json(c->d, v, json, SLICE(""), c->err))
        return RC_ERR;
    ++*c->changed;
    return RC_OK;
}

/* ---- many ---- */

static enum rc misfit(struct path_change *c, const struct value *v, const char *expected, const char *format)
{
    struct slice got = fault_kind(json_kind(c->json));
    return fault_at(c->d, v, SLICE(""), PROBLEM_TYPE, slice_str(expected), got, c->err, format, (int)got.len,
                    (const char *)got.ptr);
}

/* All that is wrong is told, not only the first. */
static enum rc note(struct path_change *c, enum rc rc, struct faults *faults)
{
    return rc == RC_OK ? RC_OK : faults_add(faults, c->err);
}

static enum rc append_all(struct path_change *c, struct value *array)
{
    struct faults faults = {.pointer_bytes = 0};
    if (json_kind(c->json) != JSON_IS_ARRAY)
        return misfit(c, array, "array",
                      "To insert all into an array takes an array, but this is a JSON %.*s.");
    struct json_walk walk = json_walk_of(c->json);
    if (datum_pay(c->d, c->json.len, c->err))
        return RC_ERR;
    while (json_walk_next(&walk))
        if (note(c, append(c, array, json_walk_value(&walk)), &faults))
            break;
    return faults_tell(&faults, c->err);
}

static enum rc put_members(struct path_change *c, struct value *map, struct buf *scratch,
                           struct faults *faults)
{
    struct json_walk walk = json_walk_of(c->json);
    while (json_walk_next(&walk)) {
        struct slice key;
        if (!json_token_text(walk.name, scratch, &key))
            return err_oom(c->err);
        if (note(c, put(c, map, key, json_walk_value(&walk)), faults))
            break;
    }
    return faults_tell(faults, c->err);
}

enum rc path_put_all(struct path_change *c, struct value *map)
{
    struct faults faults = {.pointer_bytes = 0};
    struct buf scratch = {0};
    if (json_kind(c->json) != JSON_IS_OBJECT)
        return misfit(c, map, "object", "To insert into a map takes an object, but this is a JSON %.*s.");
    if (datum_pay(c->d, c->json.len, c->err))
        return RC_ERR;
    enum rc rc = put_members(c, map, &scratch, &faults);
    buf_release(&scratch);
    return rc;
}

/* ---- the verbs ---- */

static enum rc put_one(struct path_change *c, struct value *map)
{
    uint32_t n = 0;
    if (json_kind(c->json) == JSON_IS_OBJECT) {
        struct json_walk walk = json_walk_of(c->json);
        for (; n < 2 && json_walk_next(&walk); n++)
            (void)json_walk_value(&walk);
        if (n != 1)
            return misfit(c, map, "object of one entry",
                          "To insert into a map takes one entry, {\"key\": value}; this %.*s has none or "
                          "more (insertall takes many).");
    }
    return path_put_all(c, map);
}

static enum rc insert_each(struct path_change *c, enum rc (*into_array)(struct path_change *, struct value *),
                           enum rc (*into_map)(struct path_change *, struct value *))
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct value *v = c->found[i];
        bool is_open;
        if (path_open_container(c, &v, &is_open))
            return RC_ERR;
        bool is_array = c->d->program->ops[v->op].code == OP_ARRAY;
        if (is_open && (is_array ? into_array(c, v) : into_map(c, v)))
            return RC_ERR;
    }
    return RC_OK;
}

static enum rc append_one(struct path_change *c, struct value *array)
{
    return append(c, array, c->json);
}

enum rc path_insert(struct path_change *c)
{
    return insert_each(c, append_one, put_one);
}

enum rc path_insertall(struct path_change *c)
{
    return insert_each(c, append_all, path_put_all);
}
