/* server/registry/page.c - see page.h. */
#include "server/registry/page.h"

#include "base/num.h"
#include "server/words.h"

/* Below 0: no bound. */
static enum rc number(const struct call *c, enum param_id id, const char *name, uint64_t none, uint64_t *out,
                      struct err *err)
{
    struct slice text = call_text(c, id);
    struct words words;
    bool is_negative = text.len > 1 && text.ptr[0] == '-';
    *out = none;
    if (!text.len)
        return RC_OK;
    if (!num_parse_decimal(is_negative ? slice_of(text.ptr + 1, text.len - 1) : text, INT32_MAX, out))
        return err_set(err, ERR_BAD_PARAMETER, "%s is a number, not '%s'.", name, words_of(text, &words));
    if (is_negative)
        *out = none;
    return RC_OK;
}

enum rc page_read(const struct call *c, struct page *p, struct err *err)
{
    *p = (struct page){0};
    enum rc rc = number(c, PARAM_offset, "offset", 0, &p->skip, err);
    return rc == RC_OK ? number(c, PARAM_limit, "limit", UINT64_MAX, &p->left, err) : rc;
}

bool page_takes(struct page *p)
{
    if (p->skip) {
        p->skip--;
        return false;
    }
    if (!p->left)
        return false;
    p->left--;
    return true;
}
