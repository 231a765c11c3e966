/* server/type_options.c - see type_options.h. */
#include "server/type_options.h"

#include <assert.h>
#include <stdio.h>

#include "schema/schema.h"
#include "server/json_form.h"
#include "server/params.h"
#include "server/words.h"

static const char *const missing_names[] = {
    [MISSING_DEFAULT] = "default", [MISSING_ZERO] = "zero", [MISSING_REJECT] = "reject"};
static const char *const unknown_names[] = {[UNKNOWN_REJECT] = "reject", [UNKNOWN_IGNORE] = "ignore"};

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

enum rc type_options_parse(const struct request *req, struct type_options_given *out, struct err *err)
{
    struct type_options *v = &out->value;
    if (parse(req, PARAM_missing, "missing", missing_names, ARRAY_LEN(missing_names), &out->has_missing,
              &v->missing, err) != RC_OK ||
        parse(req, PARAM_unknown, "unknown", unknown_names, ARRAY_LEN(unknown_names), &out->has_unknown,
              &v->unknown, err) != RC_OK)
        return RC_ERR;
    if (parse_ttl(req, out, err) != RC_OK || json_form_parse(req, &v->form, &out->form_mask, err) != RC_OK)
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
    if (given->has_ttl)
        out->ttl_s = given->value.ttl_s;
    out->form = (uint8_t)((out->form & ~given->form_mask) | given->value.form);
}

bool type_options_equal(const struct type_options *a, const struct type_options *b)
{
    return a->missing == b->missing && a->unknown == b->unknown && a->compatibility == b->compatibility &&
           a->follows_level == b->follows_level && a->form == b->form && a->ttl_s == b->ttl_s;
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
