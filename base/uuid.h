/* base/uuid.h - UUIDs as text: "00112233-4455-6677-8899-aabbccddeeff". Pure.
 * Source: RFC 9562, section 4. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/compiler.h"
#include "base/slice.h"

enum { UUID_BYTES = 16, UUID_CHARS = 36 };

/* Hexadecimal digits of either case; any version and variant. False: that is no UUID. */
MUST_USE bool uuid_parse(struct slice text, uint8_t out[UUID_BYTES]);
/* In small letters. */
void uuid_print(const uint8_t bytes[UUID_BYTES], uint8_t out[UUID_CHARS]);

#endif
