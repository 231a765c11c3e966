/* base/crc64.h - CRC-64-AVRO, the 64-bit Rabin fingerprint of the Avro 1.12 specification, "Schema
 * Fingerprints" (of "\"int\"": 0x7275d51a3f395c8f). Pure; any thread. */
#ifndef BASE_CRC64_H
#define BASE_CRC64_H

#include "base/slice.h"

#define CRC64_AVRO_EMPTY UINT64_C(0xc15d213aa4d7a795) /* of no bytes */

/* Extend: crc64_avro(crc64_avro(CRC64_AVRO_EMPTY, a), b) is the fingerprint of a followed by b. */
uint64_t crc64_avro(uint64_t fingerprint, struct slice);

#endif
