/* schema/value/value_parts.h - what the files of schema/value/value.h share. */
#ifndef SCHEMA_VALUE_PARTS_H
#define SCHEMA_VALUE_PARTS_H

#include "schema/encode/encode.h"
#include "schema/value/value.h"

/* Values that are inside of each other and open, at the most: a union around every record, array and map, and a scalar
 * in one. */
enum { VALUE_NEST_MAX = 2 * LIMIT_DATA_DEPTH_MAX + 2 };

/* n values, closed and without bytes. NULL: *err is filled (TOO_MUCH_WORK, NO_MEMORY). */
struct value *values_make(struct datum *, uint64_t n, uint32_t op, struct err *);
/* Room for as many pointers more in v->part. False: memory is out. */
MUST_USE bool parts_reserve(struct datum *, struct value *, uint32_t more);

/* Are its parts what it is, or else its bytes? */
static inline bool value_is_joined(const struct value *v)
{
    return v->is_open && v->is_changed;
}

/* The hash table of a map's entries: open addressing, at most half full. */
struct value_index {
    struct value **slot; /* NULL: free */
    uint32_t mask;
    uint32_t used; /* slots that are not free: entries, and marks where one was */
};

/* value_index.c: the entry, NULL: there is none. */
struct value *index_find(const struct value_index *, struct slice key);
/* An entry has come, and is among the parts already. False: memory is out. */
MUST_USE bool index_add(struct datum *, struct value *map, struct value *entry);
/* It goes. */
void index_remove(struct value_index *, const struct value *entry);

/* As value_set, of bytes that are not too deep where the value is, if it is in its place. */
void value_set_seen(struct value *, struct slice avro);

/* Fill *err: deeper than any record can be. */
COLD enum rc value_too_deep(struct err *);

#endif
