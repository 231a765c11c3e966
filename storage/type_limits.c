/* storage/type_limits.c - see limits.h. */
#include "storage/type_limits.h"

#include <stdlib.h>

#include "storage/stage.h"

enum { LIST_MIN = 16 };

void type_limits_release(struct type_limits *l)
{
    free(l->list);
    *l = (struct type_limits){0};
}

static size_t position(const struct type_limits *l, uint64_t type)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (l->list[mid].type < type)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct type_limit *type_limits_from(const struct type_limits *l, uint64_t type)
{
    size_t at = position(l, type);
    return at < l->n ? &l->list[at] : NULL;
}

static bool grow(struct type_limits *l)
{
    if (l->n < l->cap)
        return true;
    size_t cap = l->cap ? l->cap * 2 : LIST_MIN;
    struct type_limit *list = realloc(l->list, cap * sizeof *list);
    if (!list)
        return false;
    l->list = list;
    l->cap = cap;
    return true;
}

/* What a type has when its limit is set goes step by step: meanwhile it may have that, but not much more. */
static uint64_t ceiling_of(uint64_t bytes, uint64_t bytes_max)
{
    uint64_t from = bytes > bytes_max ? bytes : bytes_max;
    return from < UINT64_MAX - LIMIT_EVICT_OVERSHOOT ? from + LIMIT_EVICT_OVERSHOOT : UINT64_MAX;
}

bool type_limits_add(struct type_limits *l, uint32_t type, uint64_t bytes, uint64_t bytes_max)
{
    size_t at = position(l, type);
    if (at == l->n || l->list[at].type != type) {
        if (!grow(l))
            return false;
        memmove(l->list + at + 1, l->list + at, (l->n - at) * sizeof *l->list);
        l->n++;
    }
    l->list[at] = (struct type_limit){.type = type, .ceiling = ceiling_of(bytes, bytes_max)};
    return true;
}

bool type_limit_needs_index(const struct type_limit *l, const struct store_count *c)
{
    return c->bytes_max && c->used < c->records && !l->indexed;
}

void type_limit_reached(struct type_limit *l, uint64_t bytes_max)
{
    l->ceiling = ceiling_of(bytes_max, bytes_max);
}

static COLD enum rc too_large(const struct store_count *c, uint64_t bytes, struct err *err)
{
    return err_set(
        err, ERR_RECORD_TOO_LARGE,
        "All records of this type have at most %llu bytes of Avro together; this one alone has %llu.",
        (unsigned long long)c->bytes_max, (unsigned long long)bytes);
}

static COLD enum rc too_far(struct err *err)
{
    return err_set(
        err, ERR_QUEUE_FULL,
        "The type is too far above its max_size: what was least recently used is being removed; try again.");
}

enum rc type_limits_admit_other(struct decider *d, const struct view *v, uint64_t bytes, int64_t *used_ms,
                                struct err *err)
{
    const struct type_limit *l = type_limits_from(&d->limits, v->key->type);
    struct store_count c;
    if (!l || l->type != v->key->type)
        return RC_OK;
    if (stage_count(d, l->type, &c, err) != RC_OK)
        return RC_ERR;
    if (!c.bytes_max)
        return RC_OK;
    if (bytes > c.bytes_max)
        return too_large(&c, bytes, err);
    uint64_t old = v->entry->value ? v->rec.body_bytes : 0;
    if (bytes > old && c.bytes + (bytes - old) > l->ceiling)
        return too_far(err);
    *used_ms = d->now_ms ? d->now_ms : 1;
    return RC_OK;
}
