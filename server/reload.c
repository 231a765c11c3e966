/* server/reload.c - see reload.h. What there is to reload is a table: a function a concern. */
#include "server/reload.h"

#include "base/log.h"
#include "server/access/access.h"
#include "server/http/access_log.h"
#include "server/http/edge.h"
#include "server/server.h"

/* It has a thread of its own, which says what comes of it. */
static enum rc reload_access_log(struct server *server, struct err *err)
{
    (void)err;
    if (!server->access_log)
        return RC_NOTFOUND;
    access_log_reopen(server->access_log);
    return RC_OK;
}

static enum rc reload_access(struct server *server, struct err *err)
{
    return server->access ? access_reload(server->access, err) : RC_NOTFOUND;
}

/* For new connections. */
static enum rc reload_tls(struct server *server, struct err *err)
{
    return edge_tls_reload(server->edge, err);
}

static const struct concern {
    const char *name;
    /* RC_NOTFOUND: the server has none. RC_ERR: all is as it was. */
    enum rc (*reload)(struct server *, struct err *);
} concerns[] = {
    {"access log", reload_access_log},
    {"users and rights", reload_access},
    {"TLS", reload_tls},
};

void reload(struct server *server)
{
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(concerns); i++) {
        struct err err;
        enum rc rc = concerns[i].reload(server, &err);
        any |= rc != RC_NOTFOUND;
        if (rc == RC_OK)
            log_info("SIGHUP: reloading: %s", concerns[i].name);
        else if (rc == RC_ERR)
            log_error("SIGHUP: %s: what was in effect stays: %s", concerns[i].name, err.message);
    }
    if (!any)
        log_info("SIGHUP: nothing to reload");
}
