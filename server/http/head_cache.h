/* server/http/head_cache.h - heads that came before. A client sends the same version and fields with each request of a
 * connection: kept as they came, with what they were parsed to, they need no second look. Exact: what is taken for
 * known is the same, byte by byte, but for the number in Content-Length. One worker. */
#ifndef SERVER_HTTP_HEAD_CACHE_H
#define SERVER_HTTP_HEAD_CACHE_H

#include "server/access/access.h"
#include "server/handler.h"
#include "server/http/http1.h"

enum { HEAD_CACHE_SLOTS = 32, KNOWN_HEAD_BYTES_MAX = 896, HEAD_MISSES_MAX = 16 };

/* All of a head behind its target: `HTTP/1.1`, CR LF, the fields, the blank line. Offsets are into `text`. */
struct known_head {
    uint16_t bytes;     /* of text; 0: an empty slot */
    uint16_t length_at; /* the digits of Content-Length; `bytes`: there is none */
    uint16_t length_end;
    uint8_t http_minor;
    struct http1_info info;
    uint8_t web_passed;       /* the rules of web.h that it keeps: the edge's own bits */
    bool is_secret;           /* there are credentials in it */
    struct identity identity; /* whose they are, of Authorization in it */
    uint32_t fields;          /* bits 1 << enum header: those that are there */
    struct {
        uint16_t at, bytes;
    } field[HEADERS];
    uint8_t text[KNOWN_HEAD_BYTES_MAX];
};

/* Zero-initialised is empty. */
struct head_cache {
    uint8_t newest; /* slot: what a new connection begins with */
    struct known_head slot[HEAD_CACHE_SLOTS];
};

/* Where the heads of a connection are looked for. Any values do: they are guesses. */
struct head_guess {
    uint8_t slot[2]; /* of requests that usually have no body, and of those that do */
    uint8_t misses;  /* in a row; with HEAD_MISSES_MAX no more is tried: its heads differ each time */
};

/* A head that is known, found at the start of the caller's bytes, and borrowed from there. */
struct head_match {
    struct known_head *known; /* until the next head_cache_keep */
    enum method method;
    struct slice method_sent, target, path, query, tail; /* tail: all behind the target and a space */
    uint64_t length;                                     /* Content-Length */
    size_t length_more; /* its digits are so many more than in `known`; modulo 2^64 */
    size_t bytes;       /* of the head */
};

static inline struct head_guess head_cache_guess(const struct head_cache *cache)
{
    return (struct head_guess){.slot = {cache->newest, cache->newest}};
}

/* Do `bytes` begin with a whole head that is known? If so http1_scan and http1_parse would say HTTP1_HEAD and HTTP1_OK. */
bool head_cache_match(struct head_cache *, struct head_guess *, const struct http1_limits *,
                      struct slice bytes, struct head_match *);
/* Fill in the request and *info as http1_parse does. */
void head_match_take(const struct head_match *, struct request *, struct http1_info *);

/* To be called with a head of which http1_parse has said HTTP1_OK, and what it has made of it. NULL: it is not one to be kept. */
struct known_head *head_cache_keep(struct head_cache *, struct head_guess *, struct slice head,
                                   const struct request *, const struct http1_info *);

#endif
