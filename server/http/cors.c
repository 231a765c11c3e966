/* server/http/cors.c - the list of origins, and the header lines for them. */
#include "server/http/cors.h"

#include "server/handler.h"

/* What a page may send, and see, beyond what any page may. */
#define REQUEST_HEADERS                                                                                      \
    "Accept-Schema-Version, Authorization, Cache-Control, Content-Type, Idempotency-Key, If-Match, "         \
    "If-None-Match, "                                                                                        \
    "If-Range, Range, "                                                                                      \
    "Schema-Version, X-Request-Id"
#define ANSWER_HEADERS                                                                                       \
    "Accept-Patch, Accept-Ranges, Allow, Changed, Content-Range, Deleted, Dry-Run, ETag, "                   \
    "Idempotency-Replayed, Location, "                                                                       \
    "Record-Count, "                                                                                         \
    "Retry-After, Schema-Fingerprint, Schema-Id, Schema-Version, Schema-Warning, Server-Timing, TTL, "       \
    "WWW-Authenticate, X-Request-Id"
#define MAX_AGE_SECONDS "600"

/* ---- the list ---- */

static bool ends_with(struct slice s, struct slice tail)
{
    return s.len >= tail.len && slice_eq(slice_of(s.ptr + s.len - tail.len, tail.len), tail);
}

static bool starts_with(struct slice s, struct slice head)
{
    return s.len >= head.len && slice_eq(slice_of(s.ptr, head.len), head);
}

static bool is_small(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '+';
}

/* scheme "://" host [":" port], as a browser writes it (RFC 6454, 6.2). */
static bool is_origin(struct slice s)
{
    size_t i = 0;
    while (i < s.len && is_small(s.ptr[i]))
        i++;
    struct slice rest = slice_of(s.ptr + i, s.len - i);
    if (i == 0 || rest.len <= 3 || !starts_with(rest, SLICE("://")))
        return false;
    for (i = 3; i < rest.len; i++)
        if (!is_small(rest.ptr[i]) && rest.ptr[i] != ':' && rest.ptr[i] != '[' && rest.ptr[i] != ']')
            return false;
    return !(starts_with(s, SLICE("http://")) && ends_with(s, SLICE(":80"))) &&
           !(starts_with(s, SLICE("https://")) && ends_with(s, SLICE(":443")));
}

static enum rc add(struct cors *cors, struct slice origin, struct err *err)
{
    if (!is_origin(origin))
        return err_set(
            err, ERR_CONFIG,
            "--cors-origin: '%.*s' is no origin as browsers send it, such as https://app.example or "
            "http://localhost:3000: small letters, no path, no slash at the end, no port that goes "
            "without saying.",
            (int)(origin.len < 100 ? origin.len : 100), (const char *)origin.ptr);
    if (cors->n == LIMIT_CORS_ORIGINS_MAX)
        return err_set(err, ERR_CONFIG, "--cors-origin names at most %d origins.", LIMIT_CORS_ORIGINS_MAX);
    cors->origin[cors->n++] = origin;
    return RC_OK;
}

enum rc cors_parse(struct cors *cors, const char *list, struct err *err)
{
    *cors = (struct cors){0};
    while (list) {
        const char *comma = strchr(list, ',');
        if (add(cors, slice_of(list, comma ? (size_t)(comma - list) : strlen(list)), err) != RC_OK)
            return RC_ERR;
        list = comma ? comma + 1 : NULL;
    }
    return RC_OK;
}

bool cors_has(const struct cors *cors, struct slice origin)
{
    for (unsigned i = 0; i < cors->n; i++)
        if (slice_eq(cors->origin[i], origin))
            return true;
    return false;
}

/* ---- answers ---- */

/* The value of the line `Allow: ...`, which the router has made; empty: there is none. */
static struct slice allowed(struct slice lines)
{
    struct slice label = SLICE("Allow: ");
    while (lines.len) {
        const uint8_t *end = memchr(lines.ptr, '\r', lines.len);
        size_t bytes = end ? (size_t)(end - lines.ptr) : lines.len;
        if (starts_with(lines, label))
            return slice_of(lines.ptr + label.len, bytes - label.len);
        bytes = bytes + 2 < lines.len ? bytes + 2 : lines.len;
        lines = slice_of(lines.ptr + bytes, lines.len - bytes);
    }
    return (struct slice){0};
}

static bool add_preflight(struct request *req)
{
    struct slice methods = allowed(req->response.headers);
    return !methods.len || (response_header(req, "Access-Control-Allow-Methods", methods) &&
                            response_header(req, "Access-Control-Allow-Headers", SLICE(REQUEST_HEADERS)) &&
                            response_header(req, "Access-Control-Max-Age", SLICE(MAX_AGE_SECONDS)));
}

/* The last line is the one that a browser does not do without. */
static bool add_lines(struct request *req, struct slice origin)
{
    bool has_more = req->method == METHOD_OPTIONS
                        ? add_preflight(req)
                        : response_header(req, "Access-Control-Expose-Headers", SLICE(ANSWER_HEADERS));
    return has_more && response_header(req, "Access-Control-Allow-Origin", origin);
}

void cors_answer(const struct cors *cors, struct request *req)
{
    struct slice origin = req->header[HEADER_ORIGIN];
    if (response_header(req, "Vary", SLICE("Origin")) && cors_has(cors, origin) && !add_lines(req, origin))
        return; /* see cors.h */
}
