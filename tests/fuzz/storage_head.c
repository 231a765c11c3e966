/* tests/fuzz/storage_head.c - heads of stored records. Any bytes: decoding stays inside them, and what
 * decodes encodes to the same bytes again. Any record: it comes back as it was,
 * with a checksum that agrees. */
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/limits.h"
#include "storage/head.h"
#include "tests/fuzz/fuzz.h"

enum { AT_LENGTH = 2, AT_CRC = 28 };

static bool lies_in(struct slice part, struct slice whole)
{
    return part.len == 0 || (part.ptr >= whole.ptr && part.len <= whole.len &&
                             (size_t)(part.ptr - whole.ptr) <= whole.len - part.len);
}

/* The bytes as a stored value. */
static void check_decode(struct slice value)
{
    struct record r;
    uint8_t head[HEAD_MAX];
    bool agrees = head_verify(value);
    if (!head_decode(value, &r))
        return;
    size_t size = get_le16(value.ptr + AT_LENGTH);
    CHECK(lies_in(r.body, value) && lies_in(r.content_type, value), "a slice outside of the value");
    if (!r.body.ptr) /* in chunks */
        return;
    CHECK(r.body.len == value.len - size && r.body_bytes == r.body.len, "a body of %zu bytes", r.body.len);
    if (head_size(&r) != size)
        return; /* of a later version, or with options that say nothing */
    CHECK(head_encode(&r, crc32c(0, r.body), head) == size, "another size");
    CHECK(memcmp(head, value.ptr, AT_CRC) == 0 &&
              memcmp(head + HEAD_FIXED, value.ptr + HEAD_FIXED, size - HEAD_FIXED) == 0,
          "another head");
    CHECK(agrees == (get_le32(head + AT_CRC) == get_le32(value.ptr + AT_CRC)), "another checksum");
}

static uint64_t number(struct slice *in, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | fuzz_byte(in);
    return v;
}

/* The bytes as a record's parts. */
static void check_encode(struct slice in)
{
    struct record r = {.revision = number(&in, 8),
                       .created_ms = (int64_t)number(&in, 6),
                       .updated_ms = (int64_t)number(&in, 6),
                       .schema_id = (uint32_t)number(&in, 4)},
                  back;
    uint8_t options = fuzz_byte(&in);
    if (options & 2)
        r.packed_bytes = 1 + number(&in, 3) % LIMIT_RECORD_MAX;
    if (options & 1)
        r.expires_ms = (int64_t)(number(&in, 8) & INT64_MAX);
    size_t len = fuzz_byte(&in);
    r.content_type = slice_of(in.ptr, len < in.len ? len : in.len);
    r.body = slice_of(in.ptr + r.content_type.len, in.len - r.content_type.len);
    r.body_bytes = r.body.len;

    uint8_t *value = malloc(HEAD_MAX + r.body.len);
    CHECK(value, "memory is out");
    size_t n = head_encode(&r, crc32c(0, r.body), value);
    CHECK(n == head_size(&r) && n <= HEAD_MAX, "%zu bytes", n);
    if (r.body.len)
        memcpy(value + n, r.body.ptr, r.body.len);
    struct slice stored = slice_of(value, n + r.body.len);
    CHECK(head_decode(stored, &back) && head_verify(stored), "what was encoded is refused");
    CHECK(back.revision == r.revision && back.created_ms == r.created_ms && back.updated_ms == r.updated_ms &&
              back.expires_ms == r.expires_ms && back.schema_id == r.schema_id &&
              back.packed_bytes == r.packed_bytes && slice_eq(back.content_type, r.content_type) &&
              slice_eq(back.body, r.body),
          "another record");
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice value = fuzz_copy(slice_of(data, size));
    check_decode(value);
    check_encode(value);
    fuzz_free(value);
    return 0;
}
