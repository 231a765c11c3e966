/* tests/unit/server/test_credentials.c - what is read from the header field Authorization. */
#include "server/access/credentials.h"

#include "base/base64.h"
#include "tests/lib/test.h"

static struct credentials c;

static void check_basic(const char *field, const char *user, const char *password)
{
    struct err err;
    if (credentials_parse(slice_str(field), &c, &err) != RC_OK)
        fail_msg("%s: %s", field, err.message);
    assert_int_equal(c.kind, CREDENTIALS_BASIC);
    assert_true(slice_eq(c.user, slice_str(user)));
    assert_true(slice_eq(c.password, slice_str(password)));
    assert_int_equal(c.password.ptr[c.password.len], 0);
    credentials_wipe(&c);
    for (size_t i = 0; i < sizeof c.text; i++)
        assert_int_equal(c.text[i], 0);
}

TEST(credentials_parse__basic)
{
    check_basic("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"); /* RFC 7617, 2 */
    check_basic("Basic dGVzdDoxMjPCow==", "test", "123\xc2\xa3");                /* RFC 7617, 2.1 */
    check_basic("BASIC  YTpiOmM=", "a", "b:c");
    check_basic("basic YTo=", "a", "");
}

TEST(credentials_parse__bearer)
{
    struct err err;
    assert_int_equal(credentials_parse(SLICE("bearer mF_9.B5f-4.1JqM~+/=="), &c, &err), RC_OK);
    assert_int_equal(c.kind, CREDENTIALS_BEARER);
    assert_true(slice_eq(c.token, SLICE("mF_9.B5f-4.1JqM~+/==")));
}

TEST(credentials_parse__refuses_all_else)
{
    static const char *const bad[] = {
        "",
        " ",
        "Basic",
        "Basic ",
        "Basic\tYTpi",
        "Basic YTpi\t",
        "Basic YTpi ",
        "Basic YTpi,",
        "Basic YTp",
        "Basic YWI=" /* ab */,
        "Basic OmI=" /* :b */,
        "Basic YTpiAA==" /* a NUL */,
        "Basic YTpiCg==" /* a line feed */,
        "Basic YTr/" /* no UTF-8 */,
        "Basic YTo+YQ=",
        "Basic YTpiYR==" /* bits left over */,
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer =",
        "Bearer a=b",
        "Bearer a\"",
        "Digest username=\"a\"",
        "BasicYTpi",
        "Basi YTpi",
        "Basic: YTpi",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err;
        if (credentials_parse(slice_str(bad[i]), &c, &err) == RC_OK)
            fail_msg("it is taken: %s", bad[i]);
        assert_int_equal(err.code, ERR_UNAUTHORIZED);
    }
}

/* So many bytes of name, colon and password, encoded. */
static bool takes(size_t name, size_t password)
{
    static uint8_t plain[4096], text[8192] = "Basic ";
    struct err err;
    memset(plain, 'x', sizeof plain);
    plain[name] = ':';
    uint8_t *end = base64_put(slice_of(plain, name + 1 + password), text + 6);
    return credentials_parse(slice_of(text, (size_t)(end - text)), &c, &err) == RC_OK;
}

TEST(credentials_parse__has_limits)
{
    assert_true(takes(LIMIT_USER_NAME_MAX, PASSWORD_MAX));
    assert_false(takes(LIMIT_USER_NAME_MAX + 1, 1));
    assert_false(takes(1, PASSWORD_MAX + 1));
    assert_false(takes(LIMIT_USER_NAME_MAX, PASSWORD_MAX + 1));
    assert_false(takes(1000, 1000));
    for (size_t n = 0; n < 700; n++)
        assert_int_equal(takes(3, n), n <= PASSWORD_MAX);
}

TEST_MAIN()
