/* server/options_value.c - see options_value.h. */
#include "server/options_value.h"

#include <stddef.h>

#include "base/num.h"
#include "server/words.h"

const struct option options_table[OPTION_IDS] = {
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

/* The words of a FLAG, no and yes in turn; the first two are printed. */
static const char *const flag_words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};

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
    [KIND_ACTION_ON] = {0},
};

/* ---- names ---- */

const char *option_name(enum option_id id, enum option_from from, struct option_name *out)
{
    const char *name = options_table[id].name;
    if (from == FROM_ENVIRONMENT) {
        snprintf(out->text, sizeof out->text, "AVROD_%s", name + 2);
        for (char *c = out->text; *c; c++)
            *c = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    } else {
        snprintf(out->text, sizeof out->text, "%s", from == FROM_FILE ? name + 2 : name);
    }
    return out->text;
}

bool option_is_action(enum option_id id)
{
    return options_table[id].kind == KIND_ACTION || options_table[id].kind == KIND_ACTION_ON;
}

static bool may_stand(enum option_id id, enum option_from from)
{
    if (option_is_action(id))
        return from == FROM_COMMAND_LINE;
    return id != OPTION_ID_config || from != FROM_FILE;
}

enum option_id option_find(struct slice name, enum option_from from)
{
    struct option_name called;
    for (enum option_id id = 0; id < OPTION_IDS; id++)
        if (may_stand(id, from) && slice_eq(name, slice_str(option_name(id, from, &called))))
            return id;
    return OPTION_IDS;
}

/* ---- numbers ---- */

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

bool option_parse_bytes(struct slice text, uint64_t *out)
{
    return parse_number(&numerics[KIND_BYTES], text, out);
}

/* As parse_number takes it, in the largest unit that leaves it whole. */
static const char *print_number(const struct numeric *n, uint64_t value, char out[OPTION_NUMBER_BYTES])
{
    const struct unit *best = NULL;
    for (size_t i = 0; i < n->nunits; i++)
        if (value % n->units[i].factor == 0 && (value || n->units[i].factor == 1) &&
            (!best || n->units[i].factor > best->factor))
            best = &n->units[i];
    snprintf(out, OPTION_NUMBER_BYTES, "%llu%.*s", (unsigned long long)(value / best->factor),
             (int)best->name.len, (const char *)best->name.ptr);
    return out;
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

static enum rc set_number(void *field, const struct option *o, const char *name, struct slice text,
                          struct err *err)
{
    const struct numeric *n = &numerics[o->kind];
    char least[OPTION_NUMBER_BYTES], most[OPTION_NUMBER_BYTES];
    struct words words;
    uint64_t number;
    words_of(text, &words);
    if (!parse_number(n, text, &number))
        return err_set(err, ERR_CONFIG, "%s takes %s, not '%s'.", name, n->takes, words.text);
    if (number < o->least)
        return err_set(err, ERR_CONFIG, "%s is at least %s, not '%s'.", name,
                       print_number(n, o->least, least), words.text);
    if (number > o->most)
        return err_set(err, ERR_CONFIG, "%s is at most %s, not '%s'.", name, print_number(n, o->most, most),
                       words.text);
    if (o->kind == KIND_BYTES)
        *(uint64_t *)field = number;
    else if (o->kind == KIND_COUNT)
        *(unsigned *)field = (unsigned)number;
    else
        *(uint32_t *)field = (uint32_t)number;
    return RC_OK;
}

/* ---- values ---- */

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

static bool parse_flag(struct slice text, bool *out)
{
    for (size_t i = 0; i < ARRAY_LEN(flag_words); i++) {
        if (slice_eq(text, slice_str(flag_words[i]))) {
            *out = i % 2;
            return true;
        }
    }
    return false;
}

static enum rc set_field(void *field, const struct option *o, const char *name, const char *value,
                         struct err *err)
{
    struct slice text = slice_str(value ? value : flag_words[true]);
    struct words words;
    switch (o->kind) {
    case KIND_TEXT:
    case KIND_ACTION_ON: memcpy(field, &value, sizeof value); return RC_OK;
    case KIND_COUNT:
    case KIND_BYTES:
    case KIND_DURATION: return set_number(field, o, name, text, err);
    case KIND_DURABILITY:
        if (parse_durability(text, field))
            return RC_OK;
        return err_set(err, ERR_CONFIG, "%s is sync, async or none, not '%s'.", name, words_of(text, &words));
    case KIND_FLAG:
        if (parse_flag(text, field))
            return RC_OK;
        return err_set(err, ERR_CONFIG, "%s is on or off, not '%s'.", name, words_of(text, &words));
    case KIND_ACTION: break;
    }
    if (value)
        return err_set(err, ERR_CONFIG, "%s takes no value.", name);
    *(bool *)field = true;
    return RC_OK;
}

enum rc option_set(struct options *options, enum option_id id, struct option_source source, const char *value,
                   struct err *err)
{
    const struct option *o = &options_table[id];
    struct option_name name;
    option_name(id, source.from, &name);
    if (set_field((char *)options + o->offset, o, name.text, value, err) != RC_OK)
        return RC_ERR;
    options->source[id] = source;
    return RC_OK;
}

bool option_is_none(const struct options *options, enum option_id id)
{
    const struct option *o = &options_table[id];
    const char *text = "";
    if (o->kind == KIND_TEXT)
        memcpy(&text, (const char *)options + o->offset, sizeof text);
    return !text;
}

const char *option_text(const struct options *options, enum option_id id, char number[OPTION_NUMBER_BYTES])
{
    const struct option *o = &options_table[id];
    const void *field = (const char *)options + o->offset;
    const char *text;
    switch (o->kind) {
    case KIND_TEXT: memcpy(&text, field, sizeof text); return text ? text : "";
    case KIND_COUNT:
    case KIND_BYTES:
    case KIND_DURATION: return print_number(&numerics[o->kind], number_of(options, o), number);
    case KIND_DURABILITY: return durability_names[*(const enum durability *)field];
    case KIND_FLAG: return flag_words[*(const bool *)field];
    case KIND_ACTION:
    case KIND_ACTION_ON: break;
    }
    return "";
}

void option_print_range(const struct option *o, FILE *out)
{
    const struct numeric *n = &numerics[o->kind];
    char least[OPTION_NUMBER_BYTES], most[OPTION_NUMBER_BYTES];
    if (!n->nunits || (o->least == 0 && o->most == UINT64_MAX))
        return;
    if (o->most == UINT64_MAX)
        fprintf(out, "        At least %s.\n", print_number(n, o->least, least));
    else
        fprintf(out, "        From %s to %s.\n", print_number(n, o->least, least),
                print_number(n, o->most, most));
}
