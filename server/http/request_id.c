/* server/http/request_id.c - takes a client's X-Request-Id, or makes one. */
#include "server/http/request_id.h"

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

/* The multiplier is odd: different numbers stay different, and neighbours do not look alike. */
static void print(uint64_t number, uint8_t *text)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t n = number * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < REQUEST_ID_MADE_BYTES; i++)
        text[i] = (uint8_t)digits[n >> (60 - 4 * i) & 15];
}

struct slice request_id(const struct request *req, uint8_t text[REQUEST_ID_MADE_BYTES])
{
    struct slice given = req->header[HEADER_REQUEST_ID];
    if (unlikely(given.len) && is_usable(given))
        return given;
    print(req->edge.number, text);
    return slice_of(text, REQUEST_ID_MADE_BYTES);
}
