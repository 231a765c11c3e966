/* server/options.h - what the server is told: on the command line, by environment variables, in a file. The table is
 * options.def: a new option is one row there, which makes its field here, its default, its part of --help and its name in
 * all three. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "storage/storage.h"

enum option_id {
#define OPTION(field, name, kind, default_, least, most, argument, help) OPTION_ID_##field,
#include "server/options.def"
#undef OPTION
    OPTION_IDS
};

/* Who has said it, the weakest first. */
enum option_from { FROM_DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_COMMAND_LINE };

struct option_source {
    enum option_from from;
    unsigned line; /* in the file */
};

struct options {
    /* The type of a field, by its kind. */
#define OPTION_TEXT                                                      const char *
#define OPTION_COUNT                                                     unsigned
#define OPTION_BYTES                                                     uint64_t
#define OPTION_DURATION                                                  uint32_t
#define OPTION_DURABILITY                                                enum durability
#define OPTION_FLAG                                                      bool
#define OPTION_ACTION                                                    bool
#define OPTION_ACTION_ON                                                 const char *
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
#undef OPTION_ACTION_ON
    const char *operand;  /* what stands on the line without an option: DIR of --restore */
    bool astore;          /* compat is "astore" */
    bool access_combined; /* access_log_format is "combined" */
    struct option_source source[OPTION_IDS];
    struct arena texts; /* those of the file */
};

/* Is there a way for users to say who they are? */
static inline bool options_have_logins(const struct options *o)
{
    return o->passwords || o->tokens || o->tls_client_ca;
}

/* As if nothing had been given. */
extern const struct options options_defaults;

/* Fill *out from argv, the environment (both borrowed as long as *out is used; argv[0] is passed over), the file that one of
 * them names, and the defaults; the first that has an option wins, and what the others say must be right all the same.
 * CONFIG: an unknown or wrong option, in words, with its place. NO_MEMORY. options_release in either case. */
MUST_USE enum rc options_parse(struct options *out, int argc, char *const *argv, char *const *environment,
                               struct err *err);
void options_release(struct options *);
/* The next variable AVROD_* that is none of the server's options, nor of avroctl's, and *environment behind it; empty: there
 * is no more. Others may have set it for their own ends, so it is no fault, and worth a line in the log. */
struct slice options_stray(char *const **environment);

#endif
