/* server/failures.c - see failures.h. */
#include "server/failures.h"

#include <string.h>

void failures_init(struct failures *f)
{
    *f = (struct failures){.n = 0};
    pthread_mutex_init(&f->lock, NULL);
}

void failures_release(struct failures *f)
{
    pthread_mutex_destroy(&f->lock);
}

/* NULL: there is no room for one more. */
static struct failures_of_type *entry_of(struct failures *f, const struct type *type)
{
    for (unsigned i = 0; i < f->n; i++)
        if (f->type[i].number == type->number)
            return &f->type[i];
    if (f->n == LIMIT_METRIC_TYPES_MAX)
        return NULL;
    struct failures_of_type *e = &f->type[f->n++];
    *e = (struct failures_of_type){.number = type->number, .name_len = (uint8_t)type->name.len};
    memcpy(e->name, type->name.ptr, type->name.len);
    return e;
}

void failures_add(struct failures *f, const struct type *type)
{
    pthread_mutex_lock(&f->lock);
    struct failures_of_type *e = entry_of(f, type);
    ++*(e ? &e->count : &f->others);
    pthread_mutex_unlock(&f->lock);
}

/* A type that was dropped and made again has another number. */
static bool is_there(const struct failures_of_type *e, const struct catalog_hold *hold)
{
    const struct type *type = catalog_find(hold, slice_of(e->name, e->name_len));
    return type && type->number == e->number;
}

void failures_read(struct failures *f, const struct catalog_hold *hold, struct failures *out)
{
    unsigned kept = 0;
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; i < f->n; i++)
        if (is_there(&f->type[i], hold))
            f->type[kept++] = f->type[i];
    f->n = out->n = kept;
    memcpy(out->type, f->type, kept * sizeof f->type[0]);
    out->others = f->others;
    pthread_mutex_unlock(&f->lock);
}
