/* client/lib/client.c - opening and closing a client, and its pool of connections. */
#include "client/lib/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "client/lib/error.h"

enum {
    CONNECT_TIMEOUT_MS = 3000,
    TIMEOUT_MS = 30000,
    STALL_TIMEOUT_MS = 30000,
    RETRIES_MAX = 3,
    BACKOFF_MS = 50,
    IDLE_MAX = 16,
    ANSWER_BYTES_MAX = 256 << 20,
};

const char *avrod_version(void)
{
    return AVROD_VERSION;
}

/* ---- options ---- */

/* A copy in *out, which is NULL for NULL. False: memory is out. */
static bool copy(const char *text, char **out)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

/* "http://HOST:PORT/" without the slashes at its end. */
static bool copy_base(const char *url, char **out)
{
    if (!copy(url, out))
        return false;
    for (size_t len = strlen(*out); len && (*out)[len - 1] == '/'; len--)
        (*out)[len - 1] = 0;
    return true;
}

static bool copy_userpwd(const struct avrod_options *o, char **out)
{
    const char *password = o->password ? o->password : "";
    struct buf text = {0};
    if (!o->user)
        return true;
    if (!buf_append(&text, slice_str(o->user)) || !buf_append_byte(&text, ':') ||
        !buf_append(&text, slice_str(password)) || !buf_append_byte(&text, 0)) {
        buf_release(&text);
        return false;
    }
    *out = (char *)text.ptr;
    return true;
}

static bool copy_all(struct avrod_client *c, const struct avrod_options *o, const char *url)
{
    static const char unix_prefix[] = "unix:";
    bool is_unix = strncmp(url, unix_prefix, sizeof unix_prefix - 1) == 0;
    return copy_base(is_unix ? "http://localhost" : url, &c->base) &&
           copy(is_unix ? url + sizeof unix_prefix - 1 : NULL, &c->socket) && copy_userpwd(o, &c->userpwd) &&
           copy(o->token, &c->token) && copy(o->ca_file, &c->ca_file) && copy(o->cert_file, &c->cert_file) &&
           copy(o->key_file, &c->key_file) &&
           copy(o->user_agent ? o->user_agent : "libavrod/" AVROD_VERSION, &c->user_agent);
}

/* What libcurl takes for http or https with a host, and nothing in it that belongs to a request. */
static bool url_is_base(const char *url)
{
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *query = NULL, *fragment = NULL, *user = NULL;
    bool good = parts && !curl_url_set(parts, CURLUPART_URL, url, 0) &&
                !curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) &&
                (!strcmp(scheme, "http") || !strcmp(scheme, "https")) &&
                !curl_url_get(parts, CURLUPART_HOST, &host, 0) && *host &&
                curl_url_get(parts, CURLUPART_QUERY, &query, 0) == CURLUE_NO_QUERY &&
                curl_url_get(parts, CURLUPART_FRAGMENT, &fragment, 0) == CURLUE_NO_FRAGMENT &&
                curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_NO_USER;
    curl_free(scheme);
    curl_free(host);
    curl_free(query);
    curl_free(fragment);
    curl_free(user);
    curl_url_cleanup(parts);
    return good;
}

static enum avrod_code check(const struct avrod_options *o, const char *url, struct avrod_error *error)
{
    if (strncmp(url, "unix:/", 6) != 0 && !url_is_base(url))
        return error_set(
            error, AVROD_ARGUMENT,
            "'%.200s' is no address of a server: http://HOST:PORT, https://HOST:PORT or unix:/PATH.", url);
    if (o->user && o->token)
        return error_set(error, AVROD_ARGUMENT,
                         "A user and a token are given; a request can bear one of them.");
    if (o->user && strchr(o->user, ':'))
        return error_set(error, AVROD_ARGUMENT, "A user's name has no colon (RFC 7617).");
    if (o->token && strpbrk(o->token, "\r\n"))
        return error_set(error, AVROD_ARGUMENT, "A token has no line break.");
    return AVROD_OK;
}

static void set_numbers(struct avrod_client *c, const struct avrod_options *o)
{
    c->connect_timeout_ms = o->connect_timeout_ms ? o->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    c->timeout_ms = o->timeout_ms ? o->timeout_ms : TIMEOUT_MS;
    c->stall_timeout_ms = o->stall_timeout_ms ? o->stall_timeout_ms : STALL_TIMEOUT_MS;
    c->retries_max = o->no_retries ? 0 : o->retries_max ? o->retries_max : RETRIES_MAX;
    c->backoff_ms = o->backoff_ms ? o->backoff_ms : BACKOFF_MS;
    c->idle_max = o->idle_max ? o->idle_max : IDLE_MAX;
    c->answer_bytes_max = o->answer_bytes_max ? o->answer_bytes_max : ANSWER_BYTES_MAX;
}

/* ---- life ---- */

static CURLcode started = CURLE_FAILED_INIT;

static void start_curl(void)
{
    started = curl_global_init(CURL_GLOBAL_DEFAULT);
}

enum avrod_code avrod_open(const struct avrod_options *options, avrod_client **out, struct avrod_error *error)
{
    static const struct avrod_options defaults;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct avrod_options *o = options ? options : &defaults;
    const char *url = o->url ? o->url : "http://127.0.0.1:8080";
    *out = NULL;
    error_begin(error);
    pthread_once(&once, start_curl);
    if (started != CURLE_OK)
        return error_set(error, AVROD_MEMORY, "libcurl cannot be started: %s.", curl_easy_strerror(started));
    if (check(o, url, error) != AVROD_OK)
        return error->code;
    struct avrod_client *c = calloc(1, sizeof *c);
    if (!c)
        return error_memory(error);
    pthread_mutex_init(&c->lock, NULL);
    set_numbers(c, o);
    if (!copy_all(c, o, url)) {
        avrod_close(c);
        return error_memory(error);
    }
    *out = c;
    return AVROD_OK;
}

static void link_free(struct link *l)
{
    curl_easy_cleanup(l->easy);
    free(l);
}

void avrod_close(avrod_client *c)
{
    if (!c)
        return;
    for (struct link *l = c->idle, *next; l; l = next) {
        next = l->next;
        link_free(l);
    }
    pthread_mutex_destroy(&c->lock);
    char *owned[] = {c->base,    c->socket,    c->userpwd,  c->token,
                     c->ca_file, c->cert_file, c->key_file, c->user_agent};
    for (size_t i = 0; i < ARRAY_LEN(owned); i++)
        free(owned[i]);
    free(c);
}

/* ---- the pool ---- */

static struct link *link_new(void)
{
    struct link *l = calloc(1, sizeof *l);
    if (l && !(l->easy = curl_easy_init())) {
        free(l);
        return NULL;
    }
    return l;
}

/* The one that came back last: its connection is the least likely to have been closed for idleness. */
struct link *client_take(struct avrod_client *c)
{
    pthread_mutex_lock(&c->lock);
    struct link *l = c->idle;
    if (l) {
        c->idle = l->next;
        c->nidle--;
    }
    pthread_mutex_unlock(&c->lock);
    if (!l)
        return link_new();
    curl_easy_reset(l->easy); /* keeps the connection */
    return l;
}

void client_give(struct avrod_client *c, struct link *l)
{
    pthread_mutex_lock(&c->lock);
    bool keep = c->nidle < c->idle_max;
    if (keep) {
        l->next = c->idle;
        c->idle = l;
        c->nidle++;
    }
    pthread_mutex_unlock(&c->lock);
    if (!keep)
        link_free(l);
}
