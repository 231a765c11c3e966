/* server/options.h - the command line. The table is options.def: a new option is one row there, which makes
 * its field here, its default and its part of --help. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "storage/storage.h"

/* --name VALUE or --name=VALUE; of an option given twice the last counts. */
struct options {
    /* The type of a field, by its kind. */
#define OPTION_TEXT                                                      const char *
#define OPTION_COUNT                                                     unsigned
#define OPTION_BYTES                                                     uint64_t
#define OPTION_DURATION                                                  uint32_t
#define OPTION_DURABILITY                                                enum durability
#define OPTION_FLAG                                                      bool
#define OPTION_ACTION                                                    bool
#define OPTION(field, name, kind, default_, least, most, argument, help) OPTION_##kind field;
#include "server/options.def"
#undef OPTION
#undef OPTION_TEXT
#undef OPTION_COUNT
#undef OPTION_BYTES
#undef OPTION_DURATION
#undef OPTION_DURABILITY
#undef OPTION_FLAG
#undef OPTION_ACTION
    bool astore;          /* compat is "astore" */
    bool access_combined; /* access_log_format is "combined" */
};

/* As if nothing had been given. */
extern const struct options options_defaults;

/* Fill *out from argv (borrowed) and the defaults. CONFIG: unknown or wrong option, in words. */
MUST_USE enum rc options_parse(struct options *out, int argc, char **argv, struct err *err);
/* The text of --help, every option with its default, to standard output. */
void options_print_help(void);

#endif
