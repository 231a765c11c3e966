/* schema/json_string.c - JSON strings and JSON Pointers: from tokens to text and back. */
#include <assert.h>

#include "schema/encode/scan.h"
#include "schema/json.h"

static int hex_digit(uint8_t b)
{
    if (b >= '0' && b <= '9')
        return b - '0';
    b |= 0x20;
    return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

int32_t json_hex4(const uint8_t *p, const uint8_t *end)
{
    if (end - p < 4)
        return -1;
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int d = hex_digit(p[i]);
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

bool json_unescape(struct slice token, struct buf *out)
{
    assert(token.len >= 2 && token.ptr[0] == '"' && token.ptr[token.len - 1] == '"');
    if (!buf_reserve(out, token.len)) /* no escape is shorter than what it stands for */
        return false;
    const uint8_t *quote = token.ptr + token.len - 1;
    out->len = (size_t)(scan_unescape(token.ptr + 1, quote, out->ptr + out->len) - out->ptr);
    return true;
}

bool json_pointer_push(struct buf *pointer, struct slice name)
{
    if (!buf_append_byte(pointer, '/'))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t b = name.ptr[i];
        bool ok = b == '~'   ? buf_append(pointer, SLICE("~0"))
                  : b == '/' ? buf_append(pointer, SLICE("~1"))
                             : buf_append_byte(pointer, b);
        if (!ok)
            return false;
    }
    return true;
}
