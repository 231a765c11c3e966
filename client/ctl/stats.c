/* client/ctl/stats.c - avroctl stats: /metrics, looked at again and again. Counters are shown by the second. */
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/ctl/ctl.h"
#include "client/ctl/interrupt.h"
#include "client/ctl/json_text.h"
#include "client/ctl/samples.h"

enum { INTERVAL_MS = 1000, HEADER_EVERY = 20 };

/* One look. */
struct look {
    struct avrod_answer answer;
    int64_t at_ns;
};

/* What is shown of two looks. */
struct shown {
    double seconds;
    struct figure {
        const char *name, *title, *unit; /* the name is that of JSON */
        double value;
    } at[24];
    size_t n;
};

/* ---- figures ---- */

static void add(struct shown *s, const char *name, const char *title, const char *unit, double value)
{
    s->at[s->n++] = (struct figure){name, title, unit, value};
}

static double rate_of(struct slice before, struct slice now, const char *name, double seconds)
{
    double more = samples_sum(now, name) - samples_sum(before, name);
    return more > 0 ? more / seconds : 0; /* less: another process answers */
}

/* Requests that were answered with an error, by the first digit of their status. */
static double errors_of(struct slice text, uint8_t digit)
{
    struct sample sample;
    double sum = 0;
    while (sample_next(&text, &sample)) {
        struct slice status = sample_label(&sample, "status");
        if (slice_eq(sample.name, SLICE("avrod_http_requests_total")) && status.len == 3 &&
            status.ptr[0] == digit)
            sum += sample.value;
    }
    return sum;
}

static void add_requests(struct shown *s, struct slice before, struct slice now)
{
    double errors4 = errors_of(now, '4') - errors_of(before, '4');
    double errors5 = errors_of(now, '5') - errors_of(before, '5');
    static const char duration[] = "avrod_http_request_duration_seconds";
    add(s, "requests_per_second", "requests", "/s",
        rate_of(before, now, "avrod_http_requests_total", s->seconds));
    add(s, "errors_4xx_per_second", "4xx", "/s", fmax(errors4, 0) / s->seconds);
    add(s, "errors_5xx_per_second", "5xx", "/s", fmax(errors5, 0) / s->seconds);
    add(s, "get_p99_ms", "get p99", "ms",
        1e3 * samples_quantile(before, now, duration, "method", "GET", 0.99));
    add(s, "put_p99_ms", "put p99", "ms",
        1e3 * samples_quantile(before, now, duration, "method", "PUT", 0.99));
    add(s, "post_p99_ms", "post p99", "ms",
        1e3 * samples_quantile(before, now, duration, "method", "POST", 0.99));
    add(s, "received_bytes_per_second", "received", "B/s",
        rate_of(before, now, "avrod_http_received_bytes_total", s->seconds));
    add(s, "sent_bytes_per_second", "sent", "B/s",
        rate_of(before, now, "avrod_http_sent_bytes_total", s->seconds));
    add(s, "connections", "connections", "", samples_sum(now, "avrod_http_connections"));
}

static void add_store(struct shown *s, struct slice before, struct slice now)
{
    double writes = rate_of(before, now, "avrod_store_writes_total", s->seconds);
    double groups = rate_of(before, now, "avrod_store_groups_total", s->seconds);
    add(s, "writes_per_second", "writes", "/s", writes);
    add(s, "writes_a_group", "a group", "", groups > 0 ? writes / groups : 0);
    add(s, "flush_p99_ms", "flush p99", "ms",
        1e3 * samples_quantile(before, now, "avrod_store_flush_seconds", NULL, NULL, 0.99));
    add(s, "queued_writes", "queued", "", samples_sum(now, "avrod_store_queue_writes"));
    add(s, "types", "types", "", samples_sum(now, "avrod_types"));
    add(s, "store_bytes", "store", "B", samples_sum(now, "avrod_store_used_bytes"));
    add(s, "cpu_percent", "cpu", "%", 100 * rate_of(before, now, "process_cpu_seconds_total", s->seconds));
    add(s, "memory_bytes", "memory", "B", samples_sum(now, "process_resident_memory_bytes"));
}

static void compare(const struct look *before, const struct look *now, struct shown *s)
{
    struct slice texts[] = {slice_of(before->answer.body, before->answer.body_bytes),
                            slice_of(now->answer.body, now->answer.body_bytes)};
    *s = (struct shown){.seconds = (double)(now->at_ns - before->at_ns) / 1e9};
    add_requests(s, texts[0], texts[1]);
    add_store(s, texts[0], texts[1]);
}

/* ---- printing ---- */

/* Of four characters or so, with a letter for the thousands. */
static const char *short_number(double value, char out[24])
{
    static const char letters[] = " kMGTP";
    size_t i = 0;
    for (; fabs(value) >= 9999.5 && letters[i + 1]; i++)
        value /= 1000;
    snprintf(out, 24, "%.*f%.*s",
             value == floor(value) && i == 0 ? 0
             : fabs(value) >= 100            ? 0
                                             : 2,
             value, i ? 1 : 0, letters + i);
    return out;
}

static void print_view(const struct ctl *ctl, const struct shown *s)
{
    char number[24];
    printf("\033[H\033[2J%s, every %.1f s; Ctrl-C ends\n\n",
           ctl->args->url ? ctl->args->url : "http://127.0.0.1:8080", s->seconds);
    for (size_t i = 0; i < s->n; i++)
        printf("  %-12s %10s %s\n", s->at[i].title, short_number(s->at[i].value, number), s->at[i].unit);
}

static void print_line(const struct shown *s, uint64_t nth)
{
    char number[24];
    if (nth % HEADER_EVERY == 0) {
        for (size_t i = 0; i < s->n; i++)
            printf("%s%s", s->at[i].title, i + 1 < s->n ? "\t" : "\n");
    }
    for (size_t i = 0; i < s->n; i++)
        printf("%s%s%s", short_number(s->at[i].value, number), s->at[i].unit, i + 1 < s->n ? "\t" : "\n");
}

static int print_json(const struct ctl *ctl, const struct shown *s)
{
    struct json_text t = {0};
    json_text_begin(&t);
    json_text_real(&t, "seconds", s->seconds);
    for (size_t i = 0; i < s->n; i++) {
        if (isfinite(s->at[i].value))
            json_text_real(&t, s->at[i].name, s->at[i].value);
        else /* beyond the last bucket */
            json_text_raw(&t, s->at[i].name, SLICE("null"));
    }
    json_text_end(&t);
    return print_json_line(ctl, &t);
}

static int print(const struct ctl *ctl, const struct shown *s, uint64_t nth)
{
    if (ctl->args->json)
        return print_json(ctl, s);
    if (isatty(STDOUT_FILENO))
        print_view(ctl, s);
    else
        print_line(s, nth);
    return fflush(stdout) ? fail(ctl, EXIT_HERE, "Standard output takes no more.") : 0;
}

/* ---- the watch ---- */

static int look(struct ctl *ctl, struct look *out)
{
    struct avrod_request request = {.method = "GET", .target = "/metrics"};
    struct avrod_error error = {0};
    if (avrod_send(ctl->client, &request, &out->answer, &error) != AVROD_OK)
        return fail_call(ctl, &error);
    out->at_ns = clock_mono_ns();
    return 0;
}

static int watch(struct ctl *ctl, struct look looks[2])
{
    const struct args *a = ctl->args;
    uint32_t asked_ms = a->interval_ms ? a->interval_ms : INTERVAL_MS;
    int interval_ms = asked_ms < INT_MAX ? (int)asked_ms : INT_MAX;
    struct shown s;
    int code = look(ctl, &looks[0]);
    for (uint64_t nth = 0; code == 0 && (!a->count || nth < a->count); nth++) {
        poll(NULL, 0, interval_ms);
        if (interrupt_came())
            break;
        struct look *before = &looks[nth % 2], *now = &looks[(nth + 1) % 2];
        code = look(ctl, now);
        if (code)
            break;
        compare(before, now, &s);
        code = print(ctl, &s, nth);
    }
    return code;
}

int command_stats(struct ctl *ctl)
{
    struct look looks[2] = {0};
    interrupt_watch();
    int code = watch(ctl, looks);
    avrod_answer_release(&looks[0].answer);
    avrod_answer_release(&looks[1].answer);
    return code;
}
