/* server/notify.h - tell a service manager how the process is: ready, reloading, stopping. Main thread.
 * Source: sd_notify(3): datagrams of lines NAME=VALUE to the unix socket that NOTIFY_SOCKET names. */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H

/* Read NOTIFY_SOCKET and take it out of the environment. Without it the others do nothing. */
void notify_init(void);
/* `status` is a line that `systemctl status` shows. */
void notify_ready(const char *status);
void notify_reloading(void); /* notify_ready follows */
void notify_stopping(void);
/* Ending may take so much longer than was promised. */
void notify_extend_ms(unsigned ms);

#endif
