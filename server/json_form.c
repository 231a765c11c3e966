/* server/json_form.c - see json_form.h. */
#include "server/json_form.h"

#include <assert.h>

#include "server/words.h"

static const struct {
    const char *name;
    enum param_id param;
    uint8_t bit;
    const char *words[2]; /* the default first */
} rows[] = {
    {"logical", PARAM_logical, JSON_LOGICAL, {"raw", "text"}},
    {"bytes", PARAM_bytes, JSON_BASE64, {"text", "base64"}},
    {"int64", PARAM_int64, JSON_INT64, {"number", "string"}},
};

enum rc json_form_parse(const struct request *req, uint8_t *form, uint8_t *mask, struct err *err)
{
    struct words words;
    *form = *mask = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct slice *value = params_find(req, rows[i].param);
        if (!value)
            continue;
        *mask |= rows[i].bit;
        if (slice_eq(*value, slice_str(rows[i].words[1])))
            *form |= rows[i].bit;
        else if (!slice_eq(*value, slice_str(rows[i].words[0])))
            return err_set(err, ERR_BAD_PARAMETER, "%s cannot be '%s'; it is one of: %s, %s.", rows[i].name,
                           words_of(*value, &words), rows[i].words[0], rows[i].words[1]);
    }
    return RC_OK;
}

bool json_form_print(unsigned form, struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "", rows[i].name,
                        rows[i].words[(form & rows[i].bit) != 0]))
            return false;
    return true;
}

struct slice json_form_suffix(enum json_form form, bool is_field)
{
#define ROW(text)                                                                                            \
    {                                                                                                        \
        (const uint8_t *)text, sizeof text - 1                                                               \
    }
#define ROWS(before)                                                                                         \
    {                                                                                                        \
        ROW(before), ROW(before "-l"), ROW(before "-b"), ROW(before "-lb"), ROW(before "-i"),                \
            ROW(before "-li"), ROW(before "-bi"), ROW(before "-lbi")                                         \
    }
    static const struct slice suffixes[2][8] = {ROWS(""), ROWS("-field")};
#undef ROWS
#undef ROW
    assert(form < 8);
    return suffixes[is_field][form];
}
