/* server/options.c - argv to struct options, by the table options.def. */
#include "server/options.h"

#include <stddef.h>
#include <stdio.h>

#include "base/num.h"
#include "server/words.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_BYTES, KIND_DURATION, KIND_DURABILITY, KIND_FLAG, KIND_ACTION };

static const struct option {
    const char *name, *argument, *help;
    enum kind kind;
    size_t offset;
    uint64_t least, most;
} table[] = {
#define OPTION(field, name_, kind_, default_, least_, most_, argument_, help_)                               \
    {.name = name_,                                                                                          \
     .argument = argument_,                                                                                  \
     .help = help_,                                                                                          \
     .kind = KIND_##kind_,                                                                                   \
     .offset = offsetof(struct options, field),                                                              \
     .least = least_,                                                                                        \
     .most = most_},
#include "server/options.def"
#undef OPTION
};

const struct options options_defaults = {
#define OPTION(field, name, kind, default_, least, most, argument, help) .field = default_,
#include "server/options.def"
#undef OPTION
};

static const char *const durability_names[] = {
    [DURABLE_SYNC] = "sync", [DURABLE_ASYNC] = "async", [DURABLE_NONE] = "none"};

/* What a number may have behind it, the largest first; the last is what none means, if anything. */
struct unit {
    struct slice name;
    uint64_t factor;
};
#define UNIT(text, factor_)                                                                                  \
    {                                                                                                        \
        .name = {(const uint8_t *)(text), sizeof(text) - 1}, .factor = (factor_)                             \
    }
static const struct unit byte_units[] = {UNIT("TiB", UINT64_C(1) << 40), UNIT("GiB", 1 << 30),
                                         UNIT("MiB", 1 << 20), UNIT("KiB", 1 << 10), UNIT("", 1)};
static const struct unit time_units[] = {UNIT("ms", 1), UNIT("h", 3600000), UNIT("m", 60000),
                                         UNIT("s", 1000)};

static const struct numeric {
    const struct unit *units;
    size_t nunits;
    const char *takes; /* in a sentence */
} numerics[] = {
    [KIND_COUNT] = {&byte_units[ARRAY_LEN(byte_units) - 1], 1, "a number"},
    [KIND_BYTES] = {byte_units, ARRAY_LEN(byte_units), "a number of bytes, such as 16MiB"},
    [KIND_DURATION] = {time_units, ARRAY_LEN(time_units), "a time, such as 10s or 500ms"},
    [KIND_ACTION] = {0},
};

/* ---- values ---- */

static bool parse_number(const struct numeric *n, struct slice text, uint64_t *out)
{
    for (size_t i = 0; i < n->nunits; i++) {
        struct slice unit = n->units[i].name;
        if (text.len <= unit.len || !slice_eq(slice_of(text.ptr + text.len - unit.len, unit.len), unit))
            continue;
        if (!num_parse_decimal(slice_of(text.ptr, text.len - unit.len), UINT64_MAX / n->units[i].factor, out))
            return false;
        *out *= n->units[i].factor;
        return true;
    }
    return false;
}

enum { NUMBER_TEXT_BYTES = 32 };

/* As parse_number takes it, in the largest unit that leaves it whole. */
static const char *print_number(const struct numeric *n, uint64_t value, char out[NUMBER_TEXT_BYTES])
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < n->nunits; i++)
        if (value % n->units[i].factor == 0 && (value || n->units[i].factor == 1) &&
            (!best || n->units[i].factor > best->factor))
            best = &n->units[i];
    snprintf(out, NUMBER_TEXT_BYTES, "%llu%.*s", (unsigned long long)(value / best->factor),
             (int)best->name.len, (const char *)best->name.ptr);
    return out;
}

static bool parse_durability(struct slice text, enum durability *out)
{
    for (size_t i = 0; i < ARRAY_LEN(durability_names); i++) {
        if (slice_eq(text, slice_str(durability_names[i]))) {
            *out = (enum durability)i;
            return true;
        }
    }
    return false;
}

static uint64_t number_of(const struct options *options, const struct option *o)
{
    const void *field = (const char *)options + o->offset;
    switch (o->kind) {
    case KIND_COUNT: return *(const unsigned *)field;
    case KIND_DURATION: return *(const uint32_t *)field;
    default: return *(const uint64_t *)field;
    }
}

static enum rc set_number(void *field, const struct option *o, struct slice text, struct err *err)
{
    const struct numeric *n = &numerics[o->kind];
    char least[NUMBER_TEXT_BYTES], most[NUMBER_TEXT_BYTES];
    struct words words;
    uint64_t number;
    words_of(text, &words);
    if (!parse_number(n, text, &number))
        return err_set(err, ERR_CONFIG, "%s takes %s, not '%s'.", o->name, n->takes, words.text);
    if (number < o->least)
        return err_set(err, ERR_CONFIG, "%s is at least %s, not '%s'.", o->name,
                       print_number(n, o->least, least), words.text);
    if (number > o->most)
        return err_set(err, ERR_CONFIG, "%s is at most %s, not '%s'.", o->name,
                       print_number(n, o->most, most), words.text);
    if (o->kind == KIND_BYTES)
        *(uint64_t *)field = number;
    else if (o->kind == KIND_COUNT)
        *(unsigned *)field = (unsigned)number;
    else
        *(uint32_t *)field = (uint32_t)number;
    return RC_OK;
}

static enum rc set_value(struct options *out, const struct option *o, const char *value, struct err *err)
{
    void *field = (char *)out + o->offset;
    struct words words;
    switch (o->kind) {
    case KIND_TEXT: memcpy(field, &value, sizeof value); return RC_OK;
    case KIND_COUNT:
    case KIND_BYTES:
    case KIND_DURATION: return set_number(field, o, slice_str(value), err);
    case KIND_DURABILITY:
        if (!parse_durability(slice_str(value), (enum durability *)field))
            return err_set(err, ERR_CONFIG, "%s is sync, async or none, not '%s'.", o->name,
                           words_of(slice_str(value), &words));
        return RC_OK;
    case KIND_FLAG:
    case KIND_ACTION: break;
    }
    return err_set(err, ERR_CONFIG, "%s takes no value.", o->name);
}

/* ---- the whole line ---- */

static const struct option *find(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (slice_eq(name, slice_str(table[i].name)))
            return &table[i];
    return NULL;
}

/* What fits only together. */
static enum rc check(struct options *o, struct err *err)
{
    struct words words;
    o->astore = o->compat && !strcmp(o->compat, "astore");
    if (o->help || o->version)
        return RC_OK;
    if (o->compat && !o->astore)
        return err_set(err, ERR_CONFIG, "--compat is astore, not '%s'.",
                       words_of(slice_str(o->compat), &words));
    o->access_combined = !strcmp(o->access_log_format, "combined");
    if (!o->access_combined && strcmp(o->access_log_format, "json") != 0)
        return err_set(err, ERR_CONFIG, "--access-log-format is json or combined, not '%s'.",
                       words_of(slice_str(o->access_log_format), &words));
    if (o->access_log && !*o->access_log)
        return err_set(err, ERR_CONFIG, "--access-log is empty; it names a file.");
    if (!o->data && strcmp(o->engine, "memory") != 0)
        return err_set(err, ERR_CONFIG, "--data DIR says where the store is; it must be given (--help).");
    if (o->data && !*o->data)
        return err_set(err, ERR_CONFIG, "--data is empty; it names a directory.");
    if (o->bodies_budget < o->body_max)
        return err_set(err, ERR_CONFIG,
                       "--bodies-budget is less than --body-max: a body of that length could never come.");
    return RC_OK;
}

enum rc options_parse(struct options *out, int argc, char **argv, struct err *err)
{
    *out = options_defaults;
    for (int i = 1; i < argc; i++) {
        const char *eq = strchr(argv[i], '=');
        struct slice name = eq ? slice_of(argv[i], (size_t)(eq - argv[i])) : slice_str(argv[i]);
        const struct option *o = find(name);
        struct words words;
        if (!o)
            return err_set(err, ERR_CONFIG, "Unknown option '%s'; --help lists all.", words_of(name, &words));
        if (!o->argument && !eq) {
            *(bool *)((char *)out + o->offset) = true;
            continue;
        }
        if (!eq && ++i == argc)
            return err_set(err, ERR_CONFIG, "%s %s: the value is missing.", o->name, o->argument);
        if (set_value(out, o, eq ? eq + 1 : argv[i], err) != RC_OK)
            return RC_ERR;
    }
    return check(out, err);
}

/* ---- help ---- */

static void print_default(const struct option *o)
{
    const void *field = (const char *)&options_defaults + o->offset;
    const char *text;
    char number[NUMBER_TEXT_BYTES];
    if (o->kind == KIND_ACTION)
        return;
    printf("  (default: ");
    switch (o->kind) {
    case KIND_TEXT:
        memcpy(&text, field, sizeof text);
        printf("%s", text ? text : "none");
        break;
    case KIND_COUNT:
    case KIND_BYTES:
    case KIND_DURATION:
        printf("%s", print_number(&numerics[o->kind], number_of(&options_defaults, o), number));
        break;
    case KIND_DURABILITY: printf("%s", durability_names[*(const enum durability *)field]); break;
    case KIND_FLAG: printf("off"); break;
    case KIND_ACTION: break;
    }
    printf(")");
}

static void print_range(const struct option *o)
{
    const struct numeric *n = &numerics[o->kind];
    char least[NUMBER_TEXT_BYTES], most[NUMBER_TEXT_BYTES];
    if (!n->nunits || (o->least == 0 && o->most == UINT64_MAX))
        return;
    if (o->most == UINT64_MAX)
        printf("        At least %s.\n", print_number(n, o->least, least));
    else
        printf("        From %s to %s.\n", print_number(n, o->least, least), print_number(n, o->most, most));
}

void options_print_help(void)
{
    printf("avrod - a store for typed records over HTTP\n\n"
           "usage: avrod --data DIR [options]\n\n");
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const struct option *o = &table[i];
        printf("  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        print_default(o);
        printf("\n");
        for (const char *line = o->help; *line;) {
            size_t len = strcspn(line, "\n");
            printf("        %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
        print_range(o);
    }
}
