/* base/base64.c - see base64.h. */
#include "base/base64.h"

uint8_t *base64_put(struct slice bytes, uint8_t *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t v = (uint32_t)bytes.ptr[i] << 16;
        v |= left > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0;
        v |= left > 2 ? bytes.ptr[i + 2] : 0;
        *out++ = (uint8_t)digits[v >> 18];
        *out++ = (uint8_t)digits[v >> 12 & 63];
        *out++ = (uint8_t)(left > 1 ? digits[v >> 6 & 63] : '=');
        *out++ = (uint8_t)(left > 2 ? digits[v & 63] : '=');
    }
    return out;
}

bool base64_print(struct slice bytes, struct buf *out)
{
    if (bytes.len > SIZE_MAX / 2 || !buf_reserve(out, base64_chars(bytes.len)))
        return false;
    if (bytes.len)
        out->len = (size_t)(base64_put(bytes, out->ptr + out->len) - out->ptr);
    return true;
}

/* The value of each character, 64 of those that are none. */
enum { NONE = 64 };

static uint32_t value_of(uint8_t c)
{
    if ((uint8_t)(c - 'A') < 26)
        return (uint32_t)(c - 'A');
    if ((uint8_t)(c - 'a') < 26)
        return (uint32_t)(c - 'a') + 26;
    if ((uint8_t)(c - '0') < 10)
        return (uint32_t)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : NONE;
}

/* So many characters as one number; false: one of them is none. */
static bool gather(const uint8_t *p, unsigned chars, uint32_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < chars; i++) {
        uint32_t v = value_of(p[i]);
        if (v == NONE)
            return false;
        *out = *out << 6 | v;
    }
    return true;
}

bool base64_parse(struct slice text, uint8_t *out, size_t *n)
{
    const uint8_t *p = text.ptr, *start = out;
    size_t left = text.len;
    uint32_t v;
    if (left % 4 != 0)
        return false;
    unsigned padding = left ? (p[left - 1] == '=') + (p[left - 1] == '=' && p[left - 2] == '=') : 0;
    for (size_t whole = left - (padding ? 4 : 0); whole; whole -= 4, p += 4) {
        if (!gather(p, 4, &v))
            return false;
        *out++ = (uint8_t)(v >> 16);
        *out++ = (uint8_t)(v >> 8);
        *out++ = (uint8_t)v;
    }
    if (padding) {
        unsigned spare = padding * 2; /* bits */
        if (!gather(p, 4 - padding, &v) || v & ((1u << spare) - 1))
            return false;
        v >>= spare;
        if (padding == 1)
            *out++ = (uint8_t)(v >> 8);
        *out++ = (uint8_t)v;
    }
    *n = (size_t)(out - start);
    return true;
}
