/* server/target.c - see target.h. */
#include "server/target.h"

#include "server/words.h"

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_plain(struct slice raw, bool plus_is_space)
{
    return !memchr(raw.ptr, '%', raw.len) && !(plus_is_space && memchr(raw.ptr, '+', raw.len));
}

enum rc target_decode(struct slice raw, bool plus_is_space, struct arena *arena, struct slice *out,
                      struct err *err)
{
    if (!raw.len || is_plain(raw, plus_is_space)) {
        *out = raw;
        return RC_OK;
    }
    uint8_t *p = arena_alloc(arena, raw.len);
    if (!p)
        return err_oom(err);
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        uint8_t c = raw.ptr[i];
        if (c == '%') {
            int high = i + 2 < raw.len ? hex_digit(raw.ptr[i + 1]) : -1;
            int low = i + 2 < raw.len ? hex_digit(raw.ptr[i + 2]) : -1;
            if (high < 0 || low < 0) {
                struct words words;
                return err_set(err, ERR_BAD_TARGET,
                               "A %% in a target stands before two hexadecimal digits: '%s'.",
                               words_of(raw, &words));
            }
            c = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        p[n++] = c;
    }
    *out = slice_of(p, n);
    return RC_OK;
}

enum rc target_split(struct slice path, struct arena *arena, struct target *out, struct err *err)
{
    out->n = 0;
    out->trailing_slash = out->empty_segment = false;
    const uint8_t *at = path.ptr + 1, *end = path.ptr + path.len;
    bool has_percent = memchr(path.ptr, '%', path.len);
    while (at < end) {
        const uint8_t *from = at;
        while (at < end && *at != '/') /* segments are short: calls of memchr cost more */
            at++;
        struct slice raw = slice_of(from, (size_t)(at - from));
        if (out->n == TARGET_SEGMENTS_MAX) {
            out->n++;
            return RC_OK;
        }
        if (!raw.len)
            out->empty_segment = true;
        out->segment[out->n] = raw;
        if (has_percent && target_decode(raw, false, arena, &out->segment[out->n], err) != RC_OK)
            return RC_ERR;
        out->n++;
        if (at == end)
            return RC_OK;
        at++;
        out->trailing_slash = at == end;
    }
    return RC_OK;
}

size_t target_encode(struct slice segment, uint8_t *out)
{
    static const char digits[] = "0123456789ABCDEF";
    /* Whoever resolves a reference drops these two, as they stand. */
    bool is_dots = slice_eq(segment, SLICE(".")) || slice_eq(segment, SLICE(".."));
    size_t n = 0;
    for (size_t i = 0; i < segment.len; i++) {
        uint8_t c = segment.ptr[i], low = c | 0x20;
        if ((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '-' || (c == '.' && !is_dots) ||
            c == '_' || c == '~') {
            out[n++] = c;
        } else {
            out[n++] = '%';
            out[n++] = (uint8_t)digits[c >> 4];
            out[n++] = (uint8_t)digits[c & 15];
        }
    }
    return n;
}
