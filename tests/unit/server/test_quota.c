/* tests/unit/server/test_quota.c - token buckets on a clock of the test's own: rates, bursts and debts are exact; buckets of principals
 * and addresses, and what becomes of them when the file is read again. */
#include <stdio.h>
#include <stdlib.h>

#include "server/access/quota_table.h"
#include "server/access/quotas.h"
#include "tests/lib/test.h"

#define SECOND quota_ticks(1000000000)

static uint64_t now;

/* ---- one bucket ---- */

static void take_all(_Atomic uint64_t *b, const struct quota_rate *r, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(quota_take(b, r, now), 0);
    assert_true(quota_take(b, r, now) > 0);
}

TEST(quota_take__gives_a_burst_and_then_so_many_a_second)
{
    const struct quota_rate r = quota_rate_of(10, 25);
    _Atomic uint64_t b = 0;
    now = 100 * SECOND;
    take_all(&b, &r, 25);
    now += SECOND;
    take_all(&b, &r, 10);
    now += SECOND / 2;
    take_all(&b, &r, 5);
    now += 100 * SECOND; /* more than it holds has come */
    take_all(&b, &r, 25);
}

TEST(quota_take__has_one_second_of_burst_where_none_is_said)
{
    const struct quota_rate r = quota_rate_of(7, 0);
    _Atomic uint64_t b = 0;
    now = SECOND;
    take_all(&b, &r, 7);
}

TEST(quota_take__tells_how_long_until_there_is_one)
{
    const struct quota_rate r = quota_rate_of(4, 1);
    _Atomic uint64_t b = 0;
    now = SECOND;
    assert_int_equal(quota_take(&b, &r, now), 0);
    uint64_t wait = quota_take(&b, &r, now);
    assert_int_equal(wait, SECOND / 4);
    now += wait - 1;
    assert_int_equal(quota_take(&b, &r, now), 1);
    now++;
    assert_int_equal(quota_take(&b, &r, now), 0);
}

/* Asked at any times, never more than burst and rate allow, and, asked often enough, never less. */
TEST(quota_take__keeps_to_its_rate_over_a_long_time)
{
    static const struct {
        uint64_t per_second, burst;
    } all[] = {{1, 1}, {3, 2}, {7, 7}, {1000, 10}, {999983, 1}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        const struct quota_rate r = quota_rate_of(all[i].per_second, all[i].burst);
        _Atomic uint64_t b = 0;
        uint64_t step = r.one_ticks / 3 + 1, taken = 0, begin = now = 5 * SECOND;
        srand(1);
        for (unsigned n = 0; n < 300000; n++, now += step - (uint64_t)rand() % (step / 2 + 1))
            taken += quota_take(&b, &r, now) == 0;
        double most =
            (double)all[i].burst + (double)(now - begin) / (double)SECOND * (double)all[i].per_second;
        assert_true((double)taken <= most);
        if (all[i].burst > 1) /* who comes late has lost nothing */
            assert_true((double)taken >= most - (double)all[i].burst - 1 - most / 1e4);
    }
}

TEST(quota_charge__may_run_into_debt_which_time_pays)
{
    const struct quota_rate r = quota_rate_of(1000, 5000);
    _Atomic uint64_t b = 0;
    now = SECOND;
    quota_charge(&b, &r, 4999, now);
    assert_int_equal(quota_wait(&b, &r, now), 0);
    quota_charge(&b, &r, 10001, now); /* 10,000 more than there were */
    uint64_t wait = quota_wait(&b, &r, now);
    assert_true(wait > 10 * SECOND && wait <= 10 * SECOND + 64);
    now += wait - 1;
    assert_int_equal(quota_wait(&b, &r, now), 1);
    now++;
    assert_int_equal(quota_wait(&b, &r, now), 0);
}

TEST(quota_charge__bears_any_numbers)
{
    const struct quota_rate r = quota_rate_of(1, UINT64_MAX);
    _Atomic uint64_t b = 0;
    now = SECOND;
    for (int i = 0; i < 100; i++)
        quota_charge(&b, &r, UINT64_MAX, now);
    assert_true(quota_wait(&b, &r, now) > 0);
    assert_true(quota_wait(&b, &r, now) < UINT64_C(1) << 63);
}

TEST(quota_give_back__is_as_if_nothing_had_been_taken)
{
    const struct quota_rate r = quota_rate_of(2, 3);
    _Atomic uint64_t b = 0;
    now = SECOND;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(quota_take(&b, &r, now), 0);
        quota_give_back(&b, &r);
    }
    take_all(&b, &r, 3);
}

/* ---- many ---- */

TEST(quota_table__has_buckets_for_each)
{
    const struct quota_limits limits = {.requests_per_second = 1, .bytes_per_second = 10};
    /* So many that no set is full: where keys go is drawn anew at each start. */
    struct quota_table *t = quota_table_new(&limits, 1 << 16);
    bool is_for_bytes;
    now = SECOND;
    for (uint64_t key = 0; key < 1000; key++)
        assert_int_equal(quota_table_take(t, key, now, &is_for_bytes), 0);
    for (uint64_t key = 2; key < 1000; key++) /* 0 and 1 are one */
        assert_int_equal(quota_table_take(t, key, now, &is_for_bytes), SECOND);
    quota_table_charge(t, 5, 30, now);
    now += SECOND;
    assert_int_equal(quota_table_take(t, 6, now, &is_for_bytes), 0);
    assert_int_equal(quota_table_take(t, 5, now, &is_for_bytes), SECOND + 1);
    assert_true(is_for_bytes);
    quota_table_unref(t);
}

/* Whoever has used theirs is not forgotten for others, however many come; and those share what is left, which is bounded. */
TEST(quota_table__forgets_nobody_who_has_not_all_again)
{
    const struct quota_limits limits = {.requests_per_second = 1, .requests_burst = 2};
    struct quota_table *t = quota_table_new(&limits, 512);
    bool is_for_bytes;
    uint64_t taken = 0;
    now = SECOND;
    for (int i = 0; i < 2; i++)
        assert_int_equal(quota_table_take(t, 7, now, &is_for_bytes), 0);
    for (uint64_t key = 1000; key < 200000; key++)
        taken += quota_table_take(t, key, now, &is_for_bytes) == 0;
    assert_true(taken >= 512 - 1 && taken <= 512 + 2 * 64);
    assert_int_equal(quota_table_take(t, 7, now, &is_for_bytes), SECOND);
    now += 10 * SECOND; /* all are idle */
    taken = 0;
    for (uint64_t key = 300000; key < 300300; key++)
        taken += quota_table_take(t, key, now, &is_for_bytes) == 0;
    assert_true(taken > 250);
    quota_table_unref(t);
}

/* ---- of a file ---- */

static struct err err;

static struct rights *rights_of(const char *text)
{
    struct rights *r;
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(f);
    if (rights_load_stream(f, "test", &r, &err) != RC_OK)
        fail_msg("%s", err.message);
    fclose(f);
    return r;
}

static const char file[] =
    "[anonymous]\nreader = *\nrequests_per_second = 3\n"
    "[authenticated]\nrequests_per_second = 5\n"
    "[user ada]\nwriter = *\nrequests_per_second = 2\n"
    "[user cy]\nrequests_per_second = 100\n"
    "[group team]\nmembers = ada, bob, cy\nrequests_per_second = 4\nbytes_per_second = 100\n"
    "[address]\nrequests_per_second = 6\n";

static struct rights *rights;
static struct quotas *quotas;

static void use_file(const char *text)
{
    rights = rights_of(text);
    assert_int_equal(quotas_new(&quotas, rights, NULL, &err), RC_OK);
    now = SECOND;
}

static void forget_file(void)
{
    quotas_free(quotas);
    rights_free(rights);
}

static bool admits(const char *user, struct quota_refusal *why)
{
    struct slice name = slice_str(user);
    return quotas_admit(quotas, rights_principal(rights, name), name, now, why);
}

static unsigned admitted(const char *user)
{
    struct quota_refusal why;
    unsigned n = 0;
    while (n < 1000 && admits(user, &why))
        n++;
    return n;
}

TEST(quotas__are_one_for_a_user_and_one_for_all_of_a_group)
{
    struct quota_refusal why;
    use_file(file);
    assert_int_equal(admitted(""), 3); /* all who do not say who they are */
    assert_false(admits("", &why));
    assert_int_equal(why.whose, QUOTA_ANONYMOUS);
    assert_int_equal(why.per_second, 3);
    assert_int_equal(admitted("ada"), 2);
    assert_false(admits("ada", &why));
    assert_int_equal(why.whose, QUOTA_OWN);
    assert_int_equal(admitted("cy"), 2); /* what ada has left of the group's */
    assert_false(admits("cy", &why));
    assert_int_equal(why.whose, QUOTA_GROUP);
    assert_false(admits("bob", &why));
    assert_int_equal(why.whose, QUOTA_GROUP);
    assert_int_equal(admitted("dora"), 5); /* whom it does not name */
    assert_int_equal(admitted("emil"), 5);
    forget_file();
}

TEST(quotas__take_nothing_for_what_they_refuse)
{
    struct quota_refusal why;
    use_file("[user bob]\nrequests_per_second = 1\nrequests_burst = 5\n"
             "[group team]\nmembers = bob\nrequests_per_second = 4\n");
    assert_int_equal(admitted("bob"), 4); /* of his own there is one left */
    for (int i = 0; i < 100; i++)
        assert_false(admits("bob", &why));
    now += SECOND / 4; /* one more for the group, and not yet for him */
    assert_int_equal(admitted("bob"), 1);
    assert_false(admits("bob", &why));
    assert_int_equal(why.whose, QUOTA_OWN);
    forget_file();
}

TEST(quotas__count_bytes_behind_the_request)
{
    struct quota_refusal why;
    use_file(file);
    struct slice ada = SLICE("ada");
    const struct principal *p = rights_principal(rights, ada);
    assert_true(quotas_count_bytes(quotas));
    assert_true(admits("ada", &why));
    quotas_charge(quotas, p, ada, 350, now);
    assert_false(admits("cy", &why));
    assert_true(why.is_for_bytes && why.whose == QUOTA_GROUP && why.per_second == 100);
    assert_true(why.wait_ticks > 5 * SECOND / 2 && why.wait_ticks < 3 * SECOND);
    now += why.wait_ticks;
    assert_true(admits("cy", &why));
    forget_file();
}

TEST(quotas__hold_for_an_address_whoever_is_there)
{
    struct quota_refusal why;
    use_file(file);
    for (int i = 0; i < 6; i++)
        assert_true(quotas_admit_address(quotas, 12345, now, &why));
    assert_false(quotas_admit_address(quotas, 12345, now, &why));
    assert_int_equal(why.whose, QUOTA_ADDRESS);
    assert_true(quotas_admit_address(quotas, 12346, now, &why));
    forget_file();
}

TEST(quotas__go_on_over_a_reload_where_the_limits_are_the_same)
{
    struct quota_refusal why;
    use_file(file);
    assert_int_equal(admitted("ada"), 2);
    assert_int_equal(admitted("dora"), 5);
    assert_true(quotas_admit_address(quotas, 1, now, &why));
    struct rights *old_rights = rights;
    struct quotas *old = quotas;
    rights = rights_of("[user ada]\nwriter = *\nrequests_per_second = 2\n[group team]\nmembers = "
                       "bob\nrequests_per_second = 7\n"
                       "[authenticated]\nrequests_per_second = 5\n");
    assert_int_equal(quotas_new(&quotas, rights, old, &err), RC_OK);
    quotas_free(old);
    rights_free(old_rights);
    assert_int_equal(admitted("ada"), 0);
    assert_int_equal(admitted("dora"), 0);
    assert_int_equal(admitted("bob"), 5); /* he has his own now, and the group's begins anew */
    for (int i = 0; i < 100; i++)
        assert_true(quotas_admit_address(quotas, 1, now, &why));
    forget_file();
}

TEST(quotas__are_none_where_the_file_limits_nobody)
{
    use_file("[authenticated]\nreader = *\n");
    assert_null(quotas);
    forget_file();
}

TEST_MAIN()
