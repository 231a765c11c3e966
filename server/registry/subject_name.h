/* server/registry/subject_name.h - which names a subject may have. Pure. */
#ifndef SERVER_REGISTRY_SUBJECT_NAME_H
#define SERVER_REGISTRY_SUBJECT_NAME_H

#include "base/err.h"
#include "base/slice.h"

/* *out: the name without the default context in front of it (":.:"), borrowed. BAD_SUBJECT: empty, too long, no UTF-8,
 * with control characters, a name that the registry keeps for itself, or of another context. */
MUST_USE enum rc subject_name_check(struct slice name, struct slice *out, struct err *err);
/* The same, whether it may be one or not. */
struct slice subject_without_context(struct slice name);
/* NO_SUBJECT, in words. */
enum rc subject_unknown(struct slice name, struct err *);
/* What names begin with that subjectPrefix asks for: without a context, and ":*:" asks for all. */
struct slice subject_prefix(struct slice given);

#endif
