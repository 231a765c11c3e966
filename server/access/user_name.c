/* server/access/user_name.c - see user_name.h. */
#include "server/access/user_name.h"

#include "base/limits.h"
#include "base/utf8.h"

bool has_control(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
            return true;
    return false;
}

const char *user_name_fault(struct slice name)
{
    if (!name.len)
        return "A user's name is empty.";
    if (name.len > LIMIT_USER_NAME_MAX)
        return "A user's name has more than 128 bytes.";
    if (!utf8_valid(name) || has_control(name))
        return "A user's name is UTF-8 without control characters.";
    if (slice_starts(name, SLICE("\xef\xbb\xbf")))
        return "The file begins with a byte order mark, which is no part of a name.";
    return memchr(name.ptr, ':', name.len) ? "A user's name has no colon." : NULL;
}
