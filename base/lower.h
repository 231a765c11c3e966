/* base/lower.h - texts without regard to case: each character's lower case by the Unicode data, one for one, whatever the
 * locale ("STRASSE" is not "straße"). Of valid UTF-8. Pure; any thread. */
#ifndef BASE_LOWER_H
#define BASE_LOWER_H

#include "base/slice.h"

uint32_t lower_of(uint32_t codepoint);

/* How many bytes the lower case of a text of so many takes at most: some characters take more. */
static inline size_t lower_bytes_max(size_t bytes)
{
    return bytes + bytes / 2;
}
/* Write it at `out` (room for lower_bytes_max); how many bytes. */
size_t lower_text(struct slice text, uint8_t *out);

/* Are both the same but for case? Linear, takes no memory. */
bool lower_equal(struct slice a, struct slice b);

#endif
