/* server/http/address.c - listen addresses to and from text. */
#include "server/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/bytes.h"
#include "base/num.h"

bool address_parse_host(struct slice host, struct address *out)
{
    char text[INET6_ADDRSTRLEN + 1];
    struct sockaddr_in *four = (struct sockaddr_in *)&out->socket;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->socket;
    bool brackets = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    if (brackets)
        host = slice_of(host.ptr + 1, host.len - 2);
    if (!host.len || host.len >= sizeof text)
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = 0;
    *out = (struct address){0};
    if (brackets) {
        six->sin6_family = AF_INET6;
        out->bytes = sizeof *six;
        return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
    }
    four->sin_family = AF_INET;
    out->bytes = sizeof *four;
    return inet_pton(AF_INET, strcmp(text, "localhost") ? text : "127.0.0.1", &four->sin_addr) == 1;
}

static void set_port(struct address *a, uint16_t port)
{
    if (a->socket.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a->socket)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&a->socket)->sin_port = htons(port);
}

static enum rc parse_path(struct slice path, struct address *out, struct err *err)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&out->socket;
    if (!path.len || path.len >= sizeof un->sun_path)
        return err_set(err, ERR_CONFIG, "--listen unix:%.*s: a path has 1 to %zu bytes.",
                       (int)(path.len < 200 ? path.len : 200), (const char *)path.ptr,
                       sizeof un->sun_path - 1);
    *out = (struct address){.bytes = sizeof *un};
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path.ptr, path.len);
    return RC_OK;
}

enum rc address_parse(struct slice text, struct address *out, struct err *err)
{
    uint64_t port;
    struct slice scheme = SLICE("unix:");
    if (text.len >= scheme.len && slice_eq(slice_of(text.ptr, scheme.len), scheme))
        return parse_path(slice_of(text.ptr + scheme.len, text.len - scheme.len), out, err);
    size_t n = text.len;
    while (n && text.ptr[n - 1] != ':')
        n--;
    if (!n || !address_parse_host(slice_of(text.ptr, n - 1), out) ||
        !num_parse_decimal(slice_of(text.ptr + n, text.len - n), UINT16_MAX, &port))
        return err_set(
            err, ERR_CONFIG,
            "--listen %.*s: not ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080, nor unix:PATH.",
            (int)(text.len < 100 ? text.len : 100), (const char *)text.ptr);
    set_port(out, (uint16_t)port);
    return RC_OK;
}

bool address_is_unix(const struct address *a)
{
    return a->socket.ss_family == AF_UNIX;
}

bool address_is_loopback(const struct address *a)
{
    if (a->socket.ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)&a->socket)->sin_addr.s_addr) >> 24 == 127;
    if (a->socket.ss_family != AF_INET6)
        return false;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)&a->socket)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

/* No network of IPv6 that anybody sends from begins with 32 ones (RFC 4291, 2.7): there is room for IPv4. */
uint64_t address_group(const struct address *a)
{
    const uint64_t four = UINT64_C(0xffffffff) << 32;
    const uint8_t *six = ((const struct sockaddr_in6 *)&a->socket)->sin6_addr.s6_addr;
    if (a->socket.ss_family == AF_INET)
        return four | ntohl(((const struct sockaddr_in *)&a->socket)->sin_addr.s_addr);
    if (a->socket.ss_family != AF_INET6)
        return ADDRESS_NONE;
    if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)six))
        return four | get_be32(six + 12);
    return get_be64(six);
}

void address_print_host(const struct address *a, char out[ADDRESS_HOST_BYTES])
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)&a->socket)->sin6_addr;
    _Static_assert(ADDRESS_HOST_BYTES >= INET6_ADDRSTRLEN, "the longest address fits");
    if (a->socket.ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)&a->socket)->sin_addr, out, ADDRESS_HOST_BYTES);
    else if (a->socket.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(six))
        inet_ntop(AF_INET, &six->s6_addr[12], out, ADDRESS_HOST_BYTES);
    else if (a->socket.ss_family == AF_INET6)
        inet_ntop(AF_INET6, six, out, ADDRESS_HOST_BYTES);
    else
        snprintf(out, ADDRESS_HOST_BYTES, "unix");
}

void address_print(const struct address *a, char out[ADDRESS_TEXT_BYTES])
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (address_is_unix(a)) {
        snprintf(out, ADDRESS_TEXT_BYTES, "unix:%s", ((const struct sockaddr_un *)&a->socket)->sun_path);
        return;
    }
    if (a->socket.ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)&a->socket;
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        snprintf(out, ADDRESS_TEXT_BYTES, "%s:%u", host, (unsigned)ntohs(four->sin_port));
    } else {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&a->socket;
        inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        snprintf(out, ADDRESS_TEXT_BYTES, "[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    }
}
