/* server/words.c - see words.h. */
#include "server/words.h"

enum { SHOWN_MAX = 60 };

const char *words_of(struct slice s, struct words *out)
{
    _Static_assert(sizeof out->text > SHOWN_MAX + 3, "room for the dots");
    size_t n = s.len < SHOWN_MAX ? s.len : SHOWN_MAX;
    for (size_t i = 0; i < n; i++)
        out->text[i] = s.ptr[i] >= 0x20 && s.ptr[i] < 0x7f ? (char)s.ptr[i] : '?';
    if (s.len > SHOWN_MAX) {
        memcpy(out->text + n, "...", 3);
        n += 3;
    }
    out->text[n] = 0;
    return out->text;
}
