/* client/lib/target.c - see target.h. RFC 3986: all but unreserved characters are encoded, so a piece says the same in a path and
 * in a query. */
#include "client/lib/target.h"

#include "base/hex.h"
#include "client/avrod.h"

static bool is_unreserved(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static bool encode(struct slice s, struct buf *out)
{
    if (!buf_reserve(out, 3 * s.len + 1))
        return false;
    uint8_t *w = out->ptr + out->len;
    for (size_t i = 0; i < s.len; i++) {
        if (is_unreserved(s.ptr[i])) {
            *w++ = s.ptr[i];
        } else {
            *w++ = '%';
            w = hex_put(w, s.ptr[i]);
        }
    }
    out->len = (size_t)(w - out->ptr);
    return true;
}

char *avrod_encode(const void *bytes, size_t len)
{
    struct buf text = {0};
    if (encode(slice_of(bytes, len), &text) && buf_append_byte(&text, 0))
        return (char *)text.ptr;
    buf_release(&text);
    return NULL;
}

static void note(struct target *t, bool good)
{
    t->no_memory |= !good;
}

void target_piece(struct target *t, struct slice piece)
{
    note(t, buf_append_byte(&t->text, '/') && encode(piece, &t->text));
}

static bool begin_param(struct target *t)
{
    bool good = buf_append_byte(&t->text, t->has_query ? '&' : '?');
    t->has_query = true;
    return good;
}

void target_param_bytes(struct target *t, const char *name, struct slice value)
{
    note(t, begin_param(t) && buf_append(&t->text, slice_str(name)) && buf_append_byte(&t->text, '=') &&
                encode(value, &t->text));
}

void target_param(struct target *t, const char *name, const char *value)
{
    if (value)
        target_param_bytes(t, name, slice_str(value));
}

void target_param_u64(struct target *t, const char *name, uint64_t value)
{
    note(t, begin_param(t) && buf_printf(&t->text, "%s=%llu", name, (unsigned long long)value));
}

void target_query(struct target *t, const char *query)
{
    if (query && *query)
        note(t, begin_param(t) && buf_append(&t->text, slice_str(query)));
}

const char *target_text(struct target *t)
{
    note(t, buf_append_byte(&t->text, 0));
    return t->no_memory ? NULL : (const char *)t->text.ptr;
}

void target_release(struct target *t)
{
    buf_release(&t->text);
}
