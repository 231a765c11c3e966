/* schema/model/names.h - names of Avro types: their grammar, a table of what is defined, and guesses at what was
 * meant. Source: Avro 1.12 specification, "Names". Inside schema/ only. */
#ifndef SCHEMA_NAMES_H
#define SCHEMA_NAMES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"
#include "schema/model/model.h"

/* [A-Za-z_][A-Za-z0-9_]* : of fields, symbols and the parts of full names. */
bool name_is_simple(struct slice);
/* Simple names joined by dots. */
bool name_is_full(struct slice);
/* Is it a primitive type's name? Then which. */
bool name_is_primitive(struct slice, enum type_kind *kind);

bool name_has_dot(struct slice);
/* Of a full name: what is before the last dot (empty: the null namespace), and what is behind it.
 * Borrowed. */
struct slice name_namespace(struct slice fullname);
struct slice name_short(struct slice fullname);
/* `name` as seen from inside a namespace: itself if it has a dot or the namespace is empty, else joined. *out
 * is borrowed from `name` or from `joined`, whose content is replaced. False: memory is out. */
MUST_USE bool name_qualify(struct slice namespace, struct slice name, struct buf *joined, struct slice *out);

/* A hash table of names: seeded, open addressing. Zero-initialised but for `arena`, from which it grows; keys
 * are borrowed for the table's life. */
struct name_table {
    struct arena *arena;
    struct name_entry *slots;
    uint32_t mask, count;
};

struct name_entry {
    uint64_t hash;
    struct slice name;
    void *value; /* NULL: a free slot */
};

/* What stands under this name; NULL: nothing. */
void *name_find(const struct name_table *, struct slice name);
/* Adds it, unless the name is taken: then *taken is what stands there (else NULL). False: memory is out. */
MUST_USE bool name_add(struct name_table *, struct slice name, void *value, void **taken);

/* The name that was likely meant by an unknown one: a word of another language for the same thing, another
 * spelling of a type's own name, or one at most two slips away. Empty: no idea. Looks at no more than a fixed
 * number of names. */
struct slice name_guess(const struct name_table *, struct slice unknown);

#endif
