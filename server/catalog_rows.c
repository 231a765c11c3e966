/* server/catalog_rows.c - see catalog_rows.h. */
#include "server/catalog_rows.h"

#include "base/bytes.h"
#include "schema/schema.h"

enum { FORMAT = 1, HEAD_BYTES = 32, VERSION_BYTES = 8 };

static bool options_known(const struct type_options *o)
{
    return o->missing <= MISSING_REJECT && o->unknown <= UNKNOWN_IGNORE && o->compatibility < COMPAT_MODES;
}

enum rc type_row_decode(struct slice bytes, struct type_row *out, struct err *err)
{
    const uint8_t *p = bytes.ptr;
    if (bytes.len < HEAD_BYTES || p[0] != FORMAT)
        return err_set(err, ERR_STORE_FORMAT, "A type's row is of a format that this version does not know.");
    size_t head = get_le16(p + 16);
    out->options = (struct type_options){.missing = p[1], .unknown = p[2], .compatibility = p[3]};
    out->number = get_le32(p + 4);
    out->revision = get_le64(p + 8);
    out->nversions = get_le32(p + 20);
    if (head < HEAD_BYTES || head > bytes.len || !out->number || !out->nversions ||
        !options_known(&out->options) || (bytes.len - head) % VERSION_BYTES != 0 ||
        (bytes.len - head) / VERSION_BYTES != out->nversions)
        return err_set(err, ERR_STORE_FORMAT, "A type's row of %zu bytes is damaged.", bytes.len);
    out->versions = slice_of(p + head, bytes.len - head);
    return RC_OK;
}

struct row_version type_row_version(const struct type_row *row, uint32_t i)
{
    const uint8_t *p = row->versions.ptr + (size_t)i * VERSION_BYTES;
    return (struct row_version){.number = get_le32(p), .schema_id = get_le32(p + 4)};
}

enum rc type_row_encode(const struct type_row *row, const struct row_version *more, struct arena *arena,
                        struct slice *out, struct err *err)
{
    size_t bytes = HEAD_BYTES + row->versions.len + (more ? VERSION_BYTES : 0);
    uint8_t *p = arena_calloc(arena, 1, bytes);
    if (!p)
        return err_oom(err);
    p[0] = FORMAT;
    p[1] = row->options.missing;
    p[2] = row->options.unknown;
    p[3] = row->options.compatibility;
    put_le32(p + 4, row->number);
    put_le64(p + 8, row->revision);
    put_le16(p + 16, HEAD_BYTES);
    put_le32(p + 20, row->nversions + (more ? 1 : 0));
    if (row->versions.len)
        memcpy(p + HEAD_BYTES, row->versions.ptr, row->versions.len);
    if (more) {
        put_le32(p + bytes - VERSION_BYTES, more->number);
        put_le32(p + bytes - VERSION_BYTES + 4, more->schema_id);
    }
    *out = slice_of(p, bytes);
    return RC_OK;
}

struct slice schema_key(uint32_t schema_id, uint8_t *key)
{
    put_be32(key, schema_id);
    return slice_of(key, SCHEMA_KEY_BYTES);
}
