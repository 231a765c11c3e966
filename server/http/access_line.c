/* server/http/access_line.c - prints lines of the access log. */
#include "server/http/access_line.h"

#include <time.h>

#include "base/num.h"

/* What the longest byte becomes, and what a line takes beside strings. */
enum { ESCAPED_MAX = 6, FIXED_BYTES = 512 };

static uint8_t *put(uint8_t *at, struct slice s)
{
    memcpy(at, s.ptr, s.len);
    return at + s.len;
}

#define PUT(at, text) put(at, SLICE(text))

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* `prefix` and two digits for each byte that is not plain. */
static uint8_t *put_escaped(uint8_t *at, struct slice s, struct slice prefix)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        if (is_plain(c)) {
            *at++ = c;
            continue;
        }
        at = put(at, prefix);
        *at++ = (uint8_t)hex[c >> 4];
        *at++ = (uint8_t)hex[c & 15];
    }
    return at;
}

static uint8_t *put_digits(uint8_t *at, unsigned n, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; n /= 10)
        at[i] = (uint8_t)('0' + n % 10);
    return at + digits;
}

static struct tm utc(int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm = {0};
    gmtime_r(&seconds, &tm);
    return tm;
}

static uint8_t *put_clock(uint8_t *at, const struct tm *tm)
{
    at = put_digits(at, (unsigned)tm->tm_hour, 2);
    *at++ = ':';
    at = put_digits(at, (unsigned)tm->tm_min, 2);
    *at++ = ':';
    return put_digits(at, (unsigned)tm->tm_sec, 2);
}

static struct slice or_dash(struct slice s)
{
    return s.len ? s : SLICE("-");
}

/* ---- JSON ---- */

/* `name` comes with quotes, colon and what is before. */
static uint8_t *put_string(uint8_t *at, struct slice name, struct slice value)
{
    at = put_escaped(put(at, name), value, SLICE("\\u00"));
    *at++ = '"';
    return at;
}

static uint8_t *put_number(uint8_t *at, struct slice name, uint64_t n)
{
    at = put(at, name);
    return at + num_print_u64(n, at);
}

/* RFC 3339. */
static uint8_t *put_json_time(uint8_t *at, int64_t wall_ms)
{
    struct tm tm = utc(wall_ms);
    at = put_digits(at, (unsigned)tm.tm_year + 1900, 4);
    *at++ = '-';
    at = put_digits(at, (unsigned)tm.tm_mon + 1, 2);
    *at++ = '-';
    at = put_digits(at, (unsigned)tm.tm_mday, 2);
    *at++ = 'T';
    at = put_clock(at, &tm);
    *at++ = '.';
    at = put_digits(at, (unsigned)(wall_ms % 1000), 3);
    *at++ = 'Z';
    return at;
}

static uint8_t *put_tls(uint8_t *at, const struct access_entry *e)
{
    if (!e->tls_version)
        return at;
    return put(PUT(put(at, slice_str(e->tls_version)), " "), slice_str(e->tls_cipher));
}

static uint8_t *put_json(uint8_t *at, const struct access_entry *e)
{
    at = put_json_time(PUT(at, "{\"time\":\""), e->wall_ms);
    at = put_string(at, SLICE("\",\"remote\":\""), e->remote);
    at = put_string(at, SLICE(",\"user\":\""), e->user);
    at = put_string(at, SLICE(",\"method\":\""), or_dash(e->method));
    at = put_string(at, SLICE(",\"target\":\""), or_dash(e->target));
    at = PUT(at, ",\"version\":\"");
    at = e->target.len ? put_digits(PUT(at, "HTTP/1."), e->http_minor, 1) : PUT(at, "-");
    at = put_number(at, SLICE("\",\"status\":"), e->status);
    at = put_number(at, SLICE(",\"bytes\":"), e->bytes);
    at = put_number(at, SLICE(",\"duration_us\":"), (uint64_t)e->duration_us);
    at = put_string(at, SLICE(",\"request_id\":\""), e->request_id);
    at = put_string(at, SLICE(",\"user_agent\":\""), e->user_agent);
    at = put_string(at, SLICE(",\"referer\":\""), e->referer);
    return PUT(put_tls(PUT(at, ",\"tls\":\""), e), "\"}\n");
}

/* ---- combined ---- */

static uint8_t *put_combined_time(uint8_t *at, int64_t wall_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = utc(wall_ms);
    at = put_digits(at, (unsigned)tm.tm_mday, 2);
    *at++ = '/';
    at = put(at, slice_of(months + 3 * tm.tm_mon, 3));
    *at++ = '/';
    at = put_digits(at, (unsigned)tm.tm_year + 1900, 4);
    *at++ = ':';
    return PUT(put_clock(at, &tm), " +0000");
}

static uint8_t *put_text(uint8_t *at, struct slice s)
{
    return put_escaped(at, s, SLICE("\\x"));
}

/* In a column without quotes: a space would end it. */
static uint8_t *put_name(uint8_t *at, struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        at = s.ptr[i] == ' ' ? PUT(at, "\\x20") : put_text(at, slice_of(s.ptr + i, 1));
    return at;
}

static uint8_t *put_request_line(uint8_t *at, const struct access_entry *e)
{
    if (!e->target.len)
        return PUT(at, "-");
    at = PUT(put_text(at, e->method), " ");
    return put_digits(PUT(put_text(at, e->target), " HTTP/1."), e->http_minor, 1);
}

static uint8_t *put_combined(uint8_t *at, const struct access_entry *e)
{
    at = PUT(put_text(at, e->remote), " - ");
    at = PUT(put_name(at, or_dash(e->user)), " [");
    at = PUT(put_combined_time(at, e->wall_ms), "] \"");
    at = PUT(put_request_line(at, e), "\" ");
    at = put_digits(at, e->status, 3);
    *at++ = ' ';
    at += num_print_u64(e->bytes, at);
    at = PUT(put_text(PUT(at, " \""), or_dash(e->referer)), "\" \"");
    return PUT(put_text(at, or_dash(e->user_agent)), "\"\n");
}

bool access_line_print(struct buf *out, enum access_format format, const struct access_entry *e)
{
    size_t strings = e->remote.len + e->method.len + e->target.len + e->request_id.len + e->user_agent.len +
                     e->referer.len + e->user.len;
    if (!buf_reserve(out, FIXED_BYTES + ESCAPED_MAX * strings))
        return false;
    uint8_t *at = out->ptr + out->len;
    at = format == ACCESS_JSON ? put_json(at, e) : put_combined(at, e);
    out->len = (size_t)(at - out->ptr);
    return true;
}
