/* server/handlers/records/field_put.c - replacing one top-level field of a stored record: an edit, so that two fields of a record
 * can be put at the same time. */
#include "server/handlers/handlers.h"
#include "server/handlers/records/record_edit.h"
#include "server/handlers/reply.h"
#include "server/negotiate.h"
#include "server/schema_load.h"
#include "server/server.h"
#include "server/words.h"

struct field_put {
    struct record_edit edit;
    struct slice value; /* its Avro binary, in the arena */
};

bool field_put_begin(struct request *req)
{
    struct err err;
    struct field_put *f = arena_calloc(&req->arena, 1, sizeof *f);
    if (!f) {
        reply_no_memory(req);
        return false;
    }
    req->state = f;
    f->edit.creates = req->worker->server->options->astore;
    f->edit.again = field_put_handle;
    if (negotiate_record_body(req->header[HEADER_CONTENT_TYPE], req->header[HEADER_CONTENT_ENCODING],
                              FORMS_TEXT, &f->edit.input.encoding, &err) == RC_OK)
        return record_edit_begin(req, &f->edit);
    answer_err(req, &err);
    return false;
}

static void encoded(struct request *req, struct slice avro)
{
    struct field_put *f = req->state;
    const struct schema *schema = type_schema(req->type->latest);
    struct err err;
    if (!arena_copy(&req->arena, avro, &f->value))
        reply_no_memory(req);
    else if (edit_of_field(&f->edit.edit, schema, &req->type->codec, f->edit.input.field, f->value,
                           &req->arena, &err) != RC_OK)
        answer_err(req, &err);
    else
        record_edit_go(req);
}

/* A field becomes one of a record of the latest version. */
static enum rc find_field(struct request *req, struct record_input *in, struct err *err)
{
    const struct type_version *latest = req->type->latest;
    struct words name, type;
    words_of(req->type_name, &type);
    if (in->version != latest)
        return err_set(err, ERR_OTHER_VERSION,
                       "Schema-Version says %u; a field is put in the latest version of '%s', which is %u.",
                       in->version->number, type.text, latest->number);
    in->field = schema_field(type_schema(latest), req->field);
    if (in->field < 0)
        return err_set(err, ERR_NO_FIELD, "Version %u of '%s' has no field '%s'.", latest->number, type.text,
                       words_of(req->field, &name));
    return RC_OK;
}

static void writer_found(struct request *req)
{
    struct field_put *f = req->state;
    struct err err;
    if (find_field(req, &f->edit.input, &err) == RC_OK)
        record_encode(req, &f->edit.input, encoded);
    else
        answer_err(req, &err);
}

static void ready(struct request *req)
{
    struct field_put *f = req->state;
    record_find_writer(req, &f->edit.input, writer_found);
}

void field_put_handle(struct request *req)
{
    schema_load(req, req->type->latest, ready);
}
