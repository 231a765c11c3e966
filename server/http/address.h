/* server/http/address.h - addresses as --listen takes them, "127.0.0.1:8080", "[::1]:8080",
 * "localhost:8080", "unix:/run/avrod.sock", and as Host has them. Pure. */
#ifndef SERVER_HTTP_ADDRESS_H
#define SERVER_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/slice.h"

struct address {
    struct sockaddr_storage socket;
    socklen_t bytes;
};

enum { ADDRESS_TEXT_BYTES = 128, ADDRESS_HOST_BYTES = 46 };

/* Its part before the port; out->socket is left without one. False: not an address. */
bool address_parse_host(struct slice host, struct address *out);
/* CONFIG: neither an address and a port nor unix: and a path that is not too long. */
MUST_USE enum rc address_parse(struct slice text, struct address *out, struct err *);
bool address_is_unix(const struct address *);
/* Of an internet address; false for a path. */
bool address_is_loopback(const struct address *);
/* A number for who is there: an IPv4 address; of IPv6 the network, 64 bits, for whose addresses one client has all; all that is no
 * address is one, which is ADDRESS_NONE. */
#define ADDRESS_NONE UINT64_MAX
uint64_t address_group(const struct address *);
/* The address alone, without brackets; one of IPv4 that is written as IPv6 as what it is. Another family: "unix". */
void address_print_host(const struct address *, char out[ADDRESS_HOST_BYTES]);
/* As address_parse takes it. */
void address_print(const struct address *, char out[ADDRESS_TEXT_BYTES]);

#endif
