/* tests/unit/server/test_rights.c - the file of --access: what is taken, what is refused, and who may do what by it. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "server/access/grants.h"
#include "server/access/rights.h"
#include "tests/lib/random.h"

static struct err err;

static enum rc load(const char *text, struct rights **r)
{
    FILE *stream = *text ? fmemopen((char *)(uintptr_t)text, strlen(text), "r") : fopen("/dev/null", "r");
    assert_non_null(stream);
    enum rc rc = rights_load_stream(stream, "access.ini", r, &err);
    fclose(stream);
    return rc;
}

static struct rights *parse(const char *text)
{
    struct rights *r;
    if (load(text, &r) != RC_OK)
        fail_msg("%s", err.message);
    assert_non_null(r);
    return r;
}

static bool may(const struct rights *r, const char *user, enum role role, const char *type)
{
    return principal_may(rights_principal(r, slice_str(user)), role, slice_str(type));
}

static void refused(const char *text, unsigned line, const char *words)
{
    struct rights *r;
    char place[64];
    snprintf(place, sizeof place, "access.ini:%u: ", line);
    if (load(text, &r) == RC_OK)
        fail_msg("this was taken: %s", text);
    assert_null(r);
    assert_int_equal(err.code, ERR_CONFIG);
    if (strncmp(err.message, place, strlen(place)) != 0 || !strstr(err.message, words))
        fail_msg("'%s' does not say '%s%s'", err.message, place, words);
}

/* ---- roles ---- */

TEST(rights__a_writer_reads_and_an_admin_does_everything)
{
    struct rights *r =
        parse("[user r]\nreader = t\n[user w]\nwriter = t\n[user s]\nschema = t\n[user a]\nadmin = t\n");
    static const struct {
        const char *user;
        bool may[ROLES];
    } want[] = {
        {"r", {[ROLE_ANYONE] = true, [ROLE_SEE] = true, [ROLE_READ] = true}},
        {"w", {[ROLE_ANYONE] = true, [ROLE_SEE] = true, [ROLE_READ] = true, [ROLE_WRITE] = true}},
        {"s", {[ROLE_ANYONE] = true, [ROLE_SEE] = true, [ROLE_SCHEMA] = true}},
        {"a",
         {[ROLE_ANYONE] = true,
          [ROLE_SEE] = true,
          [ROLE_READ] = true,
          [ROLE_WRITE] = true,
          [ROLE_SCHEMA] = true,
          [ROLE_ADMIN] = true}},
        {"x", {[ROLE_ANYONE] = true}},
        {"", {[ROLE_ANYONE] = true}},
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        for (unsigned role = 0; role < ROLES; role++) {
            if (may(r, want[i].user, (enum role)role, "t") != want[i].may[role])
                fail_msg("user '%s', role %u", want[i].user, role);
            assert_int_equal(may(r, want[i].user, (enum role)role, "other"), role == ROLE_ANYONE);
        }
    rights_free(r);
}

TEST(rights__what_concerns_the_store_takes_a_grant_for_all_types)
{
    struct rights *r =
        parse("[user all]\nadmin = *\n[user some]\nadmin = a*, *b, *c*\n[user h]\nhealth = yes\n");
    assert_true(may(r, "all", ROLE_ADMIN, "") && may(r, "all", ROLE_HEALTH, "") &&
                may(r, "all", ROLE_ADMIN, "x"));
    assert_false(may(r, "some", ROLE_ADMIN, "") || may(r, "some", ROLE_HEALTH, "") ||
                 may(r, "some", ROLE_ADMIN, "x"));
    assert_true(may(r, "some", ROLE_SEE, "")); /* something */
    assert_true(may(r, "h", ROLE_HEALTH, ""));
    assert_false(may(r, "h", ROLE_SEE, "") || may(r, "h", ROLE_READ, "x"));
    assert_true(principal_sees_all(rights_principal(r, SLICE("all"))));
    assert_false(principal_sees_all(rights_principal(r, SLICE("some"))));
    rights_free(r);
}

TEST(rights__everybody_has_what_anonymous_has_and_the_known_what_is_for_all_of_them_and_their_groups)
{
    struct rights *r = parse("[group ci]\nmembers = jenkins, Jane Doe\nwriter = *-cache\n"
                             "[group ops]\nmembers = jenkins\nadmin = *-cache\n"
                             "[anonymous]\nreader = public-*\n[authenticated]\nreader = internal\n"
                             "[user Jane Doe]\nschema = own\n");
    assert_true(may(r, "", ROLE_READ, "public-a"));
    assert_false(may(r, "", ROLE_READ, "internal") || may(r, "", ROLE_READ, "x-cache"));
    assert_true(may(r, "nobody", ROLE_READ, "public-a") && may(r, "nobody", ROLE_READ, "internal"));
    assert_false(may(r, "nobody", ROLE_READ, "x-cache"));
    assert_true(may(r, "Jane Doe", ROLE_WRITE, "x-cache") && may(r, "Jane Doe", ROLE_SCHEMA, "own") &&
                may(r, "Jane Doe", ROLE_READ, "internal") && may(r, "Jane Doe", ROLE_READ, "public-"));
    assert_false(may(r, "Jane Doe", ROLE_ADMIN, "x-cache") || may(r, "Jane", ROLE_WRITE, "x-cache"));
    assert_true(may(r, "jenkins", ROLE_ADMIN, "x-cache"));
    assert_false(may(r, "jenkins", ROLE_SCHEMA, "own"));
    rights_free(r);
}

TEST(rights__without_a_file_who_is_known_may_do_everything_and_anonymous_nothing)
{
    struct rights *r;
    assert_int_equal(rights_load(NULL, &r, &err), RC_OK);
    for (unsigned role = 0; role < ROLES; role++) {
        assert_true(may(r, "anybody", (enum role)role, "t") && may(r, "anybody", (enum role)role, ""));
        assert_int_equal(may(r, "", (enum role)role, "t"), role == ROLE_ANYONE);
        assert_int_equal(may(r, "", (enum role)role, ""), role == ROLE_ANYONE);
    }
    assert_true(rights_ask_for_name(r));
    assert_int_equal(rights_quotas(r), 0);
    rights_free(r);
}

TEST(rights__saying_a_name_helps_if_somebody_known_may_more)
{
    struct rights *r = parse("[anonymous]\nreader = *\n[user a]\n[group g]\nmembers = b\n");
    assert_false(rights_ask_for_name(r));
    rights_free(r);
    r = parse("[anonymous]\nreader = *\n[authenticated]\nhealth = yes\n");
    assert_true(rights_ask_for_name(r));
    rights_free(r);
}

/* ---- patterns ---- */

TEST(grants_pattern_fits__stars_stand_for_any_bytes)
{
    static const struct {
        const char *pattern, *name;
        bool fits;
    } cases[] = {
        {"a", "a", true},
        {"a", "ab", false},
        {"a", "A", false},
        {"*", "", true},
        {"*", "abc", true},
        {"public-*", "public-", true},
        {"public-*", "public", false},
        {"*-cache", "a-cache", true},
        {"*-cache", "-cache", true},
        {"*-cache", "a-cache2", false},
        {"a*b*c", "abc", true},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "acb", false},
        {"*a*", "bab", true},
        {"*a*", "bbb", false},
        {"**", "x", true},
        {"a**b", "ab", true},
        {"*ab", "aab", true},
        {"*aab", "aaaab", true},
        {"a*a", "a", false},
        {"a.b", "axb", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (grants_pattern_fits(slice_str(cases[i].pattern), slice_str(cases[i].name)) != cases[i].fits)
            fail_msg("%s %s", cases[i].pattern, cases[i].name);
}

/* ---- quotas ---- */

TEST(rights__quotas_are_a_users_own_and_those_of_its_groups)
{
    struct rights *r = parse(
        "[authenticated]\nrequests_per_second = 10\nrequests_burst = 20\nbytes_per_second = 1KiB\n"
        "[user a]\nrequests_per_second = 5\n[user free]\nrequests_per_second = 0\nbytes_per_second = 0\n"
        "[group g]\nmembers = a, b\nbytes_per_second = 4MiB\nbytes_burst = 1GiB\n"
        "[anonymous]\nrequests_per_second = 1\n"
        "[address]\nrequests_per_second = 7\nconnections = 3\n");
    struct quota_of q[4];
    const struct quota_limits *each;
    assert_int_equal(principal_quotas(rights_principal(r, SLICE("a")), q, 4, &each), 2);
    assert_null(each);
    assert_int_equal(q[0].limits->requests_per_second, 5);
    assert_int_equal(q[0].limits->requests_burst, 0);
    assert_int_equal(q[0].limits->bytes_per_second, 1024);
    assert_int_equal(q[1].limits->bytes_per_second, 4 << 20);
    assert_int_equal(q[1].limits->bytes_burst, 1 << 30);
    uint32_t group = q[1].id;
    struct slice name = rights_quota_name(r, q[0].id);
    assert_memory_equal(name.ptr, "user a", name.len);
    name = rights_quota_name(r, group);
    assert_memory_equal(name.ptr, "group g", name.len);
    assert_int_equal(principal_quotas(rights_principal(r, SLICE("b")), q, 4, &each), 2);
    assert_int_equal(q[0].limits->requests_burst, 20);
    assert_int_equal(q[1].id, group);
    assert_int_not_equal(q[0].id, group);
    assert_int_equal(principal_quotas(rights_principal(r, SLICE("free")), q, 4, &each), 0);
    assert_null(each);
    assert_int_equal(principal_quotas(rights_principal(r, SLICE("c")), q, 4, &each), 0);
    assert_int_equal(each->requests_per_second, 10);
    assert_int_equal(principal_quotas(rights_principal(r, SLICE("")), q, 4, &each), 1);
    assert_int_equal(q[0].limits->requests_per_second, 1);
    assert_null(each);
    assert_int_equal(rights_quotas(r), 4); /* a, b, g, anonymous */
    assert_int_equal(rights_address_quota(r)->requests_per_second, 7);
    assert_int_equal(rights_address_connections(r), 3);
    rights_free(r);
    r = parse("[user a]\nreader = *\n");
    assert_null(rights_address_quota(r));
    assert_int_equal(rights_quotas(r) + rights_address_connections(r), 0);
    rights_free(r);
}

/* ---- the file ---- */

TEST(rights_load__takes_comments_blank_lines_and_lists_that_go_on)
{
    struct rights *r =
        parse("# a\n; b\r\n\n  # c\n[ user  a ] \nreader = x , y\n   z,\n\tv\nwriter=w\n  # d\nhealth = yes");
    assert_true(may(r, "a", ROLE_READ, "x") && may(r, "a", ROLE_READ, "y") && may(r, "a", ROLE_READ, "z") &&
                may(r, "a", ROLE_READ, "v") && may(r, "a", ROLE_WRITE, "w") && may(r, "a", ROLE_HEALTH, ""));
    assert_false(may(r, "a", ROLE_READ, "d") || may(r, "a", ROLE_WRITE, "x"));
    rights_free(r);
}

TEST(rights_load__an_empty_file_or_list_grants_nothing)
{
    struct rights *r = parse("");
    assert_false(may(r, "a", ROLE_SEE, "") || may(r, "", ROLE_READ, "x"));
    rights_free(r);
    r = parse("[user a]\nreader =\n[user b]\nreader =\n  x\n");
    assert_false(may(r, "a", ROLE_SEE, ""));
    assert_true(may(r, "b", ROLE_READ, "x"));
    rights_free(r);
}

TEST(rights_load__names_file_and_line_of_what_it_refuses)
{
    refused("[nobody]\n", 1, "no section [nobody]");
    refused("[Anonymous]\n", 1, "no section");
    refused("\n[user a]\nreadr = *\n", 3, "no key 'readr'");
    refused("[user a]\n[user b]\n\n[user a]\n", 4, "[user a] stands on line 1 already");
    refused("[anonymous]\n[anonymous]\n", 2, "[anonymous] stands on line 1");
    refused("[user a]\nreader = x\nreader = y\n", 3, "stands twice");
    refused("[user a]\nreader = x,\n  y, x\n", 3, "'x' stands twice");
    refused("[user a]\nreader = *, y, **\n", 2, "'**' stands twice");
    refused("[group g]\nmembers = a, b, a\n", 2, "'a' is a member twice");
    refused("[group g]\nmembers = a,,b\n", 2, "is empty");
    refused("[user a]\nmembers = b\n", 2, "[user] has no key members");
    refused("[address]\nreader = *\n", 2, "[address] has no key reader");
    refused("[user a]\nconnections = 1\n", 2, "has no key connections");
    refused("reader = *\n", 1, "section stands before");
    refused("[user]\n", 1, "no section [user]");
    refused("[user a,b]\n", 1, "comma");
    refused("[user a] b\n", 1, "nothing behind");
    refused("[user a\nreader = *\n", 1, "brackets");
    refused("[user a]\nreader\n", 2, "name = value");
    refused("[user a]\nreader\nwriter = *\n", 2, "name = value");
    refused("[user a]\n= x\n", 2, "name = value");
    refused("[user a]\nreader: x\n", 2, "name = value");
    refused("[user a]\nreader = x ; all\n", 2, "comment");
    refused("[user a]\nreader = x,\n y # all\n", 3, "comment");
    refused("[user a]\n reader = x\n", 2, "begins with a space");
    refused("[user a]\nreader = x\n[user b]\n y\n", 4, "begins with a space");
    refused("[user a]\nhealth = yes\n  no\n", 3, "is no list");
    refused("[user a]\nhealth = true\n", 2, "yes or no");
    refused("[user a]\nrequests_per_second = 1.5\n", 2, "a number");
    refused("[user a]\nrequests_per_second = -1\n", 2, "a number");
    refused("[user a]\nrequests_per_second = 99999999999\n", 2, "a number");
    refused("[user a]\nbytes_per_second = 4 MB\n", 2, "4MiB");
    refused("[user a]\nbytes_per_second = KiB\n", 2, "4MiB");
    refused("[user a]\nreader = a?\n", 2, "no pattern has");
    refused("[user a]\nreader = a b\n", 2, "no pattern has");
    refused("[user a]\nreader = \"a\"\n", 2, "no pattern has");
    refused("[user a]\nreader = [a-z]*\n", 2, "no pattern has");
    refused("[user a]\nreader = a;b\n", 2, "no pattern has");
    refused("\xef\xbb\xbf[user a]\n", 1, "byte order mark");
    refused("[user \xff]\n", 1, "UTF-8");
    refused("[group g]\nmembers = \xff\n", 2, "UTF-8");
    refused("[user a]\nreader = \xff\n", 2, "UTF-8");
    refused("[user a\x01]\n", 1, "control");
}

TEST(rights_load__refuses_what_inih_would_cut)
{
    static char text[6000] = "[user a]\nreader = ";
    size_t n = strlen(text);
    memset(text + n, 'x', 5000);
    memcpy(text + n + 5000, "\n", 2);
    refused(text, 2, "too long");
    /* inih keeps 49 bytes of a section's name */
    memcpy(text, "[user ", 6);
    memset(text + 6, 'u', 100);
    memcpy(text + 106, "]\nreader = t\n", 14);
    struct rights *r = parse(text);
    char name[102] = {0};
    memset(name, 'u', 100);
    assert_true(may(r, name, ROLE_READ, "t"));
    name[99] = 0;
    assert_false(may(r, name, ROLE_READ, "t"));
    rights_free(r);
    memset(text + 6, 'u', 200);
    memcpy(text + 206, "]\n", 3);
    refused(text, 1, "too long");
}

TEST(rights_load__refuses_a_file_that_it_cannot_read)
{
    struct rights *r;
    assert_int_equal(rights_load("/nonexistent/access.ini", &r, &err), RC_ERR);
    assert_null(r);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.message, "/nonexistent/access.ini"));
    assert_int_equal(rights_load("/", &r, &err), RC_ERR);
}

TEST(rights_load__bounds_groups_of_a_user_and_patterns_of_a_section)
{
    struct buf text = {0};
    for (int i = 0; i < 65; i++)
        assert_true(buf_printf(&text, "[group g%d]\nmembers = u\nreader = t%d\n", i, i));
    assert_true(buf_append_byte(&text, 0));
    refused((const char *)text.ptr, 65 * 3 - 1, "at most 64 groups");
    text.len = 0;
    assert_true(buf_append(&text, SLICE("[user u]\nreader = a")));
    for (int i = 0; i < 257; i++)
        assert_true(buf_printf(&text, ",\n  p%d*", i));
    assert_true(buf_append_byte(&text, 0));
    refused((const char *)text.ptr, 259, "at most 256");
    buf_release(&text);
}

/* ---- beside a plain reading of the rules ---- */

enum { SECTIONS = 6, LIST = 4 };
static const char *const some_users[] = {"", "a", "b", "c", "d"};
static const char *const some_patterns[] = {"*", "t", "tu", "t*", "*u", "*t*u*", "v"};
static const char *const some_types[] = {"", "t", "tu", "u", "v", "ttu", "x"};
static const char *const role_keys[] = {"reader", "writer", "schema", "admin"};

/* What a file says, as it was thrown. */
struct thrown {
    bool
        is_there[SECTIONS]; /* anonymous, authenticated, user a, user b, group g: a and c, group h: c and b */
    uint8_t has[SECTIONS][4];
};
static const uint8_t users_of[SECTIONS] = {0x1f, 0x1e, 0x02, 0x04, 0x0a, 0x0c};
static const char *const headings[] = {
    "[anonymous]", "[authenticated]",           "[user a]",
    "[user b]",    "[group g]\nmembers = a, c", "[group h]\nmembers = c,b"};

static bool plain_fits(const char *p, const char *s)
{
    if (*p == '*')
        return plain_fits(p + 1, s) || (*s && plain_fits(p, s + 1));
    return *p ? *p == *s && plain_fits(p + 1, s + 1) : !*s;
}

static bool plain_has(const struct thrown *t, unsigned user, unsigned key, const char *type)
{
    for (unsigned s = 0; s < SECTIONS; s++)
        for (unsigned p = 0; p < ARRAY_LEN(some_patterns); p++)
            if (t->is_there[s] && users_of[s] >> user & 1 && t->has[s][key] >> p & 1 &&
                (*type ? plain_fits(some_patterns[p], type) : !strcmp(some_patterns[p], "*")))
                return true;
    return false;
}

static bool plain_any(const struct thrown *t, unsigned user)
{
    for (unsigned s = 0; s < SECTIONS; s++)
        for (unsigned key = 0; key < 4; key++)
            if (t->is_there[s] && users_of[s] >> user & 1 && t->has[s][key])
                return true;
    return false;
}

static bool plain_may(const struct thrown *t, unsigned user, enum role role, const char *type)
{
    bool reader = plain_has(t, user, 0, type), writer = plain_has(t, user, 1, type);
    bool schema = plain_has(t, user, 2, type), admin = plain_has(t, user, 3, type);
    switch (role) {
    case ROLE_ANYONE: return true;
    case ROLE_HEALTH: return plain_has(t, user, 3, "");
    case ROLE_SEE: return *type ? reader || writer || schema || admin : plain_any(t, user);
    case ROLE_READ: return reader || writer || admin;
    case ROLE_WRITE: return writer || admin;
    case ROLE_SCHEMA: return schema || admin;
    default: return admin;
    }
}

static void throw_file(struct thrown *t, struct buf *text)
{
    *t = (struct thrown){0};
    text->len = 0;
    for (unsigned s = 0; s < SECTIONS; s++) {
        t->is_there[s] = random_below(3);
        if (!t->is_there[s])
            continue;
        assert_true(buf_printf(text, "%s\n", headings[s]));
        for (unsigned key = 0; key < 4; key++) {
            if (random_below(2))
                continue;
            assert_true(buf_printf(text, "%s =", role_keys[key]));
            for (unsigned p = 0; p < ARRAY_LEN(some_patterns); p++) {
                if (random_below(4))
                    continue;
                assert_true(buf_printf(text, "%s%s", t->has[s][key] ? ", " : " ", some_patterns[p]));
                t->has[s][key] |= (uint8_t)(1u << p);
            }
            assert_true(buf_append_byte(text, '\n'));
        }
    }
    assert_true(buf_append_byte(text, 0));
}

TEST(rights__decide_as_a_plain_reading_of_the_rules_does)
{
    struct thrown t;
    struct buf text = {0};
    unsigned granted = 0, all = 0;
    for (int round = 0; round < 2000; round++) {
        throw_file(&t, &text);
        struct rights *r = parse((const char *)text.ptr);
        for (unsigned u = 0; u < ARRAY_LEN(some_users); u++)
            for (unsigned role = 0; role < ROLES; role++)
                for (unsigned n = 0; n < ARRAY_LEN(some_types); n++, all++) {
                    bool want = plain_may(&t, u, (enum role)role, some_types[n]);
                    granted += want;
                    if (may(r, some_users[u], (enum role)role, some_types[n]) != want)
                        fail_msg("user '%s', role %u, type '%s' in:\n%s", some_users[u], role, some_types[n],
                                 (const char *)text.ptr);
                }
        rights_free(r);
    }
    assert_true(granted > all / 10 && granted < all - all / 10);
    buf_release(&text);
}

TEST_MAIN()
