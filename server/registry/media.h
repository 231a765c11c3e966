/* server/registry/media.h - the media types of the registry's API. Pure. */
#ifndef SERVER_REGISTRY_MEDIA_H
#define SERVER_REGISTRY_MEDIA_H

#include "base/err.h"
#include "base/slice.h"

/* All of them, as a sentence lists them. */
#define MEDIA_OFFERED                                                                                        \
    "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json and application/json"

/* What this Accept prefers (static); NULL: none of ours. */
const char *media_answer(struct slice accept);
/* Does it name one of the registry's own, and not only all there are? */
bool media_is_named(struct slice accept);
/* The registry's types, and what is taken for JSON everywhere. Fails with UNSUPPORTED_TYPE, UNSUPPORTED_CODING. */
MUST_USE enum rc media_check_body(struct slice content_type, struct slice content_encoding, struct err *);

#endif
