/* schema/edit_path_delete.c - elements and entries that are found go from the array or map that holds them; arrays and maps
 * that are found become empty. */
#include <stdlib.h>

#include "schema/edit_path.h"
#include "schema/encode.h"

/* ---- delete ---- */

/* Neighbours stand together. */
static int compare(const void *a, const void *b)
{
    const struct value *x = *(struct value *const *)a, *y = *(struct value *const *)b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (x > y) - (x < y);
}

struct group {
    struct value **at;
    uint32_t n;
};

static int compare_address(const void *a, const void *b)
{
    const struct value *x = *(struct value *const *)a, *y = *(struct value *const *)b;
    return (x > y) - (x < y);
}

/* All of the group have one parent, or had it until they went. */
static bool is_in(const struct value *v, void *arg)
{
    const struct group *g = arg;
    return bsearch(&v, g->at, g->n, sizeof v, compare_address) != NULL;
}

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

static uint64_t log2_of(uint32_t n)
{
    return 32 - (uint64_t)__builtin_clz(n | 1);
}

static enum rc remove_group(struct path_change *c, struct value *parent, struct group *g)
{
    uint64_t cost = (uint64_t)COST_VISIT * (g->n + parent->nparts) * log2_of(g->n);
    if (datum_pay(c->d, cost, c->err))
        return RC_ERR;
    *c->changed += value_remove_all(parent, is_in, g);
    return RC_OK;
}

enum rc path_delete(struct path_change *c)
{
    if (check_all(c) || datum_pay(c->d, (uint64_t)COST_VISIT * c->n * log2_of(c->n), c->err))
        return RC_ERR;
    if (c->n > 1)
        qsort(c->found, c->n, sizeof *c->found, compare);
    for (uint32_t i = 0, end; i < c->n; i = end) {
        struct value *parent = c->found[i]->parent;
        for (end = i + 1; end < c->n && c->found[end]->parent == parent; end++)
            ;
        struct group g = {c->found + i, end - i};
        if (remove_group(c, parent, &g))
            return RC_ERR;
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
