/* server/options.h - the command line. The table is options.def: a new option is one row there. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "storage/storage.h"

enum { OPTIONS_THREADS_MAX = 1024 };

/* --name VALUE or --name=VALUE; of an option given twice the last counts. */
struct options {
    const char *data;   /* --data DIR */
    const char *listen; /* --listen ADDR:PORT */
    const char *engine; /* --engine */
    const char *compat; /* --compat astore, or NULL */
    unsigned threads;   /* --threads; 0: one a core */
    enum durability durability;
    uint64_t map_max;         /* --map-max, bytes; 0: the engine's default */
    uint64_t body_max;        /* --body-max, bytes */
    unsigned connections_max; /* --connections-max */
    bool insecure, accept_dirty, help, version;
    bool astore; /* compat is "astore" */
};

/* Fill *out from argv (borrowed) and the defaults. CONFIG: unknown or wrong option, in words. */
MUST_USE enum rc options_parse(struct options *out, int argc, char **argv, struct err *err);
/* The text of --help, every option with its default, to standard output. */
void options_print_help(void);

#endif
