/* client/ctl/interrupt.h - Ctrl-C ends what goes on, in order: what was begun is tidied up. */
#ifndef CLIENT_CTL_INTERRUPT_H
#define CLIENT_CTL_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM are only noted. */
void interrupt_watch(void);
bool interrupt_came(void);

#endif
