/* server/http/listen.h - the sockets of --listen: which there are to be, how they are bound for all workers, and what is
 * removed in the end. Main thread. */
#ifndef SERVER_HTTP_LISTEN_H
#define SERVER_HTTP_LISTEN_H

#include <sys/types.h>

#include "base/limits.h"
#include "server/http/address.h"
#include "server/options.h"

struct listening {
    struct address address;
    bool secure;   /* it speaks TLS */
    bool loopback; /* a Host that is no loopback name is refused; never so on a unix socket */
    bool is_there; /* a unix socket's file, made by us, with this identity */
    dev_t device;
    ino_t inode;
};

struct listeners {
    struct listening at[LIMIT_LISTENERS_MAX];
    unsigned n;
};

/* --listen: a list with commas between, with http:// or https:// in front or neither: that is https where there is TLS, but on a path.
 * CONFIG: what is no address, https without TLS, or beyond loopback without logins or --insecure. */
MUST_USE enum rc listeners_parse(struct listeners *, const struct options *, struct err *);
/* Is one of them to be reached from another machine without TLS? */
bool listeners_are_plain_beyond(const struct listeners *);
/* Bind and listen. fds[worker * LIMIT_LISTENERS_MAX + i] is the worker's for at[i], -1 where there is none: of an internet address
 * each has a socket of its own (SO_REUSEPORT), of a path all share one. Port 0 becomes a real one. CONFIG: in use by
 * somebody else, and other faults, in words; those that were made before are in `fds`. */
MUST_USE enum rc listeners_bind(struct listeners *, unsigned workers, int *fds, struct err *);
/* "https://127.0.0.1:8080, http://127.0.0.1:8081, unix:/run/avrod.sock", as bound. */
enum { LISTENERS_TEXT_BYTES = LIMIT_LISTENERS_MAX * (ADDRESS_TEXT_BYTES + 10) };
void listeners_print(const struct listeners *, char out[LISTENERS_TEXT_BYTES]);
/* Remove the files of unix sockets that are still ours. */
void listeners_remove(struct listeners *);

#endif
