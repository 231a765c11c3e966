/* server/access/lines.h - the lines of a small text file with secrets: --passwords, --tokens. Blank lines and those that begin with # are
 * passed over. */
#ifndef SERVER_ACCESS_LINES_H
#define SERVER_ACCESS_LINES_H

#include "base/buf.h"
#include "base/err.h"

struct lines {
    const char *path;  /* borrowed, for messages */
    struct buf text;   /* owned */
    size_t at;         /* of what has not been looked at */
    struct slice line; /* the present one, without its end; borrowed until lines_close */
    uint32_t number;   /* from 1 */
};

/* CONFIG: it cannot be read, or is too long; NO_MEMORY. Nothing is to be closed then. */
MUST_USE enum rc lines_open(struct lines *, const char *path, struct err *);
/* The same of a text at hand, which is copied. */
MUST_USE enum rc lines_of(struct lines *, const char *path, struct slice text, struct err *);
/* Go on to the next; false: there is none. */
bool lines_next(struct lines *);
/* CONFIG, "PATH:LINE: " and what is wrong, which must not tell what stands there. Always RC_ERR. */
enum rc lines_fault(const struct lines *, struct err *, const char *what);
/* Cut the present line at its first colon. CONFIG: there is none, or what is before it cannot be a user's name. */
MUST_USE enum rc lines_name(const struct lines *, struct slice *name, struct slice *rest, struct err *);
/* Wipes the text. */
void lines_close(struct lines *);

#endif
