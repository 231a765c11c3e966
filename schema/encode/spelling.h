/* schema/encode/spelling.h - the values of those instructions that spell readably, between Avro binary and JSON scalars: the
 * one place where the rules stand, for encoder, explainer and decoder. Pure. Inside schema/ only.
 * Sources: Avro 1.12 specification, "Logical Types"; RFC 3339, RFC 4648, RFC 9562. */
#ifndef SCHEMA_SPELLING_H
#define SCHEMA_SPELLING_H

#include "base/compiler.h"
#include "base/slice.h"
#include "schema/program/program.h"

static inline bool spelling_is(const struct op *op)
{
    return op->code >= TYPE_KINDS;
}

/* ---- JSON to Avro ---- */

enum spelling_fault {
    SPELLING_FITS,
    SPELLING_TYPE,     /* a string or a number, and the other is due */
    SPELLING_FRACTION, /* a number that is not whole */
    SPELLING_RANGE,
    SPELLING_SYNTAX,  /* a string that is spelled otherwise */
    SPELLING_NO_SUCH, /* a day or time that there is not */
    SPELLING_LEAP,    /* a leap second */
    SPELLING_DIGITS,  /* behind the second, more than the type counts */
    SPELLING_SCALE,   /* behind the point, more than the type has */
    SPELLING_SIZE,    /* a fixed of another length */
    SPELLING_FAULTS
};

/* Room for the Avro form of a text so long. */
size_t spelling_bytes_max(const struct op *, size_t chars);

/* Write the Avro form at `out`; *end is behind it.
 *   text  the content of a string, escapes undone, or (is_quoted false) a number of RFC 8259 */
MUST_USE enum spelling_fault spelling_read(const struct op *, struct slice text, bool is_quoted, uint8_t *out,
                                           uint8_t **end);

/* What is expected, in a few words, at `out`. */
enum { SPELLING_WORDS_MAX = 80 };
void spelling_expected(const struct op *, char out[SPELLING_WORDS_MAX]);

/* ---- Avro to JSON ---- */

struct spelled {
    int64_t number;     /* moment, int64, uint32 */
    struct slice bytes; /* all others; borrowed from the datum */
};

/* Read the Avro form at `at`; what stands behind it. NULL: *fault tells why, in a few words (static). Not of
 * uuid-string, which is a string. */
const uint8_t *spelling_take(const struct op *, const uint8_t *at, const uint8_t *end, struct spelled *out,
                             const char **fault);
/* Room for its JSON form. */
size_t spelling_chars_max(const struct op *, const struct spelled *);
/* Write it at w; what stands behind. */
uint8_t *spelling_print(const struct op *, const struct spelled *, uint8_t *w);

#endif
