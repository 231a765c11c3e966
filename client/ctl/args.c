/* client/ctl/args.c - see args.h. */
#include "client/ctl/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "client/ctl/ctl.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_DURATION, KIND_FLAG, KIND_LIST };

enum option_index {
#define OPTION(field, name, short_name, kind, argument, env, help) OPTION_##field,
#include "client/ctl/options.def"
#undef OPTION
    OPTIONS
};
_Static_assert(OPTIONS <= 64, "a command's options are a word of bits");
enum { GENERAL_OPTIONS = OPTION_version + 1 };

static const struct option {
    const char *name, *argument, *env, *help;
    enum kind kind;
    char short_name;
    size_t offset;
} options[] = {
#define OPTION(field, name_, short_name_, kind_, argument_, env_, help_)                                     \
    {.name = name_,                                                                                          \
     .argument = argument_,                                                                                  \
     .env = env_,                                                                                            \
     .help = help_,                                                                                          \
     .kind = KIND_##kind_,                                                                                   \
     .short_name = short_name_,                                                                              \
     .offset = offsetof(struct args, field)},
#include "client/ctl/options.def"
#undef OPTION
};

#define O(field) (UINT64_C(1) << OPTION_##field)
static const struct command commands[] = {
#define COMMAND(function, name_, arguments_, least_, most_, options_, summary_, more_)                       \
    {.name = name_,                                                                                          \
     .arguments = arguments_,                                                                                \
     .summary = summary_,                                                                                    \
     .more = more_,                                                                                          \
     .least = least_,                                                                                        \
     .most = most_,                                                                                          \
     .options = options_,                                                                                    \
     .run = command_##function},
#include "client/ctl/commands.def"
#undef COMMAND
};

/* Where a fault is told. */
struct fault {
    char *text;
    size_t room;
};

#define FAULT(f, ...) (snprintf((f)->text, (f)->room, __VA_ARGS__), false)

/* ---- values ---- */

static bool parse_duration(const char *text, uint32_t *ms)
{
    static const struct {
        const char *unit;
        uint32_t factor;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    size_t digits = strspn(text, "0123456789");
    uint64_t number;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strcmp(text + digits, units[i].unit) != 0 ||
            !num_parse_decimal(slice_of(text, digits), UINT32_MAX / units[i].factor, &number) || !number)
            continue;
        *ms = (uint32_t)number * units[i].factor;
        return true;
    }
    return false;
}

static bool add_item(struct args_list *list, const struct option *o, const char *value, struct fault *f)
{
    if (list->n == ARGS_LIST_MAX)
        return FAULT(f, "%s stands there more than %d times.", o->name, ARGS_LIST_MAX);
    list->items[list->n++] = value;
    return true;
}

static bool set_value(struct args *a, const struct option *o, const char *value, struct fault *f)
{
    void *field = (char *)a + o->offset;
    switch (o->kind) {
    case KIND_TEXT: memcpy(field, &value, sizeof value); return true;
    case KIND_COUNT:
        if (num_parse_decimal(slice_str(value), UINT64_MAX, field) && *(uint64_t *)field)
            return true;
        return FAULT(f, "%s takes a number from 1, not '%s'.", o->name, value);
    case KIND_DURATION:
        return parse_duration(value, field) ||
               FAULT(f, "%s takes a time, such as 10s or 500ms, not '%s'.", o->name, value);
    case KIND_LIST: return add_item(field, o, value, f);
    case KIND_FLAG: break;
    }
    return FAULT(f, "%s takes no value.", o->name);
}

static bool is_set(const struct args *a, const struct option *o)
{
    const char *field = (const char *)a + o->offset;
    switch (o->kind) {
    case KIND_TEXT: return *(const char *const *)field;
    case KIND_COUNT: return *(const uint64_t *)field;
    case KIND_DURATION: return *(const uint32_t *)field;
    case KIND_FLAG: return *(const bool *)field;
    case KIND_LIST: return ((const struct args_list *)field)->n;
    }
    return false;
}

static bool goes_with(const struct command *c, size_t option)
{
    return option < GENERAL_OPTIONS || (c && (c->options >> option & 1));
}

static bool set_from_environment(struct args *a, struct fault *f)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const char *value = options[i].env ? getenv(options[i].env) : NULL;
        if (value && *value && goes_with(a->command, i) && !is_set(a, &options[i]) &&
            !set_value(a, &options[i], value, f))
            return false;
    }
    return true;
}

/* ---- words of the line ---- */

static const struct option *find_option(const char *name, size_t len)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strlen(options[i].name) == len && memcmp(options[i].name, name, len) == 0)
            return &options[i];
    return NULL;
}

static const struct option *find_short(char name)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (options[i].short_name == name)
            return &options[i];
    return NULL;
}

/* One option with its value, which may be the next word. */
static bool take_option(struct args *a, int argc, char **argv, int *at, struct fault *f)
{
    char *word = argv[*at], *value = NULL;
    const struct option *o;
    if (word[1] == '-') {
        size_t len = strcspn(word, "=");
        o = find_option(word, len);
        value = word[len] ? word + len + 1 : NULL;
    } else {
        o = find_short(word[1]);
        value = word[2] ? word + 2 : NULL;
    }
    if (!o)
        return FAULT(f, "Unknown option '%s'; avroctl --help lists all.", word);
    if (o->kind == KIND_FLAG && !value) {
        *(bool *)((char *)a + o->offset) = true;
        return true;
    }
    if (!value && ++*at == argc)
        return FAULT(f, "%s %s: the value is missing.", o->name, o->argument);
    return set_value(a, o, value ? value : argv[*at], f);
}

/* Of one word or two: how many, 0 if it is none. */
static unsigned find_command(char *const *words, unsigned n, const struct command **out)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const char *name = commands[i].name, *space = strchr(name, ' ');
        size_t len = space ? (size_t)(space - name) : strlen(name);
        if (n < 1 || strlen(words[0]) != len || memcmp(words[0], name, len) != 0)
            continue;
        if (space && (n < 2 || strcmp(words[1], space + 1) != 0))
            continue;
        *out = &commands[i];
        return space ? 2 : 1;
    }
    return 0;
}

static bool is_group(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const char *space = strchr(commands[i].name, ' ');
        if (space && strlen(word) == (size_t)(space - commands[i].name) &&
            memcmp(word, commands[i].name, strlen(word)) == 0)
            return true;
    }
    return false;
}

static bool take_words(struct args *a, char **words, unsigned n, struct fault *f)
{
    unsigned taken = find_command(words, n, &a->command);
    if (n == 0 || (a->help && n == 1 && is_group(words[0])))
        return true;
    if (!taken && is_group(words[0]))
        return FAULT(f, "'%s' goes on with another word; avroctl --help lists them.", words[0]);
    if (!taken)
        return FAULT(f, "There is no command '%s'; avroctl --help lists all.", words[0]);
    a->nwords = n - taken;
    if (a->help)
        return true;
    if (a->nwords < a->command->least || a->nwords > a->command->most)
        return FAULT(f, "usage: avroctl %s %s", a->command->name, a->command->arguments);
    for (unsigned i = 0; i < a->nwords; i++)
        a->words[i] = words[taken + i];
    return true;
}

static bool check_options(const struct args *a, struct fault *f)
{
    for (size_t i = GENERAL_OPTIONS; a->command && i < OPTIONS; i++)
        if (is_set(a, &options[i]) && !goes_with(a->command, i))
            return FAULT(f, "%s is no option of avroctl %s.", options[i].name, a->command->name);
    return true;
}

bool args_parse(struct args *a, int argc, char **argv, char *fault, size_t room)
{
    struct fault f = {fault, room};
    char *words[ARGS_WORDS_MAX + 2];
    unsigned nwords = 0;
    bool only_words = false;
    *a = (struct args){0};
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
            if (!take_option(a, argc, argv, &i, &f))
                return false;
        } else if (nwords < ARRAY_LEN(words))
            words[nwords++] = argv[i];
        else
            return FAULT(&f, "There are more words than any command takes.");
    }
    return take_words(a, words, nwords, &f) && set_from_environment(a, &f) && check_options(a, &f);
}

size_t args_numbers(const char *text, uint64_t max, uint64_t *out, size_t room)
{
    size_t n = 0;
    for (;;) {
        size_t len = strcspn(text, ",");
        if (n == room || !num_parse_decimal(slice_of(text, len), max, &out[n]) || !out[n])
            return 0;
        n++;
        if (!text[len])
            return n;
        text += len + 1;
    }
}

/* ---- help ---- */

static void print_lines(const char *indent, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        printf("%s%.*s\n", indent, (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void print_option(const struct option *o)
{
    printf("  %s", o->name);
    if (o->short_name)
        printf(", -%c", o->short_name);
    if (o->argument)
        printf(" %s", o->argument);
    if (o->env)
        printf("  (or %s)", o->env);
    printf("\n");
    print_lines("        ", o->help);
}

static void print_exit_codes(void)
{
    printf("\nexit codes:\n"
           "  0  done\n"
           "  1  the server refused it, or an answer was not what it should be\n"
           "  2  wrong usage\n"
           "  3  no connection\n"
           "  4  no answer: time was up, or it was cut; what was to be changed may have been\n"
           "  5  something here: a file, standard output, memory\n");
}

static void print_all_commands(void)
{
    printf("avroctl - the client of avrod, a store for typed records\n\n"
           "usage: avroctl [options] COMMAND ...\n"
           "       avroctl COMMAND --help\n\ncommands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  %s%s%s\n        %s\n", commands[i].name, *commands[i].arguments ? " " : "",
               commands[i].arguments, commands[i].summary);
}

void args_print_help(const struct command *c)
{
    if (c) {
        printf("usage: avroctl %s%s%s\n\n%s\n", c->name, *c->arguments ? " " : "", c->arguments, c->summary);
        print_lines("", c->more);
        if (c->options)
            printf("\noptions:\n");
        for (size_t i = GENERAL_OPTIONS; i < OPTIONS; i++)
            if (c->options >> i & 1)
                print_option(&options[i]);
    } else {
        print_all_commands();
    }
    printf("\noptions of all commands:\n");
    for (size_t i = 0; i < GENERAL_OPTIONS; i++)
        print_option(&options[i]);
    print_exit_codes();
}

void args_print_words(const struct command *c)
{
    for (size_t i = 0; !c && i < ARRAY_LEN(commands); i++)
        printf("%s\n", commands[i].name);
    for (size_t i = 0; i < OPTIONS; i++)
        if (goes_with(c, i))
            printf("%s%s\n", options[i].name, options[i].kind == KIND_FLAG ? "" : "=");
}
