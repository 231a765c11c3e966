/* server/http/http1.c - finds the end of a request's head, then takes it apart. */
#include "server/http/http1.h"

#include <assert.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/num.h"
#include "server/handler.h"
#include "server/http/field.h"

/* ---- the end of the head ---- */

static inline bool is_control(uint8_t c)
{
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

#ifdef __SSE2__
/* Which of 16 bytes are control characters but tab, the first in the lowest bit. */
static inline unsigned controls(const uint8_t *p)
{
    const __m128i last = _mm_set1_epi8(0x1f), tab = _mm_set1_epi8('\t'), del = _mm_set1_epi8(0x7f);
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i low = _mm_andnot_si128(_mm_cmpeq_epi8(v, tab), _mm_cmpeq_epi8(_mm_min_epu8(v, last), v));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(v, del)));
}
#endif

/* The first control character but tab in p[at, len), or len. */
static size_t next_control(const uint8_t *p, size_t at, size_t len)
{
#ifdef __SSE2__
    unsigned mask;
    for (; len - at >= 16; at += 16)
        if ((mask = controls(p + at)))
            return at + (unsigned)__builtin_ctz(mask);
    if (len >= 16) { /* the rest, with bytes before it that have been looked at */
        mask = controls(p + len - 16) >> (16 - (len - at));
        return mask ? at + (unsigned)__builtin_ctz(mask) : len;
    }
#endif
    while (at < len && !is_control(p[at]))
        at++;
    return at;
}

static COLD enum http1_found head_too_large(const struct http1_limits *limits, struct err *err)
{
    err_set(err, ERR_HEAD_TOO_LARGE, "A request's head may have %u bytes and %u fields.", limits->head_max,
            limits->headers_max);
    return HTTP1_BAD;
}

static COLD enum http1_found bad_byte(uint8_t c, struct err *err)
{
    if (c == '\n' || c == '\r')
        err_set(err, ERR_BAD_REQUEST, "A line of the head does not end in CR LF.");
    else
        err_set(err, ERR_BAD_REQUEST, "The head has the control character 0x%02x.", c);
    return HTTP1_BAD;
}

static enum http1_found unfinished(const struct http1_scan *s, const struct http1_limits *limits, size_t len,
                                   struct err *err)
{
    return len - s->start >= limits->head_max ? head_too_large(limits, err) : HTTP1_MORE;
}

enum http1_found http1_scan(struct http1_scan *s, const struct http1_limits *limits, struct slice bytes,
                            struct err *err)
{
    const uint8_t *p = bytes.ptr;
    for (;;) {
        size_t i = next_control(p, s->at, bytes.len);
        s->at = (uint32_t)i;
        if (i == bytes.len)
            return unfinished(s, limits, bytes.len, err);
        if (p[i] != '\r')
            return bad_byte(p[i], err);
        if (i + 1 == bytes.len) /* `at` stays on the CR */
            return unfinished(s, limits, bytes.len, err);
        if (p[i + 1] != '\n')
            return bad_byte(p[i], err);
        s->at = (uint32_t)i + 2;
        bool empty = i == s->line;
        s->line = s->at;
        if (!empty) {
            if (++s->lines > 1 + limits->headers_max)
                return head_too_large(limits, err);
        } else if (s->lines) {
            return s->at - s->start > limits->head_max ? head_too_large(limits, err) : HTTP1_HEAD;
        } else { /* RFC 9112, 2.2: ignore at least one empty line before a request line */
            s->start = s->at;
            if (++s->blank > 2)
                return bad_byte('\r', err);
        }
    }
}

/* ---- words ---- */

static const uint8_t token_chars[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1,         ['&'] = 1,         ['\''] = 1,
    ['*'] = 1, ['+'] = 1, ['-'] = 1, ['.'] = 1,         ['^'] = 1,         ['_'] = 1,
    ['`'] = 1, ['|'] = 1, ['~'] = 1, ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

bool http1_is_token(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!token_chars[s.ptr[i]])
            return false;
    return s.len > 0;
}

static struct slice trim(const uint8_t *from, const uint8_t *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return slice_of(from, (size_t)(end - from));
}

bool http1_list_has(struct slice list, struct slice item)
{
    list = slice_not_null(list);
    const uint8_t *at = list.ptr, *end = list.ptr + list.len;
    while (at < end) {
        const uint8_t *comma = memchr(at, ',', (size_t)(end - at));
        if (!comma)
            comma = end;
        if (slice_eq_nocase(trim(at, comma), item))
            return true;
        at = comma + 1;
    }
    return false;
}

static COLD enum http1_parsed broken(struct err *err, const char *why)
{
    err_set(err, ERR_BAD_REQUEST, "%s", why);
    return HTTP1_BROKEN;
}

/* ---- the request line ---- */

#define METHODS_ALL(X) X(GET) X(HEAD) X(POST) X(PUT) X(DELETE) X(PATCH) X(OPTIONS) X(TRACE) X(PURGE)

static const char *const methods[METHODS] = {
#define NAME(m) [METHOD_##m] = #m,
    METHODS_ALL(NAME)
#undef NAME
};

const char *method_name(enum method m)
{
    assert(m < METHODS);
    return methods[m];
}

enum method http1_method(struct slice name)
{
/* Lengths are constants: the compiler compares words. */
#define TRY(m)                                                                                               \
    if (name.len == sizeof #m - 1 && memcmp(name.ptr, #m, sizeof #m - 1) == 0)                               \
        return METHOD_##m;
    METHODS_ALL(TRY)
#undef TRY
    return METHODS;
}

static enum http1_parsed parse_version(struct slice v, struct request *req, struct err *err)
{
    bool well_formed = v.len == 8 && !memcmp(v.ptr, "HTTP/", 5) && v.ptr[5] >= '0' && v.ptr[5] <= '9' &&
                       v.ptr[6] == '.' && v.ptr[7] >= '0' && v.ptr[7] <= '9';
    if (!well_formed)
        return broken(err, "The request line is not `METHOD TARGET HTTP/1.1`, with one space between.");
    if (v.ptr[5] != '1' || v.ptr[7] > '1') {
        err_set(err, ERR_HTTP_VERSION, "This server speaks HTTP/1.1 and HTTP/1.0.");
        return HTTP1_BROKEN;
    }
    req->http_minor = (uint8_t)(v.ptr[7] - '0');
    return HTTP1_OK;
}

/* Printable ASCII without '#'. Of spaces and control characters only tabs can come here. */
static bool target_is_clean(struct slice t)
{
    uint8_t all = 0;
    bool has_bad = false;
    for (size_t i = 0; i < t.len; i++) {
        all |= t.ptr[i];
        has_bad |= t.ptr[i] == '#' || t.ptr[i] == '\t';
    }
    return t.len && !(all & 0x80) && !has_bad;
}

static void split_query(struct request *req, struct slice t)
{
    const uint8_t *mark = memchr(t.ptr, '?', t.len);
    req->path = slice_of(t.ptr, mark ? (size_t)(mark - t.ptr) : t.len);
    if (mark)
        req->query = slice_of(mark + 1, t.len - req->path.len - 1);
}

static bool begins_nocase(struct slice s, struct slice head)
{
    return s.len > head.len && slice_eq_nocase(slice_of(s.ptr, head.len), head);
}

/* Of an absolute URI; 0: it is none of ours. Which of the two a client writes is its affair: TLS may end in front of us. */
static size_t scheme_bytes(struct slice target)
{
    struct slice http = SLICE("http://"), https = SLICE("https://");
    return begins_nocase(target, http) ? http.len : begins_nocase(target, https) ? https.len : 0;
}

/* RFC 9112, 3.2: origin-form, absolute-form (whose authority then stands for Host), or `*` for OPTIONS. */
static enum http1_parsed parse_target(struct slice t, struct request *req, struct slice *authority,
                                      struct err *err)
{
    req->target = t;
    if (!target_is_clean(t))
        return broken(err, "The request target has bytes that must be percent-encoded.");
    if (t.ptr[0] == '/') {
        split_query(req, t);
        return HTTP1_OK;
    }
    if (t.len == 1 && t.ptr[0] == '*' && req->method == METHOD_OPTIONS) {
        req->path = t;
        return HTTP1_OK;
    }
    size_t scheme = scheme_bytes(t);
    if (!scheme)
        return broken(err, "The request target is neither a path nor an http URI.");
    struct slice rest = slice_of(t.ptr + scheme, t.len - scheme);
    size_t n = 0;
    while (n < rest.len && rest.ptr[n] != '/' && rest.ptr[n] != '?')
        n++;
    *authority = slice_of(rest.ptr, n);
    split_query(req, slice_of(rest.ptr + n, rest.len - n));
    if (!req->path.len)
        req->path = req->method == METHOD_OPTIONS && !req->query.len ? SLICE("*") : SLICE("/");
    return HTTP1_OK;
}

struct head {
    const uint8_t *at, *end; /* what is still to be parsed; end is behind the blank line */
    struct slice method;     /* as sent */
    struct slice authority;  /* of an absolute target; ptr NULL: none */
    uint32_t seen, joined;   /* bits 1 << enum header */
    int twice;               /* a field that must not, or -1 */
};
_Static_assert(HEADERS <= 32, "struct head counts fields in 32 bits");

/* http1_scan has made sure of the CR LF behind each line. */
static const uint8_t *line_end(const struct head *h)
{
    const uint8_t *cr = memchr(h->at, '\r', (size_t)(h->end - h->at));
    assert(cr);
    return cr;
}

static enum http1_parsed parse_request_line(struct head *h, struct request *req, struct err *err)
{
    const uint8_t *end = line_end(h);
    const uint8_t *space = memchr(h->at, ' ', (size_t)(end - h->at));
    const uint8_t *second = space ? memchr(space + 1, ' ', (size_t)(end - space - 1)) : NULL;
    if (!second)
        return parse_version((struct slice){0}, req, err);
    h->method = slice_of(h->at, (size_t)(space - h->at));
    if (!http1_is_token(h->method))
        return broken(err, "The method is not a token.");
    req->method = http1_method(h->method);
    req->method_sent = h->method;
    enum http1_parsed parsed = parse_version(slice_of(second + 1, (size_t)(end - second - 1)), req, err);
    if (parsed != HTTP1_OK)
        return parsed;
    h->at = end + 2;
    return parse_target(slice_of(space + 1, (size_t)(second - space - 1)), req, &h->authority, err);
}

/* ---- fields ---- */

/* Append to a list that came before. The first time, room is made for all that can still come: a further
 * field takes at least as many bytes in the head as here. */
static bool join(struct head *h, struct request *req, int field, struct slice value)
{
    struct slice *list = &req->header[field];
    if (!(h->joined >> field & 1)) {
        uint8_t *room = arena_alloc(&req->arena, list->len + value.len + 2 + (size_t)(h->end - h->at));
        if (!room)
            return false;
        if (list->len)
            memcpy(room, list->ptr, list->len);
        *list = slice_of(room, list->len);
        h->joined |= 1u << field;
    }
    uint8_t *tail = (uint8_t *)(uintptr_t)list->ptr + list->len; /* our own room, see above */
    memcpy(tail, ", ", 2);
    if (value.len)
        memcpy(tail + 2, value.ptr, value.len);
    list->len += value.len + 2;
    return true;
}

static COLD enum http1_parsed bad_name(struct slice line, struct slice name, struct err *err)
{
    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return broken(err, "A line of the head begins with a space: folded fields are not accepted.");
    if (name.len && (name.ptr[name.len - 1] == ' ' || name.ptr[name.len - 1] == '\t'))
        return broken(err, "A field has a space before its colon.");
    return broken(err, "A line of the head is not `Name: value`.");
}

static enum http1_parsed keep_field(struct head *h, struct request *req, int field, struct slice value,
                                    struct err *err)
{
    if (!(h->seen >> field & 1)) {
        h->seen |= 1u << field;
        req->headers |= 1u << field;
        req->header[field] = value;
    } else if (!field_is_list(field)) {
        if (field == HEADER_HOST || field == HEADER_CONTENT_LENGTH || field == HEADER_TRANSFER_ENCODING) {
            err_set(err, ERR_BAD_REQUEST, "The field %s comes more than once.", field_name(field));
            return HTTP1_BROKEN;
        }
        h->twice = field;
    } else if (!join(h, req, field, value)) {
        err_oom(err);
        return HTTP1_BROKEN;
    }
    return HTTP1_OK;
}

static enum http1_parsed parse_fields(struct head *h, struct request *req, struct err *err)
{
    while (h->end - h->at > 2) {
        const uint8_t *end = line_end(h);
        struct slice line = slice_of(h->at, (size_t)(end - h->at));
        const uint8_t *colon = memchr(line.ptr, ':', line.len);
        struct slice name = slice_of(line.ptr, colon ? (size_t)(colon - line.ptr) : line.len);
        int field = colon ? field_find(name) : -1;
        if (field < 0 && !(colon && http1_is_token(name)))
            return bad_name(line, name, err);
        h->at = end + 2;
        if (field < 0)
            continue;
        enum http1_parsed parsed = keep_field(h, req, field, trim(colon + 1, end), err);
        if (parsed != HTTP1_OK)
            return parsed;
    }
    return HTTP1_OK;
}

/* ---- what the fields mean for the frame ---- */

/* uri-host [":" port], as far as to keep out what could be read in two ways. Empty is allowed (RFC
 * 9112, 3.2). */
static bool is_host(struct slice host)
{
    static const uint8_t good[256] = {
        ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['.'] = 1,  ['_'] = 1, ['~'] = 1,
        ['%'] = 1,         ['!'] = 1,         ['$'] = 1,         ['&'] = 1, ['\''] = 1, ['('] = 1, [')'] = 1,
        ['*'] = 1,         ['+'] = 1,         [';'] = 1,         ['='] = 1, [','] = 1,
    };
    size_t i = 0;
    if (host.len && host.ptr[0] == '[') {
        for (i = 1; i < host.len && host.ptr[i] != ']'; i++)
            if (!good[host.ptr[i]] && host.ptr[i] != ':')
                return false;
        if (i == host.len)
            return false;
        i++;
    } else {
        while (i < host.len && good[host.ptr[i]])
            i++;
    }
    if (i < host.len && host.ptr[i++] != ':')
        return false;
    while (i < host.len && host.ptr[i] >= '0' && host.ptr[i] <= '9')
        i++;
    return i == host.len;
}

static enum http1_parsed check_host(const struct head *h, struct request *req, struct err *err)
{
    if (req->http_minor && !(h->seen >> HEADER_HOST & 1))
        return broken(err, "An HTTP/1.1 request needs the field Host.");
    if (!is_host(req->header[HEADER_HOST]))
        return broken(err, "The field Host is not a host and a port.");
    if (!h->authority.ptr)
        return HTTP1_OK;
    if (!h->authority.len || !is_host(h->authority))
        return broken(err, "The request target has no proper host.");
    req->headers |= 1u << HEADER_HOST;
    req->header[HEADER_HOST] = h->authority; /* RFC 9112, 3.2.2 */
    return HTTP1_OK;
}

static bool all_digits(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

static enum http1_parsed check_length(struct request *req, struct err *err)
{
    struct slice text = req->header[HEADER_CONTENT_LENGTH];
    if (!all_digits(text))
        return broken(err, "The field Content-Length is not one decimal number.");
    if (num_parse_decimal(text, INT64_MAX, &req->body_declared))
        return HTTP1_OK;
    err_set(err, ERR_BODY_TOO_LARGE, "The field Content-Length is beyond any limit.");
    return HTTP1_BROKEN;
}

static enum http1_parsed check_coding(const struct head *h, struct request *req, struct http1_info *info,
                                      struct err *err)
{
    if (!req->http_minor)
        return broken(err, "HTTP/1.0 has no Transfer-Encoding.");
    if (h->seen >> HEADER_CONTENT_LENGTH & 1)
        return broken(err, "A request has Content-Length or Transfer-Encoding, not both.");
    if (!slice_eq_nocase(req->header[HEADER_TRANSFER_ENCODING], SLICE("chunked"))) {
        err_set(err, ERR_UNKNOWN_TRANSFER_CODING, "The only transfer coding is `chunked`.");
        return HTTP1_BROKEN;
    }
    info->chunked = true;
    req->body_declared = UINT64_MAX;
    return HTTP1_OK;
}

static enum http1_parsed check_frame(const struct head *h, struct request *req, struct http1_info *info,
                                     struct err *err)
{
    enum http1_parsed parsed = HTTP1_OK;
    if (h->seen >> HEADER_TRANSFER_ENCODING & 1)
        parsed = check_coding(h, req, info, err);
    else if (h->seen >> HEADER_CONTENT_LENGTH & 1)
        parsed = check_length(req, err);
    if (parsed != HTTP1_OK)
        return parsed;
    if (unlikely(req->method == METHOD_HEAD || req->method == METHOD_TRACE) && req->body_declared)
        return broken(err, "A HEAD or TRACE request has no body.");
    return HTTP1_OK;
}

static void check_connection(struct request *req, struct http1_info *info)
{
    struct slice list = req->header[HEADER_CONNECTION];
    info->keep_alive = req->http_minor == 1;
    if (!list.len)
        return;
    if (http1_list_has(list, SLICE("close")))
        info->keep_alive = false;
    else if (!info->keep_alive)
        info->keep_alive = http1_list_has(list, SLICE("keep-alive"));
}

/* What is wrong though the frame is clear. */
static enum http1_parsed check_rest(const struct head *h, const struct http1_limits *limits,
                                    struct request *req, struct http1_info *info, struct err *err)
{
    struct slice expect = req->header[HEADER_EXPECT];
    if (req->http_minor && expect.len) {
        info->expect_continue = true;
        if (!slice_eq_nocase(expect, SLICE("100-continue"))) {
            err_set(err, ERR_EXPECTATION_FAILED, "The only expectation that can be met is `100-continue`.");
            return HTTP1_REFUSED;
        }
    }
    if (req->method == METHODS) {
        req->method = METHOD_GET;
        err_set(err, ERR_UNKNOWN_METHOD, "The method %.*s is not known.",
                (int)(h->method.len < 40 ? h->method.len : 40), (const char *)h->method.ptr);
        return HTTP1_REFUSED;
    }
    if (h->twice >= 0) {
        err_set(err, ERR_BAD_REQUEST, "The field %s comes more than once.", field_name(h->twice));
        return HTTP1_REFUSED;
    }
    if (req->target.len > limits->target_max) {
        err_set(err, ERR_TARGET_TOO_LONG, "The request target has %zu bytes; %u are allowed.",
                req->target.len, limits->target_max);
        return HTTP1_REFUSED;
    }
    return HTTP1_OK;
}

enum http1_parsed http1_parse(struct slice head, const struct http1_limits *limits, struct request *req,
                              struct http1_info *info, struct err *err)
{
    struct head h = {.at = head.ptr, .end = head.ptr + head.len, .twice = -1};
    *info = (struct http1_info){0};
    enum http1_parsed parsed = parse_request_line(&h, req, err);
    if (parsed == HTTP1_OK)
        parsed = parse_fields(&h, req, err);
    if (parsed == HTTP1_OK)
        parsed = check_host(&h, req, err);
    if (parsed == HTTP1_OK)
        parsed = check_frame(&h, req, info, err);
    if (parsed == HTTP1_OK) {
        check_connection(req, info);
        parsed = check_rest(&h, limits, req, info, err);
    }
    if (req->method == METHODS) /* of a broken head: whatever answers must not see it */
        req->method = METHOD_GET;
    return parsed;
}
