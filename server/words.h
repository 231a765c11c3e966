/* server/words.h - what strangers sent, made fit to stand inside a sentence. */
#ifndef SERVER_WORDS_H
#define SERVER_WORDS_H

#include "base/slice.h"

struct words {
    char text[72];
};

/* At most 60 bytes of `s`: printable ASCII stays, other bytes become `?`, and what is cut ends in `...`.
 * Returns out->text. */
const char *words_of(struct slice s, struct words *out);

#endif
