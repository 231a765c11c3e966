/* tests/unit/server/test_logins.c - what is remembered of logins that were right, and of addresses whose logins were wrong. */
#include "base/limits.h"
#include "server/access/failed_logins.h"
#include "server/access/remembered.h"
#include "server/http/address.h"
#include "tests/lib/test.h"

/* ---- remembered ---- */

static struct remembered *new_remembered(void)
{
    struct remembered *r;
    struct err err;
    assert_int_equal(remembered_new(&r, &err), RC_OK);
    return r;
}

TEST(remembered__knows_a_login_by_all_of_it)
{
    struct remembered *r = new_remembered(), *other = new_remembered();
    static const struct login_text {
        const char *hash, *user, *password;
    } texts[] = {{"h", "u", "p"}, {"h2", "u", "p"}, {"h", "u2", "p"}, {"h", "u", "p2"}, {"h", "up", ""},
                 {"hu", "", "p"}, {"", "hu", "p"},  {"", "u", "p"},   {"h", "", "up"},  {"u", "h", "p"}};
    uint8_t first[SHA256_BYTES], digest[SHA256_BYTES];
    remembered_digest(r, SLICE("h"), SLICE("u"), SLICE("p"), first);
    assert_false(remembered_has(r, first));
    remembered_add(r, first);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct login_text *t = &texts[i];
        remembered_digest(r, slice_str(t->hash), slice_str(t->user), slice_str(t->password), digest);
        assert_int_equal(remembered_has(r, digest), i == 0);
    }
    remembered_digest(other, SLICE("h"), SLICE("u"), SLICE("p"), digest);
    assert_memory_not_equal(first, digest, sizeof digest); /* another key */
    remembered_free(r);
    remembered_free(other);
}

static void digest_of(struct remembered *r, unsigned i, uint8_t out[SHA256_BYTES])
{
    remembered_digest(r, SLICE("h"), slice_of(&i, sizeof i), SLICE("p"), out);
}

TEST(remembered__what_is_used_stays)
{
    enum { MANY = 10 * LIMIT_REMEMBERED_LOGINS_MAX };
    struct remembered *r = new_remembered();
    uint8_t used[SHA256_BYTES], digest[SHA256_BYTES];
    unsigned known = 0;
    digest_of(r, 0, used);
    remembered_add(r, used);
    for (unsigned i = 1; i <= MANY; i++) {
        digest_of(r, i, digest);
        remembered_add(r, digest);
        assert_true(remembered_has(r, digest));
        assert_true(remembered_has(r, used));
    }
    for (unsigned i = 1; i <= MANY; i++) {
        digest_of(r, i, digest);
        known += remembered_has(r, digest);
    }
    assert_int_equal(known, LIMIT_REMEMBERED_LOGINS_MAX - 1);
    remembered_free(r);
}

/* ---- failed ---- */

static struct failed_logins *new_failed(void)
{
    struct failed_logins *f;
    struct err err;
    assert_int_equal(failed_logins_new(&f, &err), RC_OK);
    return f;
}

TEST(failed_logins__wait_twice_as_long_each_time)
{
    static const unsigned want[] = {1000, 2000, 4000, 8000, 16000, 16000, 16000};
    struct failed_logins *f = new_failed();
    int64_t now = 5;
    assert_int_equal(failed_logins_wait_ms(f, 1, now), 0);
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        failed_logins_wrong(f, 1, now);
        assert_int_equal(failed_logins_wait_ms(f, 1, now), want[i]);
        assert_int_equal(failed_logins_wait_ms(f, 2, now), 0);
        now += want[i];
        assert_int_equal(failed_logins_wait_ms(f, 1, now - 1), 1);
        assert_int_equal(failed_logins_wait_ms(f, 1, now), 0);
    }
    now += LIMIT_LOGIN_FORGET_MS;
    assert_int_equal(failed_logins_wait_ms(f, 1, now), 0);
    failed_logins_wrong(f, 1, now);
    assert_int_equal(failed_logins_wait_ms(f, 1, now), 1000);
    failed_logins_free(f);
}

TEST(failed_logins__who_has_failed_tries_one_at_a_time)
{
    struct failed_logins *f = new_failed();
    failed_logins_try(f, 1, 0);
    assert_int_equal(failed_logins_wait_ms(f, 1, 0), 0); /* it has not failed yet */
    failed_logins_wrong(f, 1, 0);
    failed_logins_try(f, 1, 1000);
    assert_int_equal(failed_logins_wait_ms(f, 1, 1000), 2000);
    failed_logins_right(f, 1);
    assert_int_equal(failed_logins_wait_ms(f, 1, 1000), 0);
    failed_logins_wrong(f, 1, 1000); /* a right one in between has not wiped it out */
    assert_int_equal(failed_logins_wait_ms(f, 1, 1000), 2000);
    failed_logins_free(f);
}

TEST(failed_logins__many_addresses_are_bounded_and_the_last_are_known)
{
    struct failed_logins *f = new_failed();
    unsigned known = 0;
    for (uint64_t a = 0; a < 5 * LIMIT_FAILED_ADDRESSES_MAX; a++) {
        failed_logins_wrong(f, a, (int64_t)a);
        assert_int_equal(failed_logins_wait_ms(f, a, (int64_t)a), 1000);
    }
    for (uint64_t a = 0; a < 5 * LIMIT_FAILED_ADDRESSES_MAX; a++)
        known += failed_logins_wait_ms(f, a, 0) > 0;
    assert_int_equal(known, LIMIT_FAILED_ADDRESSES_MAX);
    failed_logins_free(f);
}

/* ---- addresses ---- */

static uint64_t group_of(const char *host)
{
    struct address a;
    assert_true(address_parse_host(slice_str(host), &a));
    return address_group(&a);
}

TEST(address_group__is_what_one_client_has)
{
    struct address path;
    struct err err;
    assert_int_equal(address_parse(SLICE("unix:/a"), &path, &err), RC_OK);
    assert_true(group_of("127.0.0.1") == group_of("[::ffff:127.0.0.1]"));
    assert_true(group_of("127.0.0.1") != group_of("127.0.0.2"));
    assert_true(group_of("[2001:db8:1:2::1]") == group_of("[2001:db8:1:2:ffff::2]"));
    assert_true(group_of("[2001:db8:1:2::1]") != group_of("[2001:db8:1:3::1]"));
    assert_true(group_of("127.0.0.1") != group_of("[::1]"));
    assert_true(address_group(&path) != group_of("127.0.0.1") && address_group(&path) != group_of("[::1]"));
}

TEST_MAIN()
