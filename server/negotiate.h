/* server/negotiate.h - Content-Type, Content-Encoding and Accept. Pure.
 * Source: RFC 9110, sections 8.3, 8.4, 12.5.1. */
#ifndef SERVER_NEGOTIATE_H
#define SERVER_NEGOTIATE_H

#include "base/err.h"
#include "base/slice.h"
#include "schema/encoding.h"

enum { CONTENT_TYPE_MAX = 255 }; /* bytes of a Content-Type that is kept with a record */

/* A body that is to be JSON: no type, application/json, and what tools send unasked (octet-stream,
 * text/plain, curl's form type). Fails with UNSUPPORTED_TYPE (another type, a charset that is not UTF-8),
 * UNSUPPORTED_CODING. */
MUST_USE enum rc negotiate_json_body(struct slice content_type, struct slice content_encoding, struct err *);
/* The same where JSON has names of its own besides, which `offered` lists for a refusal, all of them. */
MUST_USE enum rc negotiate_json_named(struct slice content_type, struct slice content_encoding,
                                      const struct slice *names, size_t n, const char *offered, struct err *);

/* A record's body, or a part of it: JSON as above, or one of these forms, which is *out. Fails as above. */
MUST_USE enum rc negotiate_record_body(struct slice content_type, struct slice content_encoding,
                                       enum encoding_set, const struct encoding **out, struct err *);

/* A patch: JSON Merge Patch (RFC 7396), which JSON as above is taken for too, or JSON Patch (RFC 6902). Fails as
 * above. PATCH_TYPES: what Accept-Patch (RFC 5789, section 3.1) lists. */
enum patch_form { PATCH_MERGE, PATCH_OPERATIONS };
#define PATCH_TYPES "application/merge-patch+json, application/json-patch+json, application/json"
MUST_USE enum rc negotiate_patch_body(struct slice content_type, struct slice content_encoding,
                                      enum patch_form *out, struct err *);

/* A raw type's body: kept as it is, whatever its type (*out is NULL), but for Avro's own types, which are
 * those forms. text: what is kept must be UTF-8, so another charset is refused too. Fails as above, and with
 * BAD_REQUEST beyond CONTENT_TYPE_MAX. */
MUST_USE enum rc negotiate_raw_body(struct slice content_type, struct slice content_encoding, bool text,
                                    const struct encoding **out, struct err *);

/* Is the body all of what is put? BAD_REQUEST where Content-Range says that it is a part: taken for the
 * whole, it would replace what it was to continue (RFC 9110, section 14.5). */
MUST_USE enum rc negotiate_whole_body(struct slice content_range, struct err *);

/* How much the client wants this media type ("type/subtype"): 0 (not at all) to 1000. No Accept: 1000. The
 * most specific range that fits decides. */
unsigned negotiate_quality(struct slice accept, struct slice media_type);

/* The one of these forms that Accept likes best; of those liked as well, the first. NOT_ACCEPTABLE: it takes
 * none. */
MUST_USE enum rc negotiate_record_answer(struct slice accept, enum encoding_set, const struct encoding **out,
                                         struct err *);
/* The same for a raw type, whose content has the type `own`: that it is answered as it is (*out is NULL)
 * wins, and no form is plain JSON. */
MUST_USE enum rc negotiate_raw_answer(struct slice accept, struct slice own, const struct encoding **out,
                                      struct err *);

/* "type/subtype" of a Content-Type, without parameters, borrowed from it. */
struct slice negotiate_essence(struct slice content_type);

#endif
