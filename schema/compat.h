/* schema/compat.h - may a schema follow others? Whether each side reads what the other wrote, and every
 * reason why not. By the rules of resolution (schema/resolve/match.h), so that what is called compatible is read.
 * Part of the front: schema.h brings it. Source: Avro 1.12 specification, "Schema Resolution";
 * docs/policies.md. */
#ifndef SCHEMA_COMPAT_H
#define SCHEMA_COMPAT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

struct schema;

/* What a new version must satisfy. Backward: it reads what the versions before wrote; forward: they read
 * what it writes. */
enum compat_mode {
#define COMPAT_MODE(name, text, backward, forward, transitive) COMPAT_##name,
#include "schema/compat_modes.def"
#undef COMPAT_MODE
    COMPAT_MODES
};

const char *compat_mode_name(enum compat_mode);
/* Are all versions asked, and not the last alone? */
bool compat_mode_is_transitive(enum compat_mode);

/* One thing that cannot be read. */
struct compat_reason {
    struct compat_reason *next;
    enum problem_code code;
    bool is_backward;            /* the new schema reads, the version writes; else the other way */
    uint32_t version;            /* index into the versions */
    struct slice reader, writer; /* where: JSON Pointers (RFC 6901) into the two texts as parsed */
    struct slice words;          /* a sentence */
};

enum { COMPAT_REASONS_MAX = 100 };

struct compat {
    struct compat_reason *first,
        *last;      /* in the arena; by version, backward first, in the order of the schemas */
    uint32_t n;     /* 0: compatible */
    bool truncated; /* there are more than COMPAT_REASONS_MAX */
};

/* Compare the schema that is to be the next version with those before it.
 *   versions   the oldest first; only the last is looked at, unless the mode is transitive. None: compatible
 *   arena      where the reasons are kept
 * RC_OK: *out has the verdict. Fails with TOO_MUCH_WORK (see LIMIT_MATCH_MAX) and NO_MEMORY. A reason is
 * told once, where it is met first. Linear in the pairs of types that meet. Takes time: up to some ten
 * milliseconds a version. Any thread. */
MUST_USE enum rc compat_check(enum compat_mode, const struct schema *new,
                              const struct schema *const *versions, size_t n, struct arena *arena,
                              struct compat *out, struct err *err);

#endif
