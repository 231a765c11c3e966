/* client/ctl/whole_file.h - a file that has its name only once all of it is on the disk. Until then it is NAME.part, for the owner's eyes
 * alone. */
#ifndef CLIENT_CTL_WHOLE_FILE_H
#define CLIENT_CTL_WHOLE_FILE_H

#include "client/ctl/ctl.h"

/* Zero-initialised is closed. */
struct whole_file {
    int fd;
    char *path, *part; /* NULL: it is closed */
    bool replaces;     /* what is there already goes */
};

/* Begin. What another run has left in NAME.part is gone; one that goes on still is a fault, and so is a file of that name unless it may be
 * replaced. Not EXIT_SUCCESS: said already, and it is closed. */
MUST_USE int whole_file_open(const struct ctl *, const char *path, bool replaces, struct whole_file *);
/* False: errno says why. */
MUST_USE bool whole_file_write(struct whole_file *, const void *bytes, size_t len);
/* `good`: put on the disk, and named. Else it is removed. */
MUST_USE int whole_file_close(const struct ctl *, struct whole_file *, bool good);

#endif
