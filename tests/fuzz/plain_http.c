/* tests/fuzz/plain_http.c - see plain_http.h. */
#include "tests/fuzz/plain_http.h"

#include <ctype.h>

#include "tests/fuzz/fuzz.h"

/* ---- words ---- */

/* Past the line's CR LF; the line without it in *line. NULL: it does not end. */
static const uint8_t *take_line(const uint8_t *p, const uint8_t *end, struct slice *line)
{
    const uint8_t *cr = p < end ? memmem(p, (size_t)(end - p), "\r\n", 2) : NULL;
    if (!cr)
        return NULL;
    *line = slice_of(p, (size_t)(cr - p));
    return cr + 2;
}

/* What stands before the first c, taken off with it. False: there is none. */
static bool take_until(struct slice *s, char c, struct slice *out)
{
    const uint8_t *found = s->len ? memchr(s->ptr, c, s->len) : NULL;
    if (!found)
        return false;
    *out = slice_of(s->ptr, (size_t)(found - s->ptr));
    *s = slice_of(found + 1, s->len - out->len - 1);
    return true;
}

static bool all_of(struct slice s, const char *others)
{
    for (size_t i = 0; i < s.len; i++)
        if (!s.ptr[i] || !(isalnum(s.ptr[i]) || strchr(others, s.ptr[i])))
            return false;
    return true;
}

static bool is_token(struct slice s)
{
    return s.len && all_of(s, "!#$%&'*+-.^_`|~");
}

static bool is_text(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((s.ptr[i] < 0x20 && s.ptr[i] != '\t') || s.ptr[i] == 0x7f)
            return false;
    return true;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct slice trimmed(struct slice s)
{
    while (s.len && is_blank(s.ptr[0]))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* ---- heads ---- */

struct facts {
    bool is_1_1, is_head, is_options;
    unsigned hosts, lengths, codings;
    struct slice host, length, coding; /* the last of each */
    bool has_strange_authority;
};

static bool read_target(struct facts *f, struct slice target)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.ptr[i] <= 0x20 || target.ptr[i] >= 0x7f || target.ptr[i] == '#')
            return false;
    if (slice_starts(target, SLICE("/")) || (f->is_options && slice_eq(target, SLICE("*"))))
        return true;
    f->has_strange_authority = true;
    return (target.len > 7 && slice_eq_nocase(slice_of(target.ptr, 7), SLICE("http://"))) ||
           (target.len > 8 && slice_eq_nocase(slice_of(target.ptr, 8), SLICE("https://")));
}

static bool read_request_line(struct facts *f, struct slice line)
{
    struct slice method, target;
    if (!take_until(&line, ' ', &method) || !take_until(&line, ' ', &target) || !is_token(method))
        return false;
    f->is_1_1 = slice_eq(line, SLICE("HTTP/1.1"));
    f->is_head = slice_eq(method, SLICE("HEAD"));
    f->is_options = slice_eq(method, SLICE("OPTIONS"));
    return (f->is_1_1 || slice_eq(line, SLICE("HTTP/1.0"))) && target.len && read_target(f, target);
}

static bool read_field(struct facts *f, struct slice line)
{
    struct slice name;
    if (!take_until(&line, ':', &name) || !is_token(name))
        return false;
    line = trimmed(line);
    if (slice_eq_nocase(name, SLICE("host"))) {
        f->hosts++;
        f->host = line;
    } else if (slice_eq_nocase(name, SLICE("content-length"))) {
        f->lengths++;
        f->length = line;
    } else if (slice_eq_nocase(name, SLICE("transfer-encoding"))) {
        f->codings++;
        f->coding = line;
    }
    return true;
}

static bool read_length(struct slice digits, uint64_t *bytes)
{
    unsigned __int128 n = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (!isdigit(digits.ptr[i]))
            return false;
        n = n * 10 + (unsigned)(digits.ptr[i] - '0');
        if (n > INT64_MAX)
            return false;
    }
    *bytes = (uint64_t)n;
    return digits.len > 0;
}

static enum plain_framing framing_of(const struct facts *f, uint64_t *bytes)
{
    if (f->hosts > 1 || f->lengths > 1 || f->codings > 1 || (f->is_1_1 && !f->hosts))
        return PLAIN_BROKEN;
    if (f->codings)
        return f->is_1_1 && !f->lengths && !f->is_head && slice_eq_nocase(f->coding, SLICE("chunked"))
                   ? PLAIN_CHUNKED
                   : PLAIN_BROKEN;
    if (f->lengths && !read_length(f->length, bytes))
        return PLAIN_BROKEN;
    return f->is_head && *bytes ? PLAIN_BROKEN : PLAIN_LENGTH;
}

enum plain_framing plain_head(struct slice head, uint64_t *bytes)
{
    const uint8_t *end = head.ptr + head.len;
    struct facts f = {0};
    struct slice line;
    const uint8_t *p = take_line(head.ptr, end, &line);
    *bytes = 0;
    if (!p || !read_request_line(&f, line))
        return PLAIN_BROKEN;
    while ((p = take_line(p, end, &line)) && line.len)
        if (!read_field(&f, line))
            return PLAIN_BROKEN;
    enum plain_framing framing = p == end ? framing_of(&f, bytes) : PLAIN_BROKEN;
    bool is_strange = f.has_strange_authority || !all_of(f.host, "-.");
    return framing != PLAIN_BROKEN && is_strange ? PLAIN_UNKNOWN : framing;
}

/* ---- chunked bodies ---- */

/* A chunk's size, with white space and an extension behind it. */
static bool read_size(struct slice line, uint64_t *size)
{
    size_t i = 0;
    *size = 0;
    for (; i < line.len && isxdigit(line.ptr[i]); i++) {
        uint8_t c = line.ptr[i];
        *size = *size << 4 | (uint64_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (i == 0 || i > 16 || *size >> 63)
        return false;
    if (i == line.len)
        return true;
    while (i < line.len && is_blank(line.ptr[i]))
        i++;
    return i < line.len && line.ptr[i] == ';' && is_text(slice_of(line.ptr + i, line.len - i));
}

static bool is_trailer(struct slice line)
{
    struct slice name;
    return is_text(line) && take_until(&line, ':', &name) && is_token(name);
}

const uint8_t *plain_chunked(struct slice in, struct buf *body)
{
    const uint8_t *p = in.ptr, *end = in.ptr + in.len;
    struct slice line;
    uint64_t size;
    do {
        p = take_line(p, end, &line);
        if (!p || !read_size(line, &size) || size > (uint64_t)(end - p))
            return NULL;
        CHECK(buf_append(body, slice_of(p, (size_t)size)), "memory is out");
        p += size;
        if (size && (p = take_line(p, end, &line)) && line.len)
            return NULL;
    } while (p && size);
    while (p && (p = take_line(p, end, &line)) && line.len)
        if (!is_trailer(line))
            return NULL;
    return p;
}
