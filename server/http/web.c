/* server/http/web.c - the rules for requests that a browser sends for a page. */
#include "server/http/web.h"

#include "server/handler.h"
#include "server/http/address.h"
#include "server/http/cors.h"

static struct slice without_port(struct slice host)
{
    size_t n = host.len;
    while (n && host.ptr[n - 1] >= '0' && host.ptr[n - 1] <= '9')
        n--;
    if (n && host.ptr[n - 1] == ':' && (host.ptr[0] != '[' || (n > 1 && host.ptr[n - 2] == ']')))
        return slice_of(host.ptr, n - 1);
    return host;
}

static bool ends_nocase(struct slice s, struct slice tail)
{
    return s.len >= tail.len && slice_eq_nocase(slice_of(s.ptr + s.len - tail.len, tail.len), tail);
}

static bool is_loopback_address(struct slice host)
{
    struct address a;
    return address_parse_host(host, &a) && address_is_loopback(&a);
}

bool web_host_is_loopback(struct slice host)
{
    host = without_port(host);
    if (host.len && host.ptr[host.len - 1] == '.') /* the root of the DNS, written out */
        host.len--;
    /* First what is usual. */
    return slice_eq(host, SLICE("127.0.0.1")) || slice_eq_nocase(host, SLICE("localhost")) ||
           ends_nocase(host, SLICE(".localhost")) || is_loopback_address(host);
}

static struct slice without_default_port(struct slice host, bool secure)
{
    struct slice port = secure ? SLICE(":443") : SLICE(":80");
    return ends_nocase(host, port) ? slice_of(host.ptr, host.len - port.len) : host;
}

static bool is_own_origin(struct slice origin, struct slice host, bool secure)
{
    struct slice scheme = secure ? SLICE("https://") : SLICE("http://");
    if (origin.len <= scheme.len || !slice_eq_nocase(slice_of(origin.ptr, scheme.len), scheme))
        return false;
    origin = slice_of(origin.ptr + scheme.len, origin.len - scheme.len);
    return slice_eq_nocase(without_default_port(origin, secure), without_default_port(host, secure));
}

enum rc web_check(const struct request *req, const struct cors *cors, struct web_listener at, bool changes,
                  struct err *err)
{
    struct slice host = req->header[HEADER_HOST], origin = req->header[HEADER_ORIGIN];
    /* No Host at all is no browser's doing. */
    if (at.loopback && host.len && !web_host_is_loopback(host))
        return err_set(err, ERR_FORBIDDEN_HOST,
                       "This server listens on a loopback address, and Host names another.");
    if (!changes || (cors->n && cors_has(cors, origin)))
        return RC_OK;
    if (origin.ptr && !is_own_origin(origin, host, at.secure))
        return err_set(err, ERR_FORBIDDEN_ORIGIN, "A page of another origin may not change anything here.");
    if (slice_eq_nocase(req->header[HEADER_SEC_FETCH_SITE], SLICE("cross-site")))
        return err_set(err, ERR_FORBIDDEN_ORIGIN, "A page of another site may not change anything here.");
    return RC_OK;
}
