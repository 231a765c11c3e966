/* client/ctl/json_text.c - see json_text.h. */
#include "client/ctl/json_text.h"

#include "base/base64.h"
#include "base/json_quote.h"
#include "base/num.h"

static void note(struct json_text *t, bool good)
{
    t->no_memory |= !good;
}

static void name_put(struct json_text *t, const char *name)
{
    if (t->comma)
        note(t, buf_append_byte(&t->text, ','));
    t->comma = true;
    if (name)
        note(t, buf_append_byte(&t->text, '"') && buf_append(&t->text, slice_str(name)) &&
                    buf_append(&t->text, SLICE("\":")));
}

void json_text_begin(struct json_text *t)
{
    json_text_open(t, NULL, '{');
}

void json_text_end(struct json_text *t)
{
    json_text_close(t, '}');
}

void json_text_open(struct json_text *t, const char *name, char bracket)
{
    name_put(t, name);
    note(t, buf_append_byte(&t->text, (uint8_t)bracket));
    t->comma = false;
}

void json_text_close(struct json_text *t, char bracket)
{
    note(t, buf_append_byte(&t->text, (uint8_t)bracket));
    t->comma = true;
}

void json_text_string(struct json_text *t, const char *name, const char *value)
{
    name_put(t, name);
    note(t, value ? json_quote_any(slice_str(value), &t->text) : buf_append(&t->text, SLICE("null")));
}

void json_text_bytes(struct json_text *t, const char *name, struct slice value)
{
    name_put(t, name);
    note(t,
         buf_append_byte(&t->text, '"') && base64_print(value, &t->text) && buf_append_byte(&t->text, '"'));
}

void json_text_u64(struct json_text *t, const char *name, uint64_t value)
{
    name_put(t, name);
    note(t, buf_printf(&t->text, "%llu", (unsigned long long)value));
}

void json_text_real(struct json_text *t, const char *name, double value)
{
    uint8_t digits[NUM_DOUBLE_MAX_CHARS];
    name_put(t, name);
    note(t, buf_append(&t->text, slice_of(digits, num_print_double(value, digits))));
}

void json_text_raw(struct json_text *t, const char *name, struct slice json)
{
    name_put(t, name);
    note(t, buf_append(&t->text, json));
}

void json_text_release(struct json_text *t)
{
    buf_release(&t->text);
}
