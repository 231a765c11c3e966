/* server/http/socket.h - recv and send as the kernel has them. In a process with threads the C library's are points of
 * cancellation, which takes two atomic exchanges a call; nobody here
 * cancels a thread. Under a sanitizer they are the C library's, for it watches those. Return and errno as theirs. */
#ifndef SERVER_HTTP_SOCKET_H
#define SERVER_HTTP_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOCKET_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOCKET_IS_WATCHED 1
#endif
#endif

static inline ssize_t socket_recv(int fd, void *to, size_t room)
{
#ifdef SOCKET_IS_WATCHED
    return recv(fd, to, room, 0);
#else
    return syscall(SYS_recvfrom, fd, to, room, 0, NULL, NULL);
#endif
}

static inline ssize_t socket_send(int fd, const void *from, size_t bytes)
{
#ifdef SOCKET_IS_WATCHED
    return send(fd, from, bytes, MSG_NOSIGNAL);
#else
    return syscall(SYS_sendto, fd, from, bytes, MSG_NOSIGNAL, NULL, 0);
#endif
}

/* Of several pieces; what leaves seldom does not need the short way. */
static inline ssize_t socket_send_pieces(int fd, struct iovec *pieces, size_t n)
{
    const struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = n};
    return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

#endif
