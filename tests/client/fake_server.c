/* tests/client/fake_server.c - see fake_server.h. */
#include "tests/client/fake_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUESTS_MAX = 64, REQUEST_BYTES_MAX = 1 << 20 };

struct fake_server {
    const struct fake_step *steps;
    size_t nsteps;
    int listener;
    char url[64];
    pthread_t thread;
    char *requests[REQUESTS_MAX];
    size_t nrequests;
};

/* Bytes of a body behind a head, as it says. */
static size_t body_of(const char *head)
{
    const char *field = strcasestr(head, "\r\nContent-Length:");
    return field ? strtoul(field + 17, NULL, 10) : 0;
}

/* A whole request, or NULL: the client has left before. */
static char *read_request(int fd)
{
    char *text = calloc(1, REQUEST_BYTES_MAX);
    size_t have = 0;
    assert(text);
    while (have < REQUEST_BYTES_MAX - 1) {
        ssize_t n = recv(fd, text + have, REQUEST_BYTES_MAX - 1 - have, 0);
        if (n <= 0)
            break;
        have += (size_t)n;
        const char *end = strstr(text, "\r\n\r\n");
        if (end && have >= (size_t)(end + 4 - text) + body_of(text))
            return text;
    }
    free(text);
    return NULL;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static void wait_until_left(int fd)
{
    char bytes[256];
    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
}

static void send_spaces(int fd, size_t spaces)
{
    char block[4096];
    memset(block, ' ', sizeof block);
    while (spaces) {
        size_t len = spaces < sizeof block ? spaces : sizeof block;
        if (!send_all(fd, block, len))
            return;
        spaces -= len;
    }
}

/* False: the connection is over. */
static bool serve(struct fake_server *f, int fd, const struct fake_step *step)
{
    if (step->answer)
        send_all(fd, step->answer, strlen(step->answer));
    send_spaces(fd, step->spaces);
    if (step->then == FAKE_HANG)
        wait_until_left(fd);
    (void)f;
    return step->then == FAKE_KEEP;
}

static void *run(void *user)
{
    struct fake_server *f = user;
    int fd = -1;
    for (size_t i = 0; i < f->nsteps;) {
        if (fd < 0)
            fd = accept(f->listener, NULL, NULL);
        if (fd < 0)
            break;
        char *request = read_request(fd);
        if (request) {
            assert(f->nrequests < REQUESTS_MAX);
            f->requests[f->nrequests++] = request;
        }
        if (!request || !serve(f, fd, &f->steps[i])) {
            close(fd);
            fd = -1;
        }
        i += request != NULL;
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

struct fake_server *fake_start(const struct fake_step *steps, size_t nsteps)
{
    struct fake_server *f = calloc(1, sizeof *f);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    assert(f);
    f->steps = steps;
    f->nsteps = nsteps;
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = f->listener < 0 || bind(f->listener, (struct sockaddr *)&address, len) ||
                 listen(f->listener, 16) || getsockname(f->listener, (struct sockaddr *)&address, &len);
    assert(!failed);
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    failed = pthread_create(&f->thread, NULL, run, f);
    assert(!failed);
    return f;
}

const char *fake_url(const struct fake_server *f)
{
    return f->url;
}

void fake_stop(struct fake_server *f)
{
    shutdown(f->listener, SHUT_RDWR); /* wakes accept */
    pthread_join(f->thread, NULL);
    close(f->listener);
}

size_t fake_requests(const struct fake_server *f)
{
    return f->nrequests;
}

const char *fake_request(const struct fake_server *f, size_t n)
{
    assert(n < f->nrequests);
    return f->requests[n];
}

void fake_free(struct fake_server *f)
{
    for (size_t i = 0; i < f->nrequests; i++)
        free(f->requests[i]);
    free(f);
}
