/* schema/edit/edit_unset.c - see edit_unset.h. */
#include "schema/edit/edit_unset.h"

#include "base/limits.h"

enum rc edit_unset_field(struct datum *d, struct value *v, struct err *err)
{
    const struct program *p = d->program;
    const struct op *op = &p->ops[v->op], *record = &p->ops[v->parent->op];
    const struct op_field *field = &p->fields[record->a + value_place(v)];
    if (op->code == OP_UNION && op->flags & OP_FLAG_NULLABLE)
        return value_set_branch(d, v, p->unions[op->info].first[OP_NULL], SLICE(""), err);
    if (op->code == OP_NULL || !field->has_default)
        return value_set_json(d, v, SLICE("null"), SLICE(""), err);
    if (!field->filling.avro.ptr)
        return err_set(err, ERR_RECORD_TOO_LARGE, "The default takes more than %d bytes as Avro binary.",
                       LIMIT_RECORD_MAX);
    value_set(d, v, field->filling.avro);
    return RC_OK;
}
