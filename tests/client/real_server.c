/* tests/client/real_server.c - see real_server.h. */
#include "tests/client/real_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/test.h"

static void run(const char *program, const char *listen, int log)
{
    dup2(log, STDERR_FILENO);
    execl(program, program, "--engine", "memory", "--listen", listen, (char *)NULL);
    _exit(127);
}

/* The port that the line "ready: http://127.0.0.1:PORT, unix:..." tells. */
static unsigned long port_of(FILE *log)
{
    char line[1024];
    while (fgets(line, sizeof line, log)) {
        const char *at = strstr(line, "http://127.0.0.1:");
        if (strstr(line, "ready:") && at)
            return strtoul(at + 17, NULL, 10);
        fputs(line, stderr);
    }
    return 0;
}

void real_start(struct real_server *s)
{
    const char *program = getenv("AVROD");
    char listen[160];
    int log[2];
    assert_non_null(program);
    memcpy(s->folder, "/tmp/avrod-test-XXXXXX", sizeof "/tmp/avrod-test-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->socket_url, sizeof s->socket_url, "unix:%s/socket", s->folder);
    snprintf(listen, sizeof listen, "127.0.0.1:0,%s", s->socket_url);
    assert_int_equal(pipe(log), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0)
        run(program, listen, log[1]);
    close(log[1]);
    FILE *lines = fdopen(log[0], "r");
    unsigned long port = port_of(lines);
    assert_true(port > 0);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%lu", port);
    /* The pipe stays open: what the server says later has somewhere to go. */
}

void real_stop(struct real_server *s)
{
    char path[128];
    int status;
    kill(s->pid, SIGTERM);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    snprintf(path, sizeof path, "%s/socket", s->folder);
    unlink(path);
    rmdir(s->folder);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
