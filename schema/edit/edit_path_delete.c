/* schema/edit/edit_path_delete.c - elements and entries that are found go from the array or map that holds them; arrays and maps
 * that are found become empty. */
#include "schema/edit/edit_path.h"

/* ---- delete ---- */

static enum rc refuse(struct path_change *c, const struct value *v)
{
    char name[FAULT_NAME_BYTES], of[FAULT_NAME_BYTES];
    const struct program *p = c->d->program;
    if (!v->parent)
        return err_set(
            c->err, ERR_NOT_APPLICABLE,
            "The path leads to the record itself. A path deletes elements of arrays and entries of maps.");
    const struct op *record = &p->ops[v->parent->op];
    return err_set(c->err, ERR_NOT_APPLICABLE,
                   "\"%s\" is a field of the record %s: fields cannot be deleted, only elements of arrays "
                   "and entries of maps.",
                   fault_name(p->fields[record->a + v->place].name, name),
                   fault_name(program_name(p, v->parent->op), of));
}

static enum rc check_all(struct path_change *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct value *parent = c->found[i]->parent;
        enum opcode code = parent ? (enum opcode)c->d->program->ops[parent->op].code : OP_RECORD;
        if (code != OP_ARRAY && code != OP_MAP)
            return refuse(c, c->found[i]);
    }
    return RC_OK;
}

/* All that go from one array or map go at once: one by one, each would move all that are behind it. */
enum rc path_delete(struct path_change *c)
{
    if (check_all(c))
        return RC_ERR;
    for (uint32_t i = 0; i < c->n; i++)
        value_mark(c->found[i]);
    for (uint32_t i = 0; i < c->n; i++) {
        struct value *holder = c->found[i]->parent;
        if (!holder) /* it went with its neighbours */
            continue;
        if (datum_pay(c->d, (uint64_t)COST_VISIT * holder->nparts, c->err))
            return RC_ERR;
        *c->changed += value_remove_marked(holder);
    }
    return RC_OK;
}

/* ---- clear ---- */

enum rc path_clear(struct path_change *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct value *v = c->found[i];
        bool is_open;
        if (path_open_container(c, &v, &is_open))
            return RC_ERR;
        if (is_open && v->nparts) {
            value_clear(v);
            ++*c->changed;
        }
    }
    return RC_OK;
}
