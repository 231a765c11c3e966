/* server/registry/print.c - pieces of answers. */
#include "base/json_quote.h"
#include "server/registry/registry.h"

bool print_comma(struct call *c, size_t i)
{
    return i == 0 || buf_append_byte(&c->out.text, ',');
}

bool print_word(struct call *c, const char *name, struct slice word)
{
    return buf_printf(&c->out.text, "{\"%s\":", name) && json_quote_any(word, &c->out.text) &&
           buf_append_byte(&c->out.text, '}');
}
