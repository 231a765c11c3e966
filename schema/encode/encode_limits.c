/* schema/encode/encode_limits.c - the limits of a type (struct codec_limits) in the encoder's walk. What fits is known by then: in
 * attempts they are not looked at, so that no value goes to another branch of a union, and is no other data, for them. Where
 * the walk stops, the stack says which place in the text it has come to. */
#include "schema/encode/encode.h"

#include "schema/encode/encode_record.h"
#include "schema/json.h"

COLD bool encode_exceeds(struct encode *e, enum problem_code code, uint32_t frames)
{
    if (e->trials)
        return true;
    e->beyond = code;
    e->beyond_frames = frames;
    /* a default that was written too early may be all there is to it */
    return encode_refuse(e, e->has_guessed ? ENCODE_AGAIN : ENCODE_BEYOND);
}

static bool refuse_depth(struct encode *e)
{
    e->was_too_deep = true;
    return encode_refuse(e, ENCODE_MISFIT);
}

/* What is a record in JSON alone does not count. */
static bool is_flat(const struct encode *e, enum frame_kind kind, uint32_t op)
{
    return kind == FRAME_RECORD && e->program->ops[op].flags & OP_FLAG_FLAT;
}

COLD bool encode_may_nest(struct encode *e, enum frame_kind kind, uint32_t op)
{
    if (is_flat(e, kind, op))
        return true;
    if (e->depth >= LIMIT_DATA_DEPTH_MAX)
        return refuse_depth(e);
    bool is_ignored = kind == FRAME_ANY_OBJECT || kind == FRAME_ANY_ARRAY; /* and no part of the record */
    return is_ignored || encode_exceeds(e, PROBLEM_DEPTH, e->codec->frames.n);
}

COLD bool encode_may_fill(struct encode *e, const struct op_filling *filling)
{
    uint32_t depth = e->depth + filling->depth;
    if (depth > LIMIT_DATA_DEPTH_MAX)
        return refuse_depth(e);
    return encode_exceeds(e, depth > e->depth_max ? PROBLEM_DEPTH : PROBLEM_ITEMS, e->codec->frames.n);
}

/* ---- where ---- */

static struct slice last_key(const struct encode *e, const struct frame *f)
{
    const uint8_t *at = e->out + f->block.key;
    uint64_t len = 0;
    unsigned shift = 0;
    do {
        len |= (uint64_t)(*at & 0x7f) << shift;
        shift += 7;
    } while (*at++ & 0x80);
    return slice_of(at, (size_t)(len >> 1));
}

/* The name in the object that is a tag, as it is sent. */
static bool push_tag(const struct encode *e, const struct frame *f, struct buf *pointer)
{
    unsigned flags;
    const uint8_t *name = scan_space(e->text + f->begin + 1) + 1;
    const uint8_t *quote = scan_string(name, e->end, &flags);
    struct buf text = {0};
    bool ok = buf_reserve(&text, (size_t)(quote - name) + 1);
    if (ok) {
        const uint8_t *end = scan_unescape(name, quote, text.ptr);
        ok = json_pointer_push(pointer, slice_of(text.ptr, (size_t)(end - text.ptr)));
    }
    buf_release(&text);
    return ok;
}

/* The token that leads from the frame's value to the one in it that the walk has come to. */
static bool push_frame(const struct encode *e, const struct frame *f, struct buf *pointer)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    switch ((enum frame_kind)f->kind) {
    case FRAME_RECORD: return json_pointer_push(pointer, f->record.field->name);
    case FRAME_ARRAY:
        return json_pointer_push(pointer, slice_of(digits, num_print_u64(f->block.count, digits)));
    case FRAME_MAP: return json_pointer_push(pointer, last_key(e, f));
    case FRAME_TAG: return push_tag(e, f, pointer);
    default: assert(!"limits are looked at neither in attempts nor in what is ignored"); return false;
    }
}

bool encode_note_excess(const struct encode *e, struct arena *arena, struct excess *out)
{
    const struct frame *frames = e->codec->frames.ptr;
    struct buf pointer = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < e->beyond_frames; i++)
        ok = push_frame(e, &frames[i], &pointer);
    *out = (struct excess){.is_met = true, .code = e->beyond};
    ok = ok && arena_copy(arena, buf_slice(&pointer), &out->pointer);
    buf_release(&pointer);
    return ok;
}
