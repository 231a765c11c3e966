/* bench/answer.c - the head of an HTTP answer: status, length, whether it is the last. */
#include "bench/answer.h"

#include <string.h>
#include <strings.h>

static const char LENGTH[] = "\r\nContent-Length: ";
enum { LENGTH_LEN = sizeof LENGTH - 1 };

/* The value behind a field name, or NULL. Any case. */
static const char *field_find(const char *head, const char *end, const char *name)
{
    size_t len = strlen(name);
    while ((head = memchr(head, '\n', (size_t)(end - head))) != NULL) {
        head++;
        if ((size_t)(end - head) > len && head[len] == ':' && strncasecmp(head, name, len) == 0) {
            for (head += len + 1; head < end && *head == ' ';)
                head++;
            return head;
        }
    }
    return NULL;
}

static bool number_read(const char *p, const char *end, uint64_t *out)
{
    const char *start = p;
    uint64_t n = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (n > UINT64_MAX / 16)
            return false;
        n = n * 10 + (uint64_t)(*p - '0');
    }
    *out = n;
    return p > start && p < end && *p == '\r';
}

static bool length_read(const char *head, const char *end, struct answer_hint *hint, struct answer *out)
{
    if (hint->at + LENGTH_LEN < (size_t)(end - head) && memcmp(head + hint->at, LENGTH, LENGTH_LEN) == 0)
        return number_read(head + hint->at + LENGTH_LEN, end, &out->body_bytes);
    const char *value = field_find(head, end, "Content-Length");
    if (!value)
        return false;
    size_t at = (size_t)(value - head);
    hint->at = at >= LENGTH_LEN ? at - LENGTH_LEN : 0;
    return number_read(value, end, &out->body_bytes);
}

static long head_parse(const char *in, size_t have, bool no_body, struct answer_hint *hint,
                       struct answer *out)
{
    if (memcmp(in, "HTTP/1.", have < 7 ? have : 7) != 0)
        return -1;
    const char *blank = memmem(in, have, "\r\n\r\n", 4);
    if (!blank)
        return 0;
    const char *end = blank + 2; /* behind the last field's line break */
    if (end - in < 13 || in[8] != ' ')
        return -1;
    out->status = 0;
    for (unsigned i = 9; i < 12; i++) {
        if (in[i] < '0' || in[i] > '9')
            return -1;
        out->status = out->status * 10 + (unsigned)(in[i] - '0');
    }
    out->body_bytes = 0;
    const char *connection = field_find(in, end, "Connection");
    out->closes = connection && strncasecmp(connection, "close", 5) == 0;
    bool bare = no_body || out->status == 204 || out->status == 304;
    if (!bare && !length_read(in, end, hint, out))
        return -1;
    return end + 2 - in;
}

static void hint_keep(struct answer_hint *hint, const char *head, size_t bytes, const struct answer *a)
{
    hint->head_bytes = bytes <= ANSWER_HINT_MAX ? bytes : 0;
    memcpy(hint->head, head, hint->head_bytes);
    hint->answer = *a;
}

long answer_head(const char *in, size_t have, bool no_body, struct answer_hint *hint, struct answer *out)
{
    if (hint->head_bytes && have >= hint->head_bytes && memcmp(in, hint->head, hint->head_bytes) == 0) {
        *out = hint->answer;
        return (long)hint->head_bytes;
    }
    long head = head_parse(in, have, no_body, hint, out);
    if (head > 0)
        hint_keep(hint, in, (size_t)head, out);
    return head;
}
