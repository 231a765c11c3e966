/* client/lib/json_member.h - one member of a JSON object, without a tree: enough for problem documents and the lines of a scan.
 * Pure; linear, whatever the text; no recursion. */
#ifndef CLIENT_LIB_JSON_MEMBER_H
#define CLIENT_LIB_JSON_MEMBER_H

#include "base/buf.h"
#include "base/compiler.h"

/* The value of the first member of this name (plain ASCII) at the top of an object, as its text in `object`. False: there is none,
 * or the text is no object up to there. What stands behind is not looked at, so it may be cut. */
MUST_USE bool json_member(struct slice object, const char *name, struct slice *value);

/* What a JSON string says, as UTF-8, written at `out`, which has room for value.len bytes; *len of them. False: it is none. */
MUST_USE bool json_member_copy(struct slice value, uint8_t *out, size_t *len);

/* The same, appended. False: it is none, or memory is out; `out` is as it was. */
MUST_USE bool json_member_text(struct slice value, struct buf *out);

#endif
