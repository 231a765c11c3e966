/* tests/unit/server/test_metrics_text.c - Prometheus's text format. */
#include "server/metrics_text.h"

#include "tests/lib/test.h"

static struct buf out, labels;

static void check(const char *want)
{
    assert_slice_str(buf_slice(&out), want);
    buf_release(&out);
    buf_release(&labels);
    out = labels = (struct buf){0};
}

TEST(metrics_text_family__escapes_the_help)
{
    assert_true(metrics_text_family(&out, "a_total", "counter", "a \\ and\na \"b\""));
    check("# HELP a_total a \\\\ and\\na \"b\"\n# TYPE a_total counter\n");
}

TEST(metrics_text_label__escapes_the_value)
{
    assert_true(metrics_text_label(&labels, "type", SLICE("q\"b\\n\nu\xc3\xbc{}")));
    assert_true(metrics_text_label(&labels, "empty", SLICE("")));
    assert_true(metrics_text_sample(&out, "a", buf_slice(&labels), 1, 0));
    check("a{type=\"q\\\"b\\\\n\\nu\xc3\xbc{}\",empty=\"\"} 1\n");
}

TEST(metrics_text_sample__prints_fractions_exactly)
{
    static const struct {
        uint64_t value;
        unsigned decimals;
        const char *text;
    } cases[] = {
        {0, 0, "a 0\n"},
        {0, 9, "a 0\n"},
        {UINT64_MAX, 0, "a 18446744073709551615\n"},
        {UINT64_MAX, 9, "a 18446744073.709551615\n"},
        {1, 9, "a 0.000000001\n"},
        {8192, 9, "a 0.000008192\n"},
        {1000, 3, "a 1\n"},
        {1010, 3, "a 1.01\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(metrics_text_sample(&out, "a", (struct slice){0}, cases[i].value, cases[i].decimals));
        check(cases[i].text);
    }
}

TEST(metrics_text_histogram__adds_up_its_buckets)
{
    struct histogram_read h = {.sum = 7};
    h.bucket[0] = 2;
    h.bucket[2] = 1;
    h.bucket[HISTOGRAM_BUCKETS - 1] = 4;
    assert_true(metrics_text_label(&labels, "l", SLICE("x")));
    assert_true(metrics_text_histogram(&out, "h", buf_slice(&labels), &h, HISTOGRAM_COUNT, 0));
    const char *text = (buf_append_byte(&out, 0) ? (const char *)out.ptr : "");
    assert_ptr_equal(strstr(text, "h_bucket{l=\"x\",le=\"1\"} 2\nh_bucket{l=\"x\",le=\"2\"} 2\n"
                                  "h_bucket{l=\"x\",le=\"4\"} 3\nh_bucket{l=\"x\",le=\"8\"} 3\n"),
                     text);
    assert_non_null(strstr(text, "h_bucket{l=\"x\",le=\"1048576\"} 3\nh_bucket{l=\"x\",le=\"+Inf\"} 7\n"
                                 "h_sum{l=\"x\"} 7\nh_count{l=\"x\"} 7\n"));
    buf_release(&out);
    out = (struct buf){0};
    assert_true(metrics_text_histogram(&out, "h", (struct slice){0}, &h, HISTOGRAM_NS, 9));
    assert_true(slice_starts(buf_slice(&out), SLICE("h_bucket{le=\"0.000008192\"} 2\n")));
    buf_release(&out);
    buf_release(&labels);
    out = labels = (struct buf){0};
}

TEST_MAIN()
