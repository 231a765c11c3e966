/* schema/encoding.h - record forms: what the body of a request or an answer holds, by its media type. Who adds
 * a form plugs it in here: a row of encodings/encodings.def and, unless it is JSON, its framing in a file of
 * encodings/. Pure; any thread.
 *
 *   a body   encoding_find -> TEXT: codec_from_json
 *                             BINARY: framing->open tells who wrote it, then codec_check
 *   a datum  TEXT: codec_to_json
 *            BINARY: framing->write makes what stands before it; the datum itself stays as it is */
#ifndef SCHEMA_ENCODING_H
#define SCHEMA_ENCODING_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/codec.h"

enum { FRAME_BYTES_MAX = 10 }; /* of any framing */

/* By what a form names the schema that has written its datum. */
enum writer_named { WRITER_UNNAMED, WRITER_BY_FINGERPRINT, WRITER_BY_SCHEMA_ID };

/* Of these the one that a framing is about. */
struct writer_id {
    uint64_t fingerprint; /* CRC-64-AVRO of its canonical form: schema_fingerprint */
    uint32_t schema_id;
};

/* What a framing implements. */
struct framing {
    enum writer_named writer;
    size_t bytes; /* of the frame, at most FRAME_BYTES_MAX */
    /* Read the frame at the beginning of `body`. BAD_AVRO: it is none, or cut off. */
    enum rc (*open)(struct slice body, struct writer_id *, struct err *);
    /* Write it at `out`, exactly `bytes`. */
    void (*write)(const struct writer_id *, uint8_t *out);
};

struct encoding {
    struct slice media_type; /* lower case; a literal, so a NUL stands behind it */
    struct slice tag_suffix;
    const struct framing *framing; /* NULL: it is JSON ... */
    enum json_form json;           /* ... of this form */
};

enum encoding_id {
#define ENCODING(name, media_type, content, tag_suffix) ENCODING_##name,
#include "schema/encodings/encodings.def"
#undef ENCODING
    ENCODINGS
};
extern const struct encoding encodings[ENCODINGS];

/* By "type/subtype", in any case; NULL: there is none. */
const struct encoding *encoding_find(struct slice media_type);

enum encoding_set {
    FORMS_ALL,
    FORMS_TEXT, /* those that are JSON: for a part of a record */
    FORMS_AVRO, /* all but plain JSON: for a type whose records are kept as they are */
};
bool encoding_in(const struct encoding *, enum encoding_set);

/* The media types of a set, with commas between, into `out`: for messages. */
enum { ENCODING_LIST_BYTES = 160 };
const char *encoding_list(enum encoding_set, char out[ENCODING_LIST_BYTES]);

extern const struct framing framing_none, framing_single_object, framing_confluent;

#endif
