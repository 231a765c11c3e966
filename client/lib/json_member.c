/* client/lib/json_member.c - see json_member.h. */
#include "client/lib/json_member.h"

#include "base/hex.h"

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const uint8_t *skip_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && is_space(*p))
        p++;
    return p;
}

/* From the quote to behind the other one, or NULL. */
static const uint8_t *skip_string(const uint8_t *p, const uint8_t *end)
{
    for (p++; p < end; p++) {
        if (*p == '"')
            return p + 1;
        if (*p == '\\')
            p++;
    }
    return NULL;
}

/* Behind an object or an array, or NULL. Brackets are counted, not matched: the server's JSON is sound, or it is cut. */
static const uint8_t *skip_nested(const uint8_t *p, const uint8_t *end)
{
    size_t depth = 0;
    while (p && p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if ((*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
        p++;
    }
    return NULL;
}

static const uint8_t *skip_value(const uint8_t *p, const uint8_t *end)
{
    if (p == end)
        return NULL;
    if (*p == '"')
        return skip_string(p, end);
    if (*p == '{' || *p == '[')
        return skip_nested(p, end);
    const uint8_t *begin = p;
    while (p < end && *p != ',' && *p != '}' && !is_space(*p))
        p++;
    return p == begin || p == end ? NULL : p;
}

bool json_member(struct slice object, const char *name, struct slice *value)
{
    const struct slice wanted = slice_str(name);
    object = slice_not_null(object);
    const uint8_t *end = object.ptr + object.len, *p = object.len ? skip_space(object.ptr, end) : end;
    if (p == end || *p != '{')
        return false;
    do {
        p = skip_space(p + 1, end);
        if (p == end || *p != '"')
            return false;
        const uint8_t *key = p + 1;
        if (!(p = skip_string(p, end)))
            return false;
        struct slice found = slice_of(key, (size_t)(p - 1 - key));
        p = skip_space(p, end);
        if (p == end || *p != ':')
            return false;
        const uint8_t *begin = skip_space(p + 1, end);
        if (!(p = skip_value(begin, end)))
            return false;
        if (slice_eq(found, wanted)) {
            *value = slice_of(begin, (size_t)(p - begin));
            return true;
        }
        p = skip_space(p, end);
    } while (p < end && *p == ',');
    return false;
}

/* ---- strings: what they say is never longer than how they say it ---- */

static uint8_t *put_character(uint32_t c, uint8_t *w)
{
    if (c < 0x80) {
        *w++ = (uint8_t)c;
        return w;
    }
    if (c < 0x800) {
        *w++ = (uint8_t)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        *w++ = (uint8_t)(0xe0 | c >> 12);
        *w++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    } else {
        *w++ = (uint8_t)(0xf0 | c >> 18);
        *w++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
        *w++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    }
    *w++ = (uint8_t)(0x80 | (c & 0x3f));
    return w;
}

/* The number of four digits at p, or -1. */
static int32_t four_digits(const uint8_t *p, const uint8_t *end)
{
    if (end - p < 4)
        return -1;
    int high = hex_byte(p), low = hex_byte(p + 2);
    return high < 0 || low < 0 ? -1 : high << 8 | low;
}

/* Behind the u: one escape, or the two of a surrogate pair. NULL: neither. */
static const uint8_t *put_escape_u(const uint8_t *p, const uint8_t *end, uint8_t **w)
{
    int32_t c = four_digits(p, end);
    if (c < 0 || (c >= 0xdc00 && c <= 0xdfff))
        return NULL;
    p += 4;
    if (c >= 0xd800 && c <= 0xdbff) {
        int32_t low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? four_digits(p + 2, end) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    *w = put_character((uint32_t)c, *w);
    return p;
}

/* Behind the backslash. */
static const uint8_t *put_escape(const uint8_t *p, const uint8_t *end, uint8_t **w)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (*p == 'u')
        return put_escape_u(p + 1, end, w);
    const char *at = *p ? strchr(from, *p) : NULL;
    if (!at)
        return NULL;
    *(*w)++ = (uint8_t)to[at - from];
    return p + 1;
}

bool json_member_copy(struct slice value, uint8_t *out, size_t *len)
{
    uint8_t *w = out;
    if (value.len < 2 || value.ptr[0] != '"' || value.ptr[value.len - 1] != '"')
        return false;
    const uint8_t *p = value.ptr + 1, *end = value.ptr + value.len - 1;
    while (p < end) {
        if (*p != '\\')
            *w++ = *p++;
        else if (p + 1 == end || !(p = put_escape(p + 1, end, &w)))
            return false;
    }
    *len = (size_t)(w - out);
    return true;
}

bool json_member_text(struct slice value, struct buf *out)
{
    size_t len;
    if (!buf_reserve(out, value.len + 1) || !json_member_copy(value, out->ptr + out->len, &len))
        return false;
    out->len += len;
    return true;
}
