/* server/http/address.h - what --listen takes: "127.0.0.1:8080", "[::1]:8080", "localhost:8080". Pure. */
#ifndef SERVER_HTTP_ADDRESS_H
#define SERVER_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/err.h"

struct address {
    struct sockaddr_storage socket;
    socklen_t bytes;
};

enum { ADDRESS_TEXT_BYTES = 64 };

/* CONFIG: not an address and a port. */
MUST_USE enum rc address_parse(const char *text, struct address *out, struct err *);
bool address_is_loopback(const struct address *);
/* As address_parse takes it. */
void address_print(const struct address *, char out[ADDRESS_TEXT_BYTES]);

#endif
