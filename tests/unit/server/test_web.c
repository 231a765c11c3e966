/* tests/unit/server/test_web.c - which requests of web pages are refused; listen addresses; the date. */
#include "server/http/web.h"

#include "server/handler.h"
#include "server/http/address.h"
#include "server/http/cors.h"
#include "server/http/date.h"
#include "tests/lib/test.h"

static bool host_is_loopback(const char *host)
{
    return web_host_is_loopback(slice_str(host));
}

TEST(web_host_is_loopback__knows_names_and_addresses)
{
    static const char *const good[] = {
        "localhost", "LocalHost:8080", "a.localhost", "127.0.0.1",         "127.255.0.9:1",
        "[::1]",     "[::1]:8080",     "localhost.",  "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:80"};
    static const char *const bad[] = {"",
                                      "example.com",
                                      "localhost.example.com",
                                      "notlocalhost",
                                      "128.0.0.1",
                                      "127.0.0.1.example.com",
                                      "[::2]",
                                      "::1",
                                      "0.0.0.0",
                                      "127.1.evil",
                                      "10.0.0.1:127",
                                      "[::1].evil",
                                      "[localhost]",
                                      "[::ffff:10.0.0.1]",
                                      "[]"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!host_is_loopback(good[i]))
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (host_is_loopback(bad[i]))
            fail_msg("%s", bad[i]);
}

static struct cors cors;

static enum err_code check_at(struct web_listener at, const char *host, const char *origin, const char *site,
                              bool changes)
{
    static struct request req;
    struct err err = {0};
    req.header[HEADER_HOST] = slice_str(host);
    req.header[HEADER_ORIGIN] = origin ? slice_str(origin) : (struct slice){0};
    req.header[HEADER_SEC_FETCH_SITE] = slice_str(site);
    return web_check(&req, &cors, at, changes, &err) == RC_OK ? ERR_NONE : err.code;
}

static enum err_code check(const char *host, const char *origin, const char *site, bool loopback,
                           bool changes)
{
    return check_at((struct web_listener){.loopback = loopback}, host, origin, site, changes);
}

TEST(web_check__lets_a_page_of_another_origin_change_nothing)
{
    assert_int_equal(check("localhost:1", NULL, "", true, true), ERR_NONE);
    assert_int_equal(check("localhost:1", "http://localhost:1", "same-origin", true, true), ERR_NONE);
    assert_int_equal(check("LOCALHOST", "http://localhost:80", "", true, true), ERR_NONE);
    assert_int_equal(check("localhost:1", "http://localhost:2", "", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", "https://localhost:1", "", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", "null", "", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", "", "", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", "http://evil", "", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", "http://evil", "", true, false), ERR_NONE);
    assert_int_equal(check("localhost:1", NULL, "cross-site", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", NULL, "Cross-Site", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", NULL, "none", true, true), ERR_NONE);
}

TEST(web_check__lets_a_listed_origin_change_things)
{
    struct err err;
    assert_int_equal(cors_parse(&cors, "http://a:1,https://b", &err), RC_OK);
    assert_int_equal(check("localhost:1", "http://a:1", "cross-site", true, true), ERR_NONE);
    assert_int_equal(check("localhost:1", "https://b", "", true, true), ERR_NONE);
    assert_int_equal(check("localhost:1", "https://b:1", "", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("localhost:1", "http://localhost:1", "", true, true), ERR_NONE);
    assert_int_equal(check("localhost:1", NULL, "cross-site", true, true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("evil.example", "https://b", "", true, true), ERR_FORBIDDEN_HOST);
    assert_int_equal(cors_parse(&cors, NULL, &err), RC_OK);
    assert_int_equal(check("localhost:1", "https://b", "", true, true), ERR_FORBIDDEN_ORIGIN);
}

TEST(web_check__takes_the_scheme_of_the_listener_for_its_own)
{
    struct web_listener tls = {.secure = true};
    assert_int_equal(check_at(tls, "a.example:8443", "https://a.example:8443", "", true), ERR_NONE);
    assert_int_equal(check_at(tls, "a.example", "https://a.example:443", "", true), ERR_NONE);
    assert_int_equal(check_at(tls, "a.example:443", "https://A.example", "", true), ERR_NONE);
    assert_int_equal(check_at(tls, "a.example:80", "https://a.example", "", true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check_at(tls, "a.example", "http://a.example", "", true), ERR_FORBIDDEN_ORIGIN);
    assert_int_equal(check("a.example:443", "http://a.example", "", false, true), ERR_FORBIDDEN_ORIGIN);
}

TEST(web_check__wants_a_loopback_host_on_a_loopback_listener)
{
    assert_int_equal(check("evil.example", NULL, "", true, false), ERR_FORBIDDEN_HOST);
    assert_int_equal(check("evil.example", NULL, "", false, false), ERR_NONE);
    assert_int_equal(check("", NULL, "", true, true), ERR_NONE);
}

static void check_address(const char *text, const char *want, bool loopback)
{
    struct address a;
    struct err err;
    char out[ADDRESS_TEXT_BYTES];
    if (address_parse(slice_str(text), &a, &err) != RC_OK)
        fail_msg("%s", err.message);
    address_print(&a, out);
    assert_string_equal(out, want);
    assert_int_equal(address_is_loopback(&a), loopback);
}

TEST(address_parse__takes_both_families)
{
    check_address("127.0.0.1:8080", "127.0.0.1:8080", true);
    check_address("localhost:0", "127.0.0.1:0", true);
    check_address("0.0.0.0:65535", "0.0.0.0:65535", false);
    check_address("[::1]:80", "[::1]:80", true);
    check_address("[::]:80", "[::]:80", false);
    check_address("[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", true);
}

TEST(address_parse__refuses_the_rest)
{
    static const char *const bad[] = {
        "",       "8080",  ":8080", "1.2.3.4",        "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1",
        "::1:80", "[::1]", "[]:80", "example.com:80", "1.2.3:80", "[127.0.0.1]:80"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct address a;
        struct err err = {0};
        assert_int_equal(address_parse(slice_str(bad[i]), &a, &err), RC_ERR);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

TEST(date_update__renders_the_example_of_the_standard)
{
    struct date d = {0};
    date_update(&d, 784111777);
    assert_memory_equal(d.line, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", DATE_LINE_BYTES);
    date_update(&d, 0);
    assert_memory_equal(d.line, "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", DATE_LINE_BYTES);
}

TEST_MAIN()
