/* client/lib/send.c - a request until it is answered. */
#include "client/lib/send.h"

#include <string.h>

#include "base/clock.h"
#include "client/lib/answer.h"
#include "client/lib/call.h"
#include "client/lib/error.h"

static enum avrod_code finish(struct call *call, struct avrod_answer *answer, struct avrod_error *error)
{
    if (answer && !answer_take(answer, &call->exchange))
        return error_memory(error);
    return AVROD_OK;
}

enum avrod_code avrod_send(avrod_client *client, const struct avrod_request *request,
                           struct avrod_answer *answer, struct avrod_error *error)
{
    error_begin(error);
    if (answer)
        avrod_answer_release(answer);
    if (call_check(request, error) != AVROD_OK)
        return error->code;
    int64_t deadline_ms = clock_mono_ms() + client->timeout_ms;
    struct call call = {.exchange = {.client = client, .request = request, .deadline_ms = deadline_ms},
                        .retries_until_ms = deadline_ms};
    enum avrod_code code;
    do
        code = call_try(&call, error);
    while (code != AVROD_OK && call_waits(&call, error));
    if (code == AVROD_OK)
        code = finish(&call, answer, error);
    exchange_release(&call.exchange);
    return code;
}

enum avrod_code send_target(avrod_client *client, struct target *target, struct avrod_request *request,
                            struct avrod_answer *answer, struct avrod_error *error)
{
    enum avrod_code code;
    error_begin(error);
    request->target = target_text(target);
    code = request->target ? avrod_send(client, request, answer, error) : error_memory(error);
    target_release(target);
    return code;
}

enum avrod_code avrod_ping(avrod_client *client, struct avrod_error *error)
{
    struct avrod_request request = {.method = "GET", .target = "/ping"};
    struct avrod_answer answer = {0};
    enum avrod_code code = avrod_send(client, &request, &answer, error);
    if (code == AVROD_OK && (answer.body_bytes != 4 || memcmp(answer.body, "pong", 4) != 0))
        code = error_set(error, AVROD_BROKEN, "What answers there is no avrod.");
    avrod_answer_release(&answer);
    return code;
}
