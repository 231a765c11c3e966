/* client/ctl/line_diff.h - the difference of two texts, line by line. */
#ifndef CLIENT_CTL_LINE_DIFF_H
#define CLIENT_CTL_LINE_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/slice.h"

enum line_mark { LINE_BOTH = ' ', LINE_OLD = '-', LINE_NEW = '+' };

/* Called for each line of the difference, in order; `line` has no line break. */
typedef void (*line_diff_fn)(void *user, enum line_mark, struct slice line);

/* The smallest difference, by E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). Where that would take more than
 * LINE_DIFF_MAX changes, everything between the equal ends is given as replaced. False: memory is out. */
enum { LINE_DIFF_MAX = 2000 };
MUST_USE bool line_diff(struct slice old_text, struct slice new_text, line_diff_fn, void *user);

#endif
