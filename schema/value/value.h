/* schema/value/value.h - a datum that is opened only where somebody looks, changed there, and written again: what was
 * not opened is copied as the bytes that it was. Paths, patches and projections stand on it
 * (docs/decisions/0013-edits-open-what-they-touch.md). Inside schema/ only. */
#ifndef SCHEMA_VALUE_H
#define SCHEMA_VALUE_H

#include "schema/program/program.h"

/* One value. Its address stays, whatever becomes of its neighbours. Read only, but by these functions. */
struct value {
    uint32_t op;       /* its instruction in the plain program */
    uint32_t branch;   /* open union: the index of its branch, whose value is its only part */
    uint32_t part_cap; /* room in `part` */
    uint32_t
        nparts; /* open: record: its fields, in order; array: items; map: entries, as they came; union: 1 */
    uint32_t place; /* in parent->part when it came there: value_place knows where it is now */
    bool is_open;
    bool is_changed; /* or something in it: where it is open as well, its parts are what it is */
    bool is_marked;  /* by who collects values, or to be taken out by value_remove_marked; never for longer */
    struct slice avro;    /* else: its Avro binary, borrowed from the datum or in the arena */
    struct slice key;     /* of a map's entry: UTF-8 */
    struct value *parent; /* NULL: the root, or taken out */
    struct value **part;
    struct value_index *index; /* map: its entries by their keys, once value_index has been asked for it */
};

/* A datum and what changing it takes. One thread's. */
struct datum {
    const struct schema *schema;
    const struct program *program; /* the plain one */
    const struct codec_opts *opts; /* of JSON that comes in: form, missing, unknown */
    struct codec *codec;           /* for JSON that comes in; NULL: none does */
    struct arena *arena;           /* where values live */
    bool is_brief;                 /* the budget never grows beyond about a millisecond */
    int64_t budget;                /* of work left, in the units of encode.h's prices */
    uint32_t values;               /* that were made; at most LIMIT_VALUES_MAX */
    bool may_be_deep; /* something was put in whose depth has not been seen: datum_finish looks */
    struct value root;
};

/* The whole of `avro`, closed. It is borrowed as long as the datum lives, and was checked when it was stored.
 * brief: as in struct codec_opts. opts NULL: the defaults. The datum must not be moved, and needs no release. */
void datum_init(struct datum *, const struct schema *, const struct codec_opts *, struct codec *, bool brief,
                struct slice avro, struct arena *);

/* Pay for work. TOO_MUCH_WORK: there is none left. */
MUST_USE enum rc datum_pay(struct datum *, uint64_t cost, struct err *);
/* May work for that many bytes more: of a patch or path that is as long. Before any work is paid for. */
void datum_allow(struct datum *, size_t bytes);
/* Append what the root has become. It is data of the schema within all limits of a record: RECORD_TOO_LARGE, TOO_DEEP,
 * TOO_MUCH_WORK (too many items of no bytes), NO_MEMORY. On failure `out` is as it was. */
MUST_USE enum rc datum_finish(struct datum *, struct buf *out, struct err *);

/* Make the value's parts, if it has any and they are not there yet. Scalars stay closed. BAD_AVRO, TOO_MUCH_WORK,
 * NO_MEMORY. */
MUST_USE enum rc value_open(struct datum *, struct value *, struct err *);
/* *v becomes what is in the union, in the union in that ..., or stays. As value_open. */
MUST_USE enum rc value_enter_union(struct datum *, struct value **v, struct err *);
/* A part of an open record, map: by name, by key; NULL: there is none. value_entry is linear, but after value_index. */
struct value *value_field(const struct datum *, const struct value *record, struct slice name);
struct value *value_entry(const struct value *map, struct slice key);
/* For who looks up many keys: hash those of an open map, if it is large. It stays true when entries come and go.
 * TOO_MUCH_WORK, NO_MEMORY. */
MUST_USE enum rc value_index(struct datum *, struct value *map, struct err *);
/* Which part of its parent the value is, which has one. */
uint32_t value_place(const struct value *);
/* How many records, arrays and maps are around it. */
uint32_t value_depth(const struct datum *, const struct value *);

/* ---- scalars, which are closed ---- */

/* null has nothing to read. An enum's is its symbol's index. BAD_AVRO. */
MUST_USE enum rc value_long(const struct datum *, const struct value *, int64_t *out,
                            struct err *); /* int, long, enum */
MUST_USE enum rc value_double(const struct datum *, const struct value *, double *out,
                              struct err *); /* float, double */
MUST_USE enum rc value_boolean(const struct datum *, const struct value *, bool *out, struct err *);
/* The content of a string, bytes or fixed, or the name of an enum's symbol; borrowed as the datum is. */
MUST_USE enum rc value_text(const struct datum *, const struct value *, struct slice *out, struct err *);

/* ---- changing ---- */

/* Become these bytes, of the same instruction, which live as long as the datum. Its parts are out of the datum then. */
void value_set(struct datum *, struct value *, struct slice avro);
/* Become what the JSON text is (RFC 8259 checked here); the bytes in the arena. As codec_from_json, but that pointers
 * of problems begin with `prefix` and then the value's place in the datum; depth counts from there, too: so a new value
 * is put in first, and then set. */
MUST_USE enum rc value_set_json(struct datum *, struct value *, struct slice json, struct slice prefix,
                                struct err *);
/* The union's branch becomes `branch`, its value these bytes; or none yet (ptr NULL), and value_set or value_set_json
 * of part[0] is next. The union is open then. TOO_MUCH_WORK, NO_MEMORY. */
MUST_USE enum rc value_set_branch(struct datum *, struct value *, uint32_t branch, struct slice avro,
                                  struct err *);

/* A new value of instruction `op`, part of nothing yet, without bytes: it must get some, by value_set or
 * value_set_json. NULL: *err is filled (TOO_MUCH_WORK, NO_MEMORY). */
struct value *value_new(struct datum *, uint32_t op, struct err *);
/* Put one that is part of nothing into an open array, before `index` (nparts: at the end). Linear in what is behind. */
MUST_USE enum rc value_insert(struct datum *, struct value *array, uint32_t index, struct value *,
                              struct err *);
/* Put one that is part of nothing into an open map under a key (UTF-8, copied), in place of what is there. */
MUST_USE enum rc value_put(struct datum *, struct value *map, struct slice key, struct value *, struct err *);
/* Take it out of the open array or map that holds it. Linear in its neighbours; many: mark each, and take them out in
 * one pass. */
void value_remove(struct value *);
static inline void value_mark(struct value *v)
{
    v->is_marked = true;
}
/* Take all marked parts out of an open array or map. Returns how many. */
uint32_t value_remove_marked(struct value *);
/* Empty an array or map, open or not; it is closed then. */
void value_clear(struct value *);

/* ---- out ---- */

/* Append its Avro binary: what was not changed as it is, the rest part by part. RECORD_TOO_LARGE, TOO_DEEP (as far as
 * it is open), NO_MEMORY. On failure `out` is as it was. */
MUST_USE enum rc value_write(const struct datum *, const struct value *, struct buf *out, struct err *);
/* Append its JSON in that form. As codec_to_json_within. */
MUST_USE enum rc value_print(struct datum *, struct value *, enum json_form, size_t bytes_max,
                             struct buf *out, struct err *);
/* Append the RFC 6901 pointer to it in the record's JSON as GET shows it in the form of d->opts (with tags of unions
 * that print them); nothing for what is part of nothing. False: memory is out. */
MUST_USE bool value_pointer(const struct datum *, const struct value *, struct buf *out);
/* Are they the same data: numbers by value within a type (0 is -0, NaN is NaN), maps whatever their order, unions by
 * branch and value. Both of one datum; of two instructions they differ. Opens them, where their bytes differ.
 * TOO_DEEP, and as value_open. */
MUST_USE enum rc value_equal(struct datum *, struct value *, struct value *, bool *equal, struct err *);

#endif
