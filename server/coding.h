/* server/coding.h - content codings of answers: which one a client asks for, and what is worth it. Pure.
 * Source: RFC 9110, sections 8.4.1 and 12.5.3. */
#ifndef SERVER_CODING_H
#define SERVER_CODING_H

#include <stdbool.h>

#include "base/slice.h"

enum coding {
    CODING_identity, /* none */
#define CODING(id, name, suffix) CODING_##id,
#include "server/codings.def"
#undef CODING
    CODINGS
};

/* As Content-Encoding says it; of identity empty. Static. */
struct slice coding_name(enum coding);
/* How the tag of a representation in this coding ends: strong tags tell codings apart. Static. */
struct slice coding_suffix(enum coding);

/* What an Accept-Encoding asks for. */
struct coding_wish {
    enum coding coding;    /* the one that is liked best */
    bool identity_refused; /* nothing else will do */
};
/* Of the field's value, or of several joined by commas. What is no coding with a weight is passed over: an answer that is
 * not coded is right in any case, but for an identity;q=0. */
struct coding_wish coding_wish(struct slice accept_encoding);

/* Does what has such a Content-Type get shorter by it? Of what nobody knows the answer is no. */
bool coding_pays(struct slice content_type);

#endif
