/* server/ini_file.h - files of lines `name = value`, in sections or not, read strictly. The home of libinih, which cuts and
 * passes over what it does not like; here that is refused.
 *
 *   # a comment, or ; one
 *   [section]
 *   name = value
 *
 * A comment stands on a line of its own, and a value ends with its line. Refused are, besides what the caller refuses: a
 * byte order mark, control characters, a line that is too long or begins with a space (libinih would add it to the value
 * before), ` #` and ` ;` inside of a line (a part of the value or a comment? libinih cuts at one of them), something behind
 * a section's bracket, `name: value`. */
#ifndef SERVER_INI_FILE_H
#define SERVER_INI_FILE_H

#include <stdio.h>

#include "base/err.h"

/* One line that says something; all borrowed until the function that gets it returns. */
struct ini_line {
    const char *section; /* "": before the first */
    const char *name, *value;
    unsigned number; /* from 1 */
    bool is_more;    /* of a list: the line goes on with the value of the one before, whose name it has */
};

/* Called for each line in turn. RC_ERR ends the reading, with its CONFIG; the file and the line are put before its words. */
typedef enum rc ini_take(void *user, const struct ini_line *, struct err *);

/* `path` is borrowed for the call. CONFIG: what is refused, as "PATH:LINE: why"; a file that cannot be read. Takes a stack
 * of LIMIT_INI_LINE_MAX. Main thread. */
MUST_USE enum rc ini_file_read(const char *path, ini_take *take, void *user, struct err *err);
/* Likewise of what is open already; `path` is for the words. The stream stays the caller's. */
MUST_USE enum rc ini_stream_read(FILE *stream, const char *path, ini_take *take, void *user, struct err *err);

/* The same for a file of sections that say something by being there, and of values that are lists: `heading` is called for each
 * section, with its name, whole, alone (which later lines do not tell again); a line that begins with a space is taken as is_more. */
MUST_USE enum rc ini_file_read_lists(const char *path, ini_take *heading, ini_take *take, void *user,
                                     struct err *err);
MUST_USE enum rc ini_stream_read_lists(FILE *stream, const char *path, ini_take *heading, ini_take *take,
                                       void *user, struct err *err);

/* "PATH:LINE" for a sentence; of a long path its end, after dots. Returns out->text. */
struct ini_place {
    char text[96];
};
const char *ini_place_of(const char *path, unsigned line, struct ini_place *out);
/* May this be a value's text, so that it comes back as it is? For who writes such a file. */
bool ini_can_hold(const char *value);

#endif
