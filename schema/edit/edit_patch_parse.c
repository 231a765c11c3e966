/* schema/edit/edit_patch_parse.c - the document of a JSON Patch (RFC 6902, sections 3 and 4), made into operations. */
#include "base/limits.h"
#include "schema/edit/edit_faults.h"
#include "schema/edit/edit_patch.h"
#include "schema/edit/edit_pointer.h"
#include "schema/json_members.h"

/* The members of an operation's object that count; others are ignored (section 4). Empty: not there. */
enum member { MEMBER_OP, MEMBER_PATH, MEMBER_FROM, MEMBER_VALUE, MEMBER_BY, MEMBERS };
static const struct slice member_names[MEMBERS] = {
    {(const uint8_t *)"op", 2},    {(const uint8_t *)"path", 4}, {(const uint8_t *)"from", 4},
    {(const uint8_t *)"value", 5}, {(const uint8_t *)"by", 2},
};

static void read_members(struct slice object, struct slice member[MEMBERS])
{
    struct json_walk w = json_walk_of(object);
    memset(member, 0, MEMBERS * sizeof *member);
    while (json_walk_next(&w))
        for (unsigned i = 0; i < MEMBERS; i++)
            if (json_token_is(w.name, member_names[i])) {
                member[i] = json_walk_value(&w);
                break;
            }
}

static bool is_kind(struct slice json, enum json_kind kind)
{
    return json.len && json_kind(json) == kind;
}

/* A string's content, which stays. */
static enum rc read_string(struct slice token, struct arena *arena, struct slice *out, struct err *err)
{
    struct buf scratch = {0};
    bool ok = json_token_text(token, &scratch, out);
    if (ok && scratch.len)
        ok = arena_copy(arena, *out, out);
    buf_release(&scratch);
    return ok ? RC_OK : err_oom(err);
}

static enum rc read_pointer(struct slice token, const char *name, struct arena *arena, struct slice *out,
                            struct err *err)
{
    char shown[FAULT_NAME_BYTES];
    if (!is_kind(token, JSON_IS_STRING))
        return err_set(err, ERR_BAD_PATCH, "An operation needs \"%s\", a JSON Pointer as a string.", name);
    if (read_string(token, arena, out, err) != RC_OK)
        return RC_ERR;
    if (pointer_is_valid(*out))
        return RC_OK;
    return err_set(
        err, ERR_BAD_PATCH,
        "\"%s\" is \"%s\", which is no JSON Pointer: it is empty or begins with /, and ~ stands in ~0 and "
        "~1 only.",
        name, fault_name(*out, shown));
}

static COLD enum rc unknown_kind(struct slice name, struct err *err)
{
    char shown[FAULT_NAME_BYTES], list[128] = "";
    size_t n = 0;
    const struct patch_kind *kind;
    for (unsigned i = 0; (kind = patch_kind_at(i)); i++) {
        if (n + kind->name.len + 3 > sizeof list)
            break;
        if (i) {
            memcpy(list + n, ", ", 2);
            n += 2;
        }
        memcpy(list + n, kind->name.ptr, kind->name.len);
        n += kind->name.len;
    }
    return err_set(err, ERR_BAD_PATCH, "There is no operation \"%s\"; these are: %.*s.",
                   fault_name(name, shown), (int)n, list);
}

static enum rc read_kind(struct slice token, struct arena *arena, const struct patch_kind **out,
                         struct err *err)
{
    struct slice name;
    if (!is_kind(token, JSON_IS_STRING))
        return err_set(err, ERR_BAD_PATCH, "An operation needs \"op\", a string.");
    if (read_string(token, arena, &name, err) != RC_OK)
        return RC_ERR;
    *out = patch_kind_of(name);
    return *out ? RC_OK : unknown_kind(name, err);
}

static bool is_integer(struct slice text)
{
    struct slice digits = text.len && text.ptr[0] == '-' ? slice_of(text.ptr + 1, text.len - 1) : text;
    for (size_t i = 0; i < digits.len; i++)
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
    return digits.len == 1 || (digits.len > 1 && digits.ptr[0] != '0');
}

/* Where longs are digits in a string, this may be, too: who reads them so has no other numbers of 64 bits. */
static enum rc read_by(struct slice token, enum json_form form, struct arena *arena, struct slice *out,
                       struct err *err)
{
    *out = token;
    if (is_kind(token, JSON_IS_NUMBER))
        return RC_OK;
    if (form & JSON_INT64 && is_kind(token, JSON_IS_STRING)) {
        if (read_string(token, arena, out, err) != RC_OK)
            return RC_ERR;
        if (is_integer(*out))
            return RC_OK;
    }
    return err_set(err, ERR_BAD_PATCH, "increment needs \"by\", a number.");
}

static enum rc read_rest(struct patch_operation *o, const struct slice member[MEMBERS], enum json_form form,
                         struct arena *arena, struct err *err)
{
    switch (o->kind->needs) {
    case PATCH_NEEDS_NOTHING: return RC_OK;
    case PATCH_NEEDS_VALUE:
        o->value = member[MEMBER_VALUE];
        return o->value.len ? RC_OK : err_set(err, ERR_BAD_PATCH, "This operation needs \"value\".");
    case PATCH_NEEDS_BY: return read_by(member[MEMBER_BY], form, arena, &o->value, err);
    case PATCH_NEEDS_FROM: break;
    }
    if (read_pointer(member[MEMBER_FROM], "from", arena, &o->from, err) != RC_OK)
        return RC_ERR;
    if (o->kind->takes_out && pointer_is_inside(o->path, o->from))
        return err_set(err, ERR_BAD_PATCH,
                       "Nothing can be moved into itself: \"path\" is inside of \"from\".");
    return RC_OK;
}

static enum rc read_operation(struct patch_operation *o, struct slice json, enum json_form form,
                              struct arena *arena, struct err *err)
{
    struct slice member[MEMBERS];
    if (json_kind(json) != JSON_IS_OBJECT)
        return err_set(err, ERR_BAD_PATCH, "An operation is an object.");
    read_members(json, member);
    *o = (struct patch_operation){0};
    if (read_kind(member[MEMBER_OP], arena, &o->kind, err) != RC_OK ||
        read_pointer(member[MEMBER_PATH], "path", arena, &o->path, err) != RC_OK ||
        read_rest(o, member, form, arena, err) != RC_OK)
        return RC_ERR;
    return RC_OK;
}

enum rc patch_parse(struct edit_patch *e, struct slice json, struct arena *arena, struct err *err)
{
    if (json_kind(json) != JSON_IS_ARRAY)
        return err_set(err, ERR_BAD_PATCH, "A JSON Patch is an array of operations.");
    enum json_form form = e->base.opts ? e->base.opts->form : JSON_PLAIN;
    uint32_t n = 0;
    for (struct json_walk w = json_walk_of(json); json_walk_next(&w);)
        n++;
    if (n > LIMIT_PATCH_OPERATIONS_MAX)
        return err_set(err, ERR_BAD_PATCH, "The patch has %u operations; the limit is %d.", n,
                       LIMIT_PATCH_OPERATIONS_MAX);
    e->operation = arena_alloc(arena, n * sizeof *e->operation);
    if (!e->operation)
        return err_oom(err);
    for (struct json_walk w = json_walk_of(json); json_walk_next(&w); e->n++) {
        if (read_operation(&e->operation[e->n], json_walk_value(&w), form, arena, err) == RC_OK)
            continue;
        if (err->code == ERR_BAD_PATCH)
            err->operation = e->n + 1;
        return RC_ERR;
    }
    return RC_OK;
}
