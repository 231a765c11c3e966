/* tests/fault/test_options.c - reading the options when the n-th allocation fails: they are all there, or there is a word why
 * not; never some of them. */
#include "tests/fault/fault.h"

#include <stdlib.h>
#include <unistd.h>

#include "server/options.h"

static char path[] = "/tmp/avrod-test-XXXXXX";
static const char text[] =
    "data = /var/lib/avrod\n# the rest\nhead-max = 64KiB\ncors-origin = https://a.example\n";

static enum rc parse(void *arg, struct err *err)
{
    const char *argv[] = {"avrod", "--config", path, "--threads=3"};
    const char *environment[] = {"AVROD_LISTEN=127.0.0.1:0", NULL};
    struct options options;
    (void)arg;
    fault_begin();
    enum rc rc = options_parse(&options, ARRAY_LEN(argv), (char **)argv, (char **)environment, err);
    fault_end();
    if (rc == RC_OK) {
        assert_string_equal(options.data, "/var/lib/avrod");
        assert_string_equal(options.cors_origin, "https://a.example");
        assert_int_equal(options.head_max, 64 << 10);
        assert_int_equal(options.threads, 3);
    }
    options_release(&options);
    return rc;
}

TEST(options_parse__reads_all_or_no_memory)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    assert_true(fault_each(parse, NULL, RC_OK, ERR_NONE) > 0);
    unlink(path);
}

TEST_MAIN()
