/* server/reading.h - how a stored record is read: in which version it is shown, which one wrote it, and what leads from
 * the one to the other. Most records are of the version in which they are shown, and are not touched. */
#ifndef SERVER_READING_H
#define SERVER_READING_H

#include "server/catalog.h"

struct reading {
    const struct type_version *writer, *reader; /* of req->type */
    const struct resolver *resolver;            /* NULL: the writer's bytes are the reader's */
};

/* A version by its number or `latest`, as it stands in `what`: for words. BAD_PARAMETER, or NO_VERSION. */
MUST_USE enum rc reading_version(const struct request *, struct slice text, const char *what,
                                 const struct type_version **out, struct err *err);

/* Set req->reader, by parameter `version` or Accept-Schema-Version; with neither it stays as it is. BAD_PARAMETER (no
 * number, or the two differ), NO_VERSION. */
MUST_USE enum rc reading_ask(struct request *, struct err *err);
/* The version in which this request shows records. */
static inline const struct type_version *reading_reader(const struct request *req)
{
    return likely(!req->reader) ? req->type->latest : req->reader;
}

/* How a record that bears this schema id is read as `reader`. RC_OK: with *out; both schemas are compiled. RC_AGAIN:
 * reading_load comes first. RC_NOTFOUND: no version of req->type has the schema, a newer one may (catalog_renew). */
/* The same in a type that need not be req->type. */
MUST_USE enum rc reading_find_in(const struct type *, const struct own_reading *, uint32_t schema_id,
                                 const struct type_version *reader, struct reading *out);
MUST_USE enum rc reading_find_other(const struct request *, uint32_t schema_id,
                                    const struct type_version *reader, struct reading *out);
MUST_USE static inline enum rc reading_find(const struct request *req, uint32_t schema_id,
                                            const struct type_version *reader, struct reading *out)
{
    if (unlikely(reader->schema_id != schema_id || !type_schema(reader)))
        return reading_find_other(req, schema_id, reader, out);
    *out = (struct reading){.writer = reader, .reader = reader};
    return RC_OK;
}

/* Make what is missing: compiled schemas, the resolver. `then` runs on this worker, at once or later; or `failed`,
 * where the answer has begun. `r` is of reading_find, and copied. Uses the request's operation and leaves
 * req->state alone. */
void reading_load_or(struct request *, const struct reading *r, void (*then)(struct request *),
                     void (*failed)(struct request *, const struct err *));
/* On failure the request is answered, and `then` does not run. */
void reading_load(struct request *, const struct reading *r, void (*then)(struct request *));
/* What the request has for itself; for the router, when it is over. */
void reading_release(struct request *);

/* Append what the writer's datum is under the reader's schema. As codec_resolve_within; OTHER_VERSION names the versions. A
 * reading with a resolver. Any thread. */
MUST_USE enum rc reading_resolve(const struct reading *, size_t bytes_max, struct slice avro, struct buf *out,
                                 struct arena *, struct err *err);

#endif
