/* schema/encode_names.c - names of the objects that are open, so that a second one is noticed. Few are
 * compared one by one; many stand in a seeded hash table. An object's names leave when it closes, so all of
 * it is stacks. */
#include "base/hash.h"
#include "schema/encode.h"

enum { FEW = 16 };

static struct name *names_of(struct codec *c, const struct frame *f)
{
    return (struct name *)c->names.ptr + f->names;
}

static uint32_t *slots_of(struct codec *c, const struct frame *f)
{
    return (uint32_t *)c->slots.ptr + f->slots;
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
static uint32_t *find_slot(struct codec *c, const struct frame *f, const uint8_t *base,
                           const struct name *name)
{
    const struct name *names = names_of(c, f);
    uint32_t *slots = slots_of(c, f), i = name->hash & f->slots_mask;
    while (slots[i] && !is_same(&names[slots[i] - 1], name, base))
        i = (i + 1) & f->slots_mask;
    return &slots[i];
}

/* A table with room for twice as many; it is the top of the stack, so it can begin where the old one did. */
static bool build_table(struct codec *c, struct frame *f, const uint8_t *base)
{
    uint32_t count = c->names.n - f->names, entries = f->slots_mask ? (f->slots_mask + 1) * 2 : FEW * 4;
    c->slots.n = f->slots;
    if (entries == 0 || !stack_reserve(&c->slots, entries, sizeof(uint32_t)))
        return false;
    c->slots.n += entries;
    memset(slots_of(c, f), 0, entries * sizeof(uint32_t));
    struct name *names = names_of(c, f);
    bool is_first = f->slots_mask == 0;
    f->slots_mask = entries - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (is_first)
            names[i].hash = (uint32_t)hash_bytes(slice_of(base + names[i].at, names[i].len));
        *find_slot(c, f, base, &names[i]) = i + 1;
    }
    return true;
}

static enum names_result add_to_table(struct codec *c, struct frame *f, const uint8_t *base, struct name name)
{
    uint32_t count = c->names.n - f->names;
    if ((f->slots_mask == 0 || count > f->slots_mask / 2) && !build_table(c, f, base))
        return NAMES_NO_MEMORY;
    name.hash = (uint32_t)hash_bytes(slice_of(base + name.at, name.len));
    uint32_t *slot = find_slot(c, f, base, &name);
    if (*slot)
        return NAMES_DUPLICATE;
    *slot = count + 1;
    names_of(c, f)[count] = name;
    c->names.n++;
    return NAMES_NEW;
}

enum names_result names_add(struct codec *c, struct frame *f, const uint8_t *base, uint32_t at, uint32_t len)
{
    if (!stack_reserve(&c->names, 1, sizeof(struct name)))
        return NAMES_NO_MEMORY;
    struct name name = {.at = at, .len = len};
    uint32_t count = c->names.n - f->names;
    if (count >= FEW)
        return add_to_table(c, f, base, name);
    name.hash = quick_hash(base + at, len);
    struct name *names = names_of(c, f);
    for (uint32_t i = 0; i < count; i++)
        if (is_same(&names[i], &name, base))
            return NAMES_DUPLICATE;
    names[count] = name;
    c->names.n++;
    return NAMES_NEW;
}
