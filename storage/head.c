/* storage/head.c - a record's head to bytes and back. */
#include "storage/head.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/limits.h"

enum { FLAG_EXPIRES = 1, FLAG_CONTENT_TYPE = 2, FLAG_CHUNKED = 4, FLAG_PACKED = 8, FLAG_USED = 16 };
enum { FLAGS_KNOWN = FLAG_EXPIRES | FLAG_CONTENT_TYPE | FLAG_CHUNKED | FLAG_PACKED | FLAG_USED };
enum {
    AT_FORMAT = 0,
    AT_FLAGS = 1,
    AT_LENGTH = 2,
    AT_SCHEMA = 4,
    AT_REVISION = 8,
    AT_UPDATED = 16,
    AT_CREATED = 22,
    AT_CRC = 28
};
enum {
    CHUNKED_BYTES = 8 + 8 + 4, /* length, blob, checksum of the body */
    PACKED_BYTES = 8,          /* its length before it was packed */
    USED_BYTES = 6
};

size_t head_size(const struct record *r)
{
    assert(r->content_type.len <= HEAD_CONTENT_TYPE_MAX);
    return HEAD_FIXED + (r->expires_ms ? 8 : 0) + (r->content_type.len ? 1 + r->content_type.len : 0) +
           (r->blob ? CHUNKED_BYTES : 0) + (r->packed_bytes ? PACKED_BYTES : 0) +
           (r->used_ms ? USED_BYTES : 0);
}

size_t head_encode(const struct record *r, uint32_t body_crc, uint8_t out[HEAD_MAX])
{
    size_t size = head_size(r), at = HEAD_FIXED;
    out[AT_FORMAT] = HEAD_FORMAT;
    out[AT_FLAGS] = (uint8_t)((r->expires_ms ? FLAG_EXPIRES : 0) |
                              (r->content_type.len ? FLAG_CONTENT_TYPE : 0) | (r->blob ? FLAG_CHUNKED : 0) |
                              (r->packed_bytes ? FLAG_PACKED : 0) | (r->used_ms ? FLAG_USED : 0));
    put_le16(out + AT_LENGTH, (uint16_t)size);
    put_le32(out + AT_SCHEMA, r->schema_id);
    put_le64(out + AT_REVISION, r->revision);
    put_le48(out + AT_UPDATED, (uint64_t)r->updated_ms);
    put_le48(out + AT_CREATED, (uint64_t)r->created_ms);
    put_le32(out + AT_CRC, 0);
    if (r->expires_ms) {
        put_le64(out + at, (uint64_t)r->expires_ms);
        at += 8;
    }
    if (r->content_type.len) {
        out[at++] = (uint8_t)r->content_type.len;
        memcpy(out + at, r->content_type.ptr, r->content_type.len);
        at += r->content_type.len;
    }
    if (r->blob) {
        put_le64(out + at, r->body_bytes);
        put_le64(out + at + 8, r->blob);
        put_le32(out + at + 16, body_crc);
        at += CHUNKED_BYTES;
        body_crc = 0; /* of what follows the head: nothing */
    }
    if (r->packed_bytes) {
        put_le64(out + at, r->packed_bytes);
        at += PACKED_BYTES;
    }
    if (r->used_ms) { /* the last: head_encode_used puts it where it stands, or at the end */
        put_le48(out + at, (uint64_t)r->used_ms);
        at += USED_BYTES;
    }
    assert(at == size);
    put_le32(out + AT_CRC, crc32c(body_crc, slice_of(out, size)));
    return size;
}

/* The parts that flags announce, from `at` to the head's end. */
static bool decode_optional(const uint8_t *p, size_t at, size_t end, struct record *r)
{
    uint8_t flags = p[AT_FLAGS];
    if (flags & FLAG_EXPIRES) {
        if (end - at < 8)
            return false;
        r->expires_ms = (int64_t)get_le64(p + at);
        if (r->expires_ms <= 0) /* no time that a key could bear, nor one that a head is given */
            return false;
        at += 8;
    }
    if (flags & FLAG_CONTENT_TYPE) {
        if (end - at < 1 || end - at - 1 < p[at])
            return false;
        r->content_type = slice_of(p + at + 1, p[at]);
        at += 1 + (size_t)p[at];
    }
    if (flags & FLAG_CHUNKED) {
        if (end - at < CHUNKED_BYTES)
            return false;
        r->body_bytes = get_le64(p + at);
        r->blob = get_le64(p + at + 8);
        if (r->blob == 0 || r->body_bytes > LIMIT_RECORD_MAX)
            return false;
        r->body = (struct slice){NULL, 0};
        at += CHUNKED_BYTES;
    }
    if (flags & FLAG_PACKED) {
        if (end - at < PACKED_BYTES)
            return false;
        r->packed_bytes = get_le64(p + at);
        if (r->packed_bytes == 0 || r->packed_bytes > LIMIT_RECORD_MAX)
            return false;
        at += PACKED_BYTES;
    }
    if (flags & FLAG_USED) {
        if (end - at < USED_BYTES)
            return false;
        r->used_ms = (int64_t)get_le48(p + at);
        if (r->used_ms == 0)
            return false;
    }
    return true;
}

bool head_decode(struct slice value, struct record *r)
{
    const uint8_t *p = value.ptr;
    if (value.len < HEAD_FIXED || p[AT_FORMAT] != HEAD_FORMAT || (p[AT_FLAGS] & ~FLAGS_KNOWN))
        return false;
    size_t size = get_le16(p + AT_LENGTH);
    if (size < HEAD_FIXED || size > value.len)
        return false;
    *r = (struct record){
        .revision = get_le64(p + AT_REVISION),
        .created_ms = (int64_t)get_le48(p + AT_CREATED),
        .updated_ms = (int64_t)get_le48(p + AT_UPDATED),
        .expires_ms = 0,
        .used_ms = 0,
        .schema_id = get_le32(p + AT_SCHEMA),
        .content_type = {NULL, 0},
        .body = slice_of(p + size, value.len - size),
        .body_bytes = value.len - size,
        .blob = 0,
    };
    return size == HEAD_FIXED ? p[AT_FLAGS] == 0 : decode_optional(p, HEAD_FIXED, size, r);
}

/* Where the time of last use stands, or would stand, in a head that has been decoded. */
static size_t used_at(const uint8_t *p)
{
    uint8_t flags = p[AT_FLAGS];
    size_t at = HEAD_FIXED + (flags & FLAG_EXPIRES ? 8 : 0);
    if (flags & FLAG_CONTENT_TYPE)
        at += 1 + (size_t)p[at];
    return at + (flags & FLAG_CHUNKED ? CHUNKED_BYTES : 0);
}

size_t head_encode_used(struct slice value, int64_t used_ms, uint8_t out[HEAD_MAX])
{
    size_t old = get_le16(value.ptr + AT_LENGTH), at = used_at(value.ptr), size = at + USED_BYTES;
    assert(used_ms > 0 && size <= HEAD_MAX);
    memcpy(out, value.ptr, at);
    out[AT_FLAGS] |= FLAG_USED;
    put_le16(out + AT_LENGTH, (uint16_t)size);
    put_le32(out + AT_CRC, 0);
    put_le48(out + at, (uint64_t)used_ms);
    uint32_t body_crc = crc32c(0, slice_of(value.ptr + old, value.len - old));
    put_le32(out + AT_CRC, crc32c(body_crc, slice_of(out, size)));
    return size;
}

bool head_verify_chunks(struct slice value, uint32_t body_crc)
{
    const uint8_t *p = value.ptr;
    size_t at = HEAD_FIXED + (p[AT_FLAGS] & FLAG_EXPIRES ? 8 : 0);
    at += p[AT_FLAGS] & FLAG_CONTENT_TYPE ? 1 + (size_t)p[at] : 0;
    return get_le32(p + at + CHUNKED_BYTES - 4) == body_crc;
}

bool head_verify(struct slice value)
{
    static const uint8_t zeros[4];
    if (value.len < HEAD_FIXED)
        return false;
    size_t size = get_le16(value.ptr + AT_LENGTH);
    if (size < HEAD_FIXED || size > value.len)
        return false;
    uint32_t crc = crc32c(0, slice_of(value.ptr + size, value.len - size));
    crc = crc32c(crc, slice_of(value.ptr, AT_CRC));
    crc = crc32c(crc, slice_of(zeros, sizeof zeros));
    crc = crc32c(crc, slice_of(value.ptr + HEAD_FIXED, size - HEAD_FIXED));
    return crc == get_le32(value.ptr + AT_CRC);
}
