/* tests/unit/server/test_coding.c - Accept-Encoding, and what is worth compressing. */
#include <stdio.h>

#include "server/coding.h"

#include "tests/lib/test.h"

/* "gzip", "deflate", "" for neither; with "!" behind it where identity is refused. */
static void wishes(const char *accept_encoding, const char *want)
{
    struct coding_wish w = coding_wish(slice_str(accept_encoding));
    char got[32];
    struct slice name = coding_name(w.coding);
    snprintf(got, sizeof got, "%.*s%s", (int)name.len, name.ptr ? (const char *)name.ptr : "",
             w.identity_refused ? "!" : "");
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s, not %s", accept_encoding, got, want);
}

TEST(coding_wish__is_the_one_with_the_highest_weight_and_of_equal_ones_gzip)
{
    wishes("gzip", "gzip");
    wishes("GZip", "gzip");
    wishes("x-gzip", "gzip");
    wishes("deflate", "deflate");
    wishes("deflate, gzip", "gzip");
    wishes("gzip, deflate, br, zstd", "gzip");
    wishes("gzip;q=0.5, deflate;q=0.8", "deflate");
    wishes("gzip ; q=0.501 ,\tdeflate; Q=0.5", "gzip");
    wishes("gzip;q=0, deflate", "deflate");
    wishes("gzip;q=0", "");
    wishes("gzip;q=0.000", "");
    wishes("gzip;q=0.001", "gzip");
    wishes("br, zstd", "");
}

TEST(coding_wish__of_nothing_is_nothing)
{
    wishes("", "");
    wishes(" , ,", "");
    wishes("identity", "");
    wishes("identity, gzip;q=0.5", "");
    wishes("identity;q=0.5, gzip;q=0.5", "gzip");
    wishes("identity;q=0.5, gzip;q=0.4", "");
}

TEST(coding_wish__takes_a_star_for_what_is_not_named)
{
    wishes("*", "gzip");
    wishes("gzip;q=0.2, *;q=0.5", "deflate");
    wishes("gzip, *;q=0", "gzip!");
    wishes("*;q=0", "!");
    wishes("*;q=0, identity", "");
    wishes("*;q=0, identity;q=0.1, deflate", "deflate");
}

TEST(coding_wish__knows_when_identity_is_refused)
{
    wishes("identity;q=0", "!");
    wishes("identity;q=0.0, gzip", "gzip!");
    wishes("identity;q=0, *;q=0.1", "gzip!");
    wishes("identity;q=0, gzip;q=0, deflate;q=0", "!");
}

TEST(coding_wish__passes_over_what_has_no_weight)
{
    wishes("gzip;q=2", "");
    wishes("gzip;q=1.001", "");
    wishes("gzip;q=.5", "");
    wishes("gzip;q=0.5555", "");
    wishes("gzip;q=", "");
    wishes("gzip;q", "");
    wishes("gzip;level=1", "");
    wishes("gzip;q=-1, deflate", "deflate");
    wishes("gz ip, deflate", "deflate");
    wishes("identity;q=x", "");
}

TEST(coding_pays__for_texts_and_avro_and_not_for_what_nobody_knows)
{
    const char *yes[] = {"application/json",
                         "text/plain; charset=utf-8",
                         "TEXT/csv",
                         "application/x-ndjson",
                         "application/problem+json",
                         "application/vnd.schemaregistry.v1+json",
                         "image/svg+xml",
                         "avro/binary",
                         "application/vnd.confluent.avro"};
    const char *no[] = {"application/octet-stream",
                        "image/png",
                        "application/zip",
                        "application/gzip",
                        "application/vnd.gradle.build-cache-artifact.v1",
                        "",
                        ";",
                        "json",
                        "text"};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        assert_true(coding_pays(slice_str(yes[i])));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        assert_false(coding_pays(slice_str(no[i])));
}

TEST_MAIN()
