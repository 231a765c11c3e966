/* schema/encodings/single_object.c - the bytes C3 01, the fingerprint of the writer's schema, least byte
 * first, the datum. Source: Avro 1.12 specification, "Single-object encoding". */
#include "base/bytes.h"
#include "schema/encoding.h"

enum { MARKER_BYTES = 2, BYTES = MARKER_BYTES + 8 };
static const uint8_t marker[MARKER_BYTES] = {0xc3, 0x01};

static enum rc open(struct slice body, struct writer_id *writer, struct err *err)
{
    if (body.len < BYTES)
        return err_set(err, ERR_BAD_AVRO, "Single-object encoding begins with %d bytes; the body has %zu.",
                       BYTES, body.len);
    if (memcmp(body.ptr, marker, MARKER_BYTES) != 0)
        return err_set(err, ERR_BAD_AVRO,
                       "Single-object encoding begins with the bytes c3 01; the body does with %02x %02x.",
                       body.ptr[0], body.ptr[1]);
    writer->fingerprint = get_le64(body.ptr + MARKER_BYTES);
    return RC_OK;
}

static void write(const struct writer_id *writer, uint8_t *out)
{
    memcpy(out, marker, MARKER_BYTES);
    put_le64(out + MARKER_BYTES, writer->fingerprint);
}

const struct framing framing_single_object = {
    .writer = WRITER_BY_FINGERPRINT, .bytes = BYTES, .open = open, .write = write};
