/* schema/edit/edit_pointer.c - see edit_pointer.h. */
#include "schema/edit/edit_pointer.h"

#include "base/num.h"
#include "schema/edit/edit_faults.h"

enum { ENTRIES_PER_UNIT = 2 }; /* keys that are compared */

bool pointer_is_valid(struct slice text)
{
    if (text.len && text.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '~' && (i + 1 == text.len || (text.ptr[i + 1] != '0' && text.ptr[i + 1] != '1')))
            return false;
    return true;
}

/* What is escaped can be spelled in one way only, so texts can be compared. */
bool pointer_is_inside(struct slice pointer, struct slice outer)
{
    return pointer.len > outer.len && slice_starts(pointer, outer) && pointer.ptr[outer.len] == '/';
}

/* Of what stands behind the slash, undone. False: memory is out. */
static bool unescape(struct slice raw, struct buf *scratch, struct slice *out)
{
    *out = raw;
    if (!memchr(slice_not_null(raw).ptr, '~', raw.len))
        return true;
    scratch->len = 0;
    if (!buf_reserve(scratch, raw.len))
        return false;
    for (size_t i = 0; i < raw.len; i++) {
        uint8_t c = raw.ptr[i];
        if (c == '~')
            c = raw.ptr[++i] == '0' ? '~' : '/';
        scratch->ptr[scratch->len++] = c;
    }
    *out = buf_slice(scratch);
    return true;
}

static COLD enum rc nothing(struct slice token, const char *why, struct err *err)
{
    char name[FAULT_NAME_BYTES];
    return err_set(err, ERR_NOT_APPLICABLE, "The path leads nowhere at \"%s\": %s.", fault_name(token, name),
                   why);
}

/* RFC 6901, section 4: digits, without leading zeros. */
static bool read_index(struct slice token, uint32_t max, uint32_t *out)
{
    uint64_t n;
    if (!token.len || (token.len > 1 && token.ptr[0] == '0') || !num_parse_decimal(token, max, &n))
        return false;
    *out = (uint32_t)n;
    return true;
}

static enum rc in_array(struct slice token, bool adds, struct spot *s, struct err *err)
{
    const struct value *array = s->holder;
    if (adds && slice_eq(token, SLICE("-"))) {
        s->index = array->nparts;
        return RC_OK;
    }
    if (!read_index(token, UINT32_MAX, &s->index))
        return nothing(token, "an array's items have indexes", err);
    if (s->index >= array->nparts + adds)
        return nothing(token, "the array is shorter", err);
    s->value = adds ? NULL : array->part[s->index];
    return RC_OK;
}

static enum rc in_map(struct datum *d, struct slice token, bool adds, bool many, struct spot *s,
                      struct err *err)
{
    if (many && value_index(d, s->holder, err) != RC_OK)
        return RC_ERR;
    if (!s->holder->index && datum_pay(d, s->holder->nparts / ENTRIES_PER_UNIT, err) != RC_OK)
        return RC_ERR;
    s->key = token;
    s->value = value_entry(s->holder, token);
    return s->value || adds ? RC_OK : nothing(token, "the map has no such key", err);
}

static enum rc in_union(const struct datum *d, const struct op *op, struct slice token, struct spot *s,
                        struct err *err)
{
    const struct op_branch *branch = &d->program->branches[op->a + s->holder->branch];
    s->value = s->holder->part[0];
    if (d->program->ops[branch->op].code == OP_NULL)
        return nothing(token, "before it stands null", err);
    return slice_eq(token, branch->tag) ? RC_OK : nothing(token, "the union's value bears another tag", err);
}

enum rc pointer_enter(struct datum *d, struct value **v, struct err *err)
{
    const struct op *op = &d->program->ops[(*v)->op];
    if (op->code != OP_UNION)
        return RC_OK;
    if (value_open(d, *v, err) != RC_OK)
        return RC_ERR;
    if (op->flags & OP_FLAG_SINGLE && (*v)->branch == op->single_branch)
        *v = (*v)->part[0];
    return RC_OK;
}

/* From a value to what the token names in it. */
static enum rc step(struct datum *d, struct value *v, struct slice token, bool adds, bool many,
                    struct spot *s, struct err *err)
{
    if (pointer_enter(d, &v, err) != RC_OK || value_open(d, v, err) != RC_OK)
        return RC_ERR;
    const struct op *op = &d->program->ops[v->op];
    *s = (struct spot){.holder = v};
    switch ((enum opcode)op->code) {
    case OP_RECORD:
        s->value = value_field(d, v, token);
        return s->value ? RC_OK : nothing(token, "the record has no such field", err);
    case OP_ARRAY: return in_array(token, adds, s, err);
    case OP_MAP: return in_map(d, token, adds, many, s, err);
    case OP_UNION: return in_union(d, op, token, s, err);
    default: return nothing(token, "before it stands a value without parts", err);
    }
}

enum rc pointer_find(struct datum *d, struct slice pointer, enum pointer_use use, bool many, struct buf *name,
                     struct spot *s, struct err *err)
{
    *s = (struct spot){.value = &d->root};
    while (pointer.len) {
        struct slice rest = slice_of(pointer.ptr + 1, pointer.len - 1), token;
        const uint8_t *slash = memchr(rest.ptr, '/', rest.len);
        struct slice raw = slice_of(rest.ptr, slash ? (size_t)(slash - rest.ptr) : rest.len);
        bool is_last = raw.len == rest.len;
        if (!unescape(raw, name, &token))
            return err_oom(err);
        if (step(d, s->value, token, use == POINTER_ADDS && is_last, many, s, err) != RC_OK)
            return RC_ERR;
        pointer = slice_of(rest.ptr + raw.len, rest.len - raw.len);
    }
    return RC_OK;
}
