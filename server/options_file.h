/* server/options_file.h - the file that --config names. */
#ifndef SERVER_OPTIONS_FILE_H
#define SERVER_OPTIONS_FILE_H

#include <stdio.h>

#include "server/ini_file.h"
#include "server/options.h"

/* Set what it says; texts are copied into out->texts. CONFIG: the file cannot be read; a line that is none, an option that is
 * unknown, wrong or there before; with file and line. NO_MEMORY. */
MUST_USE enum rc options_file_take(struct options *out, const char *path, struct err *err);
/* Likewise of what is open already; `path` is for the words. */
MUST_USE enum rc options_stream_take(struct options *out, FILE *stream, const char *path, struct err *err);

#endif
