/* server/catalog_type.c - see catalog_type.h. */
#include "server/catalog_type.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/catalog_pairs.h"

static bool slots_grow(struct slots *s, uint32_t id)
{
    if (id < s->n)
        return true;
    size_t n = s->n ? s->n : 64;
    while (n <= id)
        n *= 2;
    struct schema_slot **p = realloc(s->slot, n * sizeof *p);
    if (!p)
        return false;
    memset(p + s->n, 0, (n - s->n) * sizeof *p);
    s->slot = p;
    s->n = n;
    return true;
}

static struct schema_slot *slot_ref(struct slots *s, uint32_t id)
{
    if (!slots_grow(s, id))
        return NULL;
    struct schema_slot *slot = s->slot[id];
    if (!slot) {
        slot = calloc(1, sizeof *slot);
        if (!slot)
            return NULL;
        slot->id = id;
        s->slot[id] = slot;
    }
    slot->refs++;
    return slot;
}

static void slot_unref(struct slots *s, struct schema_slot *slot)
{
    assert(slot->refs);
    if (--slot->refs)
        return;
    s->slot[slot->id] = NULL;
    struct schema *schema = atomic_load_explicit(&slot->schema, memory_order_acquire);
    if (schema)
        schema_free(schema);
    free(slot);
}

void slots_release(struct slots *s)
{
    free(s->slot);
    *s = (struct slots){0};
}

static bool version_init(struct type_version *v, struct slots *slots, struct row_version row)
{
    v->number = row.number;
    v->schema_id = row.schema_id;
    v->deleted = row.state != VERSION_LIVE;
    v->slot = slot_ref(slots, row.schema_id);
    if (!v->slot)
        return false;
    int n = snprintf(v->headers, sizeof v->headers,
                     "Schema-Version: %u\r\nSchema-Id: %u\r\nVary: " VARY_READS "\r\n", row.number,
                     row.schema_id);
    assert(n > 0 && (size_t)n < sizeof v->headers);
    v->headers_len = (uint8_t)n;
    return true;
}

static void type_free(struct slots *slots, struct type *t)
{
    for (uint32_t i = 0; i < t->nversions; i++)
        slot_unref(slots, t->version[i].slot);
    pairs_free(t->pairs);
    free(t);
}

enum rc type_new(struct type **out, struct slots *slots, struct slice name, const struct type_row *row,
                 struct err *err)
{
    size_t bytes = sizeof(struct type) + row->nversions * sizeof(struct type_version);
    struct type *t = calloc(1, bytes + name.len);
    if (!t)
        return err_oom(err);
    uint8_t *own_name = (uint8_t *)t + bytes;
    memcpy(own_name, name.ptr, name.len);
    t->refs = 1;
    t->number = row->number;
    t->revision = row->revision;
    t->name = slice_of(own_name, name.len);
    t->options = row->options;
    t->codec = (struct codec_opts){.form = (enum json_form)row->options.form,
                                   .missing = row->options.missing,
                                   .unknown = row->options.unknown,
                                   .limits = row->options.limits};
    for (uint32_t i = 0; i < row->nversions; i++) {
        if (!version_init(&t->version[i], slots, type_row_version(row, i))) {
            type_free(slots, t);
            return err_oom(err);
        }
        t->nversions++;
    }
    struct row_version latest;
    t->latest = &t->version[t->nversions - 1]; /* though all are deleted, records are written in one */
    if (type_row_latest(row, &latest))
        t->latest = type_version_find(t, latest.number);
    if (t->nversions > 1 && !(t->pairs = pairs_new(t->nversions, (uint32_t)(t->latest - t->version)))) {
        type_free(slots, t);
        return err_oom(err);
    }
    *out = t;
    return RC_OK;
}

void type_unref(struct slots *slots, struct type *t)
{
    assert(t->refs);
    if (!--t->refs)
        type_free(slots, t);
}

/* Of versions that have one schema the newest stands for all, which may be another than before. */
void type_inherit(struct type *t, const struct type *before)
{
    uint32_t *index = t->pairs && before->pairs ? calloc(before->nversions, sizeof *index) : NULL;
    if (!index)
        return;
    bool has_all = true; /* a version never leaves a type */
    for (uint32_t i = 0; has_all && i < before->nversions; i++) {
        const struct type_version *v = type_version_of_schema(t, before->version[i].schema_id);
        has_all = v != NULL;
        index[i] = v ? (uint32_t)(v - t->version) : 0;
    }
    if (has_all)
        pairs_inherit(t->pairs, before->pairs, index);
    free(index);
}

/* ---- what readers ask of a type ---- */

const struct type_version *type_version_of_schema(const struct type *t, uint32_t schema_id)
{
    if (likely(t->latest->schema_id == schema_id))
        return t->latest;
    for (uint32_t i = t->nversions; i-- > 0;)
        if (t->version[i].schema_id == schema_id)
            return &t->version[i];
    return NULL;
}

const struct type_version *type_version_find(const struct type *t, uint32_t number)
{
    for (uint32_t i = 0; i < t->nversions; i++)
        if (t->version[i].number == number)
            return &t->version[i];
    return NULL;
}

void type_schema_offer(const struct type_version *v, struct schema *schema)
{
    struct schema *none = NULL;
    if (!atomic_compare_exchange_strong_explicit(&v->slot->schema, &none, schema, memory_order_acq_rel,
                                                 memory_order_acquire))
        schema_free(schema);
}
