/* schema/encode/blocks.c - counts of arrays and maps. A count is known only at the end, so one byte is left for it
 * at the beginning. Where it takes more, that is noted, and all such counts are written in one sweep from the
 * datum's end to its beginning: each byte moves once at most, however deep the nesting. */
#include "schema/encode/encode.h"

bool blocks_close(struct encode *e, uint32_t at, uint32_t count)
{
    if (count == 0) {
        e->out[at] = 0;
        return true;
    }
    *e->o++ = 0;
    if (count < 64) {
        e->out[at] = (uint8_t)(count << 1);
        return true;
    }
    struct stack *blocks = &e->codec->blocks;
    if (!stack_reserve(blocks, 1, sizeof(struct block))) {
        e->result = ENCODE_NO_MEMORY;
        return false;
    }
    ((struct block *)blocks->ptr)[blocks->n++] = (struct block){at, count};
    return true;
}

static size_t count_bytes(uint32_t count)
{
    uint8_t text[10];
    return (size_t)(encode_varint(text, (uint64_t)count << 1) - text);
}

/* Notes come in the order in which blocks end; the sweep wants them by where they begin. Read from the last
 * to the first, a block comes before those inside it, and those are met from right to left: one that begins
 * left of those that wait shows that they are outside of it and done with. */
static void sort_by_beginning(struct block *blocks, uint32_t n, struct block *out)
{
    uint32_t nwaiting = 0, nout = n;
    for (uint32_t i = n; i-- > 0;) {
        struct block b = blocks[i];
        struct block *waiting =
            out; /* those that wait fill `out` from its beginning, the others from its end */
        while (nwaiting && waiting[nwaiting - 1].at > b.at)
            out[--nout] = waiting[--nwaiting];
        waiting[nwaiting++] = b;
    }
}

bool blocks_finish(struct encode *e)
{
    struct stack *notes = &e->codec->blocks;
    uint32_t n = notes->n;
    if (n == 0)
        return true;
    if (!stack_reserve(notes, n, sizeof(struct block))) {
        e->result = ENCODE_NO_MEMORY;
        return false;
    }
    struct block *blocks = notes->ptr, *sorted = blocks + n;
    sort_by_beginning(blocks, n, sorted);
    size_t more = 0;
    for (uint32_t i = 0; i < n; i++)
        more += count_bytes(sorted[i].count) - 1;
    if (!encode_room(e, more))
        return false;
    uint8_t *from = e->o, *to = e->o + more;
    e->o = to;
    for (uint32_t i = n; i-- > 0;) {
        uint8_t *begin = e->out + sorted[i].at + 1;
        to -= from - begin;
        memmove(to, begin, (size_t)(from - begin));
        to -= count_bytes(sorted[i].count);
        encode_varint(to, (uint64_t)sorted[i].count << 1);
        from = begin - 1;
    }
    return true;
}
