/* server/check_config.c - see check_config.h. What is looked at is a table: a function a concern. */
#include "server/check_config.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "server/access/access.h"
#include "server/http/cors.h"
#include "server/http/listen.h"
#include "server/http/tls_context.h"

static enum rc check_engine(const struct options *o, struct err *err)
{
    return store_engine_check(o->engine, err);
}

static enum rc check_listen(const struct options *o, struct err *err)
{
    struct listeners listeners;
    return listeners_parse(&listeners, o, err);
}

static enum rc check_tls(const struct options *o, struct err *err)
{
    struct tls_context *tls;
    enum rc rc = tls_context_open(&tls, o, err);
    tls_context_free(tls);
    return rc;
}

static enum rc check_cors(const struct options *o, struct err *err)
{
    struct cors cors;
    return cors_parse(&cors, o->cors_origin, err);
}

/* The file, or where there is none the folder in which it would be made. */
static bool can_append(const char *path)
{
    char folder[PATH_MAX];
    size_t len = strlen(path);
    if (access(path, W_OK) == 0)
        return true;
    if (errno != ENOENT || len >= sizeof folder)
        return false;
    memcpy(folder, path, len + 1);
    return access(dirname(folder), W_OK | X_OK) == 0;
}

static enum rc check_access_log(const struct options *o, struct err *err)
{
    if (!o->access_log || !strcmp(o->access_log, "-") || can_append(o->access_log))
        return RC_OK;
    int number = errno;
    return err_set(err, ERR_CONFIG, "The access log %.100s cannot be opened: %s.", o->access_log,
                   strerror(number));
}

static enum rc (*const concerns[])(const struct options *, struct err *) = {
    check_engine, check_listen, check_tls, check_cors, check_access_log, access_check_config,
};

enum rc check_config(const struct options *options, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(concerns); i++)
        if (concerns[i](options, err) != RC_OK)
            return RC_ERR;
    return RC_OK;
}
