/* client/ctl/interrupt.c - see interrupt.h. */
#include "client/ctl/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t came;

static void note(int signal)
{
    (void)signal;
    came = 1;
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_came(void)
{
    return came;
}
