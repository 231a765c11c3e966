/* schema/model/names.c - the grammar of names, the table of names, and guesses. */
#include "schema/model/names.h"

#include "base/hash.h"

enum {
    GUESS_NAME_MAX = 64,    /* longer names are not compared */
    GUESS_LOOKS_MAX = 4096, /* slots of the table that one guess looks at */
    GUESS_SLIPS_MAX = 2,
};

static bool is_name_start(uint8_t b)
{
    return ((b | 0x20) >= 'a' && (b | 0x20) <= 'z') || b == '_';
}

bool name_is_simple(struct slice s)
{
    if (!s.len || !is_name_start(s.ptr[0]))
        return false;
    for (size_t i = 1; i < s.len; i++)
        if (!is_name_start(s.ptr[i]) && !(s.ptr[i] >= '0' && s.ptr[i] <= '9'))
            return false;
    return true;
}

bool name_is_full(struct slice s)
{
    const uint8_t *dot;
    while (s.len && (dot = memchr(s.ptr, '.', s.len))) {
        size_t n = (size_t)(dot - s.ptr);
        if (!name_is_simple(slice_of(s.ptr, n)))
            return false;
        s = slice_of(dot + 1, s.len - n - 1);
    }
    return name_is_simple(s);
}

bool name_is_primitive(struct slice s, enum type_kind *kind)
{
    for (int k = TYPE_NULL; k <= TYPE_STRING; k++) {
        if (slice_eq(s, slice_str(type_kind_name((enum type_kind)k)))) {
            *kind = (enum type_kind)k;
            return true;
        }
    }
    return false;
}

bool name_has_dot(struct slice s)
{
    return s.len && memchr(s.ptr, '.', s.len);
}

struct slice name_short(struct slice fullname)
{
    const uint8_t *dot = fullname.len ? memrchr(fullname.ptr, '.', fullname.len) : NULL;
    if (!dot)
        return fullname;
    return slice_of(dot + 1, fullname.len - (size_t)(dot + 1 - fullname.ptr));
}

struct slice name_namespace(struct slice fullname)
{
    size_t n = name_short(fullname).len;
    return slice_of(fullname.ptr, n == fullname.len ? 0 : fullname.len - n - 1);
}

bool name_qualify(struct slice namespace, struct slice name, struct buf *joined, struct slice *out)
{
    *out = name;
    if (!namespace.len || name_has_dot(name))
        return true;
    joined->len = 0;
    if (!buf_append(joined, namespace) || !buf_append_byte(joined, '.') || !buf_append(joined, name))
        return false;
    *out = buf_slice(joined);
    return true;
}

/* ---- the table ---- */

static struct name_entry *find_slot(const struct name_table *t, uint64_t hash, struct slice name)
{
    for (uint32_t i = (uint32_t)hash & t->mask;; i = (i + 1) & t->mask) {
        struct name_entry *e = &t->slots[i];
        if (!e->value || (e->hash == hash && slice_eq(e->name, name)))
            return e;
    }
}

static bool grow(struct name_table *t)
{
    if (t->slots && t->count < t->mask / 2)
        return true;
    struct name_table bigger = {.mask = t->slots ? t->mask * 2 + 1 : 15};
    bigger.slots = arena_calloc(t->arena, (size_t)bigger.mask + 1, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].value)
            *find_slot(&bigger, t->slots[i].hash, t->slots[i].name) = t->slots[i];
    t->slots = bigger.slots;
    t->mask = bigger.mask;
    return true;
}

void *name_find(const struct name_table *t, struct slice name)
{
    return t->slots ? find_slot(t, hash_bytes(name), name)->value : NULL;
}

bool name_add(struct name_table *t, struct slice name, void *value, void **taken)
{
    if (!grow(t))
        return false;
    uint64_t hash = hash_bytes(name);
    struct name_entry *e = find_slot(t, hash, name);
    *taken = e->value;
    if (!e->value) {
        *e = (struct name_entry){.hash = hash, .name = name, .value = value};
        t->count++;
    }
    return true;
}

/* ---- guesses ---- */

static const struct {
    const char *word, *type;
} other_words[] = {
    {"integer", "int"}, {"int32", "int"},     {"short", "int"},      {"int64", "long"},
    {"bigint", "long"}, {"bool", "boolean"},  {"float32", "float"},  {"float64", "double"},
    {"real", "double"}, {"number", "double"}, {"str", "string"},     {"text", "string"},
    {"char", "string"}, {"utf8", "string"},   {"varchar", "string"}, {"binary", "bytes"},
    {"blob", "bytes"},  {"byte", "bytes"},    {"nil", "null"},       {"none", "null"},
    {"void", "null"},
};

static size_t min3(size_t a, size_t b, size_t c)
{
    a = a < b ? a : b;
    return a < c ? a : c;
}

/* How many letters must be put in, taken out, changed, or swapped with the next, case ignored (the restricted
 * Damerau-Levenshtein distance); above `most` it may be any number above. So only what is at most that far from
 * the diagonal is looked at. Both at most GUESS_NAME_MAX long. */
static size_t slips(struct slice a, struct slice b, size_t most)
{
    size_t rows[3][GUESS_NAME_MAX + 2];
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        size_t from = i > most ? i - most : 1, to = i + most < b.len ? i + most : b.len;
        row[from - 1] = from == 1 ? i : most + 1;
        for (size_t j = from; j <= to; j++) {
            bool same = (a.ptr[i - 1] | 0x20) == (b.ptr[j - 1] | 0x20);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && (a.ptr[i - 1] | 0x20) == (b.ptr[j - 2] | 0x20) &&
                (a.ptr[i - 2] | 0x20) == (b.ptr[j - 1] | 0x20) && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        row[to + 1] = most + 1;
    }
    return rows[a.len % 3][b.len];
}

struct guess {
    struct slice unknown, best;
    size_t slips;
};

static void consider(struct guess *g, struct slice candidate)
{
    struct slice u = g->unknown;
    size_t gap = u.len > candidate.len ? u.len - candidate.len : candidate.len - u.len;
    if (candidate.len > GUESS_NAME_MAX || gap >= g->slips)
        return;
    size_t n = slips(u, candidate, g->slips);
    if (n < g->slips) {
        g->slips = n;
        g->best = candidate;
    }
}

/* A defined type is meant by its full name, also where only its short name is near. */
static void consider_defined(struct guess *g, struct slice fullname)
{
    consider(g, fullname);
    size_t before = g->slips;
    consider(g, name_short(fullname));
    if (g->slips < before)
        g->best = fullname;
}

struct slice name_guess(const struct name_table *t, struct slice unknown)
{
    struct slice nothing = {0};
    if (!unknown.len || unknown.len > GUESS_NAME_MAX)
        return nothing;
    for (size_t i = 0; i < ARRAY_LEN(other_words); i++)
        if (slice_eq_nocase(unknown, slice_str(other_words[i].word)))
            return slice_str(other_words[i].type);
    struct guess g = {.unknown = unknown, .slips = unknown.len < 5 ? GUESS_SLIPS_MAX : GUESS_SLIPS_MAX + 1};
    for (int k = TYPE_NULL; k <= TYPE_STRING; k++)
        consider(&g, slice_str(type_kind_name((enum type_kind)k)));
    for (uint32_t i = 0; t->slots && i <= t->mask && i < GUESS_LOOKS_MAX; i++)
        if (t->slots[i].value)
            consider_defined(&g, t->slots[i].name);
    return g.best;
}
