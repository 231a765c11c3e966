/* server/http/http1.h - the head of an HTTP/1.x request: bytes in, struct request out. Pure; any thread.
 * Sources: RFC 9112 (HTTP/1.1), RFC 9110 (semantics), as strict as they allow. */
#ifndef SERVER_HTTP_HTTP1_H
#define SERVER_HTTP_HTTP1_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/slice.h"
#include "server/handler.h"

struct http1_limits {
    uint32_t head_max, target_max; /* bytes */
    uint32_t headers_max;          /* fields */
};

/* How far the end of a head has been looked for. Zero: from the start. Offsets into the caller's bytes. */
struct http1_scan {
    uint32_t start; /* of the request line, behind empty lines that are tolerated */
    uint32_t at;    /* all before this has been looked at */
    uint32_t line;  /* where the line that `at` is in begins */
    uint16_t lines; /* before it, the empty ones not counted */
    uint16_t blank; /* empty lines before the request line */
};

enum http1_found { HTTP1_MORE, HTTP1_HEAD, HTTP1_BAD };

/* Look for the blank line that ends the head, and check all control characters on the way: CR and LF only in
 * pairs, tabs, nothing else. `bytes` may grow from call to call, and no byte is looked at twice.
 * HTTP1_HEAD: the head is bytes[start, at). HTTP1_BAD: *err is BAD_REQUEST or HEAD_TOO_LARGE. */
MUST_USE enum http1_found http1_scan(struct http1_scan *, const struct http1_limits *, struct slice bytes,
                                     struct err *err);

/* What the edge needs to know beyond struct request. */
struct http1_info {
    bool keep_alive;      /* the client wants the connection to go on */
    bool chunked;         /* else the body has req->body_declared bytes */
    bool expect_continue; /* the client may wait for our word before it sends the body */
};

/* REFUSED: *err is filled, but the head's frame is known, so that the connection may go on. BROKEN: it may
 * not. */
enum http1_parsed { HTTP1_OK, HTTP1_REFUSED, HTTP1_BROKEN };

/* Parse what http1_scan has found. Fills in method, http_minor, target, path, query, header and
 * body_declared; slices are borrowed from `head`, joined lists are in the request's arena. Linear in the
 * head's length. */
MUST_USE enum http1_parsed http1_parse(struct slice head, const struct http1_limits *, struct request *,
                                       struct http1_info *, struct err *err);

/* METHODS: none of ours. Methods are case-sensitive. */
enum method http1_method(struct slice name);
/* Is `item` in a comma-separated list of tokens? Whatever the case. */
bool http1_list_has(struct slice list, struct slice item);
/* Is it a token (RFC 9110, 5.6.2)? */
bool http1_is_token(struct slice);

#endif
