/* client/lib/json_member.h - one member of a JSON object, without a tree: enough for problem documents and the lines of a scan.
 * Pure; linear, whatever the text; no recursion. */
#ifndef CLIENT_LIB_JSON_MEMBER_H
#define CLIENT_LIB_JSON_MEMBER_H

#include "base/buf.h"
#include "base/compiler.h"

/* The value of the first member of this name (plain ASCII) at the top of an object, as its text in `object`. False: there is none,
 * or the text is no object up to there. What stands behind is not looked at, so it may be cut. */
MUST_USE bool json_member(struct slice object, const char *name, struct slice *value);

/* Append what a JSON string says, as UTF-8. False: it is none, or memory is out; then `out` may have grown. */
MUST_USE bool json_member_text(struct slice value, struct buf *out);

#endif
