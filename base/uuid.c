/* base/uuid.c - see uuid.h. */
#include "base/uuid.h"

#include "base/hex.h"

/* Before which bytes a dash stands. */
static bool has_dash(unsigned byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

bool uuid_parse(struct slice text, uint8_t out[UUID_BYTES])
{
    const uint8_t *p = text.ptr;
    if (text.len != UUID_CHARS)
        return false;
    for (unsigned i = 0; i < UUID_BYTES; i++) {
        if (has_dash(i) && *p++ != '-')
            return false;
        int byte = hex_byte(p);
        if (byte < 0)
            return false;
        out[i] = (uint8_t)byte;
        p += 2;
    }
    return true;
}

void uuid_print(const uint8_t bytes[UUID_BYTES], uint8_t out[UUID_CHARS])
{
    for (unsigned i = 0; i < UUID_BYTES; i++) {
        if (has_dash(i))
            *out++ = '-';
        out = hex_put(out, bytes[i]);
    }
}
