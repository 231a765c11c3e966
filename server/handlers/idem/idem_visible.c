/* server/handlers/idem/idem_visible.c - a repeat may be answered only when what the first has done to a type is in the catalog, as the first
 * itself is (register.c): who was told that a type is there finds it. The first may be about to put it there, so the repeat does,
 * from the row in the store. */
#include <stddef.h>

#include "server/catalog.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/reply.h"
#include "server/router.h"
#include "server/server.h"

/* In the request's arena; req->state. */
struct visibly {
    struct store_write write; /* the outcome, for which req->write has no room while the row is read */
    struct catalog_change change;
    uint32_t number; /* of the type that the catalog has of this name, 0: none */
};

static enum rc publish(struct request *req, const struct store_get *get, struct err *err)
{
    const struct visibly *v = req->state;
    struct catalog *catalog = req->worker->server->catalog;
    struct type_row row;
    if (get->rc ==
        RC_NOTFOUND) /* the catalog had the type before the store was asked: so it has been dropped */
        return v->number ? catalog_drop(catalog, req->type_name, v->number, err) : RC_OK;
    if (get->rc != RC_OK) {
        *err = get->err;
        return RC_ERR;
    }
    if (type_row_decode(get->rec.body, &row, err) != RC_OK)
        return RC_ERR;
    return catalog_put(catalog, req->type_name, &row, err);
}

static void row_read(struct store_get *get)
{
    struct request *req = CONTAINER_OF(get, struct request, get);
    struct visibly *v = req->state;
    struct err err;
    enum rc rc = publish(req, get, &err);
    catalog_change_end(req->worker->server->catalog, &v->change);
    if (rc == RC_OK)
        idem_answer(req, &v->write);
    else
        answer_err(req, &err);
}

static bool begin(struct request *req, struct visibly *v)
{
    if (!req->hold && !catalog_enter(req))
        return false;
    const struct type *type = catalog_find(req->hold, req->type_name);
    v->number = type ? type->number : 0;
    return catalog_change_begin(req->worker->server->catalog, &v->change);
}

COLD void idem_answer_once_visible(struct request *req, const struct store_write *w)
{
    req->look = LOOK_DONE;
    if (router_type_name_fault(req->type_name)) { /* it is about no type */
        idem_answer(req, w);
        return;
    }
    struct visibly *v = arena_alloc(&req->arena, sizeof *v);
    if (v)
        v->write = *w;
    if (!v || !begin(req, v)) {
        response_reset(req);
        reply_no_memory(req);
        return;
    }
    req->state = v;
    req->get.key = (struct store_key){.space = SPACE_TYPE, .id = req->type_name};
    req->get.done = row_read;
    store_get(req->worker->store, &req->get);
}
