/* server/registry/schema_text.h - a stored schema as the registry shows it. */
#ifndef SERVER_REGISTRY_SCHEMA_TEXT_H
#define SERVER_REGISTRY_SCHEMA_TEXT_H

#include "server/registry/references.h"

/* In the arena. */
struct schema_shown {
    struct slice text; /* as it was registered, or in the format that the request asks for */
    struct references refs;
};

/* format: empty, or what is not known: as it was registered; resolved: with all types that it uses; canonical: its Parsing
 * Canonical Form. RC_NOTFOUND: there is no such schema. */
MUST_USE enum rc schema_show(struct call *, uint32_t schema_id, struct slice format, struct schema_shown *,
                             struct err *err);
/* `{"subject":...,"version":...,"id":...,"schema":"..."}`, with references if it has some. */
MUST_USE enum rc schema_print_version(struct call *, struct slice subject, const struct row_version *,
                                      struct slice format, struct err *err);

#endif
