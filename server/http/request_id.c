/* server/http/request_id.c - takes a client's X-Request-Id, or makes one. */
#include "server/http/request_id.h"

#include "base/bytes.h"
#include "server/handler.h"

/* A worker's numbers have its index in the highest bits, and count on from a random start in the others: 2^54 requests
 * do not come. */
enum { COUNTER_BITS = 54 };

uint64_t request_id_start(unsigned worker, uint64_t random)
{
    return (uint64_t)worker << COUNTER_BITS | random >> (64 - COUNTER_BITS);
}

static bool is_usable(struct slice id)
{
    for (size_t i = 0; i < id.len; i++)
        if (id.ptr[i] <= 0x20 || id.ptr[i] >= 0x7f)
            return false;
    return id.len && id.len <= REQUEST_ID_MAX;
}

/* Eight hexadecimal digits at once: the four-bit groups are spread over the bytes, then made characters. */
static uint64_t digits_of(uint32_t n)
{
    uint64_t v = n;
    v = (v << 16 & UINT64_C(0x0000ffff00000000)) | (v & 0xffff);
    v = (v << 8 & UINT64_C(0x00ff000000ff0000)) | (v & UINT64_C(0x000000ff000000ff));
    v = (v << 4 & UINT64_C(0x0f000f000f000f00)) | (v & UINT64_C(0x000f000f000f000f));
    uint64_t letters = (v + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return v + UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
}

/* The multiplier is odd: different numbers stay different, and neighbours do not look alike. */
static void print(uint64_t number, uint8_t *text)
{
    uint64_t n = number * UINT64_C(0x9e3779b97f4a7c15);
    put_be64(text, digits_of((uint32_t)(n >> 32)));
    put_be64(text + 8, digits_of((uint32_t)n));
}

struct slice request_id(const struct request *req, uint8_t text[REQUEST_ID_MADE_BYTES])
{
    struct slice given = req->header[HEADER_REQUEST_ID];
    if (unlikely(given.len) && is_usable(given))
        return given;
    print(req->edge.number, text);
    return slice_of(text, REQUEST_ID_MADE_BYTES);
}
