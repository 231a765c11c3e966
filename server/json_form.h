/* server/json_form.h - how values are spelled in JSON (JSON_LOGICAL, JSON_BASE64, JSON_INT64 of schema/codec.h): options of
 * a type, and parameters of a request that override them (docs/decisions/0009). Pure. */
#ifndef SERVER_JSON_FORM_H
#define SERVER_JSON_FORM_H

#include "server/catalog.h"
#include "server/handler.h"
#include "server/params.h"

/* Bits of the parameters that say so. */
static const uint64_t JSON_FORM_PARAMS =
    UINT64_C(1) << PARAM_logical | UINT64_C(1) << PARAM_bytes | UINT64_C(1) << PARAM_int64;

/* What the parameters say: *mask has a bit for each that is given, *form those of them that are not the default.
 * Fails with BAD_PARAMETER, naming what is offered. */
MUST_USE enum rc json_form_parse(const struct request *, uint8_t *form, uint8_t *mask, struct err *err);

/* Append `"logical":"raw","bytes":"text","int64":"number"`, or what it is. False: memory is out. */
MUST_USE bool json_form_print(unsigned form, struct buf *out);

/* The form for a request on a type that has chosen this one: JSON_PLAIN becomes what options and parameters say. */
static inline enum json_form json_form_of(const struct request *req, enum json_form chosen)
{
    if (unlikely(chosen != JSON_PLAIN))
        return chosen;
    return (enum json_form)((req->type->codec.form & ~(unsigned)req->form_mask) | req->form_asked);
}

/* How the entity tag of a record, or of a field of one, ends that is shown so; static. */
struct slice json_form_suffix(enum json_form, bool is_field);

#endif
