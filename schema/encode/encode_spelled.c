/* schema/encode/encode_spelled.c - JSON scalars that are spelled readably to Avro binary, and which branches of a union take
 * them. */
#include "schema/encode/encode_spelled.h"

#include "schema/encode/encode_scalar.h"
#include "schema/encode/spelling.h"

/* Write it at e->o. *end: behind it; e->o stays. */
static bool write(struct encode *e, const struct op *op, struct slice text, bool is_quoted, uint8_t **end)
{
    if (!encode_room(e, spelling_bytes_max(op, text.len)))
        return false;
    return spelling_read(op, text, is_quoted, e->o, end) == SPELLING_FITS;
}

const uint8_t *encode_spelled(struct encode *e, const struct op *op, const uint8_t *p)
{
    bool is_quoted = *p == '"';
    unsigned flags;
    const uint8_t *behind = is_quoted ? scan_string(p + 1, e->end, &flags) : scan_number(p);
    struct slice text = slice_of(p, behind ? (size_t)(behind - p) : 0);
    if (!behind || (is_quoted && !scalar_content(e, p + 1, behind, flags, &text)))
        return NULL;
    uint8_t *end;
    if (!write(e, op, text, is_quoted, &end))
        return NULL;
    e->o = end;
    return behind + is_quoted;
}

bool encode_spelled_fits(struct encode *e, const struct op *op, struct slice text, bool is_quoted)
{
    uint8_t *end;
    encode_pay(e, COST_SPELLED + text.len * 2);
    return e->budget >= 0 && write(e, op, text, is_quoted, &end);
}

uint32_t encode_spelled_number(struct encode *e, const struct op *op, struct slice number)
{
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op *branch = &e->program->ops[e->program->branches[op->a + i].op];
        encode_pay(e, COST_BRANCH);
        if (branch->code == OP_DECIMAL && encode_spelled_fits(e, branch, number, false))
            return i;
    }
    return PROGRAM_NONE;
}
