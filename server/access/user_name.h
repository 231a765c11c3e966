/* server/access/user_name.h - what may be a user's name, wherever it comes from. */
#ifndef SERVER_ACCESS_USER_NAME_H
#define SERVER_ACCESS_USER_NAME_H

#include "base/slice.h"

/* 1 to LIMIT_USER_NAME_MAX bytes of UTF-8 without control characters and colons (RFC 7617, 2)? NULL: it may be one. Else why not, as a
 * sentence (static). */
const char *user_name_fault(struct slice);
/* Is there a control character in it? */
bool has_control(struct slice);

#endif
