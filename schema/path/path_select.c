/* schema/path/path_select.c - what a path finds in a record, as a JSON array. */
#include "schema/path/path_run.h"

static enum rc print(struct path_run *r, struct path_found *f, enum json_form form, size_t end,
                     struct buf *out)
{
    if (!buf_append_byte(out, '['))
        return err_oom(r->err);
    for (uint32_t i = f->begin; i < r->found.n; i++) {
        struct value *v = r->found.at[i];
        if (i > f->begin && !buf_append_byte(out, ','))
            return err_oom(r->err);
        if (out->len >= end)
            return err_set(r->err, ERR_JSON_TOO_LARGE, "What is found takes more than %zu bytes as JSON.",
                           end);
        if (datum_pay(r->d, v->avro.len, r->err) || value_print(r->d, v, form, end - out->len, out, r->err))
            return RC_ERR;
    }
    return buf_append_byte(out, ']') ? RC_OK : err_oom(r->err);
}

enum rc path_select(const struct path *path, enum json_form form, bool brief, size_t bytes_max,
                    struct slice avro, struct buf *out, struct arena *scratch, struct err *err)
{
    struct datum d;
    struct path_run run;
    struct path_found found;
    size_t before = out->len;
    datum_init(&d, path->schema, NULL, NULL, brief, avro, scratch);
    path_run_init(&run, &d, err);
    enum rc rc = path_run_way(&run, path->way, &d.root, &found);
    if (rc == RC_OK)
        rc = path_run_flatten(&run, &found);
    if (rc == RC_OK)
        rc = print(&run, &found, form, before + bytes_max, out);
    if (rc != RC_OK)
        out->len = before;
    path_run_release(&run);
    return rc;
}
