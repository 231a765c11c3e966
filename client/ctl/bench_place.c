/* client/ctl/bench_place.c - see bench_place.h. */
#include "client/ctl/bench_place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/base64.h"

static int no_memory(const struct ctl *ctl, bool good)
{
    return good ? 0 : fail_memory(ctl);
}

static int find_unix(const struct ctl *ctl, const char *path, struct bench_place *out)
{
    struct sockaddr_un *address = (struct sockaddr_un *)&out->place.address;
    if (strlen(path) >= sizeof address->sun_path)
        return fail(ctl, EXIT_USAGE, "The path of the socket is too long.");
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
    out->place.address_bytes = sizeof *address;
    return no_memory(ctl, buf_append(&out->fields, SLICE("Host: localhost\r\n")));
}

static int resolve(const struct ctl *ctl, const char *host, const char *port, struct bench_place *out)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int fault = getaddrinfo(host, port, &hints, &found);
    if (fault)
        return fail(ctl, EXIT_NO_CONNECTION, "%s port %s: %s.", host, port, gai_strerror(fault));
    memcpy(&out->place.address, found->ai_addr, found->ai_addrlen);
    out->place.address_bytes = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

/* HOST:PORT or [IPV6]:PORT; the port is 80 where it is not given. */
static int find_host(const struct ctl *ctl, struct slice authority, struct bench_place *out)
{
    char *text = strndup((const char *)authority.ptr, authority.len);
    if (!text)
        return fail_memory(ctl);
    const char *port = "80";
    char *host = text, *end = strrchr(text, ']'), *colon = strrchr(end ? end : text, ':');
    if (colon) {
        *colon = 0;
        port = colon + 1;
    }
    if (*host == '[' && end) {
        *end = 0;
        host++;
    }
    int code = resolve(ctl, host, port, out);
    free(text);
    if (code)
        return code;
    return no_memory(ctl, buf_append(&out->fields, SLICE("Host: ")) && buf_append(&out->fields, authority) &&
                              buf_append(&out->fields, SLICE("\r\n")));
}

static int add_user(const struct ctl *ctl, struct bench_place *out)
{
    struct buf pair = {0};
    const char *user = ctl->args->user, *password = getenv("AVROD_PASSWORD");
    bool good = buf_append(&pair, slice_str(user));
    if (!strchr(user, ':'))
        good = good && buf_printf(&pair, ":%s", password ? password : "");
    good = good && buf_append(&out->fields, SLICE("Authorization: Basic ")) &&
           base64_print(buf_slice(&pair), &out->fields) && buf_append(&out->fields, SLICE("\r\n"));
    buf_release(&pair);
    return no_memory(ctl, good);
}

int bench_place_find(const struct ctl *ctl, struct bench_place *out)
{
    static const char http[] = "http://", socket[] = "unix:";
    const char *url = ctl->args->url ? ctl->args->url : "http://127.0.0.1:8080";
    int code;
    *out = (struct bench_place){0};
    if (strncmp(url, socket, sizeof socket - 1) == 0) {
        code = find_unix(ctl, url + sizeof socket - 1, out);
    } else if (strncmp(url, http, sizeof http - 1) == 0) {
        const char *authority = url + sizeof http - 1;
        size_t len = strcspn(authority, "/"), path = strlen(authority + len);
        while (path && authority[len + path - 1] == '/')
            path--;
        code = find_host(ctl, slice_of(authority, len), out);
        if (code == 0)
            code = no_memory(ctl, buf_append(&out->prefix, slice_of(authority + len, path)));
    } else {
        code = fail(ctl, EXIT_USAGE, "avroctl bench speaks plain http, over TCP or a unix socket.");
    }
    if (code == 0 && ctl->args->user)
        code = add_user(ctl, out);
    if (code == 0 && ctl->args->token)
        code = no_memory(ctl, buf_printf(&out->fields, "Authorization: Bearer %s\r\n", ctl->args->token));
    return code;
}

void bench_place_release(struct bench_place *p)
{
    buf_release(&p->prefix);
    buf_release(&p->fields);
}
