/* server/notify.c - see notify.h. A manager that cannot be reached is no fault of ours: nothing is said then. */
#include "server/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

enum { MESSAGE_BYTES = 512 };

static struct {
    struct sockaddr_un address;
    socklen_t bytes; /* 0: there is no manager */
} manager;

void notify_init(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t len = path ? strlen(path) : 0;
    /* A path, or a name without a file: then '@' stands for its first byte, which is 0. */
    if (len && (path[0] == '/' || path[0] == '@') && len < sizeof manager.address.sun_path) {
        manager.address.sun_family = AF_UNIX;
        memcpy(manager.address.sun_path, path, len);
        if (path[0] == '@')
            manager.address.sun_path[0] = 0;
        manager.bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    }
    unsetenv("NOTIFY_SOCKET");
}

/* `n` is what snprintf says of the message. */
static void tell(const char *message, int n)
{
    if (!manager.bytes || n < 0 || n >= MESSAGE_BYTES)
        return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    ssize_t sent = sendto(fd, message, (size_t)n, MSG_NOSIGNAL, (const struct sockaddr *)&manager.address,
                          manager.bytes);
    (void)sent;
    close(fd);
}

void notify_ready(const char *status)
{
    char message[MESSAGE_BYTES];
    /* A status that is too long is cut: that we are ready must be told. */
    tell(message, snprintf(message, sizeof message, "READY=1\nSTATUS=%.400s", status));
}

void notify_reloading(void)
{
    char message[MESSAGE_BYTES];
    tell(message, snprintf(message, sizeof message, "RELOADING=1\nMONOTONIC_USEC=%lld",
                           (long long)(clock_mono_ns() / 1000)));
}

void notify_stopping(void)
{
    char message[MESSAGE_BYTES];
    tell(message, snprintf(message, sizeof message, "STOPPING=1"));
}

void notify_extend_ms(unsigned ms)
{
    char message[MESSAGE_BYTES];
    tell(message,
         snprintf(message, sizeof message, "EXTEND_TIMEOUT_USEC=%llu", (unsigned long long)ms * 1000));
}
