/* client/ctl/ctl.h - what the commands of avroctl share. One thread. */
#ifndef CLIENT_CTL_CTL_H
#define CLIENT_CTL_CTL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "client/avrod.h"
#include "client/ctl/args.h"

/* Exit codes; --help lists them. */
enum {
    EXIT_REFUSED = 1, /* the server said no, or an answer was not what it should be */
    EXIT_USAGE = 2,
    EXIT_NO_CONNECTION = 3,
    EXIT_NO_ANSWER = 4, /* time was up, or it was cut */
    EXIT_HERE = 5,      /* a file, standard output, memory */
};

struct ctl {
    const struct args *args;
    avrod_client *client;
};

/* Each returns the exit code. */
#define COMMAND(function, name, arguments, least, most, options, summary, more)                              \
    int command_##function(struct ctl *);
#include "client/ctl/commands.def"
#undef COMMAND

/* ---- failing (fail.c) ---- */

/* Tell an error on standard error, with every problem that the server lists; the exit code. Releases it. */
int fail_call(const struct ctl *, struct avrod_error *);
/* A sentence; the code is given back. */
int fail(const struct ctl *, int code, const char *format, ...) PRINTF_LIKE(3, 4);
int fail_memory(const struct ctl *);

/* ---- bodies and files (files.c) ---- */

/* All of a file, or of standard input for NULL and "-". Not EXIT_SUCCESS: said already. */
MUST_USE int file_read(const struct ctl *, const char *path, struct buf *out);
/* Where --output says: a file beside it that takes its place at the end, or standard output. */
struct output {
    FILE *file;
    char *path, *unfinished; /* NULL: standard output */
};
MUST_USE int output_open(const struct ctl *, struct output *);
/* `good`: all of it is there. Else what was written is removed. */
MUST_USE int output_close(const struct ctl *, struct output *, bool good);
/* Print on standard output, and see that it has arrived. */
MUST_USE int print_all(const struct ctl *, struct slice text);
/* A line with what was put together, which is released. */
struct json_text;
MUST_USE int print_json_line(const struct ctl *, struct json_text *);

/* What a write has come to: its new ETag (record.c). */
MUST_USE int print_written(const struct ctl *, const struct avrod_answer *);

/* ---- arguments ---- */

/* The ID argument as bytes; `id` is released by the caller. */
MUST_USE int id_of(const struct ctl *, const char *text, struct buf *id);
/* --logical, --bytes, --int64, each --option and --query as one query. NULL in *query: none. The buffer holds it. */
MUST_USE int query_of(const struct ctl *, struct buf *buf, const char **query);

#endif
