/* storage/head.h - the head before a record's body, as docs/format.md, "Heads", draws it. Pure. */
#ifndef STORAGE_HEAD_H
#define STORAGE_HEAD_H

#include "base/compiler.h"
#include "storage/storage.h"

enum {
    HEAD_FORMAT = 1,
    HEAD_FIXED = 32, /* bytes that every head has */
    HEAD_CONTENT_TYPE_MAX = 255,
    HEAD_MAX = HEAD_FIXED + 8 + 1 + HEAD_CONTENT_TYPE_MAX + 20 + 8 + 6,
};

/* A stored value is told in two ways. As it is stored, which is head.c's, and storage's own: body and body_bytes are those of the
 * bytes that are there; packed_bytes is not 0 if they are packed, and then the length of the body before that. As it is
 * shown to users of storage.h: see struct record. */
static inline void record_show_packed(struct record *r)
{
    uint64_t plain = r->packed_bytes;
    if (likely(!plain))
        return;
    r->packed = r->body;
    r->packed_bytes = r->body_bytes;
    r->body = (struct slice){0};
    r->body_bytes = plain;
}

/* How long the head of such a record is; content_type is at most HEAD_CONTENT_TYPE_MAX. */
size_t head_size(const struct record *);
/* Write a record's head; body_crc is crc32c(0, body). Returns head_size. blob 0: the body is stored behind
 * the head, and body and body_bytes are not looked at; else the head says how long it is and where. */
size_t head_encode(const struct record *, uint32_t body_crc, uint8_t out[HEAD_MAX]);
/* Take a stored value apart; slices point into it. False: no head that this version knows, or cut short. Does
 * not look at the checksum. */
bool head_decode(struct slice value, struct record *) MUST_USE;
/* The head of a stored value that can be decoded, with another time of last use (not 0), which it need not have had before.
 * Returns how long it is; the body behind the old one stays as it is. */
size_t head_encode_used(struct slice value, int64_t used_ms, uint8_t out[HEAD_MAX]);
/* Whether the checksum agrees with the head and the body behind it. */
bool head_verify(struct slice value) MUST_USE;

/* Of a value whose body is in chunks, and that can be decoded: is this their checksum? */
bool head_verify_chunks(struct slice value, uint32_t body_crc) MUST_USE;

#endif
