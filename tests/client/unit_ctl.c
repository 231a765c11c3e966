/* tests/client/unit_ctl.c - the parts of avroctl that compute: differences, schemas laid out, metrics, durations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "client/ctl/latency.h"
#include "client/ctl/line_diff.h"
#include "client/ctl/normal.h"
#include "client/ctl/samples.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"

/* ---- line_diff ---- */

struct rebuilt {
    struct buf old, new, marks;
    size_t changes;
};

static void rebuild(void *user, enum line_mark mark, struct slice line)
{
    struct rebuilt *r = user;
    bool good = buf_append_byte(&r->marks, (uint8_t)mark);
    if (mark != LINE_NEW)
        good = good && buf_append(&r->old, line) && buf_append_byte(&r->old, '\n');
    if (mark != LINE_OLD)
        good = good && buf_append(&r->new, line) && buf_append_byte(&r->new, '\n');
    r->changes += mark != LINE_BOTH;
    assert_true(good);
}

static void release(struct rebuilt *r)
{
    buf_release(&r->old);
    buf_release(&r->new);
    buf_release(&r->marks);
}

/* The smallest number of changes between texts whose lines have one letter each, by a table. */
static size_t least_changes(const char *a, size_t n, const char *b, size_t m)
{
    size_t table[32][32];
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= m; k++) {
            if (i == 0 || k == 0)
                table[i][k] = i + k;
            else if (a[2 * (i - 1)] == b[2 * (k - 1)])
                table[i][k] = table[i - 1][k - 1];
            else
                table[i][k] = 1 + (table[i - 1][k] < table[i][k - 1] ? table[i - 1][k] : table[i][k - 1]);
        }
    return table[n][m];
}

static size_t random_text(char *out)
{
    size_t lines = random_below(24);
    for (size_t i = 0; i < lines; i++) {
        out[2 * i] = (char)('a' + random_below(4));
        out[2 * i + 1] = '\n';
    }
    return lines;
}

TEST(line_diff__is_right_and_smallest)
{
    for (int round = 0; round < 20000; round++) {
        char a[64], b[64];
        size_t n = random_text(a), m = random_text(b);
        struct rebuilt r = {0};
        assert_true(line_diff(slice_of(a, 2 * n), slice_of(b, 2 * m), rebuild, &r));
        assert_true(slice_eq(buf_slice(&r.old), slice_of(a, 2 * n)));
        assert_true(slice_eq(buf_slice(&r.new), slice_of(b, 2 * m)));
        assert_int_equal(r.changes, least_changes(a, n, b, m));
        release(&r);
    }
}

/* Nothing is equal, and there is more than the limit: everything between the equal ends is replaced. */
TEST(line_diff__gives_all_where_too_much_differs)
{
    struct buf a = {0}, b = {0};
    struct rebuilt r = {0};
    bool good = buf_append(&a, SLICE("first\n")) && buf_append(&b, SLICE("first\n"));
    for (int i = 0; i < LINE_DIFF_MAX; i++)
        good = good && buf_printf(&a, "a%d\n", i) && buf_printf(&b, "b%d\n", i);
    assert_true(good && line_diff(buf_slice(&a), buf_slice(&b), rebuild, &r));
    assert_true(slice_eq(buf_slice(&r.old), buf_slice(&a)) && slice_eq(buf_slice(&r.new), buf_slice(&b)));
    assert_int_equal(r.marks.ptr[0], LINE_BOTH);
    assert_int_equal(r.changes, 2 * LINE_DIFF_MAX);
    release(&r);
    buf_release(&a);
    buf_release(&b);
}

TEST(line_diff__takes_texts_without_a_last_line_break)
{
    struct rebuilt r = {0};
    assert_true(line_diff(SLICE("a\nb"), SLICE("a"), rebuild, &r));
    assert_slice_str(buf_slice(&r.marks), " -");
    release(&r);
    r = (struct rebuilt){0};
    assert_true(line_diff(SLICE(""), SLICE("\n"), rebuild, &r));
    assert_slice_str(buf_slice(&r.marks), "+");
    release(&r);
}

/* ---- normal ---- */

static void check_normal(const char *a, const char *b, bool same)
{
    struct buf x = {0}, y = {0};
    assert_null(normal_print(slice_str(a), &x));
    assert_null(normal_print(slice_str(b), &y));
    if (slice_eq(buf_slice(&x), buf_slice(&y)) != same)
        fail_msg("%s\n%.*s\n%s\n%.*s", a, (int)x.len, (char *)x.ptr, b, (int)y.len, (char *)y.ptr);
    buf_release(&x);
    buf_release(&y);
}

TEST(normal__lays_out_alike_what_means_the_same)
{
    check_normal("{\"type\":\"int\"}", "\"int\"", true);
    check_normal("{\"type\":{\"type\":\"int\"}}", "\"int\"", true);
    check_normal("{\"type\":\"int\",\"logicalType\":\"date\"}", "\"int\"", false);
    check_normal("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
                 "{\"items\":\"string\",\"type\":\"array\"}", true);
    check_normal("{\"type\":\"fixed\",\"name\":\"F\",\"namespace\":\"n\",\"size\":2}",
                 "{\"type\":\"fixed\",\"name\":\"n.F\",\"size\":2}", true);
    check_normal("{\"type\":\"fixed\",\"name\":\"m.F\",\"namespace\":\"n\",\"size\":2}",
                 "{\"type\":\"fixed\",\"name\":\"m.F\",\"size\":2}", true);
    check_normal(
        "{\"type\":\"record\",\"name\":\"n.R\",\"fields\":[{\"name\":\"f\",\"type\":[\"null\",\"R\"]}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"namespace\":\"n\",\"fields\":[{\"type\":[\"null\",\"n.R\"],"
        "\"name\":\"f\"}]}",
        true);
    check_normal("{\"type\":\"enum\",\"name\":\"n.E\",\"aliases\":[\"A\"],\"symbols\":[\"X\"]}",
                 "{\"type\":\"enum\",\"name\":\"n.E\",\"aliases\":[\"n.A\"],\"symbols\":[\"X\"]}", true);
    check_normal("{\"type\":\"map\",\"values\":\"long\"}", "{\"type\":\"map\",\"values\":\"int\"}", false);
    check_normal("[\"int\",\"null\"]", "[\"null\",\"int\"]", false);
}

TEST(normal__takes_json_that_is_no_schema)
{
    check_normal("7", "7", true);
    check_normal("{\"type\":7,\"fields\":8}", "{\"fields\":8,\"type\":7}", true);
    check_normal("{\"name\":\"x\"}", "{\"name\":\"y\"}", false);
    check_normal("{\"type\":\"record\",\"name\":7,\"fields\":[7,{}]}",
                 "{\"type\":\"record\",\"name\":7,\"fields\":[7,{}]}", true);
    check_normal("{}", "[]", false);
    struct buf out = {0};
    assert_non_null(normal_print(SLICE("{"), &out));
    assert_non_null(normal_print(SLICE("{\"a\":1,\"a\":2}"), &out));
    buf_release(&out);
}

/* ---- samples ---- */

TEST(samples__are_summed_and_told_apart_by_labels)
{
    static const char before[] =
        "d_bucket{m=\"G\",le=\"1\"} 1\nd_bucket{m=\"G\",le=\"2\"} 1\nd_bucket{m=\"G\",le=\"+Inf\"} 1\n";
    static const char now[] =
        "# HELP d_bucket no\nd_bucket{m=\"G\",le=\"1\"} 51\nd_bucket{m=\"G\",le=\"2\"} 100\n"
        "d_bucket{m=\"G\",le=\"+Inf\"} 101\nd_bucket{m=\"P\",le=\"1\"} 0\nd_bucket{m=\"P\",le=\"+Inf\"} 5\n"
        "c{a=\"}\\\"\",m=\"x\"} 3\nc 4e-1\n";
    assert_true(fabs(samples_sum(slice_str(now), "c") - 3.4) < 1e-9);
    assert_true(samples_sum(slice_str(now), "d") == 0);
    assert_true(samples_quantile(slice_str(before), slice_str(now), "d", "m", "G", 0.5) == 1);
    assert_true(samples_quantile(slice_str(before), slice_str(now), "d", "m", "G", 0.99) == 2);
    assert_true(isinf(samples_quantile(slice_str(before), slice_str(now), "d", "m", "P", 0.5)));
    assert_true(samples_quantile(slice_str(now), slice_str(now), "d", NULL, NULL, 0.5) == 0);
    struct slice rest = slice_str(now);
    struct sample s;
    bool found = false;
    while (sample_next(&rest, &s))
        found |= slice_eq(s.name, SLICE("c")) && sample_label_is(&s, "m", "x") &&
                 sample_label_is(&s, "a", "}\\\"");
    assert_true(found);
}

/* ---- latency ---- */

TEST(latency__finds_shares_within_a_32nd)
{
    static struct latency l;
    for (uint64_t ns = 1; ns <= 100000; ns++)
        latency_add(&l, ns);
    static const double shares[] = {0.001, 0.5, 0.99, 0.999, 1};
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        double want = shares[i] * 100000, got = (double)latency_at(&l, shares[i]);
        assert_true(got <= want && got >= want * 31 / 32 - 1);
    }
    latency_add(&l, UINT64_MAX);
    assert_true(latency_at(&l, 1) > UINT64_MAX / 32 * 31);
    assert_int_equal(l.count, 100001);
    assert_int_equal(latency_at(&(struct latency){0}, 0.5), 0);
}

TEST_MAIN()
