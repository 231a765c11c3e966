/* server/options_value.h - one option: its row of options.def, its value from a text and back, and how it is called where it
 * was given. */
#ifndef SERVER_OPTIONS_VALUE_H
#define SERVER_OPTIONS_VALUE_H

#include <stdio.h>

#include "server/options.h"

enum option_kind {
    KIND_TEXT,
    KIND_COUNT,
    KIND_BYTES,
    KIND_DURATION,
    KIND_DURABILITY,
    KIND_FLAG,
    KIND_ACTION,    /* on the command line alone, as is ... */
    KIND_ACTION_ON, /* ... with an argument */
};

struct option {
    const char *name, *argument, *help; /* "--name"; NULL: takes none; lines */
    enum option_kind kind;
    size_t offset; /* of its field in struct options */
    uint64_t least, most;
};

extern const struct option options_table[OPTION_IDS];

/* Set it, and its source. A text is borrowed, not copied; NULL: the option stands alone, which those may do that take no
 * argument. CONFIG: no such value, in words that begin with its name there. */
MUST_USE enum rc option_set(struct options *, enum option_id, struct option_source, const char *value,
                            struct err *err);

/* How the option is called there: --head-max, AVROD_HEAD_MAX or head-max. Returns out->text. */
struct option_name {
    char text[48];
};
const char *option_name(enum option_id, enum option_from, struct option_name *out);
bool option_is_action(enum option_id);
/* The option that is called so, or OPTION_IDS. Actions are on the command line alone, and so is --config in no file. */
enum option_id option_find(struct slice name, enum option_from);

/* As option_set takes it; of none "". Of texts this is the value itself, of the rest `number`'s. */
enum { OPTION_NUMBER_BYTES = 32 };
const char *option_text(const struct options *, enum option_id, char number[OPTION_NUMBER_BYTES]);
/* Is there no value? */
bool option_is_none(const struct options *, enum option_id);
/* Bounds of a number as --help tells them, or "". */
void option_print_range(const struct option *, FILE *);

/* A number of bytes, with KiB, MiB, GiB or TiB behind it or none. */
MUST_USE bool option_parse_bytes(struct slice text, uint64_t *out);

#endif
