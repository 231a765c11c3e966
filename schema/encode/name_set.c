/* schema/encode/name_set.c - see name_set.h. */
#include "schema/encode/name_set.h"

#include "base/bytes.h"
#include "base/hash.h"

struct name {
    uint32_t hash, at, len; /* at: from `base` */
};

enum { FEW = 16 };

static struct name *names_of(struct name_set *set, const struct name_scope *scope)
{
    return (struct name *)set->names.ptr + scope->names;
}

static uint32_t *slots_of(struct name_set *set, const struct name_scope *scope)
{
    return (uint32_t *)set->slots.ptr + scope->slots;
}

/* Cheap, and only good enough for few. */
static uint32_t quick_hash(const uint8_t *p, uint32_t len)
{
    uint64_t h = len;
    if (len >= 8)
        h = get_le64(p) * 3 + get_le64(p + len - 8) + len;
    else
        for (uint32_t i = 0; i < len; i++)
            h = h << 8 | p[i];
    return (uint32_t)(h * 0x9e3779b97f4a7c15u >> 32);
}

static bool is_same(const struct name *a, const struct name *b, const uint8_t *base)
{
    return a->hash == b->hash && a->len == b->len && memcmp(base + a->at, base + b->at, a->len) == 0;
}

/* The slot that holds an equal name (an index + 1), or the free one where it belongs. */
static uint32_t *find_slot(struct name_set *set, const struct name_scope *scope, const uint8_t *base,
                           const struct name *name)
{
    const struct name *names = names_of(set, scope);
    uint32_t *slots = slots_of(set, scope), i = name->hash & scope->slots_mask;
    while (slots[i] && !is_same(&names[slots[i] - 1], name, base))
        i = (i + 1) & scope->slots_mask;
    return &slots[i];
}

/* A table with room for twice as many; it is the top of the stack, so it can begin where the old one did. */
static bool build_table(struct name_set *set, struct name_scope *scope, const uint8_t *base)
{
    uint32_t count = set->names.n - scope->names,
             entries = scope->slots_mask ? (scope->slots_mask + 1) * 2 : FEW * 4;
    set->slots.n = scope->slots;
    if (entries == 0 || !stack_reserve(&set->slots, entries, sizeof(uint32_t)))
        return false;
    set->slots.n += entries;
    memset(slots_of(set, scope), 0, entries * sizeof(uint32_t));
    struct name *names = names_of(set, scope);
    bool is_first = scope->slots_mask == 0;
    scope->slots_mask = entries - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (is_first)
            names[i].hash = (uint32_t)hash_bytes(slice_of(base + names[i].at, names[i].len));
        *find_slot(set, scope, base, &names[i]) = i + 1;
    }
    return true;
}

static enum names_result add_to_table(struct name_set *set, struct name_scope *scope, const uint8_t *base,
                                      struct name name)
{
    uint32_t count = set->names.n - scope->names;
    if ((scope->slots_mask == 0 || count > scope->slots_mask / 2) && !build_table(set, scope, base))
        return NAMES_NO_MEMORY;
    name.hash = (uint32_t)hash_bytes(slice_of(base + name.at, name.len));
    uint32_t *slot = find_slot(set, scope, base, &name);
    if (*slot)
        return NAMES_DUPLICATE;
    *slot = count + 1;
    names_of(set, scope)[count] = name;
    set->names.n++;
    return NAMES_NEW;
}

enum names_result name_set_add(struct name_set *set, struct name_scope *scope, const uint8_t *base,
                               uint32_t at, uint32_t len)
{
    if (!stack_reserve(&set->names, 1, sizeof(struct name)))
        return NAMES_NO_MEMORY;
    struct name name = {.at = at, .len = len};
    uint32_t count = set->names.n - scope->names;
    if (count >= FEW)
        return add_to_table(set, scope, base, name);
    name.hash = quick_hash(base + at, len);
    struct name *names = names_of(set, scope);
    for (uint32_t i = 0; i < count; i++)
        if (is_same(&names[i], &name, base))
            return NAMES_DUPLICATE;
    names[count] = name;
    set->names.n++;
    return NAMES_NEW;
}

void name_set_reset(struct name_set *set)
{
    stack_reset(&set->names, sizeof(struct name), SCRATCH_KEEP_BYTES);
    stack_reset(&set->slots, sizeof(uint32_t), SCRATCH_KEEP_BYTES);
}

void name_set_release(struct name_set *set)
{
    stack_release(&set->names);
    stack_release(&set->slots);
}
