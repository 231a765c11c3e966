/* base/base64.c - see base64.h. */
#include "base/base64.h"

bool base64_print(struct slice bytes, struct buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (bytes.len > SIZE_MAX / 2 || !buf_reserve(out, (bytes.len + 2) / 3 * 4))
        return false;
    uint8_t *at = out->ptr + out->len;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t v = (uint32_t)bytes.ptr[i] << 16;
        v |= left > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0;
        v |= left > 2 ? bytes.ptr[i + 2] : 0;
        *at++ = (uint8_t)digits[v >> 18];
        *at++ = (uint8_t)digits[v >> 12 & 63];
        *at++ = (uint8_t)(left > 1 ? digits[v >> 6 & 63] : '=');
        *at++ = (uint8_t)(left > 2 ? digits[v & 63] : '=');
    }
    if (bytes.len)
        out->len = (size_t)(at - out->ptr);
    return true;
}
