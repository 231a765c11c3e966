/* tests/fuzz/credentials.c - the header field Authorization, and the files of --passwords and --tokens. The input: a byte that says which,
 * then the text. The field is taken if a plain reading of RFC 7617 and RFC 6750 takes it, and means the same; of a file whoever stands in
 * it is found, and nobody else, and a fault has a line. */
#include "server/access/credentials.h"

#include "base/base64.h"
#include "server/access/passwords.h"
#include "server/access/tokens.h"
#include "tests/fuzz/fuzz.h"

/* ---- the field ---- */

static bool begins(struct slice field, const char *scheme, struct slice *rest)
{
    size_t n = strlen(scheme);
    if (field.len < n || !slice_eq_nocase(slice_of(field.ptr, n), slice_of(scheme, n)) ||
        (field.len > n && field.ptr[n] != ' '))
        return false;
    for (; n < field.len && field.ptr[n] == ' '; n++)
        continue;
    *rest = slice_of(field.ptr + n, field.len - n);
    return true;
}

/* What was decoded is what was sent, printed again: base64 has one text for the bytes. */
static void check_basic(struct slice text, const struct credentials *c)
{
    struct buf plain = {0}, again = {0};
    CHECK(buf_append(&plain, c->user) && buf_append_byte(&plain, ':') && buf_append(&plain, c->password) &&
              base64_print(buf_slice(&plain), &again),
          "memory is out");
    CHECK(slice_eq(text, buf_slice(&again)), "%.*s became %.*s", SHOW(text), SHOW(buf_slice(&again)));
    CHECK(c->user.len >= 1 && c->user.len <= LIMIT_USER_NAME_MAX && c->password.len <= PASSWORD_MAX,
          "too long");
    CHECK(!memchr(c->user.ptr, ':', c->user.len), "a colon");
    CHECK(strlen((const char *)c->password.ptr) == c->password.len, "a NUL");
    for (size_t i = 0; i < plain.len; i++)
        CHECK(plain.ptr[i] >= 0x20 && plain.ptr[i] != 0x7f, "a control character");
    buf_release(&plain);
    buf_release(&again);
}

static bool is_token_plainly(struct slice text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/";
    while (text.len && text.ptr[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (!text.ptr[i] || !strchr(letters, text.ptr[i]))
            return false;
    return text.len > 0;
}

static void check_field(struct slice field)
{
    struct credentials c;
    struct err err = {0};
    struct slice text;
    enum rc rc = credentials_parse(field, &c, &err);
    CHECK(rc == RC_OK || err.code == ERR_UNAUTHORIZED, "code %d", err.code);
    bool is_basic = begins(field, "Basic", &text);
    if (rc == RC_OK && c.kind == CREDENTIALS_BASIC) {
        CHECK(is_basic, "%.*s", SHOW(field));
        check_basic(text, &c);
    } else if (!is_basic) {
        bool is_bearer =
            begins(field, "Bearer", &text) && is_token_plainly(text) && text.len <= LIMIT_TOKEN_MAX;
        CHECK(is_bearer == (rc == RC_OK), "%.*s", SHOW(field));
        CHECK(rc != RC_OK || slice_eq(c.token, text), "%.*s", SHOW(field));
    }
    credentials_wipe(&c);
}

/* ---- the files ---- */

static void check_file_fault(const struct err *err, struct slice text)
{
    unsigned line = 0, lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    CHECK(err->code == ERR_CONFIG && sscanf(err->message, "f:%u: ", &line) == 1 && line >= 1 && line <= lines,
          "%s", err->message);
}

/* Does a line begin with the name and a colon? */
static bool has_line_of(struct slice text, struct slice name)
{
    bool at_start = true;
    for (size_t i = 0; i < text.len; at_start = text.ptr[i++] == '\n')
        if (at_start && text.len - i > name.len && slice_starts(slice_of(text.ptr + i, text.len - i), name) &&
            text.ptr[i + name.len] == ':')
            return true;
    return false;
}

static void check_passwords(struct slice text)
{
    struct passwords *p;
    struct err err = {0};
    size_t n;
    if (passwords_parse("f", text, &p, &err) != RC_OK) {
        check_file_fault(&err, text);
        return;
    }
    const struct user *user = passwords_users(p, &n);
    for (size_t i = 0; i < n; i++) {
        CHECK(passwords_find(p, user[i].name) == &user[i], "%.*s is not found", SHOW(user[i].name));
        CHECK(has_line_of(text, user[i].name), "%.*s", SHOW(user[i].name));
        CHECK(!password_hash_fault(user[i].hash), "%.*s", SHOW(user[i].hash));
    }
    CHECK((passwords_nobody(p) != NULL) == (n > 0), "nobody of %zu", n);
    CHECK(!passwords_find(p, SLICE("no:body")), "a colon");
    passwords_free(p);
}

static void check_tokens(struct slice text)
{
    struct tokens *t;
    struct err err = {0};
    size_t n;
    if (tokens_parse("f", text, &t, &err) != RC_OK) {
        check_file_fault(&err, text);
        return;
    }
    const struct token *token = tokens_all(t, &n);
    for (size_t i = 0; i < n; i++) {
        CHECK(has_line_of(text, token[i].name), "%.*s", SHOW(token[i].name));
        CHECK(i == 0 || memcmp(token[i - 1].digest, token[i].digest, SHA256_BYTES) < 0, "not in order");
    }
    tokens_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(struct slice) = {check_field, check_passwords, check_tokens};
    struct slice in = slice_of(data, size);
    uint8_t which = fuzz_byte(&in);
    struct slice text = fuzz_copy(in);
    checks[which % 3](slice_not_null(text));
    fuzz_free(text);
    return 0;
}
