/* server/http/chunked.c - a state machine over bytes; data goes in one move a chunk. */
#include "server/http/chunked.h"

#include "base/limits.h"
#include "server/http/http1.h"

enum state {
    SIZE,       /* hex digits */
    SIZE_SPACE, /* white space behind them: only an extension may follow */
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, /* at the start of a line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF,
    DONE,
};

enum { SIZE_DIGITS_MAX = 16 };

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_text(uint8_t c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t';
}

/* A step of the size: its digits, then what may follow. False: it breaks the rules. */
static bool step_size(struct chunked *c, uint8_t byte)
{
    int value = hex_value(byte);
    if (value >= 0 && c->state == SIZE) {
        if (c->digits == SIZE_DIGITS_MAX || c->left >> 59)
            return false;
        c->left = c->left << 4 | (unsigned)value;
        c->digits++;
        return true;
    }
    if (!c->digits)
        return false;
    if (byte == ';')
        c->state = EXTENSION;
    else if (byte == ' ' || byte == '\t')
        c->state = SIZE_SPACE;
    else if (byte == '\r' && c->state == SIZE)
        c->state = SIZE_LF;
    else
        return false;
    return true;
}

static bool step_size_lf(struct chunked *c, uint8_t byte)
{
    c->state = c->left ? DATA : TRAILER;
    c->digits = 0;
    return byte == '\n';
}

static bool step_trailer_start(struct chunked *c, uint8_t byte)
{
    c->state = byte == '\r' ? END_LF : TRAILER_NAME;
    return byte == '\r' || http1_is_token(slice_of(&byte, 1));
}

/* Every byte but those of data. False: it breaks the rules. */
static bool step(struct chunked *c, uint8_t byte)
{
    if ((c->state == EXTENSION || c->state == SIZE_SPACE || c->state >= TRAILER) &&
        ++c->extras > LIMIT_CHUNK_EXTRAS_MAX)
        return false;
    switch ((enum state)c->state) {
    case SIZE:
    case SIZE_SPACE: return step_size(c, byte);
    case SIZE_LF: return step_size_lf(c, byte);
    case EXTENSION:
        if (byte == '\r')
            c->state = SIZE_LF;
        return byte == '\r' || is_text(byte);
    case DATA_CR: c->state = DATA_LF; return byte == '\r';
    case DATA_LF: c->state = SIZE; return byte == '\n';
    case TRAILER: return step_trailer_start(c, byte);
    case TRAILER_NAME:
        if (byte == ':')
            c->state = TRAILER_VALUE;
        return byte == ':' || http1_is_token(slice_of(&byte, 1));
    case TRAILER_VALUE:
        if (byte == '\r')
            c->state = TRAILER_LF;
        return byte == '\r' || is_text(byte);
    case TRAILER_LF: c->state = TRAILER; return byte == '\n';
    case END_LF: c->state = DONE; return byte == '\n';
    case DATA:
    case DONE: break;
    }
    return false;
}

static size_t take_data(struct chunked *c, const uint8_t *from, size_t len, uint8_t *to)
{
    size_t n = c->left < len ? (size_t)c->left : len;
    if (to && to != from)
        memmove(to, from, n);
    c->left -= n;
    if (!c->left)
        c->state = DATA_CR;
    return n;
}

enum chunked_rc chunked_read(struct chunked *c, struct slice in, uint8_t *out, size_t *used, size_t *made,
                             struct err *err)
{
    size_t i = 0, n = 0;
    while (i < in.len && c->state != DONE) {
        if (c->state == DATA) {
            size_t taken = take_data(c, in.ptr + i, in.len - i, out ? out + n : NULL);
            i += taken;
            n += taken;
        } else if (!step(c, in.ptr[i++])) {
            err_set(err, ERR_BAD_REQUEST, "The chunked body breaks the rules of its coding.");
            *used = i;
            *made = n;
            return CHUNKED_BAD;
        }
    }
    *used = i;
    *made = n;
    return c->state == DONE ? CHUNKED_DONE : CHUNKED_MORE;
}
