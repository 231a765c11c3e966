/* schema/encodings/confluent.c - a zero byte, the id of the writer's schema in four bytes, most significant
 * first, the datum. Source: Confluent Platform, "Schema Registry: Wire format". */
#include "base/bytes.h"
#include "schema/encoding.h"

enum { BYTES = 1 + 4 };

static enum rc open(struct slice body, struct writer_id *writer, struct err *err)
{
    if (body.len < BYTES)
        return err_set(err, ERR_BAD_AVRO, "Confluent's wire format begins with %d bytes; the body has %zu.",
                       BYTES, body.len);
    if (body.ptr[0] != 0)
        return err_set(err, ERR_BAD_AVRO,
                       "Confluent's wire format begins with a zero byte; the body does with %02x.",
                       body.ptr[0]);
    writer->schema_id = get_be32(body.ptr + 1);
    return RC_OK;
}

static void write(const struct writer_id *writer, uint8_t *out)
{
    *out = 0;
    put_be32(out + 1, writer->schema_id);
}

const struct framing framing_confluent = {
    .writer = WRITER_BY_SCHEMA_ID, .bytes = BYTES, .open = open, .write = write};
