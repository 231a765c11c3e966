/* server/handlers/records/record_fields.c - see record_fields.h. */
#include "server/handlers/records/record_fields.h"

#include "base/base64.h"
#include "base/sha256.h"
#include "server/words.h"

static enum rc parse(struct request *req, struct projection_list *out, struct err *err)
{
    return projection_list_parse(out, *params_find(req, PARAM_fields), &req->arena, err);
}

enum rc record_fields_find(struct request *req, const struct schema *schema, const struct projection **out,
                           struct err *err)
{
    struct projection_list list;
    struct projection *found = NULL;
    struct words type;
    *out = NULL;
    if (!record_fields_asked(req))
        return RC_OK;
    if (schema_raw(schema) != SCHEMA_RAW_NONE)
        return err_set(err, ERR_BAD_PARAMETER, "fields: '%s' is a raw type; what it holds has no fields.",
                       words_of(req->type_name, &type));
    if (parse(req, &list, err) != RC_OK || projection_new(&found, schema, &list, &req->arena, err) != RC_OK)
        return RC_ERR;
    *out = found;
    return RC_OK;
}

enum { SUFFIX_BYTES = 15 }; /* of the hash: what TAG_MAX leaves room for as base64 */

enum rc record_fields_suffix(struct request *req, enum json_form form, struct slice *out, struct err *err)
{
    struct projection_list list;
    struct slice text;
    uint8_t hash[SHA256_BYTES];
    if (parse(req, &list, err) != RC_OK)
        return RC_ERR;
    if (!projection_list_text(&list, &req->arena, &text))
        return err_oom(err);
    char *asked = arena_printf(&req->arena, "%u %.*s", (unsigned)form, (int)text.len, (const char *)text.ptr);
    uint8_t *suffix = arena_alloc(&req->arena, 1 + base64_chars(SUFFIX_BYTES));
    if (!asked || !suffix)
        return err_oom(err);
    sha256(slice_str(asked), hash);
    suffix[0] = '-';
    const uint8_t *end = base64_put(slice_of(hash, SUFFIX_BYTES), suffix + 1);
    *out = slice_of(suffix, (size_t)(end - suffix));
    return RC_OK;
}
