/* client/ctl/offline.c - avroctl restore and fsck: what avrod itself does with a store that no server has open. avroctl becomes that program,
 * so what it prints and how it ends are its own. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ctl/ctl.h"

/* The program of that name in the folder of this one, owned. NULL: there is none. */
static char *beside(void)
{
    char *self = realpath("/proc/self/exe", NULL), *slash = self ? strrchr(self, '/') : NULL;
    struct buf path = {0};
    bool found = slash && buf_printf(&path, "%.*s/avrod", (int)(slash - self), self) &&
                 buf_append_byte(&path, 0) && access((const char *)path.ptr, X_OK) == 0;
    free(self);
    if (found)
        return (char *)path.ptr;
    buf_release(&path);
    return NULL;
}

/* Comes back only if it cannot be started. */
static int become(const struct ctl *ctl, const char *const *args)
{
    char *found = ctl->args->avrod ? NULL : beside();
    const char *program = ctl->args->avrod ? ctl->args->avrod : found ? found : "avrod";
    signal(SIGPIPE, SIG_DFL);
    execvp(program, (char *const *)args);
    int code = fail(ctl, EXIT_HERE, "%s cannot be started: %s. --avrod names it.", program, strerror(errno));
    free(found);
    return code;
}

int command_restore(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    if (a->json)
        return fail(ctl, EXIT_USAGE,
                    "avroctl restore prints no JSON: its exit code says whether it is done.");
    return become(ctl, (const char *const[]){"avrod", "--restore", a->words[0], a->words[1], NULL});
}

int command_fsck(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    const char *args[6] = {"avrod", "--fsck", a->words[0]};
    size_t n = 3;
    if (a->json)
        args[n++] = "--json";
    if (a->mark_clean)
        args[n++] = "--mark-clean";
    return become(ctl, args);
}
