/* server/type_options.c - see type_options.h. */
#include "server/type_options.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/num.h"
#include "schema/schema.h"
#include "server/json_form.h"
#include "server/options_value.h"
#include "server/params.h"
#include "server/words.h"

static const char *const missing_names[] = {
    [MISSING_DEFAULT] = "default", [MISSING_ZERO] = "zero", [MISSING_REJECT] = "reject"};
static const char *const unknown_names[] = {[UNKNOWN_REJECT] = "reject", [UNKNOWN_IGNORE] = "ignore"};

static const char *const compression_names[] = {[COMPRESSION_NONE] = "none", [COMPRESSION_ZSTD] = "zstd"};

/* Any record's own bounds are the most that can be said: an item takes a byte, or is one of LIMIT_EMPTY_ITEMS_MAX. */
static const struct {
    enum param_id param;
    const char *name, *what;
    uint32_t most;
    size_t at; /* in struct codec_limits */
} limits[TYPE_LIMITS] = {
    [TYPE_LIMIT_BYTES] = {PARAM_max_record_bytes, "max_record_bytes", "bytes", LIMIT_RECORD_MAX,
                          offsetof(struct codec_limits, bytes)},
    [TYPE_LIMIT_ITEMS] = {PARAM_max_items, "max_items", "items", LIMIT_RECORD_MAX,
                          offsetof(struct codec_limits, items)},
    [TYPE_LIMIT_DEPTH] = {PARAM_max_depth, "max_depth", "levels", LIMIT_DATA_DEPTH_MAX,
                          offsetof(struct codec_limits, depth)},
};

const char *type_limit_name(enum type_limit i)
{
    return limits[i].name;
}

uint32_t *type_limit_of(struct type_options *o, enum type_limit i)
{
    return (uint32_t *)((char *)&o->limits + limits[i].at);
}

static COLD enum rc refuse(const char *option, struct slice value, const char *const *names, size_t n,
                           struct err *err)
{
    char list[128] = "";
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        int more = snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", names[i]);
        assert(more > 0 && (size_t)more < sizeof list - len);
        len += (size_t)more;
    }
    struct words words;
    return err_set(err, ERR_BAD_PARAMETER, "%s cannot be '%s'; it is one of: %s.", option,
                   words_of(value, &words), list);
}

static enum rc parse(const struct request *req, enum param_id id, const char *option,
                     const char *const *names, size_t n, bool *has, uint8_t *out, struct err *err)
{
    const struct slice *value = params_find(req, id);
    *has = value != NULL;
    if (!value)
        return RC_OK;
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(*value, slice_str(names[i]))) {
            *out = (uint8_t)i;
            return RC_OK;
        }
    }
    return refuse(option, *value, names, n, err);
}

static enum rc parse_ttl(const struct request *req, struct type_options_given *out, struct err *err)
{
    const struct slice *value = params_find(req, PARAM_ttl);
    out->has_ttl = value != NULL;
    if (!value || slice_eq(*value, SLICE("none")))
        return RC_OK;
    return params_ttl(*value, " or none", &out->value.ttl_s, err);
}

static enum rc parse_limit(const struct request *req, enum type_limit i, struct type_options_given *out,
                           struct err *err)
{
    const struct slice *value = params_find(req, limits[i].param);
    uint64_t n = 0;
    struct words words;
    if (!value)
        return RC_OK;
    if (!slice_eq(*value, SLICE("none")) && (!num_parse_decimal(*value, limits[i].most, &n) || n == 0))
        return err_set(err, ERR_BAD_PARAMETER, "%s is a number of %s from 1 to %u or none, not '%s'.",
                       limits[i].name, limits[i].what, limits[i].most, words_of(*value, &words));
    out->limit_mask |= (uint8_t)(1u << i);
    *type_limit_of(&out->value, i) = (uint32_t)n;
    return RC_OK;
}

static enum rc parse_limits(const struct request *req, struct type_options_given *out, struct err *err)
{
    for (unsigned i = 0; i < TYPE_LIMITS; i++)
        if (parse_limit(req, (enum type_limit)i, out, err) != RC_OK)
            return RC_ERR;
    return RC_OK;
}

static enum rc parse_max_size(const struct request *req, struct type_options_given *out, struct err *err)
{
    const struct slice *value = params_find(req, PARAM_max_size);
    struct words words;
    out->has_max_size = value != NULL;
    if (!value || slice_eq(*value, SLICE("none")))
        return RC_OK;
    if (option_parse_bytes(*value, &out->value.max_size) && out->value.max_size)
        return RC_OK;
    return err_set(err, ERR_BAD_PARAMETER,
                   "max_size is a number of bytes from 1, such as 512MiB, or none, not '%s'.",
                   words_of(*value, &words));
}

enum rc type_options_parse(const struct request *req, struct type_options_given *out, struct err *err)
{
    struct type_options *v = &out->value;
    if (parse(req, PARAM_missing, "missing", missing_names, ARRAY_LEN(missing_names), &out->has_missing,
              &v->missing, err) != RC_OK ||
        parse(req, PARAM_unknown, "unknown", unknown_names, ARRAY_LEN(unknown_names), &out->has_unknown,
              &v->unknown, err) != RC_OK ||
        parse(req, PARAM_compression, "compression", compression_names, ARRAY_LEN(compression_names),
              &out->has_compression, &v->compression, err) != RC_OK)
        return RC_ERR;
    if (parse_ttl(req, out, err) != RC_OK || parse_limits(req, out, err) != RC_OK ||
        parse_max_size(req, out, err) != RC_OK ||
        json_form_parse(req, &v->form, &out->form_mask, err) != RC_OK)
        return RC_ERR;
    const char *modes[COMPAT_MODES];
    for (unsigned i = 0; i < COMPAT_MODES; i++)
        modes[i] = compat_mode_name((enum compat_mode)i);
    return parse(req, PARAM_compatibility, "compatibility", modes, COMPAT_MODES, &out->has_compatibility,
                 &v->compatibility, err);
}

struct type_options type_options_initial(bool astore)
{
    if (astore)
        return (struct type_options){
            .missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE, .compatibility = COMPAT_NONE};
    return (struct type_options){.missing = MISSING_DEFAULT,
                                 .unknown = UNKNOWN_REJECT,
                                 .compatibility = COMPAT_BACKWARD,
                                 .follows_level = true};
}

void type_options_set_level(struct type_options *o, uint8_t compatibility)
{
    o->compatibility = compatibility;
    o->follows_level = false;
}

void type_options_unset_level(struct type_options *o)
{
    o->compatibility = COMPAT_BACKWARD;
    o->follows_level = true;
}

void type_options_apply(const struct type_options_given *given, struct type_options *out)
{
    if (given->has_missing)
        out->missing = given->value.missing;
    if (given->has_unknown)
        out->unknown = given->value.unknown;
    if (given->has_compatibility)
        type_options_set_level(out, given->value.compatibility);
    if (given->has_compression)
        out->compression = given->value.compression;
    if (given->has_ttl)
        out->ttl_s = given->value.ttl_s;
    struct type_options asked = given->value;
    for (unsigned i = 0; i < TYPE_LIMITS; i++)
        if (given->limit_mask & 1u << i)
            *type_limit_of(out, (enum type_limit)i) = *type_limit_of(&asked, (enum type_limit)i);
    if (given->has_max_size)
        out->max_size = given->value.max_size;
    out->form = (uint8_t)((out->form & ~given->form_mask) | given->value.form);
}

bool type_options_equal(const struct type_options *a, const struct type_options *b)
{
    return a->missing == b->missing && a->unknown == b->unknown && a->compatibility == b->compatibility &&
           a->follows_level == b->follows_level && a->compression == b->compression && a->form == b->form &&
           a->ttl_s == b->ttl_s && a->limits.bytes == b->limits.bytes && a->limits.items == b->limits.items &&
           a->limits.depth == b->limits.depth && a->max_size == b->max_size;
}

const char *missing_name(uint8_t v)
{
    assert(v < ARRAY_LEN(missing_names));
    return missing_names[v];
}

const char *unknown_name(uint8_t v)
{
    assert(v < ARRAY_LEN(unknown_names));
    return unknown_names[v];
}

const char *compression_name(uint8_t v)
{
    assert(v < ARRAY_LEN(compression_names));
    return compression_names[v];
}
