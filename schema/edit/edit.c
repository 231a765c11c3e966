/* schema/edit/edit.c - the frame of all edits: from old bytes to new ones by way of a datum that is opened, changed and
 * written. And the simplest kind: one field. */
#include "schema/edit.h"

#include <assert.h>

#include "base/limits.h"
#include "schema/edit/edit_kinds.h"

static enum rc finish(struct datum *d, struct slice old, uint64_t changed, struct buf *out, struct err *err)
{
    size_t before = out->len;
    if (!changed)
        return buf_append(out, old) ? RC_OK : err_oom(err);
    if (datum_finish(d, out, err) != RC_OK)
        return RC_ERR;
    struct codec_opts opts = {.limits = d->opts->limits, .brief = d->is_brief};
    struct slice whole = slice_not_null(buf_slice(out));
    struct slice avro = slice_of(whole.ptr + before, whole.len - before);
    if (codec_check_limits(d->codec, d->schema, &opts, avro, d->arena, err) == RC_OK)
        return RC_OK;
    out->len = before;
    return RC_ERR;
}

size_t edit_bytes(const struct edit *edit)
{
    return edit->bytes;
}

static enum rc run(struct datum *d, const struct edit *edit, struct slice old, struct buf *out,
                   uint64_t *changed, struct err *err)
{
    *changed = 0;
    *err = (struct err){0};
    enum rc rc = edit->kind->apply(d, edit, changed, err);
    return rc == RC_OK ? finish(d, old, *changed, out, err) : rc;
}

enum rc edit_apply(const struct edit *edit, struct codec *codec, bool brief, struct slice old,
                   struct buf *out, uint64_t *changed, struct arena *scratch, struct err *err)
{
    struct datum d;
    datum_init(&d, edit->schema, edit->opts, codec, brief, old, scratch);
    datum_allow(&d, edit->bytes);
    return run(&d, edit, old, out, changed, err);
}

enum rc edit_apply_shared(const struct edit *edit, struct codec *codec, int64_t *work, struct slice old,
                          struct buf *out, uint64_t *changed, struct arena *scratch, struct err *err)
{
    struct datum d;
    datum_init(&d, edit->schema, edit->opts, codec, true, old, scratch);
    datum_allow(&d, edit->bytes);
    if (d.budget > *work)
        d.budget = *work;
    int64_t had = d.budget, allowed = LIMIT_WORK_PER_BYTE * (int64_t)(old.len + edit->bytes);
    enum rc rc = run(&d, edit, old, out, changed, err);
    int64_t taken = had - d.budget;
    if (taken > allowed)
        *work -= taken - allowed;
    return rc;
}

/* ---- one field ---- */

struct field_edit {
    struct edit base;
    uint32_t field;
    struct slice avro;
};

static enum rc apply_field(struct datum *d, const struct edit *edit, uint64_t *changed, struct err *err)
{
    const struct field_edit *f = CONTAINER_OF(edit, const struct field_edit, base);
    if (value_open(d, &d->root, err) != RC_OK)
        return RC_ERR;
    value_set(d, d->root.part[f->field], f->avro);
    ++*changed;
    return RC_OK;
}

static const struct edit_kind field_kind = {.apply = apply_field};

enum rc edit_of_field(struct edit **out, const struct schema *schema, const struct codec_opts *opts,
                      int field, struct slice avro, struct arena *arena, struct err *err)
{
    const struct program *p = schema_program(schema);
    struct field_edit *f = arena_alloc(arena, sizeof *f);
    if (!f)
        return err_oom(err);
    assert(field >= 0 && (uint32_t)field < p->ops[p->root].b);
    *f = (struct field_edit){.base = {.kind = &field_kind, .schema = schema, .opts = opts, .bytes = avro.len},
                             .field = (uint32_t)field,
                             .avro = avro};
    *out = &f->base;
    return RC_OK;
}
