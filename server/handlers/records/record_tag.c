/* server/handlers/records/record_tag.c - the tag of a record that was written, or is told of: the one that a get has. */
#include "server/handlers/records/record.h"
#include "server/json_form.h"

COLD struct slice record_tag_suffix(const struct type_version *v, enum json_form form)
{
    const struct schema *schema = type_schema(v);
    bool is_raw = schema && schema_raw(schema) != SCHEMA_RAW_NONE; /* a get gives the content as it is */
    return is_raw ? (struct slice){0} : json_form_suffix(form, false);
}

void record_tag(struct request *req, uint64_t revision, const struct type_version *v)
{
    enum json_form form = json_form_of(req, JSON_PLAIN);
    req->response.etag_revision = revision;
    req->response.etag_version = v->number;
    if (unlikely(form != JSON_PLAIN))
        req->response.etag_suffix = record_tag_suffix(v, form);
}
