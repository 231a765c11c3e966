/* server/access/credentials.c - see credentials.h. */
#include "server/access/credentials.h"

#include "base/base64.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "server/access/user_name.h"

_Static_assert(CREDENTIALS_ROOM >= (CREDENTIALS_BYTES + 2) / 3 * 3, "base64 is decoded by threes");

static enum rc refuse(struct err *err, const char *sentence)
{
    return err_set(err, ERR_UNAUTHORIZED, "%s", sentence);
}

static enum rc parse_basic(struct slice text, struct credentials *c, struct err *err)
{
    size_t n;
    if (text.len > base64_chars(CREDENTIALS_BYTES))
        return refuse(err, "The user's name and password are too long.");
    if (!base64_parse(text, c->text, &n))
        return refuse(err, "The credentials of the scheme Basic are not in base64.");
    struct slice all = slice_of(c->text, n);
    const uint8_t *colon = n ? memchr(c->text, ':', n) : NULL;
    if (!colon || has_control(all) || !utf8_valid(all))
        return refuse(
            err, "The credentials of the scheme Basic are no user's name, colon and password, in UTF-8.");
    c->user = slice_of(c->text, (size_t)(colon - c->text));
    c->password = slice_of(colon + 1, n - c->user.len - 1);
    if (user_name_fault(c->user) || c->password.len > PASSWORD_MAX)
        return refuse(err, "The user's name is empty, or it or the password is too long.");
    c->text[n] = 0;
    return RC_OK;
}

/* token68. */
static bool is_token68(struct slice s)
{
    size_t i = 0;
    while (i < s.len && ((uint8_t)(s.ptr[i] - '0') < 10 || (uint8_t)((s.ptr[i] | 0x20) - 'a') < 26 ||
                         (s.ptr[i] && strchr("-._~+/", s.ptr[i]))))
        i++;
    if (!i)
        return false;
    while (i < s.len && s.ptr[i] == '=')
        i++;
    return i == s.len;
}

static enum rc parse_bearer(struct slice text, struct credentials *c, struct err *err)
{
    if (!is_token68(text) || text.len > LIMIT_TOKEN_MAX)
        return refuse(err, "The credentials of the scheme Bearer are no token.");
    c->token = text;
    return RC_OK;
}

static const struct scheme {
    struct slice name;
    enum credentials_kind kind;
    enum rc (*parse)(struct slice, struct credentials *, struct err *);
} schemes[] = {
    {{(const uint8_t *)"Basic", 5}, CREDENTIALS_BASIC, parse_basic},
    {{(const uint8_t *)"Bearer", 6}, CREDENTIALS_BEARER, parse_bearer},
};

enum rc credentials_parse(struct slice field, struct credentials *c, struct err *err)
{
    size_t at = 0;
    c->user = c->password = c->token = (struct slice){0};
    while (at < field.len && field.ptr[at] != ' ')
        at++;
    struct slice name = slice_of(field.ptr, at);
    while (at < field.len && field.ptr[at] == ' ')
        at++;
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (!slice_eq_nocase(name, schemes[i].name))
            continue;
        c->kind = schemes[i].kind;
        return schemes[i].parse(slice_of(field.ptr + at, field.len - at), c, err);
    }
    return refuse(err, "The field Authorization is of no scheme that is known here: Basic and Bearer are.");
}

void credentials_wipe(struct credentials *c)
{
    secret_wipe(c->text, sizeof c->text);
}
