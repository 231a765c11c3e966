/* server/range.h - the Range and If-Range of a request. Pure.
 * Source: RFC 9110, sections 13.1.5 and 14. */
#ifndef SERVER_RANGE_H
#define SERVER_RANGE_H

#include "base/slice.h"

enum range_kind {
    RANGE_WHOLE,  /* no Range that we serve: none at all, several, another unit, not to the letter */
    RANGE_PART,   /* 206 */
    RANGE_OUTSIDE /* 416: it begins behind the end */
};

struct range {
    uint64_t first, bytes; /* within the content; of RANGE_PART at least one byte */
};

/* What `range` (the header's value, or empty) asks of content of so many bytes. */
enum range_kind range_parse(struct slice range, uint64_t content_bytes, struct range *out);
/* May a Range be served: is there no If-Range, or is it this tag? Compared strongly: a weak tag never fits, nor does
 * a date, for we tell none. tag: empty if the content has none. */
bool range_applies(struct slice if_range, struct slice tag);

#endif
