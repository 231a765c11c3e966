/* What a process can still do once it is in the sandbox. Each test has a child of its own, which never comes out. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/sandbox.h"
#include "tests/lib/test.h"

/* What `probe` returns, called inside: -1 and errno is told as -errno. */
static int inside(int (*probe)(void))
{
    int pipefd[2], result = 0, status;
    assert_int_equal(pipe(pipefd), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct err err;
        result = sandbox_enter(&err) == RC_OK ? probe() : -1000;
        if (result == -1)
            result = -errno;
        _exit(write(pipefd[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(pipefd[1]);
    assert_int_equal(read(pipefd[0], &result, sizeof result), sizeof result);
    close(pipefd[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return result;
}

static int run_program(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static int make_process(void)
{
    pid_t child = fork();
    if (!child)
        _exit(0);
    return child < 0 ? -1 : 1;
}

static int make_internet_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int connect_somewhere(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9)};
    return connect(0, (struct sockaddr *)&a, sizeof a);
}

static int map_executable(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 1;
}

static int make_executable(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? -1000 : mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int trace_somebody(void)
{
    return (int)syscall(SYS_ptrace, 0, 0, 0, 0);
}

static int change_user(void)
{
    return (int)syscall(SYS_setuid, 0);
}

static int get_more_rights(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static void *thread_main(void *arg)
{
    *(int *)arg = 7;
    return NULL;
}

static int make_thread(void)
{
    pthread_t thread;
    int result = 0;
    return pthread_create(&thread, NULL, thread_main, &result) || pthread_join(thread, NULL) ? -1000 : result;
}

static int read_file(void)
{
    char byte;
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -1 : (int)read(fd, &byte, 1);
}

/* A sanitizer asks more of the kernel, so that nothing is taken away then. */
static void skip_if_sanitized(void)
{
#ifdef SANITIZED
    skip();
#endif
}

TEST(sandbox__takes_away_what_a_server_has_no_use_for)
{
    skip_if_sanitized();
    assert_int_equal(inside(run_program), -EPERM);
    assert_int_equal(inside(make_process), -EPERM);
    assert_int_equal(inside(make_internet_socket), -EPERM);
    assert_int_equal(inside(connect_somewhere), -EPERM);
    assert_int_equal(inside(map_executable), -EPERM);
    assert_int_equal(inside(make_executable), -EPERM);
    assert_int_equal(inside(trace_somebody), -EPERM);
    assert_int_equal(inside(change_user), -EPERM);
    assert_int_equal(inside(get_more_rights), 1);
}

TEST(sandbox__leaves_threads_and_files)
{
    assert_int_equal(inside(make_thread), 7);
    assert_int_equal(inside(read_file), 1);
}

/* The threads that run already, too. */
static int gate[2];

static void *late_main(void *arg)
{
    char byte;
    if (read(gate[0], &byte, 1) == 1)
        *(int *)arg = socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
    return NULL;
}

TEST(sandbox__holds_for_threads_that_run_already)
{
    int status;
    skip_if_sanitized();
    pid_t child = fork();
    if (!child) {
        struct err err;
        pthread_t thread;
        int error = 0;
        if (pipe(gate) || pthread_create(&thread, NULL, late_main, &error) || sandbox_enter(&err) != RC_OK)
            _exit(1);
        if (write(gate[1], "x", 1) != 1 || pthread_join(thread, NULL))
            _exit(2);
        _exit(error == EPERM ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN()
