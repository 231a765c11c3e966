/* server/http/field.c - header field names to enum header, by a small hash table. */
#include "server/http/field.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/compiler.h"
#include "server/handler.h"

static const struct {
    struct slice name;
    bool list;
} fields[HEADERS] = {
#define HEADER(name, text, list) [HEADER_##name] = {{(const uint8_t *)(text), sizeof(text) - 1}, list},
#include "server/http/headers.def"
#undef HEADER
};

/* Open addressing, at most half full: a miss ends at the first empty slot. */
enum { SLOTS = 64 };
static uint8_t slots[SLOTS]; /* enum header + 1 */
_Static_assert(HEADERS * 2 <= SLOTS, "the table of headers must stay sparse");

static unsigned hash(struct slice name)
{
    unsigned first = name.ptr[0] | 0x20, last = name.ptr[name.len - 1] | 0x20;
    return ((unsigned)name.len * 7 + first * 5 + last) % SLOTS;
}

/* Before main, so that it is there for every thread without a lock. */
__attribute__((constructor)) static void slots_fill(void)
{
    for (unsigned i = 0; i < HEADERS; i++) {
        unsigned at = hash(fields[i].name);
        while (slots[at])
            at = (at + 1) % SLOTS;
        slots[at] = (uint8_t)(i + 1);
    }
}

/* Names of the table are letters and hyphens. With bit 5 set, no other byte than the letter's two forms
 * becomes a letter, and only a control character (excluded before) could become a hyphen. */
static bool same_name(const uint8_t *a, const uint8_t *b, size_t len)
{
    const uint64_t fold = 0x2020202020202020;
    size_t i = 0;
    for (; len - i >= 8; i += 8)
        if ((get_le64(a + i) | fold) != (get_le64(b + i) | fold))
            return false;
    for (; i < len; i++)
        if ((a[i] | 0x20) != (b[i] | 0x20))
            return false;
    return true;
}

int field_find(struct slice name)
{
    if (!name.len)
        return -1;
    for (unsigned at = hash(name); slots[at]; at = (at + 1) % SLOTS) {
        unsigned i = slots[at] - 1u;
        if (fields[i].name.len == name.len && same_name(fields[i].name.ptr, name.ptr, name.len))
            return (int)i;
    }
    return -1;
}

bool field_is_list(int header)
{
    assert(header >= 0 && header < HEADERS);
    return fields[header].list;
}

const char *field_name(int header)
{
    assert(header >= 0 && header < HEADERS);
    return (const char *)fields[header].name.ptr;
}
