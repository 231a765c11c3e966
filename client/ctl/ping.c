/* client/ctl/ping.c - avroctl ping. */
#include "base/clock.h"
#include "client/ctl/ctl.h"
#include "client/ctl/json_text.h"

/* The second one is timed: a connection stands then. */
int command_ping(struct ctl *ctl)
{
    struct avrod_error error = {0};
    struct json_text t = {0};
    if (avrod_ping(ctl->client, &error) != AVROD_OK)
        return fail_call(ctl, &error);
    int64_t begin_ns = clock_mono_ns();
    if (avrod_ping(ctl->client, &error) != AVROD_OK)
        return fail_call(ctl, &error);
    double ms = (double)(clock_mono_ns() - begin_ns) / 1e6;
    if (!ctl->args->json) {
        printf("pong (%.3f ms)\n", ms);
        return 0;
    }
    json_text_begin(&t);
    json_text_string(&t, "answer", "pong");
    json_text_real(&t, "ms", ms);
    json_text_end(&t);
    return print_json_line(ctl, &t);
}
