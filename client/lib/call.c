/* client/lib/call.c - what an attempt has come to, and whether there is another one: the table in docs/client.md. */
#include "client/lib/call.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "client/lib/error.h"

enum { BACKOFF_MS_MAX = 2000, IDEMPOTENCY_KEY_MAX = 255 };

/* ---- the request ---- */

static bool field_is_sound(const char *value)
{
    return !value || !strpbrk(value, "\r\n");
}

static bool key_is_sound(const char *key)
{
    size_t len = key ? strlen(key) : 1;
    for (size_t i = 0; key && i < len; i++)
        if (key[i] <= ' ' || key[i] > '~')
            return false;
    return len >= 1 && len <= IDEMPOTENCY_KEY_MAX;
}

enum avrod_code call_check(const struct avrod_request *r, struct avrod_error *error)
{
    if (!r->method || !*r->method || strpbrk(r->method, " \t\r\n"))
        return error_set(error, AVROD_ARGUMENT, "The method of a request is one word.");
    if (!r->target || r->target[0] != '/' || strpbrk(r->target, " #\t\r\n"))
        return error_set(error, AVROD_ARGUMENT,
                         "The target of a request begins with a slash and is percent-encoded.");
    if (!r->body && r->body_bytes)
        return error_set(error, AVROD_ARGUMENT, "A body of %zu bytes is at NULL.", r->body_bytes);
    const char *const values[] = {r->content_type, r->accept, r->if_match, r->if_none_match};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (!field_is_sound(values[i]))
            return error_set(error, AVROD_ARGUMENT, "A header field has no line break.");
    for (const char *const *h = r->headers; h && *h; h++)
        if (!field_is_sound(*h) || !strchr(*h, ':'))
            return error_set(error, AVROD_ARGUMENT, "A header field is 'Name: value', on one line.");
    if (!key_is_sound(r->idempotency_key))
        return error_set(error, AVROD_ARGUMENT, "An idempotency key is 1 to %d visible ASCII characters.",
                         IDEMPOTENCY_KEY_MAX);
    return AVROD_OK;
}

static bool method_is(const struct avrod_request *r, const char *name)
{
    return strcmp(r->method, name) == 0;
}

static bool reads(const struct avrod_request *r)
{
    return r->safe || method_is(r, "GET") || method_is(r, "HEAD") || method_is(r, "OPTIONS");
}

/* A condition would fail on what the first attempt has made. */
bool call_repeats(const struct avrod_request *r)
{
    if (r->once)
        return false;
    if (reads(r) || r->idempotency_key)
        return true;
    return (method_is(r, "PUT") || method_is(r, "DELETE")) && !r->if_match && !r->if_none_match;
}

/* ---- what it has come to ---- */

/* No request has left. */
static enum avrod_code not_begun(const struct exchange *x, struct avrod_error *error)
{
    switch (x->result) {
    case CURLE_OUT_OF_MEMORY: return error_memory(error);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_FUNCTION_ARGUMENT: return error_set(error, AVROD_ARGUMENT, "%s.", x->message);
    default:
        return error_set(error, AVROD_UNREACHABLE, "No connection to %s%s: %s.",
                         x->client->socket ? "unix:" : "",
                         x->client->socket ? x->client->socket : x->client->base, x->message);
    }
}

static enum avrod_code stopped(const struct exchange *x, struct avrod_error *error)
{
    switch (x->stopped) {
    case AVROD_MEMORY: return error_memory(error);
    case AVROD_TOO_LARGE:
        return error_set(error, AVROD_TOO_LARGE, "The answer is longer than %llu bytes.",
                         (unsigned long long)x->client->answer_bytes_max);
    case AVROD_STOPPED: return error_set(error, AVROD_STOPPED, "The caller has stopped it.");
    case AVROD_TIMEOUT:
        return error_set(error, AVROD_TIMEOUT, "Time is up: nothing has come for %.1f seconds.",
                         x->client->stall_timeout_ms / 1e3);
    default: return error_set(error, AVROD_BROKEN, "The answer is not one of avrod's.");
    }
}

static enum avrod_code no_answer(const struct exchange *x, struct avrod_error *error)
{
    if (x->result == CURLE_OPERATION_TIMEDOUT)
        return error_set(error, AVROD_TIMEOUT, "Time is up: %s.", x->message);
    if (x->result == CURLE_OUT_OF_MEMORY)
        return error_memory(error);
    return error_set(error, AVROD_BROKEN, "The connection ended before the answer did: %s.", x->message);
}

/* An error whose head has come is told, even if its body has not. */
static enum avrod_code refused(struct exchange *x, struct avrod_error *error)
{
    bool cut = x->result != CURLE_OK;
    if (x->stopped == AVROD_MEMORY)
        return error_memory(error);
    error_refused(error, x->status, &x->body);
    error->body_cut = cut;
    error->retry_after_s = x->has_retry_after ? x->retry_after_s : 0;
    return AVROD_REFUSED;
}

static enum avrod_code outcome(struct exchange *x, struct avrod_error *error)
{
    bool good = (x->status >= 200 && x->status < 300) || x->status == 304;
    if (!x->begun && x->stopped == AVROD_OK)
        return not_begun(x, error);
    if (x->status >= 200 && x->head_whole && !good)
        return refused(x, error);
    if (x->stopped != AVROD_OK)
        return stopped(x, error);
    if (x->result != CURLE_OK)
        return no_answer(x, error);
    if (!good)
        return error_set(error, AVROD_BROKEN, "The answer has the status %d.", x->status);
    if (!x->head_whole) /* libcurl takes a head that is cut for a whole one */
        return error_set(error, AVROD_BROKEN, "The connection ended inside the answer's head.");
    return AVROD_OK;
}

enum avrod_code call_try(struct call *call, struct avrod_error *error)
{
    struct exchange *x = &call->exchange;
    error_begin(error);
    exchange_again(x);
    x->once = !call_repeats(x->request);
    enum avrod_code code = exchange_run(x);
    if (code == AVROD_MEMORY)
        error_memory(error);
    else if (code != AVROD_OK)
        error_set(error, code, "The request cannot be sent.");
    else
        code = outcome(x, error);
    call->attempts++;
    if (x->begun && code != AVROD_OK && code != AVROD_REFUSED && !reads(x->request))
        call->maybe_done = true;
    error->code = code;
    error->attempts = call->attempts;
    error->maybe_done = code != AVROD_OK && call->maybe_done;
    return code;
}

/* ---- and again ---- */

/* Where TLS or the name of a host is at fault it will be the next time, too. */
static bool connection_may_come(CURLcode result)
{
    return result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
           result == CURLE_OPERATION_TIMEDOUT || result == CURLE_SSL_CONNECT_ERROR;
}

static bool may_try(const struct call *call, const struct avrod_error *error)
{
    const struct exchange *x = &call->exchange;
    switch (error->code) {
    case AVROD_UNREACHABLE: return connection_may_come(x->result);
    case AVROD_REFUSED: return x->has_retry_after && (x->status == 503 || x->status == 429);
    case AVROD_BROKEN: return x->stopped == AVROD_OK && call_repeats(x->request);
    default: return false;
    }
}

/* Between half of it and all: clients that failed together shall not come back together. */
static int64_t jittered(int64_t ms)
{
    uint64_t random = (uint64_t)clock_mono_ns() * UINT64_C(0x9e3779b97f4a7c15);
    return ms / 2 + (int64_t)((random >> 33) % (uint64_t)(ms / 2 + 1));
}

static int64_t wait_ms(const struct call *call)
{
    int64_t ms = call->exchange.client->backoff_ms;
    for (unsigned i = 1; i < call->failures && ms < BACKOFF_MS_MAX; i++)
        ms *= 2;
    ms = jittered(ms < BACKOFF_MS_MAX ? ms : BACKOFF_MS_MAX);
    int64_t asked = call->exchange.has_retry_after ? INT64_C(1000) * call->exchange.retry_after_s : 0;
    return ms > asked ? ms : asked;
}

static void sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left))
        ;
}

bool call_waits(struct call *call, const struct avrod_error *error)
{
    if (!may_try(call, error) || ++call->failures > call->exchange.client->retries_max)
        return false;
    int64_t ms = wait_ms(call);
    if (call->retries_until_ms && clock_mono_ms() + ms >= call->retries_until_ms)
        return false;
    sleep_ms(ms);
    return true;
}
