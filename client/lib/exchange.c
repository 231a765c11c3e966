/* client/lib/exchange.c - one exchange over libcurl: its options, and what its callbacks gather. */
#include "client/lib/exchange.h"

#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"

enum {
    HEAD_BYTES_MAX = 256 << 10,
    IDLE_SECONDS_MAX = 50, /* the server closes what is idle for 60 s */
};

/* ---- the head ---- */

static struct slice trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && strchr(" \t\r\n", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static bool keep_field(struct exchange *x, struct slice name, struct slice value)
{
    return x->head.len + name.len + value.len <= HEAD_BYTES_MAX && buf_append(&x->head, name) &&
           buf_append_byte(&x->head, 0) && buf_append(&x->head, value) && buf_append_byte(&x->head, 0);
}

/* Each head begins with a status line; a 100 may come before the one that counts. */
static void begin_head(struct exchange *x)
{
    x->head.len = 0;
    x->head_whole = false;
    x->has_retry_after = false;
}

/* Digits are seconds (RFC 9110, 10.2.3); a date is taken for a second. */
static void take_retry_after(struct exchange *x, struct slice value)
{
    unsigned seconds = 0;
    for (size_t i = 0; i < value.len && seconds < 1000000; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9') {
            seconds = 1;
            break;
        }
        seconds = seconds * 10 + (value.ptr[i] - '0');
    }
    x->has_retry_after = true;
    x->retry_after_s = seconds;
}

static size_t on_head(char *bytes, size_t one, size_t len, void *user)
{
    struct exchange *x = user;
    struct slice line = slice_of(bytes, one * len);
    if (slice_starts(line, SLICE("HTTP/"))) {
        begin_head(x);
        return len;
    }
    const uint8_t *colon = memchr(line.ptr, ':', line.len);
    if (!colon) {
        x->head_whole = trim(line).len == 0;
        return len;
    }
    struct slice name = slice_of(line.ptr, (size_t)(colon - line.ptr));
    struct slice value = trim(slice_of(colon + 1, line.len - name.len - 1));
    if (slice_eq_nocase(name, SLICE("Retry-After")))
        take_retry_after(x, value);
    if (keep_field(x, name, value))
        return len;
    x->stopped = x->head.len > HEAD_BYTES_MAX / 2 ? AVROD_BROKEN : AVROD_MEMORY;
    return 0;
}

const char *head_find(const char *head, size_t head_bytes, const char *name, unsigned nth)
{
    for (const char *p = head, *end = head + head_bytes; p < end;) {
        const char *value = p + strlen(p) + 1;
        if (strcasecmp(p, name) == 0 && nth-- == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

/* ---- the body ---- */

static int status_of(CURL *easy)
{
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* An error's body is cut where a good one would be too large. */
static bool gather(struct exchange *x, struct slice piece)
{
    uint64_t max = x->client->answer_bytes_max;
    bool fits = x->body.len + piece.len <= max;
    if (!fits)
        piece.len = (size_t)(max - x->body.len);
    if (!buf_append(&x->body, piece)) {
        x->stopped = AVROD_MEMORY;
        return false;
    }
    if (!fits)
        x->stopped = AVROD_TOO_LARGE;
    return fits;
}

struct body_of {
    struct exchange *x;
    CURL *easy;
};

static size_t on_body(char *bytes, size_t one, size_t len, void *user)
{
    const struct body_of *b = user;
    struct exchange *x = b->x;
    bool good = status_of(b->easy) < 300;
    if (good && x->sink)
        return x->sink(x, bytes, one * len) ? len : 0;
    return gather(x, slice_of(bytes, one * len)) ? len : 0;
}

/* Called on a connection that stands, before the request leaves: so it tells what may have been done. libcurl itself tries
 * again where a connection that it had kept proves dead. */
static int on_begin(void *user, char *peer, char *local, int peer_port, int local_port)
{
    struct exchange *x = user;
    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    if (x->begun++ && x->once)
        return CURL_PREREQFUNC_ABORT;
    return CURL_PREREQFUNC_OK;
}

/* Called as bytes go either way, and once a second while none do. (libcurl's own bound of a speed looks at the mean of some
 * seconds, and so comes late.) */
static int on_progress(void *user, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
    struct exchange *x = user;
    int64_t now_ms = clock_mono_ms();
    (void)down_all;
    (void)up_all;
    if (x->waits && !x->head_whole && !x->waits(x))
        return 1;
    if (!x->begun || down + up != x->moved || (x->waits && !x->head_whole)) {
        x->moved = down + up;
        x->moved_ms = now_ms;
    }
    if (now_ms - x->moved_ms < x->client->stall_timeout_ms)
        return 0;
    x->stopped = AVROD_TIMEOUT;
    return 1;
}

/* ---- the request ---- */

static bool field_add(struct curl_slist **fields, const char *name, const char *value)
{
    struct buf line = {0};
    bool good = buf_append(&line, slice_str(name)) && buf_append(&line, SLICE(": ")) &&
                buf_append(&line, slice_str(value)) && buf_append_byte(&line, 0);
    struct curl_slist *longer = good ? curl_slist_append(*fields, (const char *)line.ptr) : NULL;
    buf_release(&line);
    if (longer)
        *fields = longer;
    return longer;
}

static bool fields_of(const struct avrod_request *r, struct curl_slist **fields)
{
    const char *const known[][2] = {
        {"Content-Type", r->body ? (r->content_type ? r->content_type : "application/json") : NULL},
        {"Accept", r->accept},
        {"If-Match", r->if_match},
        {"If-None-Match", r->if_none_match},
        {"Idempotency-Key", r->idempotency_key},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i][1] && !field_add(fields, known[i][0], known[i][1]))
            return false;
    for (const char *const *h = r->headers; h && *h; h++) {
        struct curl_slist *longer = curl_slist_append(*fields, *h);
        if (!longer)
            return false;
        *fields = longer;
    }
    return true;
}

/* Of 0: none. At least 1, since libcurl takes 0 for none. */
static long ms_left(int64_t deadline_ms)
{
    int64_t left = deadline_ms - clock_mono_ms();
    if (deadline_ms == 0)
        return 0;
    return left < 1 ? 1 : (long)left;
}

static CURLcode set_times(CURL *e, const struct exchange *x)
{
    const struct avrod_client *c = x->client;
    CURLcode rc = curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)c->connect_timeout_ms);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, ms_left(x->deadline_ms));
    return rc ? rc : curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS_MAX);
}

/* No proxy, no redirect, no cookie, no compression: what is asked is what goes out. */
static CURLcode set_place(CURL *e, const struct exchange *x, const char *url)
{
    const struct avrod_client *c = x->client;
    CURLcode rc = curl_easy_setopt(e, CURLOPT_URL, url);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_UNIX_SOCKET_PATH, c->socket);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_PROXY, "");
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    return rc ? rc : curl_easy_setopt(e, CURLOPT_USERAGENT, c->user_agent);
}

static CURLcode set_who(CURL *e, const struct avrod_client *c)
{
    CURLcode rc = CURLE_OK;
    if (c->userpwd) {
        rc = curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_USERPWD, c->userpwd);
    } else if (c->token) {
        rc = curl_easy_setopt(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_XOAUTH2_BEARER, c->token);
    }
    if (c->ca_file)
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_CAINFO, c->ca_file);
    if (c->cert_file)
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_SSLCERT, c->cert_file);
    if (c->key_file)
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_SSLKEY, c->key_file);
    return rc;
}

static CURLcode set_method(CURL *e, const struct avrod_request *r)
{
    CURLcode rc = CURLE_OK;
    if (r->body) {
        rc = curl_easy_setopt(e, CURLOPT_POST, 1L);
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_bytes);
        rc = rc ? rc : curl_easy_setopt(e, CURLOPT_POSTFIELDS, r->body);
    } else if (strcmp(r->method, "HEAD") == 0) {
        return curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
    }
    return rc ? rc : curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method);
}

static CURLcode set_callbacks(CURL *e, struct exchange *x, struct body_of *body)
{
    CURLcode rc = curl_easy_setopt(e, CURLOPT_ERRORBUFFER, x->message);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_head);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_HEADERDATA, x);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_WRITEDATA, body);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_XFERINFODATA, x);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_begin);
    return rc ? rc : curl_easy_setopt(e, CURLOPT_PREREQDATA, x);
}

/* ---- the run ---- */

static enum avrod_code run(struct exchange *x, struct link *l, const char *url, struct curl_slist *fields)
{
    CURL *e = l->easy;
    struct body_of body = {x, e};
    CURLcode rc = set_place(e, x, url);
    rc = rc ? rc : set_times(e, x);
    rc = rc ? rc : set_who(e, x->client);
    rc = rc ? rc : set_method(e, x->request);
    rc = rc ? rc : set_callbacks(e, x, &body);
    rc = rc ? rc : curl_easy_setopt(e, CURLOPT_HTTPHEADER, fields);
    if (rc)
        return rc == CURLE_OUT_OF_MEMORY ? AVROD_MEMORY : AVROD_ARGUMENT;
    x->moved_ms = clock_mono_ms();
    x->result = curl_easy_perform(e);
    x->status = x->begun ? status_of(e) : 0;
    if (x->message[0] == 0) {
        const char *said = curl_easy_strerror(x->result);
        memcpy(x->message, said, strlen(said) + 1);
    }
    return AVROD_OK;
}

enum avrod_code exchange_run(struct exchange *x)
{
    struct curl_slist *fields = NULL;
    struct buf url = {0};
    enum avrod_code code = AVROD_MEMORY;
    struct link *l = client_take(x->client);
    if (l && fields_of(x->request, &fields) && buf_append(&url, slice_str(x->client->base)) &&
        buf_append(&url, slice_str(x->request->target)) && buf_append_byte(&url, 0))
        code = run(x, l, (const char *)url.ptr, fields);
    if (l)
        client_give(x->client, l);
    buf_release(&url);
    curl_slist_free_all(fields);
    return code;
}

void exchange_again(struct exchange *x)
{
    x->result = CURLE_OK;
    x->begun = 0;
    x->moved = 0;
    x->status = 0;
    x->head_whole = x->has_retry_after = false;
    x->retry_after_s = 0;
    x->head.len = x->body.len = 0;
    x->stopped = AVROD_OK;
    x->message[0] = 0;
}

void exchange_release(struct exchange *x)
{
    buf_release(&x->head);
    buf_release(&x->body);
}
