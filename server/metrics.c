/* server/metrics.c - collects what is counted all over the process, and prints the table. */
#include "server/metrics.h"

#include <stddef.h>

#include "server/access/access.h"
#include "server/counts.h"
#include "server/failures.h"
#include "server/http/access_log.h"
#include "server/http/edge.h"
#include "server/metrics_text.h"
#include "server/process.h"
#include "server/router.h"

enum { MS_DECIMALS = 3, NS_DECIMALS = 9 };

/* What the rows of metrics.def draw upon. */
struct metrics {
    struct server *server;
    uint64_t worker[COUNTS]; /* all workers' */
    uint64_t connections, tls_connections, types, streams, access_log_dropped, backup_running,
        logins_verifying;
    struct histogram_read streams_ns;
    struct edge_stats edge;
    struct store_stats store;
    struct process_stats process;
    struct failures failures;
    struct buf labels; /* of the sample at hand */
};

struct row;
typedef bool row_print(struct metrics *, const struct row *, struct buf *out);

struct row {
    const char *name, *type, *help;
    row_print *print;
    size_t at; /* of the value in struct metrics */
    unsigned first;
};

/* ---- one number ---- */

static uint64_t value_of(const struct metrics *m, const struct row *r)
{
    return *(const uint64_t *)((const char *)m + r->at);
}

static bool print_value(struct metrics *m, const struct row *r, struct buf *out)
{
    return metrics_text_sample(out, r->name, (struct slice){0}, value_of(m, r), 0);
}

static bool print_ms(struct metrics *m, const struct row *r, struct buf *out)
{
    return metrics_text_sample(out, r->name, (struct slice){0}, value_of(m, r), MS_DECIMALS);
}

static bool print_histogram(struct metrics *m, const struct row *r, struct buf *out)
{
    const struct histogram_read *h = (const void *)((const char *)m + r->at);
    return metrics_text_histogram(out, r->name, (struct slice){0}, h, r->first,
                                  r->first == HISTOGRAM_NS ? NS_DECIMALS : 0);
}

/* ---- by route, method and status: what has not happened has no sample ---- */

static const uint16_t statuses[STATUSES] = {
#define STATUS(code, reason) code,
#include "server/http/status.def"
#undef STATUS
};

static bool label_route(struct metrics *m, unsigned route, unsigned method)
{
    struct buf *labels = &m->labels;
    labels->len = 0;
    return metrics_text_label(labels, "route", slice_str(route ? router_pattern(route) : "none")) &&
           metrics_text_label(labels, "method",
                              slice_str(method < METHODS ? method_name((enum method)method) : "none"));
}

static bool label_status(struct metrics *m, unsigned status)
{
    uint8_t digits[] = {(uint8_t)('0' + status / 100), (uint8_t)('0' + status / 10 % 10),
                        (uint8_t)('0' + status % 10)};
    return metrics_text_label(&m->labels, "status", slice_of(digits, sizeof digits));
}

static bool print_statuses(struct metrics *m, const struct row *r, unsigned route, unsigned method,
                           struct buf *out)
{
    for (unsigned s = 0; s < STATUSES; s++) {
        uint64_t n = 0;
        for (const struct counts *c = m->server->counts; c; c = c->next)
            n += counter_get(&c->route[route * COUNTS_METHODS + method].status[s]);
        if (n && !(label_route(m, route, method) && label_status(m, statuses[s]) &&
                   metrics_text_sample(out, r->name, buf_slice(&m->labels), n, 0)))
            return false;
    }
    return true;
}

static bool print_requests(struct metrics *m, const struct row *r, struct buf *out)
{
    for (unsigned route = 0; route <= router_routes(); route++)
        for (unsigned method = 0; method < COUNTS_METHODS; method++)
            if (!print_statuses(m, r, route, method, out))
                return false;
    return true;
}

static bool histogram_is_empty(const struct histogram_read *h)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        if (h->bucket[i])
            return false;
    return true;
}

static bool print_duration(struct metrics *m, const struct row *r, unsigned route, unsigned method,
                           struct buf *out)
{
    struct histogram_read h = {0};
    for (const struct counts *c = m->server->counts; c; c = c->next)
        histogram_get(&c->route[route * COUNTS_METHODS + method].duration_ns, &h);
    if (histogram_is_empty(&h))
        return true;
    return label_route(m, route, method) &&
           metrics_text_histogram(out, r->name, buf_slice(&m->labels), &h, HISTOGRAM_NS, NS_DECIMALS);
}

static bool print_durations(struct metrics *m, const struct row *r, struct buf *out)
{
    for (unsigned route = 0; route <= router_routes(); route++)
        for (unsigned method = 0; method < COUNTS_METHODS; method++)
            if (!print_duration(m, r, route, method, out))
                return false;
    return true;
}

/* ---- other labels ---- */

static bool print_labelled(struct metrics *m, const struct row *r, const char *label, struct slice value,
                           uint64_t n, struct buf *out)
{
    m->labels.len = 0;
    return metrics_text_label(&m->labels, label, value) &&
           metrics_text_sample(out, r->name, buf_slice(&m->labels), n, 0);
}

static bool print_failures(struct metrics *m, const struct row *r, struct buf *out)
{
    const struct failures *f = &m->failures;
    for (unsigned i = 0; i < f->n; i++) {
        struct slice name = slice_of(f->type[i].name, f->type[i].name_len);
        if (!print_labelled(m, r, "type", name, f->type[i].count, out))
            return false;
    }
    return print_labelled(m, r, "type", SLICE("_other"), f->others, out); /* no type's name begins so */
}

static bool print_page_faults(struct metrics *m, const struct row *r, struct buf *out)
{
    return print_labelled(m, r, "kind", SLICE("minor"), m->process.minor_faults, out) &&
           print_labelled(m, r, "kind", SLICE("major"), m->process.major_faults, out);
}

static bool print_build_info(struct metrics *m, const struct row *r, struct buf *out)
{
    return print_labelled(m, r, "version", SLICE(AVROD_VERSION), 1, out);
}

/* ---- the table ---- */

static const struct row rows[] = {
#define COUNTER               "counter"
#define GAUGE                 "gauge"
#define HISTOGRAM_TYPE        "histogram"
#define WORKERS(id)           .print = print_value, .at = offsetof(struct metrics, worker[COUNT_##id])
#define VALUE(member)         .print = print_value, .at = offsetof(struct metrics, member)
#define MILLISECONDS(member)  .print = print_ms, .at = offsetof(struct metrics, member)
#define HISTOGRAM(member, of) .print = print_histogram, .at = offsetof(struct metrics, member), .first = of
#define PRINTED(function)     .print = function
#define METRIC(type_, name_, unit_, labels_, source_, help_)                                                 \
    {.name = name_, .type = type_, .help = help_, source_},
#include "server/metrics.def"
#undef METRIC
#undef PRINTED
#undef HISTOGRAM
#undef MILLISECONDS
#undef VALUE
#undef WORKERS
#undef HISTOGRAM_TYPE
#undef GAUGE
#undef COUNTER
};

/* What has begun and is not over. */
static uint64_t under_way(uint64_t begun, uint64_t over)
{
    return begun > over ? begun - over : 0;
}

/* The ends before the beginnings, so that no more has ended than begun. */
static void collect_workers(struct metrics *m)
{
    for (const struct counts *c = m->server->counts; c; c = c->next)
        histogram_get(&c->streams_ns, &m->streams_ns);
    for (unsigned i = COUNTS; i-- > 0;)
        for (const struct counts *c = m->server->counts; c; c = c->next)
            m->worker[i] += counter_get(&c->plain[i]);
    uint64_t streams_over = m->worker[COUNT_streams_broken];
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        streams_over += m->streams_ns.bucket[i];
    m->streams = under_way(m->worker[COUNT_streams_begun], streams_over);
    m->connections = under_way(m->worker[COUNT_connections_accepted], m->worker[COUNT_connections_closed]);
    m->tls_connections = under_way(m->worker[COUNT_tls_handshakes], m->worker[COUNT_tls_closed]);
}

static void collect(struct metrics *m, struct server *server, const struct catalog_hold *hold)
{
    *m = (struct metrics){.server = server};
    m->backup_running = atomic_load_explicit(&server->backup.is_running, memory_order_relaxed);
    collect_workers(m);
    edge_stats(server->edge, &m->edge);
    m->access_log_dropped = server->access_log ? access_log_dropped(server->access_log) : 0;
    m->logins_verifying = server->access ? access_verifying(server->access) : 0;
    m->types = catalog_count(hold);
    store_stats(server->store, &m->store);
    process_stats(&m->process);
    failures_read(&server->failures, hold, &m->failures);
}

bool metrics_print(struct server *server, const struct catalog_hold *hold, struct buf *out)
{
    struct metrics m;
    bool ok = true;
    collect(&m, server, hold);
    for (size_t i = 0; ok && i < ARRAY_LEN(rows); i++)
        ok = metrics_text_family(out, rows[i].name, rows[i].type, rows[i].help) &&
             rows[i].print(&m, &rows[i], out);
    buf_release(&m.labels);
    return ok;
}
