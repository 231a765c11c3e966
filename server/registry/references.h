/* server/registry/references.h - schemas that use types of other subjects' versions. Of each such schema SPACE_SUBJECT has
 * a row, key 00, 'r', schema id u32 big-endian: format u8 = 1, three zero, references u32, length of the text u32, the
 * text as it was registered, then for each: version u32, lengths of name and subject u16 each, name, subject. The
 * schema's own row has a text with all types that it uses, so that nobody else need know. */
#ifndef SERVER_REGISTRY_REFERENCES_H
#define SERVER_REGISTRY_REFERENCES_H

#include "server/registry/ask.h"
#include "server/registry/registry.h"

struct references {
    struct slice text; /* as it was registered */
    struct reference *at;
    size_t n;
};

/* All in the arena. */
/* The list as bytes: by which two schemas are the same. */
MUST_USE bool references_list(const struct references *, struct arena *, struct slice *out);
MUST_USE bool references_encode(const struct references *, struct arena *, struct slice *out);
MUST_USE enum rc references_decode(struct slice row, struct arena *, struct references *out, struct err *err);

/* Of a schema; n = 0: it has none. */
MUST_USE enum rc references_read(struct call *, uint32_t schema_id, struct references *out, struct err *err);
/* The texts that the references lead to, each once, those before it that it uses itself; the latest version becomes its
 * number. BAD_SCHEMA: what is referred to is not there, or it is too much. */
MUST_USE enum rc references_texts(struct call *, struct references *, struct slice **known, size_t *n,
                                  struct err *err);
/* `,"references":[...]`, or nothing. */
MUST_USE bool references_print(struct call *, const struct references *);

/* Which schemas refer to a version (0: to any of the subject), and are a version of a subject themselves, but for that
 * which is excepted: ids, in order, owned: free(). Whose version one of them is; in the arena, if n > 0. */
struct referrers {
    uint32_t *id;
    size_t n;
    struct slice first_name;
    uint32_t first_version;
};
MUST_USE enum rc referrers_find(struct call *, struct slice subject, uint32_t version, enum which,
                                struct slice except, struct referrers *out, struct err *err);

/* How often a version with references was added, ever: who looked for referrers before a deletion sees by it that there
 * may be more. Key 00, 'l'; u64. */
struct links {
    uint64_t count;
    uint8_t bytes[8];
};
MUST_USE enum rc links_read(struct call *, uint64_t *out, struct err *err);
MUST_USE enum rc links_txn_get(struct store_txn *, uint64_t *out, struct err *err);
/* One more; `bytes` until the write is done. */
MUST_USE enum rc links_txn_add(struct store_txn *, struct links *, struct err *err);

#endif
