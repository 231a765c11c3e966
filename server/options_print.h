/* server/options_print.h - the options, shown: --help and --print-config. */
#ifndef SERVER_OPTIONS_PRINT_H
#define SERVER_OPTIONS_PRINT_H

#include <stdio.h>

#include "server/options.h"

/* Every option with its default. */
void options_print_help(FILE *);
/* Every option with its value in effect and where that comes from, as a file for --config. */
void options_print_config(const struct options *, FILE *);

#endif
