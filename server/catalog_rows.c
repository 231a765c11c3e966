/* server/catalog_rows.c - see catalog_rows.h. */
#include "server/catalog_rows.h"

#include "base/bytes.h"
#include "base/limits.h"

enum {
    FORMAT = 1,
    HEAD_BYTES = 64,
    HEAD_BYTES_FIRST = 32, /* without a form */
    AT_FOLLOWS_LEVEL = 33,
    AT_COMPRESSION = 34,
    AT_LIMITS = 40,
    LIMITS_END = 52,
    AT_MAX_SIZE = 56,
    VERSION_BYTES = 12,
    VERSION_BYTES_FIRST = 8, /* without a state */
};

static bool options_known(const struct type_options *o)
{
    return o->missing <= MISSING_REJECT && o->unknown <= UNKNOWN_IGNORE && o->compatibility < COMPAT_MODES &&
           o->form < JSON_AVRO && o->compression <= COMPRESSION_ZSTD && o->limits.bytes <= LIMIT_RECORD_MAX &&
           o->limits.items <= LIMIT_RECORD_MAX && o->limits.depth <= LIMIT_DATA_DEPTH_MAX;
}

enum rc type_row_decode(struct slice bytes, struct type_row *out, struct err *err)
{
    const uint8_t *p = bytes.ptr;
    if (bytes.len < HEAD_BYTES_FIRST || p[0] != FORMAT)
        return err_set(err, ERR_STORE_FORMAT, "A type's row is of a format that this version does not know.");
    size_t head = get_le16(p + 16);
    out->options = (struct type_options){.missing = p[1], .unknown = p[2], .compatibility = p[3]};
    uint64_t ttl_s = get_le64(p + 24);
    out->options.ttl_s = (uint32_t)ttl_s;
    if (head > HEAD_BYTES_FIRST && head <= bytes.len)
        out->options.form = p[HEAD_BYTES_FIRST];
    if (head > AT_FOLLOWS_LEVEL && head <= bytes.len)
        out->options.follows_level = p[AT_FOLLOWS_LEVEL] & 1;
    if (head > AT_COMPRESSION && head <= bytes.len)
        out->options.compression = p[AT_COMPRESSION];
    if (head >= LIMITS_END && head <= bytes.len)
        out->options.limits = (struct codec_limits){.bytes = get_le32(p + AT_LIMITS),
                                                    .items = get_le32(p + AT_LIMITS + 4),
                                                    .depth = get_le32(p + AT_LIMITS + 8)};
    if (head >= AT_MAX_SIZE + 8 && head <= bytes.len)
        out->options.max_size = get_le64(p + AT_MAX_SIZE);
    out->number = get_le32(p + 4);
    out->revision = get_le64(p + 8);
    out->nversions = get_le32(p + 20);
    size_t each = get_le16(p + 18) ? get_le16(p + 18) : VERSION_BYTES_FIRST;
    out->version_bytes = (uint16_t)each;
    if (head < HEAD_BYTES_FIRST || head > bytes.len || !out->nversions || !options_known(&out->options) ||
        ttl_s > LIMIT_TTL_MAX || each < VERSION_BYTES_FIRST || (bytes.len - head) % each != 0 ||
        (bytes.len - head) / each != out->nversions)
        return err_set(err, ERR_STORE_FORMAT, "A type's row of %zu bytes is damaged.", bytes.len);
    out->versions = slice_of(p + head, bytes.len - head);
    return RC_OK;
}

struct row_version type_row_version(const struct type_row *row, uint32_t i)
{
    const uint8_t *p = row->versions.ptr + (size_t)i * row->version_bytes;
    return (struct row_version){.number = get_le32(p),
                                .schema_id = get_le32(p + 4),
                                .state = row->version_bytes >= VERSION_BYTES ? p[8] : VERSION_LIVE};
}

bool type_row_latest(const struct type_row *row, struct row_version *out)
{
    for (uint32_t i = row->nversions; i-- > 0;) {
        *out = type_row_version(row, i);
        if (out->state == VERSION_LIVE)
            return true;
    }
    return false;
}

static void version_put(const struct row_version *v, uint8_t *p)
{
    put_le32(p, v->number);
    put_le32(p + 4, v->schema_id);
    p[8] = v->state;
}

enum rc type_row_encode(const struct type_row *row, const struct row_version *more, struct arena *arena,
                        struct slice *out, struct err *err)
{
    size_t bytes = HEAD_BYTES + ((size_t)row->nversions + (more ? 1 : 0)) * VERSION_BYTES;
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
    put_le16(p + 18, VERSION_BYTES);
    p[HEAD_BYTES_FIRST] = row->options.form;
    p[AT_COMPRESSION] = row->options.compression;
    p[AT_FOLLOWS_LEVEL] = row->options.follows_level;
    put_le64(p + 24, row->options.ttl_s);
    put_le32(p + AT_LIMITS, row->options.limits.bytes);
    put_le32(p + AT_LIMITS + 4, row->options.limits.items);
    put_le32(p + AT_LIMITS + 8, row->options.limits.depth);
    put_le64(p + AT_MAX_SIZE, row->options.max_size);
    put_le32(p + 20, row->nversions + (more ? 1 : 0));
    for (uint32_t i = 0; i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        version_put(&v, p + HEAD_BYTES + (size_t)i * VERSION_BYTES);
    }
    if (more)
        version_put(more, p + bytes - VERSION_BYTES);
    *out = slice_of(p, bytes);
    return RC_OK;
}

void type_row_set_state(struct slice encoded, uint32_t i, enum version_state state)
{
    uint8_t *p = (uint8_t *)(uintptr_t)encoded.ptr; /* the arena's, see above */
    p[get_le16(p + 16) + (size_t)i * VERSION_BYTES + 8] = state;
}

struct slice schema_key(uint32_t schema_id, uint8_t *key)
{
    put_be32(key, schema_id);
    return slice_of(key, SCHEMA_KEY_BYTES);
}
