/* tests/fault/test_start.c - starting and stopping all of a server when the n-th allocation fails: it starts,
 * or says why not, and gives everything back. */
#include "tests/fault/fault.h"

#include "server/catalog.h"
#include "server/http/edge.h"
#include "server/router.h"
#include "server/server.h"

enum { NOTHING_OPEN_MS = 60000 }; /* no connection keeps the end from coming at once */

static enum rc start(struct server *s, struct err *err)
{
    const struct store_opts opts = {
        .engine = "memory", .workers = s->options->threads, .readers = 1 + EDGE_HELPERS};
    struct store_worker *reader;
    if (store_open(&s->store, &opts, err) != RC_OK || store_worker_new(&reader, s->store, NULL, err) != RC_OK)
        return RC_ERR;
    enum rc rc = catalog_open(&s->catalog, reader, err);
    store_worker_free(reader);
    return rc == RC_OK ? edge_start(s, err) : rc;
}

static enum rc start_and_stop(void *arg, struct err *err)
{
    struct options options = options_defaults;
    options.listen = "127.0.0.1:0";
    options.threads = 2;
    struct server server = {.options = &options};
    (void)arg;
    router_init();
    fault_begin();
    enum rc rc = start(&server, err);
    if (rc == RC_OK) {
        edge_drain(server.edge);
        edge_join(server.edge, NOTHING_OPEN_MS);
        edge_free(server.edge);
    }
    store_close(server.store);
    catalog_free(server.catalog);
    fault_end();
    return rc;
}

TEST(server__starts_and_stops_or_no_memory)
{
    assert_true(fault_each(start_and_stop, NULL, RC_OK, ERR_NONE) > 0);
}

TEST_MAIN()
