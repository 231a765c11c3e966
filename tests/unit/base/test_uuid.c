/* tests/unit/base/test_uuid.c - UUIDs as text. Source: RFC 9562, section 4. */
#include "base/uuid.h"

#include "tests/lib/test.h"

TEST(uuid__goes_round)
{
    static const char text[] = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    static const uint8_t want[] = {0xf8, 0x1d, 0x4f, 0xae, 0x7d, 0xec, 0x11, 0xd0,
                                   0xa7, 0x65, 0x00, 0xa0, 0xc9, 0x1e, 0x6b, 0xf6};
    uint8_t bytes[UUID_BYTES], out[UUID_CHARS];
    assert_true(uuid_parse(slice_str(text), bytes));
    assert_memory_equal(bytes, want, sizeof want);
    uuid_print(bytes, out);
    assert_slice_str(slice_of(out, sizeof out), text);
    assert_true(uuid_parse(SLICE("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"), bytes));
    assert_memory_equal(bytes, want, sizeof want);
}

TEST(uuid_parse__refuses_all_else)
{
    static const char *const bad[] = {"",
                                      "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
                                      "f81d4fae-7dec-11d0-a765-00a0c91e6bf66",
                                      "f81d4fae7dec11d0a76500a0c91e6bf6",
                                      "{81d4fae-7dec-11d0-a765-00a0c91e6bf}",
                                      "f81d4fae-7dec-11d0-a765-00a0c91e6bg6",
                                      "f81d4fae-7dec-11d0-a76500-a0c91e6bf6",
                                      "-f81d4fae7dec-11d0-a765-00a0c91e6bf6",
                                      "f81d4fae-7dec-11d0-a765-00a0c91e6b-6",
                                      "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"};
    uint8_t bytes[UUID_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (uuid_parse(slice_str(bad[i]), bytes))
            fail_msg("%s", bad[i]);
}

TEST_MAIN()
