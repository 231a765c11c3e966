/* server/handlers/records/record_fields.h - ?fields=: which fields of a record are to be shown. */
#ifndef SERVER_HANDLERS_RECORD_FIELDS_H
#define SERVER_HANDLERS_RECORD_FIELDS_H

#include "schema/schema.h"
#include "server/handler.h"
#include "server/params.h"

/* What the parameter asks for, of records as the schema has them; in the request's arena. *out is NULL if it is not
 * given. BAD_PARAMETER, also for a raw type; NO_MEMORY. */
MUST_USE enum rc record_fields_find(struct request *, const struct schema *, const struct projection **out,
                                    struct err *err);

/* How the entity tag ends of a record that is shown so: another one for each form, and each list that asks for
 * something else. In the request's arena. NO_MEMORY. */
MUST_USE enum rc record_fields_suffix(struct request *, enum json_form, struct slice *out, struct err *err);

static inline bool record_fields_asked(const struct request *req)
{
    return req->params_given & UINT64_C(1) << PARAM_fields;
}

#endif
