/* tests/fuzz/plain_rights.h - who may do what by a file of --access, said once more as docs/access.md says it: every section is
 * looked at anew, and patterns are matched by recursion. */
#ifndef TESTS_FUZZ_PLAIN_RIGHTS_H
#define TESTS_FUZZ_PLAIN_RIGHTS_H

#include "server/access/rights_file.h"

/* user, type empty: anonymous; the store. */
bool plain_may(const struct section *, struct slice user, enum role, struct slice type);
bool plain_pattern_fits(struct slice pattern, struct slice name);

#endif
