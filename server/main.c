/* server/main.c - the process: options, store, catalog, edge; then wait for a signal, drain and end. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/zstd.h"
#include "server/access/access.h"
#include "server/care/care.h"
#include "server/catalog.h"
#include "server/check_config.h"
#include "server/http/access_log.h"
#include "server/http/edge.h"
#include "server/notify.h"
#include "server/options_print.h"
#include "server/reload.h"
#include "server/router.h"
#include "server/sandbox.h"
#include "server/server.h"
#include "server/words.h"

enum { EXIT_USAGE = 2, TRIM_EVERY_SECONDS = 4 };
/* Whoever reads a body has made progress within the deadline, or is given up; the margin is for a connection that
 * is looked at late. */
enum { BLOB_MARGIN_MS = 10000 };
/* Behind the last connection the store is closed. */
enum { NOTIFY_MARGIN_MS = 10000 };

static const int ending_signals[] = {SIGTERM, SIGINT};

/* Before any thread starts: all threads inherit the mask, so only main gets these signals. SIGHUP is taken also where nohup
 * has had it ignored: it ends nothing here, and who sends it by hand means it. */
static void signals_block(sigset_t *awaited)
{
    sigemptyset(awaited);
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++)
        sigaddset(awaited, ending_signals[i]);
    sigaddset(awaited, SIGHUP);
    signal(SIGHUP, SIG_DFL);
    pthread_sigmask(SIG_BLOCK, awaited, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed connection is an error of write */
    signal(SIGXFSZ, SIG_IGN); /* so is a file limit */
}

/* A second signal ends the process at once; the store is made for that. */
static void signals_unblock(const sigset_t *awaited)
{
    sigset_t ending = *awaited;
    sigdelset(&ending, SIGHUP);
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++)
        signal(ending_signals[i], SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
}

static unsigned cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

static enum rc open_store(struct server *server, struct err *err)
{
    const struct options *o = server->options;
    const struct store_opts opts = {
        .engine = o->engine,
        .dir = o->data,
        .durability = o->durability,
        .bytes_max = o->map_max,
        .record_bytes_max = o->record_max,
        .queue_writes_max = o->queue_writes_max,
        .queue_bytes_max = o->queue_bytes_max,
        .blob_keep_ms = o->write_deadline_ms + BLOB_MARGIN_MS,
        .workers = o->threads,
        .readers = 2 + EDGE_HELPERS, /* main reads the catalog; a backup */
        .unpack = zstd_unpack,
        .accept_dirty = o->accept_dirty,
    };
    return store_open(&server->store, &opts, err);
}

static enum rc open_catalog(struct server *server, struct err *err)
{
    struct store_worker *worker;
    if (store_worker_new(&worker, server->store, NULL, err) != RC_OK)
        return RC_ERR;
    enum rc rc = catalog_open(&server->catalog, worker, err);
    store_worker_free(worker);
    return rc;
}

static enum rc open_access_log(struct server *server, struct err *err)
{
    const struct options *o = server->options;
    if (!o->access_log)
        return RC_OK;
    return access_log_open(&server->access_log, o->access_log,
                           o->access_combined ? ACCESS_COMBINED : ACCESS_JSON, err);
}

static enum rc start(struct server *server, struct err *err)
{
    router_init();
    if (open_access_log(server, err) != RC_OK)
        return RC_ERR;
    if (access_open(&server->access, server->options, err) != RC_OK)
        return RC_ERR;
    if (open_store(server, err) != RC_OK || open_catalog(server, err) != RC_OK)
        return RC_ERR;
    if (edge_start(server, err) != RC_OK)
        return RC_ERR;
    return server->options->no_sandbox ? RC_OK : sandbox_enter(err);
}

static void wait_and_drain(struct server *server, const sigset_t *awaited)
{
    const struct timespec timeout = {.tv_sec = TRIM_EVERY_SECONDS};
    int number;
    while ((number = sigtimedwait(awaited, NULL, &timeout)) < 0 || number == SIGHUP) {
        if (number == SIGHUP)
            reload(server);
        else
            edge_trim(server->edge);
    }
    log_info("%s: draining", number == SIGINT ? "SIGINT" : "SIGTERM");
    notify_stopping();
    notify_extend_ms(server->options->drain_deadline_ms + NOTIFY_MARGIN_MS);
    signals_unblock(awaited);
    atomic_store(&server->draining, true);
    edge_drain(server->edge);
    edge_join(server->edge, server->options->drain_deadline_ms);
}

static void stop(struct server *server)
{
    if (server->edge)
        edge_free(server->edge);
    store_worker_free(server->backup.reader);
    if (server->store)
        store_close(server->store); /* the last writes may still look at their types */
    codec_free(server->writer.codec);
    buf_release(&server->writer.resolved);
    buf_release(&server->writer.out);
    catalog_free(server->catalog);
    access_free(server->access);
    failures_release(&server->failures);
    access_log_close(server->access_log);
}

static int serve(struct options *options)
{
    struct server server = {.options = options};
    failures_init(&server.failures);
    struct err err;
    sigset_t awaited;
    if (!options->threads)
        options->threads = cores();
    notify_init();
    signals_block(&awaited);
    if (start(&server, &err) != RC_OK) {
        log_error("cannot start: %s", err.message);
        stop(&server);
        return EXIT_FAILURE;
    }
    log_info("ready: %s", edge_listening(server.edge));
    notify_ready(edge_listening(server.edge));
    wait_and_drain(&server, &awaited);
    stop(&server);
    log_info("ended");
    return EXIT_SUCCESS;
}

static void warn_of_strays(void)
{
    for (char *const *at = environ;;) {
        struct slice name = options_stray(&at);
        struct words words;
        if (!name.len)
            break;
        log_warn("%s in the environment is none of the options", words_of(name, &words));
    }
}

static int fail_usage(const struct err *err)
{
    fprintf(stderr, "avrod: %s\n", err->message);
    return EXIT_USAGE;
}

/* What was asked for instead of serving, or that. */
static int run(struct options *options)
{
    struct err err;
    if (options->help) {
        options_print_help(stdout);
    } else if (options->version) {
        printf("avrod %s\n", AVROD_VERSION);
    } else if (options->print_config) {
        options_print_config(options, stdout);
    } else if (options->check_config) {
        warn_of_strays();
        if (check_config(options, &err) != RC_OK)
            return fail_usage(&err);
        printf("ok\n");
    } else if (care_is_asked_for(options)) {
        return care_run(options);
    } else {
        warn_of_strays();
        return serve(options);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err;
    enum rc rc = options_parse(&options, argc, argv, environ, &err);
    int code = rc == RC_OK ? run(&options) : fail_usage(&err);
    options_release(&options);
    return code;
}
