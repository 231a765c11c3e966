/* server/http/access_line.h - a line of the access log. Pure.
 * Formats: a JSON object a line (RFC 8259); "combined", as of Apache httpd and nginx. */
#ifndef SERVER_HTTP_ACCESS_LINE_H
#define SERVER_HTTP_ACCESS_LINE_H

#include <stdint.h>

#include "base/buf.h"

enum access_format { ACCESS_JSON, ACCESS_COMBINED };

/* Of a head that could not be read method and target are empty. */
struct access_entry {
    int64_t wall_ms;     /* Unix time, when it was answered */
    int64_t duration_us; /* from its whole head to its answer */
    uint64_t bytes;      /* of the answer's body */
    unsigned status;     /* 0: not answered, the client had gone */
    unsigned http_minor;
    struct slice remote, method, target, request_id, user_agent, referer;
    struct slice user;                    /* who has asked; empty: anonymous, or it is not known */
    const char *tls_version, *tls_cipher; /* as OpenSSL names them; NULL: plain */
};

/* Append the line with its line feed. All of it is printable ASCII; in JSON other bytes are \u00XX, in the other
 * format \xXX, and so are quotes and backslashes there: whatever a stranger sends, it is one line of these fields.
 * False: memory is out, *out is as it was. */
MUST_USE bool access_line_print(struct buf *out, enum access_format, const struct access_entry *);

#endif
