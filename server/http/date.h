/* server/http/date.h - the Date field, rendered once a second. Pure; one worker thread.
 * Source: RFC 9110, section 5.6.7 (IMF-fixdate). */
#ifndef SERVER_HTTP_DATE_H
#define SERVER_HTTP_DATE_H

#include <stdint.h>

enum { DATE_LINE_BYTES = 37 };

/* Zero-initialised is ready for date_update. */
struct date {
    int64_t second;                /* Unix time of `line` */
    uint8_t line[DATE_LINE_BYTES]; /* "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", no NUL */
};

void date_update(struct date *, int64_t unix_seconds);

#endif
