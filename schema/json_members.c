/* schema/json_members.c - see json_members.h. The text has been checked, so that brackets need only be counted to
 * find where a value ends. */
#include "schema/json_members.h"

#include <assert.h>

#include "schema/encode/scan.h"
#include "schema/json.h"

static const uint8_t *pass_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && scan_is_space(*p))
        p++;
    return p;
}

struct slice json_trim(struct slice text)
{
    const uint8_t *end = text.ptr + text.len, *p = pass_space(text.ptr, end);
    while (end > p && scan_is_space(end[-1]))
        end--;
    return slice_of(p, (size_t)(end - p));
}

static enum json_kind kind_at(const uint8_t *p)
{
    switch (*p) {
    case 'n': return JSON_IS_NULL;
    case 't':
    case 'f': return JSON_IS_BOOLEAN;
    case '"': return JSON_IS_STRING;
    case '[': return JSON_IS_ARRAY;
    case '{': return JSON_IS_OBJECT;
    default: return JSON_IS_NUMBER;
    }
}

enum json_kind json_kind(struct slice value)
{
    return kind_at(pass_space(value.ptr, value.ptr + value.len));
}

/* ---- where values end ---- */

/* p: at the opening quote. */
static const uint8_t *pass_string(const uint8_t *p, const uint8_t *end)
{
    for (p = scan_plain(p + 1, end); *p != '"'; p = scan_plain(p, end))
        p += *p == '\\' ? 2 : 1;
    return p + 1;
}

static const uint8_t *pass_brackets(const uint8_t *p, const uint8_t *end)
{
    uint32_t open = 0;
    do {
        switch (*p) {
        case '"': p = pass_string(p, end); continue;
        case '{':
        case '[': open++; break;
        case '}':
        case ']': open--; break;
        }
        p++;
    } while (open);
    return p;
}

/* A bare word or number: up to what may stand behind it. */
static const uint8_t *pass_bare(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p != ',' && *p != ']' && *p != '}' && !scan_is_space(*p))
        p++;
    return p;
}

static const uint8_t *pass_value(const uint8_t *p, const uint8_t *end)
{
    switch (*p) {
    case '"': return pass_string(p, end);
    case '{':
    case '[': return pass_brackets(p, end);
    default: return pass_bare(p, end);
    }
}

/* ---- walks ---- */

static struct json_walk walk_at(const uint8_t *p, const uint8_t *end)
{
    assert(*p == '{' || *p == '[');
    return (struct json_walk){.at = p, .end = end, .is_object = *p == '{'};
}

struct json_walk json_walk_of(struct slice container)
{
    const uint8_t *end = container.ptr + container.len;
    return walk_at(pass_space(container.ptr, end), end);
}

/* The name at p, up to the value behind the colon. */
static const uint8_t *read_name(struct json_walk *w, const uint8_t *p)
{
    const uint8_t *behind = pass_string(p, w->end);
    w->name = slice_of(p, (size_t)(behind - p));
    p = pass_space(behind, w->end);
    return pass_space(p + 1, w->end);
}

bool json_walk_next(struct json_walk *w)
{
    if (w->is_done)
        return false;
    if (w->has_value)
        (void)json_walk_value(w);
    const uint8_t *p = pass_space(w->is_begun ? w->at : w->at + 1, w->end);
    if (*p == ',' && w->is_begun)
        p = pass_space(p + 1, w->end);
    w->is_begun = true;
    w->is_done = *p == '}' || *p == ']';
    if (w->is_done) {
        w->at = p + 1;
        return false;
    }
    w->at = w->is_object ? read_name(w, p) : p;
    w->has_value = true;
    return true;
}

enum json_kind json_walk_kind(const struct json_walk *w)
{
    assert(w->has_value);
    return kind_at(w->at);
}

struct slice json_walk_value(struct json_walk *w)
{
    assert(w->has_value);
    const uint8_t *begin = w->at;
    w->at = pass_value(begin, w->end);
    w->has_value = false;
    return slice_of(begin, (size_t)(w->at - begin));
}

struct json_walk json_walk_enter(const struct json_walk *w)
{
    assert(w->has_value);
    return walk_at(w->at, w->end);
}

void json_walk_leave(struct json_walk *w, const struct json_walk *inner)
{
    assert(w->has_value && inner->is_done);
    w->at = inner->at;
    w->has_value = false;
}

/* ---- strings ---- */

bool json_token_text(struct slice token, struct buf *scratch, struct slice *out)
{
    *out = slice_of(token.ptr + 1, token.len - 2);
    if (!memchr(out->ptr, '\\', out->len))
        return true;
    scratch->len = 0;
    if (!json_unescape(token, scratch))
        return false;
    *out = buf_slice(scratch);
    return true;
}

/* How long the escape is whose backslash is at p: a pair of surrogates is one. */
static size_t escape_len(const uint8_t *p, const uint8_t *end)
{
    if (p[1] != 'u')
        return 2;
    return json_is_high_surrogate(json_hex4(p + 2, end)) ? 12 : 6;
}

/* Does the text begin with these bytes? They are cut off it then. */
static bool cut(struct slice *text, const uint8_t *p, size_t n)
{
    if (!slice_starts(*text, slice_of(p, n)))
        return false;
    *text = slice_of(text->ptr + n, text->len - n);
    return true;
}

bool json_token_is(struct slice token, struct slice text)
{
    const uint8_t *p = token.ptr + 1, *quote = token.ptr + token.len - 1;
    text = slice_not_null(text);
    while (p < quote) {
        const uint8_t *escape = memchr(p, '\\', (size_t)(quote - p));
        const uint8_t *stop = escape ? escape : quote;
        if (!cut(&text, p, (size_t)(stop - p)))
            return false;
        p = stop;
        if (escape) {
            uint8_t plain[12]; /* as scan_unescape asks for */
            size_t n = escape_len(p, quote);
            if (!cut(&text, plain, (size_t)(scan_unescape(p, p + n, plain) - plain)))
                return false;
            p += n;
        }
    }
    return text.len == 0;
}
