/* server/handlers/records/record_pack.h - bodies of a type with compression=zstd, on their way into the store: packed by the
 * worker if they are short, else by a helper, and kept so only if that saves at least an eighth. */
#ifndef SERVER_HANDLERS_RECORD_PACK_H
#define SERVER_HANDLERS_RECORD_PACK_H

#include "base/limits.h"
#include "server/catalog.h"
#include "server/handler.h"

enum { PACK_PARTS = 2 };

/* A body as it is to be stored: its parts, or, if plain_bytes is not 0, part[0] alone, which is it packed. */
struct stored_body {
    struct slice part[PACK_PARTS];
    uint64_t plain_bytes;
};

/* Is it worth trying? */
static inline bool record_packs(const struct type *type, uint64_t bytes)
{
    return unlikely(type->options.compression != COMPRESSION_NONE) && bytes >= LIMIT_PACK_MIN;
}

/* What a request needs for that; in the arena. */
struct packing {
    struct request *req;
    struct stored_body body; /* its parts must live until `then` */
    void (*then)(struct request *, const struct stored_body *);
    void (*failed)(struct request *, const struct err *); /* too many jobs wait for a helper */
    struct job job;                                       /* this file's own */
};
/* Try it, then go on with `then`, at once or later; or with `failed`. */
void record_pack(struct packing *);
/* The same at once, by who is a helper already; the result is in the arena. Where memory is out the body stays as it is. */
void record_pack_here(struct stored_body *, struct arena *);
/* Count what became of it; on the worker. */
void record_pack_count(struct counts *, const struct stored_body *);

#endif
