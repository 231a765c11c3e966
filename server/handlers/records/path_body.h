/* server/handlers/records/path_body.h - the body of a request by path: the path, a line break, JSON. */
#ifndef SERVER_HANDLERS_PATH_BODY_H
#define SERVER_HANDLERS_PATH_BODY_H

#include "server/handler.h"

/* The first line break (LF, CRLF or CR) parts them; both are borrowed. False: there is none, and the path is all. */
bool path_body_split(struct slice body, struct slice *path, struct slice *rest);
/* BAD_REQUEST: something stands behind the path, and this verb takes none. astore's scripts may. */
MUST_USE enum rc path_body_check_rest(const struct request *, struct slice rest, struct err *);

#endif
