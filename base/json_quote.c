/* base/json_quote.c - see json_quote.h. */
#include "base/json_quote.h"

#include "base/utf8.h"

static bool quote_byte(uint8_t b, struct buf *out)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";
    if (b == '"' || b == '\\')
        return buf_append(out, slice_of((uint8_t[]){'\\', b}, 2));
    if (b < sizeof letters && letters[b])
        return buf_append(out, slice_of((uint8_t[]){'\\', (uint8_t)letters[b]}, 2));
    return buf_append(
        out, slice_of((uint8_t[]){'\\', 'u', '0', '0', (uint8_t)hex[b >> 4], (uint8_t)hex[b & 15]}, 6));
}

/* Valid UTF-8, not empty. */
static bool quote_valid(struct slice s, struct buf *out)
{
    size_t start = 0;
    for (size_t i = 0; i < s.len; i++) {
        uint8_t b = s.ptr[i];
        if (b >= 0x20 && b != '"' && b != '\\')
            continue;
        if (!buf_append(out, slice_of(s.ptr + start, i - start)) || !quote_byte(b, out))
            return false;
        start = i + 1;
    }
    return buf_append(out, slice_of(s.ptr + start, s.len - start));
}

bool json_quote(struct slice s, struct buf *out)
{
    return buf_append_byte(out, '"') && (!s.len || quote_valid(s, out)) && buf_append_byte(out, '"');
}

bool json_quote_any(struct slice s, struct buf *out)
{
    bool ok = buf_append_byte(out, '"');
    while (ok && s.len) {
        size_t valid = utf8_valid_len(s), bad = valid < s.len;
        ok = (!valid || quote_valid(slice_of(s.ptr, valid), out)) &&
             (!bad || buf_append(out, SLICE("\xef\xbf\xbd")));
        s = slice_of(s.ptr + valid + bad, s.len - valid - bad);
    }
    return ok && buf_append_byte(out, '"');
}
