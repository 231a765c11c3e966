/* server/options.c - command line, environment and file to struct options; then what fits only together. */
#include "server/options.h"

#include <stdarg.h>

#include "server/options_file.h"
#include "server/options_value.h"
#include "server/words.h"

/* ---- what fits only together ---- */

/* Of a value that option_set has taken and is wrong all the same: the words begin as its do. */
PRINTF_LIKE(4, 5)
static enum rc wrong(const struct options *o, enum option_id id, struct err *err, const char *format, ...)
{
    const struct option_source *source = &o->source[id];
    struct option_name name;
    struct ini_place place = {""};
    char why[128];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (source->from == FROM_FILE)
        ini_place_of(o->config, source->line, &place);
    return err_set(err, ERR_CONFIG, "%s%s%s %s", place.text, *place.text ? ": " : "",
                   option_name(id, source->from, &name), why);
}

/* One of those that are done instead of serving. */
static enum rc check_care(const struct options *o, struct err *err)
{
    if (!!o->restore + !!o->compact + !!o->fsck > 1)
        return err_set(err, ERR_CONFIG, "--restore, --compact and --fsck are done one at a time.");
    if (o->restore && !o->operand)
        return err_set(err, ERR_CONFIG, "--restore FILE DIR: the directory is missing.");
    return RC_OK;
}

static enum rc check(struct options *o, struct err *err)
{
    struct words words;
    if (o->operand && !o->restore)
        return err_set(err, ERR_CONFIG, "'%s' belongs to no option; --help lists all.",
                       words_of(slice_str(o->operand), &words));
    if ((o->mark_clean || o->json) && !o->fsck)
        return err_set(err, ERR_CONFIG, "%s is for --fsck alone.", o->json ? "--json" : "--mark-clean");
    if (o->restore || o->compact || o->fsck)
        return check_care(o, err);
    o->astore = o->compat && !strcmp(o->compat, "astore");
    if (o->print_config)
        return RC_OK; /* it shows, and judges nothing */
    if (o->compat && !o->astore)
        return wrong(o, OPTION_ID_compat, err, "is astore, not '%s'.",
                     words_of(slice_str(o->compat), &words));
    o->access_combined = !strcmp(o->access_log_format, "combined");
    if (!o->access_combined && strcmp(o->access_log_format, "json") != 0)
        return wrong(o, OPTION_ID_access_log_format, err, "is json or combined, not '%s'.",
                     words_of(slice_str(o->access_log_format), &words));
    if (o->access_log && !*o->access_log)
        return wrong(o, OPTION_ID_access_log, err, "is empty; it names a file.");
    if (!o->data && strcmp(o->engine, "memory") != 0)
        return err_set(err, ERR_CONFIG, "--data DIR says where the store is; it must be given (--help).");
    if (o->data && !*o->data)
        return wrong(o, OPTION_ID_data, err, "is empty; it names a directory.");
    if (o->bodies_budget < o->body_max)
        return wrong(o, OPTION_ID_bodies_budget, err,
                     "is less than --body-max: a body of that length could never come.");
    return RC_OK;
}

/* ---- one value after the other, the weakest first ---- */

/* Which file, and whether anything but serving is asked for, must be known before the rest. */
enum pass { PASS_AHEAD, PASS_REST };

static bool is_ahead(enum option_id id)
{
    return id == OPTION_ID_config || option_is_action(id);
}

static enum rc take(struct options *out, enum pass pass, enum option_id id, enum option_from from,
                    const char *value, struct err *err)
{
    const struct option_source source = {.from = from};
    if (is_ahead(id) != (pass == PASS_AHEAD))
        return RC_OK;
    return option_set(out, id, source, value, err);
}

/* What stands alone behind --restore FILE. */
static bool is_operand(const struct options *o, const char *word)
{
    return *word && *word != '-' && (!o->operand || o->operand == word);
}

/* The option at argv[*at], which comes to stand on its last word; *value NULL: it is alone. */
static enum rc read_argument(int argc, char *const *argv, int *at, enum option_id *id, const char **value,
                             struct err *err)
{
    const char *word = argv[*at], *equals = strchr(word, '=');
    struct slice name = equals ? slice_of(word, (size_t)(equals - word)) : slice_str(word);
    struct words words;
    *id = option_find(name, FROM_COMMAND_LINE);
    if (*id == OPTION_IDS)
        return err_set(err, ERR_CONFIG, "Unknown option '%s'; --help lists all.", words_of(name, &words));
    const struct option *o = &options_table[*id];
    *value = equals ? equals + 1 : NULL;
    if (equals || !o->argument)
        return RC_OK;
    if (++*at == argc)
        return err_set(err, ERR_CONFIG, "%s %s: the value is missing.", o->name, o->argument);
    *value = argv[*at];
    return RC_OK;
}

static enum rc take_command_line(struct options *out, enum pass pass, int argc, char *const *argv,
                                 struct err *err)
{
    for (int i = 1; i < argc; i++) {
        enum option_id id;
        const char *value = NULL;
        if (is_operand(out, argv[i])) {
            out->operand = argv[i];
            continue;
        }
        if (read_argument(argc, argv, &i, &id, &value, err) != RC_OK ||
            take(out, pass, id, FROM_COMMAND_LINE, value, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

/* Up to the sign of equality; empty: not one of avrod's. */
static struct slice variable_name(const char *variable)
{
    struct slice name = slice_of(variable, strcspn(variable, "="));
    return slice_starts(name, SLICE("AVROD_")) ? name : slice_of(NULL, 0);
}

static enum rc take_environment(struct options *out, enum pass pass, char *const *environment,
                                struct err *err)
{
    for (; *environment; environment++) {
        struct slice name = variable_name(*environment);
        enum option_id id = name.len ? option_find(name, FROM_ENVIRONMENT) : OPTION_IDS;
        if (id != OPTION_IDS &&
            take(out, pass, id, FROM_ENVIRONMENT, *environment + name.len + 1, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static bool is_avroctls(struct slice name)
{
    static const char *const names[] = {"AVROD_URL",      "AVROD_USER",    "AVROD_PASSWORD",
                                        "AVROD_TOKEN",    "AVROD_CA_FILE", "AVROD_CERT_FILE",
                                        "AVROD_KEY_FILE", "AVROD_PROGRAM"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_eq(name, slice_str(names[i])))
            return true;
    return false;
}

struct slice options_stray(char *const **environment)
{
    while (**environment) {
        struct slice name = variable_name(*(*environment)++);
        if (name.len && option_find(name, FROM_ENVIRONMENT) == OPTION_IDS && !is_avroctls(name))
            return name;
    }
    return slice_of(NULL, 0);
}

/* ---- all of it ---- */

enum rc options_parse(struct options *out, int argc, char *const *argv, char *const *environment,
                      struct err *err)
{
    *out = options_defaults;
    if (take_environment(out, PASS_AHEAD, environment, err) != RC_OK ||
        take_command_line(out, PASS_AHEAD, argc, argv, err) != RC_OK)
        return RC_ERR;
    if (out->help || out->version)
        return RC_OK; /* also where the rest is wrong */
    if ((out->config && options_file_take(out, out->config, err) != RC_OK) ||
        take_environment(out, PASS_REST, environment, err) != RC_OK ||
        take_command_line(out, PASS_REST, argc, argv, err) != RC_OK)
        return RC_ERR;
    return check(out, err);
}

void options_release(struct options *options)
{
    arena_release(&options->texts);
}
