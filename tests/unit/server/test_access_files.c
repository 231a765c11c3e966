/* tests/unit/server/test_access_files.c - the files of --passwords and --tokens: what is taken, who is found, and where a fault is said
 * to be, without telling what stands there. */
#include <stdio.h>

#include "base/buf.h"
#include "server/access/password_hash.h"
#include "server/access/passwords.h"
#include "server/access/tokens.h"
#include "tests/lib/test.h"

#define BCRYPT   "$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a"
#define BCRYPT10 "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"
#define SHA256C  "$5$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA"
#define SHA512C                                                                                              \
    "$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1"
#define YESCRYPT "$y$j9T$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54"

static void check_good(const char *hash)
{
    struct err err;
    const char *fault = password_hash_fault(slice_str(hash));
    if (fault)
        fail_msg("%s: %s", hash, fault);
    assert_int_equal(password_hash_verify(hash, "secret", &err), RC_OK);
    assert_int_equal(password_hash_verify(hash, "Secret", &err), RC_NOTFOUND);
    assert_int_equal(password_hash_verify(hash, "", &err), RC_NOTFOUND);
}

TEST(password_hash__each_kind_is_taken_and_verified)
{
    check_good(BCRYPT);
    check_good(SHA256C);
    check_good(SHA512C);
    check_good(YESCRYPT);
}

static void check_bad(const char *hash)
{
    if (!password_hash_fault(slice_str(hash)))
        fail_msg("it is taken: %s", hash);
}

TEST(password_hash__others_are_not)
{
    static const char *const bad[] = {
        "",
        "secret",
        "$",
        "$2",
        "$2y$",
        "$1$abc$iCQ2D3nhptRYi27fDYv2s1",
        "$apr1$abc$xxxxxxxxxxxxxxxxxxxxxx",
        "abNANd1rDfiNc",
        "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=",
        "$2x$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a",
        BCRYPT "x",
        BCRYPT ":",
        "$2y$5$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a",
        "$2y$03$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a",
        "$2y$0:$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a",
        "$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0!",
        SHA256C "x",
        "$5$$x",
        "$5$rounds=999$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA",
        "$5$rounds=$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA",
        "$5$seventeenchars_17$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA",
        "$y$j9T$saltsalt$short",
        "$y$.9T$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54",
        "$y$j9T/$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_bad(bad[i]);
    for (size_t n = 0; n < sizeof SHA512C - 1; n++)
        assert_non_null(password_hash_fault(slice_of(SHA512C, n)));
}

TEST(password_hash__what_takes_seconds_is_not)
{
    assert_null(password_hash_fault(SLICE("$2b$14$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a")));
    check_bad("$2b$15$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a");
    assert_null(
        password_hash_fault(SLICE("$5$rounds=2000000$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA")));
    check_bad("$5$rounds=2000001$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA");
    check_bad("$5$rounds=99999999999999999999$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA");
    assert_null(password_hash_fault(SLICE("$y$jBT$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54")));
    check_bad("$y$jCT$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54");
    check_bad("$y$jzz$saltsalt$VuCHcCYYVuebTL.IxzSml3z./71e36sys.wEb95cM54");
}

TEST(password_hash__kinds_are_equal_where_costs_are)
{
    assert_true(slice_eq(password_hash_kind(SLICE(BCRYPT)), SLICE("$2y$05")));
    assert_true(slice_eq(password_hash_kind(SLICE(SHA512C)), SLICE("$6")));
    assert_true(slice_eq(password_hash_kind(SLICE("$5$rounds=5000$s$h")), SLICE("$5$rounds=5000")));
    assert_true(slice_eq(password_hash_kind(SLICE(YESCRYPT)), SLICE("$y$j9T")));
}

/* ---- passwords ---- */

static void check_fault(enum rc rc, const struct err *err, unsigned line)
{
    char place[16];
    snprintf(place, sizeof place, "file:%u: ", line);
    assert_int_equal(rc, RC_ERR);
    assert_int_equal(err->code, ERR_CONFIG);
    if (strncmp(err->message, place, strlen(place)) != 0 || strstr(err->message, "hunter2"))
        fail_msg("line %u: %s", line, err->message);
}

static void check_passwords_fault(const char *text, unsigned line)
{
    struct passwords *p;
    struct err err;
    check_fault(passwords_parse("file", slice_str(text), &p, &err), &err, line);
}

TEST(passwords_parse__finds_whom_it_has_read)
{
    static const char text[] = "# users\n\nal:" BCRYPT "\r\nbob the second:" SHA512C "\nzo\xc3\xab:" BCRYPT;
    struct passwords *p;
    struct err err;
    size_t n;
    if (passwords_parse("file", slice_str(text), &p, &err) != RC_OK)
        fail_msg("%s", err.message);
    passwords_users(p, &n);
    assert_int_equal(n, 3);
    assert_true(slice_eq(passwords_find(p, SLICE("al"))->hash, SLICE(BCRYPT)));
    assert_true(slice_eq(passwords_find(p, SLICE("bob the second"))->hash, SLICE(SHA512C)));
    assert_non_null(passwords_find(p, SLICE("zo\xc3\xab")));
    assert_null(passwords_find(p, SLICE("Al")));
    assert_null(passwords_find(p, SLICE("")));
    passwords_free(p);
}

TEST(passwords_parse__nobody_has_what_most_have)
{
    struct passwords *p;
    struct err err;
    static const char text[] = "a:" BCRYPT "\nb:" BCRYPT10 "\nc:" SHA512C "\nd:" BCRYPT10 "\n";
    assert_int_equal(passwords_parse("file", slice_str(text), &p, &err), RC_OK);
    assert_true(slice_eq(password_hash_kind(passwords_nobody(p)->hash), SLICE("$2y$10")));
    passwords_free(p);
    assert_int_equal(passwords_parse("file", SLICE("# none\n"), &p, &err), RC_OK);
    assert_null(passwords_nobody(p));
    assert_null(passwords_find(p, SLICE("a")));
    passwords_free(p);
    assert_int_equal(passwords_load(NULL, &p, &err), RC_OK);
    assert_null(passwords_nobody(p));
    passwords_free(p);
}

TEST(passwords_parse__many_are_found)
{
    enum { USERS = 3000 };
    struct buf text = {0};
    struct passwords *p;
    struct err err;
    for (unsigned i = 0; i < USERS; i++)
        assert_true(buf_printf(&text, "user%u:" BCRYPT "\n", i));
    assert_int_equal(passwords_parse("file", buf_slice(&text), &p, &err), RC_OK);
    for (unsigned i = 0; i < USERS + 100; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "user%u", i);
        const struct user *user = passwords_find(p, slice_of(name, (size_t)len));
        assert_int_equal(user != NULL, i < USERS);
        assert_true(!user || slice_eq(user->name, slice_of(name, (size_t)len)));
    }
    passwords_free(p);
    buf_release(&text);
}

TEST(passwords_parse__faults_have_their_line)
{
    char text[400];
    check_passwords_fault("hunter2", 1);
    check_passwords_fault("\n#\nal:" BCRYPT "\nbob:hunter2\n", 4);
    check_passwords_fault("al:" BCRYPT "\nbob:" SHA512C "\nal:" SHA512C "\n", 3);
    check_passwords_fault(":" BCRYPT, 1);
    check_passwords_fault("a\tb:" BCRYPT, 1);
    check_passwords_fault("a\xff:" BCRYPT, 1);
    check_passwords_fault("\xef\xbb\xbf"
                          "al:" BCRYPT,
                          1);
    check_passwords_fault("al:" BCRYPT " ", 1);
    snprintf(text, sizeof text, "%0129d:%s", 0, BCRYPT);
    check_passwords_fault(text, 1);
}

/* ---- tokens ---- */

/* Of "abc" and of "" (FIPS 180-4). */
#define ABC   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void check_tokens_fault(const char *text, unsigned line)
{
    struct tokens *t;
    struct err err;
    check_fault(tokens_parse("file", slice_str(text), &t, &err), &err, line);
}

TEST(tokens_parse__finds_whose_they_are)
{
    struct tokens *t;
    struct err err;
    size_t n;
    assert_int_equal(tokens_parse("file", SLICE("ci:" ABC "\n# old\nci:" EMPTY "\n"), &t, &err), RC_OK);
    tokens_all(t, &n);
    assert_int_equal(n, 2);
    assert_true(slice_eq(tokens_find(t, SLICE("abc"))->name, SLICE("ci")));
    assert_non_null(tokens_find(t, SLICE("")));
    assert_null(tokens_find(t, SLICE("abd")));
    tokens_free(t);
    assert_int_equal(tokens_load(NULL, &t, &err), RC_OK);
    assert_null(tokens_find(t, SLICE("abc")));
    tokens_free(t);
}

TEST(tokens_parse__faults_have_their_line)
{
    check_tokens_fault("ci:" ABC "\nhunter2", 2);
    check_tokens_fault("ci:hunter2", 1);
    check_tokens_fault("ci:" ABC "0", 1);
    check_tokens_fault("ci: " ABC, 1);
    check_tokens_fault("ci:" EMPTY "\nx:" ABC "\nbob:"
                       "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
                       3);
}

TEST(access_files__that_cannot_be_read_are_named)
{
    struct passwords *p;
    struct tokens *t;
    struct err err;
    assert_int_equal(passwords_load("/nowhere/passwords", &p, &err), RC_ERR);
    assert_non_null(strstr(err.message, "/nowhere/passwords: No such file"));
    assert_int_equal(tokens_load("/", &t, &err), RC_ERR);
    assert_int_equal(err.code, ERR_CONFIG);
}

TEST_MAIN()
