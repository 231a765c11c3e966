/* server/http/cors.h - pages of which other origins may ask here (--cors-origin). Pure.
 * Source: the Fetch standard, "CORS protocol". */
#ifndef SERVER_HTTP_CORS_H
#define SERVER_HTTP_CORS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/slice.h"

struct request;

/* Zero-initialised: none. */
struct cors {
    struct slice origin[LIMIT_CORS_ORIGINS_MAX]; /* borrowed from the command line */
    unsigned n;
};

/* A list with commas of origins as browsers send them: "https://app.example:8443". NULL: none. CONFIG: one that no browser would
 * ever send, since it has a path, capital letters or the scheme's own port. */
MUST_USE enum rc cors_parse(struct cors *, const char *list, struct err *);
/* Is it the Origin of a listed one? */
bool cors_has(const struct cors *, struct slice origin);

/* The header lines that browsers look for, on an answer that is complete but for them. To OPTIONS it says that the methods of
 * Allow may be used. Vary always, the rest only if the request's Origin is listed. Where memory is out some are missing: then a
 * browser does not show the answer to the page, and to all others it is whole. */
void cors_answer(const struct cors *, struct request *);

#endif
