/* base/base64.h - bytes as base64 text (RFC 4648, section 4: with padding). Pure. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Append the text. False: memory is out, `out` is as it was. */
MUST_USE bool base64_print(struct slice bytes, struct buf *out);

#endif
