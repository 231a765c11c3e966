/* base/json_quote.h - texts as JSON strings (RFC 8259), quotes included, escaping only what must be. Appended to
 * `out`; false: memory is out, and `out` may have grown. */
#ifndef BASE_JSON_QUOTE_H
#define BASE_JSON_QUOTE_H

#include "base/buf.h"
#include "base/compiler.h"
#include "base/slice.h"

/* Of valid UTF-8. */
MUST_USE bool json_quote(struct slice s, struct buf *out);

/* Of any bytes: each that is not UTF-8 becomes U+FFFD. */
MUST_USE bool json_quote_any(struct slice s, struct buf *out);

#endif
