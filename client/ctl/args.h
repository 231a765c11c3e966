/* client/ctl/args.h - the command line of avroctl, by the tables options.def and commands.def. */
#ifndef CLIENT_CTL_ARGS_H
#define CLIENT_CTL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { ARGS_WORDS_MAX = 4, ARGS_LIST_MAX = 16 };

struct ctl;

struct command {
    const char *name, *arguments, *summary, *more;
    unsigned least, most;
    uint64_t options;
    int (*run)(struct ctl *);
};

#define ARGS_TYPE_TEXT     const char *
#define ARGS_TYPE_COUNT    uint64_t
#define ARGS_TYPE_DURATION uint32_t
#define ARGS_TYPE_FLAG     bool
#define ARGS_TYPE_LIST     struct args_list

/* An option that may stand more than once. */
struct args_list {
    const char *items[ARGS_LIST_MAX];
    unsigned n;
};

/* What was not given is NULL, 0 or false. Texts point into argv and the environment. */
struct args {
#define OPTION(field, name, short_name, kind, argument, env, help) ARGS_TYPE_##kind field;
#include "client/ctl/options.def"
#undef OPTION
    const struct command *command; /* NULL: none was named */
    const char *words[ARGS_WORDS_MAX];
    unsigned nwords;
};

/* False: *fault says what is wrong, in a text of `room` bytes. */
MUST_USE bool args_parse(struct args *, int argc, char **argv, char *fault, size_t room);

/* Help on standard output, of one command or of all. */
void args_print_help(const struct command *);

/* For completion: the words that may stand next, one a line. `command` NULL: the commands' names; else its options. */
void args_print_words(const struct command *);

/* A list of numbers with commas between, each from 1 to max: how many there are, 0 if that is none or more than `room`. */
size_t args_numbers(const char *text, uint64_t max, uint64_t *out, size_t room);

#endif
