/* server/options.c - argv to struct options, by the table options.def. */
#include "server/options.h"

#include <stddef.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/num.h"
#include "server/words.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_BYTES, KIND_DURABILITY, KIND_FLAG, KIND_ACTION };

static const struct option {
    const char *name, *argument, *help;
    enum kind kind;
    size_t offset;
} table[] = {
#define OPTION(field, name_, kind_, default_, argument_, help_)                                              \
    {.name = name_,                                                                                          \
     .argument = argument_,                                                                                  \
     .help = help_,                                                                                          \
     .kind = KIND_##kind_,                                                                                   \
     .offset = offsetof(struct options, field)},
#include "server/options.def"
#undef OPTION
};

static const struct options defaults = {
#define OPTION(field, name, kind, default_, argument, help) .field = default_,
#include "server/options.def"
#undef OPTION
};

static const char *const durability_names[] = {
    [DURABLE_SYNC] = "sync", [DURABLE_ASYNC] = "async", [DURABLE_NONE] = "none"};

static const struct unit {
    struct slice name;
    unsigned shift;
} units[] = {
    {{(const uint8_t *)"TiB", 3}, 40}, {{(const uint8_t *)"GiB", 3}, 30}, {{(const uint8_t *)"MiB", 3}, 20},
    {{(const uint8_t *)"KiB", 3}, 10}, {{(const uint8_t *)"", 0}, 0},
};

/* ---- values ---- */

static bool parse_bytes(struct slice text, uint64_t *out)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        struct slice unit = units[i].name;
        if (text.len <= unit.len || !slice_eq(slice_of(text.ptr + text.len - unit.len, unit.len), unit))
            continue;
        if (!num_parse_decimal(slice_of(text.ptr, text.len - unit.len), UINT64_MAX >> units[i].shift, out))
            return false;
        *out <<= units[i].shift;
        return true;
    }
    return false;
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

static enum rc set_value(struct options *out, const struct option *o, const char *value, struct err *err)
{
    void *field = (char *)out + o->offset;
    struct slice text = slice_str(value);
    struct words words;
    uint64_t number;
    words_of(text, &words);
    switch (o->kind) {
    case KIND_TEXT: memcpy(field, &value, sizeof value); return RC_OK;
    case KIND_COUNT:
        if (!num_parse_decimal(text, UINT32_MAX, &number))
            return err_set(err, ERR_CONFIG, "%s takes a number, not '%s'.", o->name, words.text);
        *(unsigned *)field = (unsigned)number;
        return RC_OK;
    case KIND_BYTES:
        if (!parse_bytes(text, (uint64_t *)field))
            return err_set(err, ERR_CONFIG, "%s takes a number of bytes, such as 16MiB, not '%s'.", o->name,
                           words.text);
        return RC_OK;
    case KIND_DURABILITY:
        if (!parse_durability(text, (enum durability *)field))
            return err_set(err, ERR_CONFIG, "%s is sync, async or none, not '%s'.", o->name, words.text);
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
    if (!o->data && strcmp(o->engine, "memory") != 0)
        return err_set(err, ERR_CONFIG, "--data DIR says where the store is; it must be given (--help).");
    if (o->data && !*o->data)
        return err_set(err, ERR_CONFIG, "--data is empty; it names a directory.");
    if (!o->body_max)
        return err_set(err, ERR_CONFIG, "--body-max is at least 1.");
    if (!o->connections_max)
        return err_set(err, ERR_CONFIG, "--connections-max is at least 1.");
    if (o->threads > OPTIONS_THREADS_MAX)
        return err_set(err, ERR_CONFIG, "--threads is at most %d.", OPTIONS_THREADS_MAX);
    return RC_OK;
}

enum rc options_parse(struct options *out, int argc, char **argv, struct err *err)
{
    *out = defaults;
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

static void print_bytes(uint64_t n)
{
    size_t i = 0;
    while (units[i].shift && (!n || n & ((UINT64_C(1) << units[i].shift) - 1)))
        i++;
    printf("%llu%.*s", (unsigned long long)(n >> units[i].shift), (int)units[i].name.len,
           (const char *)units[i].name.ptr);
}

static void print_default(const struct option *o)
{
    const void *field = (const char *)&defaults + o->offset;
    const char *text;
    if (o->kind == KIND_ACTION)
        return;
    printf("  (default: ");
    switch (o->kind) {
    case KIND_TEXT:
        memcpy(&text, field, sizeof text);
        printf("%s", text ? text : "none");
        break;
    case KIND_COUNT: printf("%u", *(const unsigned *)field); break;
    case KIND_BYTES: print_bytes(*(const uint64_t *)field); break;
    case KIND_DURABILITY: printf("%s", durability_names[*(const enum durability *)field]); break;
    case KIND_FLAG: printf("off"); break;
    case KIND_ACTION: break;
    }
    printf(")");
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
    }
}
