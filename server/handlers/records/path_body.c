/* server/handlers/records/path_body.c - see path_body.h. */
#include "server/handlers/records/path_body.h"

#include "server/server.h"

bool path_body_split(struct slice body, struct slice *path, struct slice *rest)
{
    size_t n = 0;
    while (n < body.len && body.ptr[n] != '\n' && body.ptr[n] != '\r')
        n++;
    *path = slice_of(body.ptr, n);
    *rest = SLICE("");
    if (n == body.len)
        return false;
    n += body.ptr[n] == '\r' && n + 1 < body.len && body.ptr[n + 1] == '\n' ? 2 : 1;
    if (n < body.len)
        *rest = slice_of(body.ptr + n, body.len - n);
    return true;
}

static bool is_blank(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr(" \t\r\n", s.ptr[i]) || !s.ptr[i])
            return false;
    return true;
}

enum rc path_body_check_rest(const struct request *req, struct slice rest, struct err *err)
{
    if (is_blank(rest) || req->worker->server->options->astore)
        return RC_OK;
    return err_set(err, ERR_BAD_REQUEST, "Behind the path's line stands more, but this takes a path alone.");
}
