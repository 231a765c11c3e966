/* schema/encode/encode.h - the encoder's state, shared by the files that make it up: encode.c (the walk),
 * encode_limits.c (those of a type), encode_scalar.h (numbers and strings), encode_spelled.h (texts of logical types), encode_union.c (which branch), name_set.h (duplicates), skip.c
 * (values met before their turn) and blocks.c (counts). Inside schema/ only; explain.c and defaults.c call
 * encode_text and encode_fits. */
#ifndef SCHEMA_ENCODE_H
#define SCHEMA_ENCODE_H

#include "schema/encode/name_set.h"
#include "schema/encode/scan.h"
#include "schema/program/program.h"
#include "schema/scratch.h"

enum encode_result {
    ENCODE_FITS,
    ENCODE_MISFIT,        /* the second pass finds out why */
    ENCODE_BEYOND,        /* it may fit, but not the type's limits: encode.beyond, at the top of the stack */
    ENCODE_AGAIN,         /* (within) a field came after its default was written: once more, more carefully */
    ENCODE_TOO_LARGE,     /* beyond LIMIT_RECORD_MAX */
    ENCODE_TOO_MANY,      /* beyond LIMIT_EMPTY_ITEMS_MAX */
    ENCODE_TOO_MUCH_WORK, /* the budget is used up */
    ENCODE_NEEDS_DEFAULT, /* of a field that has not been compiled yet: encode.needed */
    ENCODE_NO_MEMORY,
};

/* What a union's value looks like in the text. */
enum union_mode {
    UNION_FREE,    /* bare or tagged, JSON_PLAIN */
    UNION_TAGGED,  /* always tagged but for null, JSON_AVRO */
    UNION_DEFAULT, /* a schema's default: bare, the first branch that fits */
};

/* How far a record may differ from its fields. Branches of unions are tried with the strictest rules first:
 * without and with defaults, then, with what the type ignores, once more. */
struct encode_rules {
    uint8_t missing, unknown; /* as in struct codec_opts */
};

enum { ENCODE_LEVELS_MAX = 5 };

/* What is done more than once for a byte of the text is paid for out of encode.budget, about a nanosecond a
 * unit. */
enum {
    COST_FILL = 8,      /* to write a default or zero */
    COST_SPAN = 1,      /* to keep a place for a field's value */
    COST_BRANCH = 4,    /* to look at a union's branch */
    COST_LOOKUP = 16,   /* to look a name up in a record's or enum's table */
    COST_VALUE = 16,    /* to begin a value within an attempt */
    COST_ATTEMPT = 32,  /* to begin an attempt */
    COST_SPELLED = 64,  /* to see whether a branch takes a text */
    COST_KEY = 48,      /* to see whether a key stands twice */
    COST_MEMO = 12,     /* to ask the memo, or to put in */
    COST_MEMO_FAR = 100 /* when it does not fit the processor's cache any more */
};

struct text_span {
    uint32_t begin, end; /* offsets into the text; end 0: none */
};

/* An array's or map's count that did not fit the byte left for it. */
struct block {
    uint32_t at; /* offset of that byte from where the datum begins */
    uint32_t count;
};

enum frame_kind {
    FRAME_RECORD,
    FRAME_ARRAY,
    FRAME_MAP,
    FRAME_ANY_OBJECT,
    FRAME_ANY_ARRAY,
    FRAME_TAG,
    FRAME_TRY
};

enum { TRY_STEPS_MAX = ENCODE_LEVELS_MAX + 1, TRY_TAG = 0xff };

/* What the encoder is inside of. Offsets are from the beginning of the text or of the datum. */
struct frame {
    uint8_t kind;
    bool is_closed;    /* record: its text is read, only fields that came too early or not at all are left */
    bool is_off_field; /* record: the member just read was no field in its turn */
    uint32_t op;       /* the record, array, map, or (try) union; PROGRAM_NONE for JSON of no type */
    uint32_t begin;    /* where the value begins in the text */
    struct name_scope names; /* whose bytes are in the output or in codec.name_text */
    uint32_t name_text;      /* codec.name_text.len at the beginning */
    union {
        struct {
            const struct op_field *field, *fields, *fields_end; /* whose turn it is */
            const uint8_t
                *resume;    /* where to go on in the text after a value that had come too early; NULL */
            uint32_t spans; /* in codec.spans, one for each field; PROGRAM_NONE: none yet */
        } record;
        struct {
            uint32_t items; /* instruction of items or values */
            uint32_t out;   /* where the count's byte is */
            uint32_t count;
            uint32_t key; /* map: where the last key is in the output */
        } block;
        struct {
            uint32_t out, blocks, deepest, most_items; /* how far the output had come */
            uint64_t empty_items;
            uint32_t branch;    /* to try next */
            uint32_t found;     /* the branch that fits, PROGRAM_NONE */
            uint32_t tag;       /* the branch that the only member names, PROGRAM_NONE */
            uint32_t tag_value; /* where that member's value begins */
            uint8_t level;      /* the rules outside */
            uint8_t step, nsteps;
            uint8_t steps[TRY_STEPS_MAX + 1]; /* levels, or TRY_TAG */
        } attempt;
    };
};

struct encode {
    struct codec *codec;
    const struct program *program;
    const uint8_t *text, *p, *end; /* all of the text (from its first byte on); where the walk is */
    uint32_t op;                   /* of the value to encode next; PROGRAM_NONE: any JSON, not written */
    uint8_t *out, *o,
        *out_limit;    /* where the datum begins, its end, and up to where OUT_SLACK more bytes fit */
    struct buf *buf;   /* the caller's */
    size_t out_before; /* buf's length before */
    enum union_mode mode;
    uint8_t level, nlevels;
    struct encode_rules levels[ENCODE_LEVELS_MAX];
    uint32_t depth_outside;        /* as in struct encode_job */
    uint32_t depth, deepest;       /* records, arrays and maps around p; the most there were */
    uint32_t most_items;           /* written, of one array or map */
    uint32_t depth_max, items_max; /* the type's limits */
    enum problem_code beyond;      /* ENCODE_BEYOND: DEPTH or ITEMS ... */
    uint32_t beyond_frames;        /* ... of the value that so many frames lead to */
    uint32_t trials;               /* attempts around p: what is written there is thrown away */
    uint32_t memo_begin, memo_end; /* the outermost value that was tried: what the memo knows is about it */
    uint32_t ends_hint;            /* where the last look into codec.ends hit */
    uint64_t empty_items;          /* written, of arrays: they take no bytes */
    int64_t budget;                /* work that may still be done beyond reading each byte once or twice */
    bool careful;     /* fields that are out of order are waited for, even where they have a default */
    bool has_guessed; /* a default was written before the record's end */
    bool was_too_deep, was_later_branch;
    bool too_large_in_trial;
    enum encode_result result; /* why a step failed */
    uint32_t needed;           /* ENCODE_NEEDS_DEFAULT: index into program.fields */
    uint64_t steps;            /* values looked at, for tests of linearity */
};

/* The first place where a text that may fit goes beyond the type's limits. */
struct excess {
    bool is_met;
    enum problem_code code; /* DEPTH or ITEMS */
    struct slice pointer;   /* in the arena */
};

struct encode_job {
    const struct program *program;
    uint32_t op;
    enum union_mode mode;
    struct encode_rules rules;
    uint32_t depth; /* records, arrays and maps around the text */
    int64_t budget; /* of work; encode.budget tells what is left of it */
    struct codec_limits limits;
    struct excess excess; /* what the fast pass has met */
};

/* The fast pass: append the datum to `out`; on anything but ENCODE_FITS `out` is back at its old length. `e`
 * is filled and keeps its flags for the caller; what was tried stays in memory for encode_fits, until
 * encode_trim. */
MUST_USE enum encode_result encode_text(struct encode *e, struct codec *, const struct encode_job *,
                                        struct slice json, struct buf *out);

/* Only make ready for encode_fits: the text, which json_check has passed, is not encoded, but where its
 * brackets end is looked up once for skip_value. */
MUST_USE enum encode_result encode_prepare(struct encode *e, struct codec *, const struct encode_job *,
                                           struct slice json, struct buf *out);

/* Whether the value that begins at `value` in the prepared text would fit op, with the rules of `level`,
 * `depth` levels down. Nothing is kept but what it remembers. FITS, MISFIT, TOO_MUCH_WORK or NO_MEMORY. */
MUST_USE enum encode_result encode_fits(struct encode *e, uint32_t op, const uint8_t *value, uint32_t depth,
                                        uint8_t level);

/* Give back what one large body needed. After encode_text, and after the last encode_fits. */
void encode_trim(struct codec *);

/* ---- between the encoder's files ---- */

enum { OUT_SLACK = 32 };

enum step {
    STEP_VALUE, /* e->op is to be encoded at e->p */
    STEP_DONE,  /* a value is complete: on with what is around it */
    STEP_FAIL,  /* e->result says why */
};

/* Room for `bytes` and OUT_SLACK more. False: e->result says why not. */
MUST_USE bool encode_grow(struct encode *e, size_t bytes);

static inline MUST_USE bool encode_room(struct encode *e, size_t bytes)
{
    return likely(e->out_limit - e->o >= (ptrdiff_t)bytes) || encode_grow(e, bytes);
}

/* NULL with e->result set: memory is out. kind and op as given, begin from e->p, all else zero. */
struct frame *encode_push(struct encode *e, enum frame_kind kind, uint32_t op);
/* Leave the top frame, whatever became of it. */
void encode_pop(struct encode *e);

static inline void encode_pay(struct encode *e, size_t cost)
{
    e->budget -= (int64_t)cost;
}

/* Within an attempt: for a token that is read once more. */
static inline void encode_pay_token(struct encode *e, size_t bytes)
{
    if (unlikely(e->trials))
        encode_pay(e, bytes / 2);
}

static inline enum step encode_fail(struct encode *e, enum encode_result why)
{
    e->result = why;
    return STEP_FAIL;
}

static inline struct frame *encode_top(const struct encode *e)
{
    return (struct frame *)e->codec->frames.ptr + e->codec->frames.n - 1;
}

static inline uint32_t encode_at(const struct encode *e, const uint8_t *p)
{
    return (uint32_t)(p - e->text);
}

/* Avro's variable-length integer, after zig-zag; room for 10 bytes. */
static inline uint8_t *encode_varint(uint8_t *o, uint64_t v)
{
    while (v >= 0x80) {
        *o++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *o++ = (uint8_t)v;
    return o;
}

static inline uint64_t encode_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline enum step encode_next(struct encode *e, const uint8_t *p, uint32_t op)
{
    e->p = p;
    e->op = op;
    return STEP_VALUE;
}

/* A container is complete, p is behind it: leave its frame. */
enum step encode_close(struct encode *e, const uint8_t *p);

/* False, with the reason noted. */
bool encode_refuse(struct encode *e, enum encode_result why);

/* p: behind a name. At what stands behind the colon, or NULL. */
static inline const uint8_t *encode_pass_colon(const struct encode *e, const uint8_t *p)
{
    if (p == e->end)
        return NULL;
    p = scan_space(p);
    return *p == ':' ? p + 1 : NULL;
}

/* encode_limits.c: the value that so many frames lead to goes beyond a limit of the type. True in an attempt, where that does
 * not matter: which branch a value belongs to is no question of limits. Else false, with e->result set. */
MUST_USE bool encode_exceeds(struct encode *e, enum problem_code code, uint32_t frames);
/* One level more than the type's limit, or any record's, allows: a container may begin nevertheless, if it is no level in
 * binary. False with e->result set. */
MUST_USE bool encode_may_nest(struct encode *e, enum frame_kind kind, uint32_t op);
/* May what stands for the field be put in? False with e->result set. */
MUST_USE bool encode_may_fill(struct encode *e, const struct op_filling *);
/* Note what encode_text has stopped at. False: memory is out. */
MUST_USE bool encode_note_excess(const struct encode *e, struct arena *, struct excess *out);

/* encode_member.c: JSON of no type */
enum step any_open(struct encode *e, const uint8_t *p);
enum step any_resume(struct encode *e, struct frame *);

/* encode_union.c */
enum step union_open(struct encode *e, const uint8_t *p);     /* a union's value begins at p */
enum step union_resume_tag(struct encode *e);                 /* a tagged value is complete */
enum step union_resume_try(struct encode *e, struct frame *); /* an attempt fits */
enum step union_next_try(struct encode *e, struct frame *);   /* an attempt failed */

/* memo.c: what became of (place in the text, instruction, level). 0: not known. */
enum { MEMO_UNKNOWN, MEMO_MISFIT, MEMO_FITS /* from here on: a union's branch and form, added */ };
uint32_t memo_get(struct encode *e, uint32_t begin, uint32_t op, uint8_t level);
/* False with e->result set: memory is out, or there is too much to remember. */
MUST_USE bool memo_put(struct encode *e, uint32_t begin, uint32_t op, uint8_t level, uint32_t what);
/* Attempts are about to be made at the value [begin, end). Unless it is inside the last such value, what is
 * known of that one is forgotten. */
void memo_enter(struct encode *e, uint32_t begin, uint32_t end);
/* Forget all, and give back what one large body needed. */
void memo_forget(struct codec *);

/* skip.c: behind the JSON value at p, checked but for duplicate names; NULL with e->result set. What is
 * inside is remembered, so that no bracket is looked for twice. */
const uint8_t *skip_value(struct encode *e, const uint8_t *p);

/* blocks.c: write the counts that were left out, moving each byte once at most. */
MUST_USE bool blocks_finish(struct encode *e);
/* Close the array or map whose count's byte is at offset `at`. Room for 1 byte. */
MUST_USE bool blocks_close(struct encode *e, uint32_t at, uint32_t count);

#endif
