/* server/handlers/records/record_life.c - see record_life.h. */
#include "server/handlers/records/record_life.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/num.h"
#include "server/handlers/reply.h"
#include "server/params.h"

enum { MS = 1000 };

/* ---- Cache-Control ---- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct slice trim(struct slice s)
{
    while (s.len && is_blank(s.ptr[0]))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* The next directive of a list, quoted strings and all; false at its end. */
static bool directive_next(struct slice *list, struct slice *out)
{
    bool quoted = false;
    size_t i = 0;
    if (!list->len)
        return false;
    for (; i < list->len && (quoted || list->ptr[i] != ','); i++) {
        if (list->ptr[i] == '"')
            quoted = !quoted;
        else if (quoted && list->ptr[i] == '\\' && i + 1 < list->len)
            i++;
    }
    *out = trim(slice_of(list->ptr, i));
    i += i < list->len;
    *list = slice_of(list->ptr + i, list->len - i);
    return true;
}

/* Seconds of `max-age=N` or `max-age="N"`; 0: it is another directive, or says nothing. */
static uint32_t max_age_of(struct slice directive)
{
    const struct slice name = SLICE("max-age=");
    uint64_t n;
    if (directive.len <= name.len || !slice_eq_nocase(slice_of(directive.ptr, name.len), name))
        return 0;
    struct slice value = slice_of(directive.ptr + name.len, directive.len - name.len);
    if (value.len > 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        value = slice_of(value.ptr + 1, value.len - 2);
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return 0;
    return num_parse_decimal(value, LIMIT_TTL_MAX, &n) ? (uint32_t)n : LIMIT_TTL_MAX;
}

static uint32_t max_age(struct slice list)
{
    struct slice directive;
    while (directive_next(&list, &directive)) {
        uint32_t seconds = max_age_of(directive);
        if (seconds)
            return seconds;
    }
    return 0;
}

/* ---- what is asked, what is told ---- */

enum rc record_life_ask_other(const struct request *req, uint32_t *seconds, struct err *err)
{
    const struct slice *ttl = params_find(req, PARAM_ttl);
    if (ttl)
        return params_ttl(*ttl, "", seconds, err);
    *seconds = max_age(req->header[HEADER_CACHE_CONTROL]);
    return RC_OK;
}

int64_t record_life_end(uint32_t seconds)
{
    int64_t now = clock_wall_ms();
    return seconds ? (now > 0 ? now : 0) + (int64_t)seconds * MS : 0;
}

uint64_t record_life_left(int64_t expires_ms)
{
    int64_t left = expires_ms - clock_wall_ms();
    return left <= MS ? 1 : (uint64_t)(left + MS - 1) / MS;
}

COLD size_t record_life_print(int64_t expires_ms, uint8_t out[RECORD_LIFE_LINE_MAX])
{
    const struct slice label = SLICE("TTL: ");
    memcpy(out, label.ptr, label.len);
    size_t n = label.len + num_print_u64(record_life_left(expires_ms), out + label.len);
    memcpy(out + n, "\r\n", 2);
    return n + 2;
}

COLD bool record_life_tell_other(struct request *req, int64_t expires_ms)
{
    return reply_header_u64(req, "TTL", record_life_left(expires_ms));
}
