/* schema/json.c - strict JSON (RFC 8259) as text: the checker. */
#include "schema/json.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/utf8.h"

/* An open array or object. Offsets are into the text. */
struct frame {
    bool is_object;
    uint32_t first_member;      /* object: where its names begin in checker.members */
    uint32_t index;             /* array: of the element being read */
    uint32_t name_at, name_len; /* object: token of the member being read */
};

/* A name of an object that is still open. */
struct member {
    uint64_t hash;
    uint32_t at, len; /* its token */
};

/* Names of all open objects stand in one stack and one table (open addressing, linear probing). Objects close
 * in the reverse order of opening, so names leave in the reverse order of coming: the slot of the youngest
 * name can simply be freed, since no older name was ever pushed past it. */
struct checker {
    struct slice text;
    const uint8_t *at, *end; /* end: of the part that is UTF-8 */
    struct frame *frames;
    uint32_t nframes, frames_cap, depth_max;
    struct member *members;
    uint32_t nmembers, members_cap;
    uint32_t *slots; /* index into members + 1; 0: free */
    uint32_t slots_mask;
    struct buf scratch;
    struct arena *arena;
    struct err *err;
    struct err duplicate; /* the first name that stands twice: only told of a text that is JSON otherwise */
};

enum state { VALUE, FIRST_VALUE, NAME, FIRST_NAME, SEPARATOR };

/* ---- faults ---- */

static void set_position(struct checker *c, const uint8_t *at)
{
    uint32_t line = 1;
    const uint8_t *p = c->text.ptr, *line_start = p;
    while (p < at && (p = memchr(p, '\n', (size_t)(at - p)))) {
        line++;
        line_start = ++p;
    }
    c->err->line = line;
    c->err->column = (uint32_t)(at - line_start) + 1;
}

static enum rc fault(struct checker *c, const uint8_t *at, const char *format, ...) PRINTF_LIKE(3, 4);
static enum rc fault(struct checker *c, const uint8_t *at, const char *format, ...)
{
    char message[sizeof c->err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (at == c->end && c->end < c->text.ptr + c->text.len) /* what stopped us is where UTF-8 ends */
        err_set(c->err, ERR_BAD_JSON, "The byte 0x%02x is not valid UTF-8 here.", *at);
    else
        err_set(c->err, ERR_BAD_JSON, "%s", message);
    set_position(c, at);
    return RC_ERR;
}

/* What stands at `at`, in words. */
static const char *found(const struct checker *c, const uint8_t *at, char out[32])
{
    if (at == c->end)
        return "the end of the text";
    if (*at >= 0x80)
        return "a character beyond ASCII";
    snprintf(out, 32, *at < 0x20 || *at == 0x7f ? "the byte 0x%02x" : "'%c'", *at);
    return out;
}

static enum rc fault_value(struct checker *c, enum state state)
{
    char word[32];
    const char *what = found(c, c->at, word);
    if (c->at == c->end)
        return fault(c, c->at, "Expected a value, found the end of the text.");
    switch (*c->at) {
    case '\'':
        return fault(c, c->at, "Expected a value: strings stand in double quotes, not in single ones.");
    case '/':
    case '#': return fault(c, c->at, "Expected a value, found %s: JSON has no comments.", what);
    case 'N':
    case 'I': return fault(c, c->at, "Expected a value: NaN and Infinity are no JSON numbers.");
    case '+':
    case '.': return fault(c, c->at, "Expected a value: a number begins with a digit or with '-'.");
    case ']':
        if (state == VALUE && c->nframes && !c->frames[c->nframes - 1].is_object)
            return fault(c, c->at, "Expected a value after ',': no comma may stand before ']'.");
    }
    if ((*c->at | 0x20) >= 'a' && (*c->at | 0x20) <= 'z')
        return fault(c, c->at, "Expected a value: the only bare words are true, false and null.");
    return fault(c, c->at, "Expected a value, found %s.", what);
}

static enum rc fault_name(struct checker *c, enum state state)
{
    char word[32];
    const char *what = found(c, c->at, word);
    if (c->at < c->end && *c->at == '}' && state == NAME)
        return fault(c, c->at, "Expected a name after ',': no comma may stand before '}'.");
    return fault(c, c->at, "Expected a name in double quotes%s, found %s.",
                 state == FIRST_NAME ? " or '}'" : "", what);
}

static enum rc fault_separator(struct checker *c)
{
    char word[32];
    const char *what = found(c, c->at, word);
    if (c->frames[c->nframes - 1].is_object)
        return fault(c, c->at, "Expected ',' or '}' after a member, found %s.", what);
    return fault(c, c->at, "Expected ',' or ']' after an element, found %s.", what);
}

/* ---- tokens ---- */

static void skip_space(struct checker *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\r' || *c->at == '\t'))
        c->at++;
}

/* c->at is at the backslash. */
static enum rc check_escape(struct checker *c)
{
    const uint8_t *p = c->at, *end = c->end;
    if (end - p < 2)
        return fault(c, end, "The text ends inside a string.");
    if (p[1] && strchr("\"\\/bfnrt", p[1])) {
        c->at += 2;
        return RC_OK;
    }
    if (p[1] != 'u') {
        char word[32];
        return fault(c, p + 1, "Expected one of \" \\ / b f n r t u after a backslash, found %s.",
                     found(c, p + 1, word));
    }
    int32_t v = json_hex4(p + 2, end);
    if (v < 0)
        return fault(c, p, "Expected four hexadecimal digits after \\u.");
    c->at += 6;
    if (json_is_low_surrogate(v))
        return fault(c, p, "\\u%04x is the second half of a surrogate pair without the first.", (unsigned)v);
    if (!json_is_high_surrogate(v))
        return RC_OK;
    if (end - c->at < 2 || c->at[0] != '\\' || c->at[1] != 'u' ||
        !json_is_low_surrogate(json_hex4(c->at + 2, end)))
        return fault(c, p, "\\u%04x is the first half of a surrogate pair without the second.", (unsigned)v);
    c->at += 6;
    return RC_OK;
}

/* c->at is at the opening quote; behind the closing one afterwards. */
static enum rc check_string(struct checker *c)
{
    c->at++;
    while (c->at < c->end) {
        uint8_t b = *c->at;
        if (b == '"') {
            c->at++;
            return RC_OK;
        }
        if (b == '\\') {
            if (check_escape(c))
                return RC_ERR;
        } else if (b < 0x20) {
            return fault(c, c->at, "The control character 0x%02x must be escaped in a string (as \\u%04x).",
                         b, b);
        } else {
            c->at++;
        }
    }
    return fault(c, c->at, "The text ends inside a string.");
}

static bool skip_digits(struct checker *c)
{
    const uint8_t *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return c->at > start;
}

static enum rc check_number(struct checker *c)
{
    if (*c->at == '-')
        c->at++;
    const uint8_t *first = c->at;
    if (!skip_digits(c))
        return fault(c, c->at, "Expected a digit after '-'.");
    if (*first == '0' && c->at > first + 1)
        return fault(c, first, "A number must not have a leading zero.");
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!skip_digits(c))
            return fault(c, c->at, "Expected a digit after the decimal point.");
    }
    if (c->at < c->end && (*c->at | 0x20) == 'e') {
        c->at++;
        if (c->at < c->end && (*c->at == '+' || *c->at == '-'))
            c->at++;
        if (!skip_digits(c))
            return fault(c, c->at, "Expected a digit in the exponent.");
    }
    return RC_OK;
}

static enum rc check_word(struct checker *c, struct slice word)
{
    if (!slice_starts(slice_of(c->at, (size_t)(c->end - c->at)), word))
        return fault(c, c->at, "Expected a value: the only bare words are true, false and null.");
    c->at += word.len;
    return RC_OK;
}

/* ---- duplicate names ---- */

static bool grow(void *array_at, uint32_t *cap, size_t bytes)
{
    void *old, *new;
    memcpy(&old, array_at, sizeof old);
    uint32_t more = *cap ? *cap * 2 : 16;
    new = reallocarray(old, more, bytes);
    if (!new)
        return false;
    memcpy(array_at, &new, sizeof new);
    *cap = more;
    return true;
}

static struct slice token_of(const struct checker *c, uint32_t at, uint32_t len)
{
    return slice_of(c->text.ptr + at, len);
}

/* The content of a name, borrowed from the text or from c->scratch. */
static bool name_content(struct checker *c, struct slice token, struct slice *out)
{
    if (!memchr(token.ptr, '\\', token.len)) {
        *out = slice_of(token.ptr + 1, token.len - 2);
        return true;
    }
    c->scratch.len = 0;
    if (!json_unescape(token, &c->scratch))
        return false;
    *out = buf_slice(&c->scratch);
    return true;
}

static void slot_fill(struct checker *c, uint32_t member)
{
    uint32_t i = (uint32_t)c->members[member].hash & c->slots_mask;
    while (c->slots[i])
        i = (i + 1) & c->slots_mask;
    c->slots[i] = member + 1;
}

/* Room for one more name at a load of at most one half; all names stand anew, the oldest first. */
static bool slots_reserve(struct checker *c)
{
    if (c->slots && c->nmembers < c->slots_mask / 2)
        return true;
    uint32_t mask = c->slots ? c->slots_mask * 2 + 1 : 63;
    uint32_t *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots)
        return false;
    free(c->slots);
    c->slots = slots;
    c->slots_mask = mask;
    for (uint32_t m = 0; m < c->nmembers; m++)
        slot_fill(c, m);
    return true;
}

static void forget_members(struct checker *c, uint32_t down_to)
{
    while (c->nmembers > down_to) {
        uint32_t i = (uint32_t)c->members[c->nmembers - 1].hash & c->slots_mask;
        while (c->slots[i] != c->nmembers)
            i = (i + 1) & c->slots_mask;
        c->slots[i] = 0;
        c->nmembers--;
    }
}

/* Where the reader is, as a JSON Pointer. */
static bool current_pointer(struct checker *c, struct buf *pointer)
{
    for (uint32_t i = 0; i < c->nframes; i++) {
        const struct frame *f = &c->frames[i];
        struct slice name;
        if (!f->is_object) {
            if (!buf_printf(pointer, "/%u", f->index))
                return false;
        } else if (!name_content(c, token_of(c, f->name_at, f->name_len), &name) ||
                   !json_pointer_push(pointer, name)) {
            return false;
        }
    }
    return true;
}

/* Adds to the fault in c->err where the reader is. */
static enum rc fault_here(struct checker *c, enum problem_code code, const char *detail)
{
    struct buf pointer = {0};
    struct problem *p = NULL;
    if (current_pointer(c, &pointer))
        p = err_problem(c->err, c->arena, code, buf_slice(&pointer));
    buf_release(&pointer);
    if (!p)
        return err_oom(c->err);
    p->detail = slice_str(detail);
    return RC_ERR;
}

static enum rc note_duplicate(struct checker *c, struct slice token)
{
    if (c->duplicate.code)
        return RC_OK;
    /* The token is quoted as it was sent; cut where a character ends. */
    size_t shown = utf8_cut(token, 80).len;
    fault(c, token.ptr, "The name %.*s%s stands twice in one object.", (int)shown, (const char *)token.ptr,
          shown < token.len ? "...\"" : "");
    fault_here(c, PROBLEM_DUPLICATE, "This name stands twice in one object; remove one of the two.");
    if (c->err->code == ERR_NO_MEMORY)
        return RC_ERR;
    c->duplicate = *c->err;
    *c->err = (struct err){0};
    return RC_OK;
}

/* Is member m, whose hash fits, of the innermost object and called `name`? */
static bool is_same_name(struct checker *c, const struct frame *f, uint32_t m, struct slice name, bool *same)
{
    *same = false;
    if (m < f->first_member)
        return true;
    struct slice token = token_of(c, c->members[m].at, c->members[m].len);
    struct buf content = {0};
    bool ok = json_unescape(token, &content);
    *same = ok && slice_eq(buf_slice(&content), name);
    buf_release(&content);
    return ok;
}

static enum rc add_name(struct checker *c, struct slice token)
{
    struct frame *f = &c->frames[c->nframes - 1];
    f->name_at = (uint32_t)(token.ptr - c->text.ptr);
    f->name_len = (uint32_t)token.len;
    struct slice name;
    if (!slots_reserve(c) || !name_content(c, token, &name))
        return err_oom(c->err);
    if (c->nmembers == c->members_cap && !grow(&c->members, &c->members_cap, sizeof *c->members))
        return err_oom(c->err);
    uint64_t hash = hash_bytes(name) + c->nframes * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)hash & c->slots_mask;
    for (; c->slots[i]; i = (i + 1) & c->slots_mask) {
        bool same;
        uint32_t m = c->slots[i] - 1;
        if (c->members[m].hash != hash)
            continue;
        if (!is_same_name(c, f, m, name, &same))
            return err_oom(c->err);
        if (same)
            return note_duplicate(c, token);
    }
    c->members[c->nmembers] = (struct member){.hash = hash, .at = f->name_at, .len = f->name_len};
    c->slots[i] = ++c->nmembers;
    return RC_OK;
}

/* ---- the walk ---- */

static enum rc open_frame(struct checker *c, bool is_object)
{
    if (c->nframes == c->depth_max) {
        err_set(c->err, ERR_TOO_DEEP, "The text is nested more than %u levels deep.", c->depth_max);
        set_position(c, c->at);
        return fault_here(c, PROBLEM_DEPTH, "One level more than may be nested here.");
    }
    if (c->nframes == c->frames_cap && !grow(&c->frames, &c->frames_cap, sizeof *c->frames))
        return err_oom(c->err);
    c->frames[c->nframes++] = (struct frame){.is_object = is_object, .first_member = c->nmembers};
    c->at++;
    return RC_OK;
}

static void close_frame(struct checker *c)
{
    forget_members(c, c->frames[--c->nframes].first_member);
    c->at++;
}

static enum rc check_value(struct checker *c, enum state *state)
{
    uint8_t b = c->at < c->end ? *c->at : 0;
    enum state before = *state;
    *state = SEPARATOR;
    switch (b) {
    case '{': *state = FIRST_NAME; return open_frame(c, true);
    case '[': *state = FIRST_VALUE; return open_frame(c, false);
    case ']':
        if (before != FIRST_VALUE)
            break;
        close_frame(c);
        return RC_OK;
    case '"': return check_string(c);
    case 't': return check_word(c, SLICE("true"));
    case 'f': return check_word(c, SLICE("false"));
    case 'n': return check_word(c, SLICE("null"));
    case '-':
    case '0' ... '9': return check_number(c);
    }
    return fault_value(c, before);
}

static enum rc check_name(struct checker *c, enum state *state)
{
    uint8_t b = c->at < c->end ? *c->at : 0;
    if (b == '}' && *state == FIRST_NAME) {
        close_frame(c);
        *state = SEPARATOR;
        return RC_OK;
    }
    if (b != '"')
        return fault_name(c, *state);
    const uint8_t *start = c->at;
    if (check_string(c) || add_name(c, slice_of(start, (size_t)(c->at - start))))
        return RC_ERR;
    skip_space(c);
    if (c->at == c->end || *c->at != ':') {
        char word[32];
        return fault(c, c->at, "Expected ':' after a name, found %s.", found(c, c->at, word));
    }
    c->at++;
    *state = VALUE;
    return RC_OK;
}

static enum rc check_separator(struct checker *c, enum state *state)
{
    struct frame *f = &c->frames[c->nframes - 1];
    uint8_t b = c->at < c->end ? *c->at : 0;
    if (b == ',') {
        c->at++;
        f->index++;
        *state = f->is_object ? NAME : VALUE;
        return RC_OK;
    }
    if (b != (f->is_object ? '}' : ']'))
        return fault_separator(c);
    close_frame(c);
    return RC_OK;
}

static enum rc check_text(struct checker *c)
{
    enum state state = VALUE;
    do {
        enum rc rc = RC_OK;
        skip_space(c);
        switch (state) {
        case VALUE:
        case FIRST_VALUE: rc = check_value(c, &state); break;
        case NAME:
        case FIRST_NAME: rc = check_name(c, &state); break;
        case SEPARATOR: rc = check_separator(c, &state); break;
        }
        if (rc)
            return rc;
    } while (c->nframes || state != SEPARATOR);
    skip_space(c);
    if (c->at != c->text.ptr + c->text.len)
        return fault(c, c->at, "There is more text behind the JSON value.");
    return RC_OK;
}

enum rc json_check(struct slice text, uint32_t depth_max, struct arena *arena, struct err *err)
{
    assert(text.len < UINT32_MAX);
    text = slice_not_null(text);
    struct checker c = {.text = text, .at = text.ptr, .depth_max = depth_max, .arena = arena, .err = err};
    if (slice_starts(text, SLICE("\xef\xbb\xbf"))) {
        c.end = text.ptr + text.len;
        return fault(&c, text.ptr, "The text begins with a byte order mark; send it without one.");
    }
    c.end = text.ptr + utf8_valid_len(text);
    enum rc rc = check_text(&c);
    if (!rc && c.duplicate.code) {
        *err = c.duplicate;
        rc = RC_ERR;
    }
    free(c.frames);
    free(c.members);
    free(c.slots);
    buf_release(&c.scratch);
    return rc;
}
