/* server/http/web.h - what pages of other web sites may not do: a browser sends their requests too. Pure.
 * Sources: the Fetch standard (Origin, Sec-Fetch-Site); DNS rebinding is what the rule for Host is about. */
#ifndef SERVER_HTTP_WEB_H
#define SERVER_HTTP_WEB_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/slice.h"

struct cors;
struct request;

/* What it came in on. */
struct web_listener {
    bool loopback, secure;
};

/* FORBIDDEN_HOST: on a loopback listener, Host is no loopback name or address. FORBIDDEN_ORIGIN: the request
 * would change something and comes from a page of another site, whose origin is not listed. */
MUST_USE enum rc web_check(const struct request *, const struct cors *, struct web_listener, bool changes,
                           struct err *);

/* localhost, *.localhost, 127.0.0.0/8 or [::1], with or without a port. */
bool web_host_is_loopback(struct slice host);

#endif
