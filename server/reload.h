/* server/reload.h - SIGHUP: the files that the options name are read anew; the options themselves stay. */
#ifndef SERVER_RELOAD_H
#define SERVER_RELOAD_H

struct server;

/* Each concern by itself: what cannot be read is said in the log, and what was in effect stays. Main thread. */
void reload(struct server *);

#endif
