/* server/access/control.h - what access.c and identify.c share. */
#ifndef SERVER_ACCESS_CONTROL_H
#define SERVER_ACCESS_CONTROL_H

#include "server/access/access.h"
#include "server/access/logins.h"
#include "server/access/tables.h"

/* A worker's own reference to tables, for all requests that it begins with them; request.access. */
struct hold {
    struct tables *tables;
    unsigned requests;
    bool is_old; /* goes with the last of them */
};

static inline struct hold *hold_of(const struct request *req)
{
    return (struct hold *)req->access;
}

/* The newest tables, held by the request until access_end. False: memory is out. */
MUST_USE bool access_begin(struct request *);
struct logins *access_logins(const struct request *);

#endif
