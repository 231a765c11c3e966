/* schema/model/normal.c - writes schemas: the normal form by which two texts are the same schema, and an entry of a
 * union as a text of its own. Definitions stand where a type appears first, references are full names. */
#include <assert.h>

#include "base/limits.h"
#include "schema/json.h"
#include "schema/model/parse.h"

/* What is being written. */
enum part { PART_DEFINITION, PART_FIELDS, PART_FIELD, PART_UNION };

struct write_frame {
    enum part part;
    const struct type *type; /* a field: its record */
    json_t *json;
    size_t next, count;
    size_t members;         /* definition, field: where its members begin in writer.members (bytes) */
    uint32_t field;         /* field: which */
    uint32_t depth;         /* records, arrays and maps around and including */
    struct slice namespace; /* for names inside */
    bool comma;             /* something stands before */
};

struct writer {
    struct parser *p;
    bool standalone; /* else the normal form */
    struct buf frames, members;
    struct buf *out;
};

static bool is_named(const struct type *t)
{
    return t->kind == TYPE_RECORD || t->kind == TYPE_ENUM || t->kind == TYPE_FIXED;
}

static enum tree_order order_of(const struct writer *w)
{
    return w->standalone ? TREE_AS_WRITTEN : TREE_SORTED;
}

static bool put(struct writer *w, struct slice s)
{
    return buf_append(w->out, s);
}

static bool put_name(struct writer *w, struct slice name)
{
    return json_quote(name, w->out);
}

/* ---- beginnings ---- */

static bool push(struct writer *w, struct write_frame f)
{
    f.members = w->members.len;
    if (f.part == PART_DEFINITION || f.part == PART_FIELD) {
        f.count = json_object_size(f.json);
        if (!tree_members(f.json, order_of(w), &w->members))
            return false;
    } else {
        f.count = json_array_size(f.json);
    }
    bool is_array = f.part == PART_FIELDS || f.part == PART_UNION;
    return buf_append(&w->frames, slice_of(&f, sizeof f)) && buf_append_byte(w->out, is_array ? '[' : '{');
}

static bool push_definition(struct writer *w, const struct type *t, json_t *json,
                            const struct write_frame *around)
{
    bool nests = t->kind == TYPE_RECORD || t->kind == TYPE_ARRAY || t->kind == TYPE_MAP;
    struct write_frame f = {.part = PART_DEFINITION, .type = t, .json = json, .depth = around->depth + nests};
    f.namespace = is_named(t) ? name_namespace(t->fullname) : around->namespace;
    if (f.depth > LIMIT_SCHEMA_DEPTH_MAX) {
        parse_fault(w->p, PROBLEM_DEPTH, t->place, NULL, NULL,
                    "With all types that it uses defined inside, the entry is nested more than %d deep.",
                    LIMIT_SCHEMA_DEPTH_MAX);
        w->p->stop = w->p->stop ? w->p->stop : STOP_TOO_DEEP;
        return true;
    }
    if (!push(w, f))
        return false;
    /* A name without dots would otherwise be taken into the namespace around it. */
    if (!w->standalone || !is_named(t) || f.namespace.len || !around->namespace.len)
        return true;
    struct write_frame *top = (struct write_frame *)(w->frames.ptr + w->frames.len - sizeof f);
    top->comma = true;
    return put(w, SLICE("\"namespace\":\"\""));
}

/* A type that is defined already. */
static bool put_reference(struct writer *w, const struct type *t, const struct write_frame *around)
{
    if (w->standalone && around->namespace.len && !name_namespace(t->fullname).len) {
        parse_fault(
            w->p, PROBLEM_NAME, t->place, "a type with a namespace", NULL,
            "The entry cannot be a schema of its own: %s is of the null namespace and is used again inside "
            "the namespace %s, where it cannot be named; give it a namespace.",
            parse_quote(w->p, t->fullname), parse_quote(w->p, around->namespace));
    }
    return put_name(w, t->fullname);
}

/* An object that refers to a type by name and has attributes of its own. */
static bool put_reference_object(struct writer *w, const struct type *t, json_t *json,
                                 const struct write_frame *around)
{
    bool ok = buf_append_byte(w->out, '{');
    size_t start = w->members.len;
    ok = ok && tree_members(json, order_of(w), &w->members);
    for (size_t at = start; ok && at < w->members.len; at += sizeof(struct tree_member)) {
        struct tree_member m;
        memcpy(&m, w->members.ptr + at, sizeof m);
        ok = (at == start || buf_append_byte(w->out, ',')) && tree_print_name(m.name, w->out) &&
             buf_append_byte(w->out, ':') &&
             (strcmp(m.name, "type") == 0 ? put_reference(w, t, around)
                                          : tree_print(m.value, order_of(w), w->out));
    }
    w->members.len = start;
    return ok && buf_append_byte(w->out, '}');
}

/* The schema `json`, which the parser found to be type t. What has parts is finished by later steps. */
static bool put_type(struct writer *w, const struct type *t, json_t *json, const struct write_frame *around)
{
    if (t->kind == TYPE_UNION) {
        struct write_frame f = {.part = PART_UNION, .type = t, .json = json, .depth = around->depth};
        f.namespace = around->namespace;
        return push(w, f);
    }
    if (!is_named(t)) {
        if (json_is_object(json) && json_object_size(json) > 1)
            return push_definition(w, t, json, around);
        return put_name(w, slice_str(type_kind_name(t->kind)));
    }
    struct type_info *info = &w->p->types[t->number];
    if (!info->written) {
        info->written = true;
        return push_definition(w, t, info->source, around);
    }
    /* Of an entry, the place where a type was defined may come after its first use. */
    bool has_attributes = json != info->source && json_is_object(json) && json_object_size(json) > 1;
    return has_attributes ? put_reference_object(w, t, json, around) : put_reference(w, t, around);
}

/* ---- members ---- */

static bool put_aliases(struct writer *w, const struct slice *aliases, size_t n)
{
    bool ok = buf_append_byte(w->out, '[');
    for (size_t i = 0; ok && i < n; i++)
        ok = (!i || buf_append_byte(w->out, ',')) && put_name(w, aliases[i]);
    return ok && buf_append_byte(w->out, ']');
}

/* Says nothing that its absence would not say. */
static bool is_idle(const struct writer *w, const struct write_frame *f, const struct tree_member *m)
{
    bool is_definition = f->part == PART_DEFINITION;
    if (is_definition && is_named(f->type) && strcmp(m->name, "namespace") == 0)
        return true;
    if (w->standalone)
        return false;
    if (strcmp(m->name, "aliases") == 0 && (!is_definition || is_named(f->type)))
        return json_array_size(m->value) == 0;
    return !is_definition && strcmp(m->name, "order") == 0 &&
           slice_eq(tree_string(m->value), SLICE("ascending"));
}

static bool put_definition_value(struct writer *w, const struct write_frame *f, const struct tree_member *m)
{
    const struct type *t = f->type;
    if (strcmp(m->name, "type") == 0)
        return put_name(w, slice_str(type_kind_name(t->kind)));
    if (is_named(t) && strcmp(m->name, "name") == 0)
        return put_name(w, t->fullname);
    if (is_named(t) && strcmp(m->name, "aliases") == 0)
        return put_aliases(w, t->aliases, t->naliases);
    if (t->kind == TYPE_RECORD && strcmp(m->name, "fields") == 0) {
        struct write_frame fields = {.part = PART_FIELDS, .type = t, .json = m->value, .depth = f->depth};
        fields.namespace = f->namespace;
        return push(w, fields);
    }
    if (t->kind == TYPE_ARRAY && strcmp(m->name, "items") == 0)
        return put_type(w, t->items, m->value, f);
    if (t->kind == TYPE_MAP && strcmp(m->name, "values") == 0)
        return put_type(w, t->values, m->value, f);
    return tree_print(m->value, order_of(w), w->out);
}

static bool put_member(struct writer *w, const struct write_frame *f, const struct tree_member *m)
{
    if ((f->comma && !buf_append_byte(w->out, ',')) || !tree_print_name(m->name, w->out) ||
        !buf_append_byte(w->out, ':'))
        return false;
    if (f->part == PART_DEFINITION)
        return put_definition_value(w, f, m);
    if (strcmp(m->name, "type") == 0)
        return put_type(w, f->type->record.fields[f->field].type, m->value, f);
    return tree_print(m->value, order_of(w), w->out);
}

static bool put_element(struct writer *w, const struct write_frame *f, size_t i)
{
    json_t *json = json_array_get(f->json, i);
    if (i && !buf_append_byte(w->out, ','))
        return false;
    if (f->part == PART_UNION)
        return put_type(w, f->type->branches.branches[i], json, f);
    struct write_frame field = {.part = PART_FIELD, .type = f->type, .json = json, .field = (uint32_t)i};
    field.depth = f->depth;
    field.namespace = f->namespace;
    return push(w, field);
}

/* ---- the walk ---- */

static bool step(struct writer *w)
{
    struct write_frame f;
    size_t top = w->frames.len - sizeof f;
    memcpy(&f, w->frames.ptr + top, sizeof f);
    bool is_array = f.part == PART_FIELDS || f.part == PART_UNION;
    if (f.next == f.count) {
        w->frames.len = top;
        w->members.len = f.members;
        return buf_append_byte(w->out, is_array ? ']' : '}');
    }
    struct write_frame now = f;
    struct tree_member m;
    bool idle = false;
    if (!is_array) {
        memcpy(&m, w->members.ptr + f.members + f.next * sizeof m, sizeof m);
        idle = is_idle(w, &f, &m);
        f.comma |= !idle;
    }
    f.next++;
    memcpy(w->frames.ptr + top, &f, sizeof f); /* before the part, which may push a frame and move them all */
    if (idle)
        return true;
    return is_array ? put_element(w, &now, now.next) : put_member(w, &now, &m);
}

static enum rc write_schema(struct writer *w, struct type *root, json_t *source)
{
    for (uint32_t i = 0; i < w->p->ntypes; i++)
        w->p->types[i].written = false;
    struct write_frame outside = {.part = PART_UNION};
    bool ok = put_type(w, root, source, &outside);
    while (ok && w->frames.len && !w->p->stop && w->out->len <= LIMIT_FULL_TEXT_MAX)
        ok = step(w);
    if (w->out->len > LIMIT_FULL_TEXT_MAX)
        parse_fault(w->p, PROBLEM_SIZE, NULL, "shorter names or fewer uses of them", NULL,
                    "Written with full names the schema takes more than %d bytes.", LIMIT_FULL_TEXT_MAX);
    buf_release(&w->frames);
    buf_release(&w->members);
    return parse_ok(w->p, ok) ? RC_OK : err_oom(w->p->err);
}

enum rc normal_form(struct parser *p, struct type *root, json_t *source, struct buf *out)
{
    struct writer w = {.p = p, .out = out};
    return write_schema(&w, root, source);
}

enum rc normal_standalone(struct parser *p, struct type *root, json_t *source, struct buf *out)
{
    struct writer w = {.p = p, .standalone = true, .out = out};
    return write_schema(&w, root, source);
}
