/* base/crc32c.h - CRC-32C (Castagnoli; RFC 3720, appendix B.4: "123456789" has e3069283). Pure. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include "base/slice.h"

/* Extend: crc32c(crc32c(0, a), b) is the checksum of a followed by b. */
uint32_t crc32c(uint32_t crc, struct slice);

#endif
