/* schema/path/path_regex.h - regular expressions for keys of maps: PCRE2 (pcre2pattern(3)) over UTF-8, found anywhere in a text. */
#ifndef SCHEMA_PATH_REGEX_H
#define SCHEMA_PATH_REGEX_H

#include "base/arena.h"
#include "base/err.h"

struct datum;
struct regex;         /* compiled: immutable, in its arena */
struct regex_scratch; /* for looking: one thread's */

/* column: of the expression, for messages. *total: bytes of all that a path has, which this one is added to. BAD_PATH,
 * NO_MEMORY. */
MUST_USE enum rc regex_compile(struct slice text, uint32_t column, struct arena *, size_t *total,
                               const struct regex **out, struct err *);

/* In the arena, NULL: memory is out. */
struct regex_scratch *regex_scratch_new(struct arena *);
/* Does it occur in the key? What that takes is paid for: TOO_MUCH_WORK. NO_MEMORY. */
MUST_USE enum rc regex_find(const struct regex *, struct regex_scratch *, struct slice key, struct datum *,
                            bool *found, struct err *);

#endif
