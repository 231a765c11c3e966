/* server/registry/media.c - see media.h. */
#include "server/registry/media.h"

#include "server/negotiate.h"

/* In order of preference where a client has none. */
static const char *const types[] = {"application/vnd.schemaregistry.v1+json",
                                    "application/vnd.schemaregistry+json", "application/json"};
enum { OWN = 2 }; /* the first so many are the registry's own */

const char *media_answer(struct slice accept)
{
    const char *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        unsigned quality = negotiate_quality(accept, slice_str(types[i]));
        if (quality > most) {
            most = quality;
            best = types[i];
        }
    }
    return best;
}

bool media_is_named(struct slice accept)
{
    for (size_t i = 0; accept.len && i < OWN; i++)
        /* A name that nobody has is taken by wild cards alone. */
        if (negotiate_quality(accept, slice_str(types[i])) >
            negotiate_quality(accept, SLICE("application/vnd.schemaregistry.none")))
            return true;
    return false;
}

enum rc media_check_body(struct slice content_type, struct slice content_encoding, struct err *err)
{
    const struct slice own[OWN] = {slice_str(types[0]), slice_str(types[1])};
    return negotiate_json_named(content_type, content_encoding, own, OWN, MEDIA_OFFERED " are", err);
}
