/* storage/meta.c - rows of `meta` to bytes and back. Bytes behind those known are for later versions. */
#include "storage/meta.h"

#include "base/bytes.h"

void meta_format_encode(uint8_t out[META_FORMAT_BYTES])
{
    put_le32(out, META_FORMAT);
}

bool meta_format_decode(struct slice s, uint32_t *version)
{
    if (s.len < META_FORMAT_BYTES)
        return false;
    *version = get_le32(s.ptr);
    return true;
}

void meta_state_encode(const struct meta_state *m, uint8_t out[META_STATE_BYTES])
{
    put_le64(out, m->revision);
    put_le32(out + 8, m->next_type);
    put_le32(out + 12, m->next_schema);
    put_le64(out + 16, m->next_blob);
    put_le64(out + 24, m->log_sequence);
}

bool meta_state_decode(struct slice s, struct meta_state *m)
{
    if (s.len < META_STATE_BYTES)
        return false;
    *m = (struct meta_state){
        .revision = get_le64(s.ptr),
        .next_type = get_le32(s.ptr + 8),
        .next_schema = get_le32(s.ptr + 12),
        .next_blob = get_le64(s.ptr + 16),
        .log_sequence = get_le64(s.ptr + 24),
    };
    return true;
}

void meta_open_encode(const struct meta_open *m, uint8_t out[META_OPEN_BYTES])
{
    out[0] = m->clean;
    out[1] = (uint8_t)m->durability;
    memcpy(out + 2, m->boot_id, BOOT_ID_BYTES);
}

bool meta_open_decode(struct slice s, struct meta_open *m)
{
    if (s.len < META_OPEN_BYTES || s.ptr[0] > 1 || s.ptr[1] > DURABLE_NONE)
        return false;
    m->clean = s.ptr[0];
    m->durability = (enum durability)s.ptr[1];
    memcpy(m->boot_id, s.ptr + 2, BOOT_ID_BYTES);
    return true;
}
