/* tests/unit/base/test_crc64.c - CRC-64-AVRO against published values. */
#include "base/crc64.h"

#include "tests/lib/test.h"

static uint64_t crc(const char *text)
{
    return crc64_avro(CRC64_AVRO_EMPTY, slice_str(text));
}

TEST(crc64_avro__gives_the_fingerprints_of_the_avro_project)
{
    assert_int_equal(crc("\"null\""), 0x63dd24e7cc258f8a);
    assert_int_equal(crc("\"boolean\""), 0x9f42fc78a4d4f764);
    assert_int_equal(crc("\"int\""), 0x7275d51a3f395c8f);
    assert_int_equal(crc(""), 0xc15d213aa4d7a795);
}

TEST(crc64_avro__goes_on_where_it_was)
{
    uint64_t first = crc64_avro(CRC64_AVRO_EMPTY, SLICE("\"bool"));
    assert_int_equal(crc64_avro(first, SLICE("ean\"")), crc("\"boolean\""));
    assert_int_equal(crc64_avro(first, SLICE("")), first);
}

TEST_MAIN()
