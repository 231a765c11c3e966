/* schema/model/parse_types.c - the walk over the tree that makes the graph of types. A stack of frames in place of
 * recursion: each is a record, array, map or union whose parts are being read. Source: Avro 1.12
 * specification, "Schema Declaration". */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "schema/model/parse.h"

struct frame {
    struct frame *up;
    struct type *type;
    json_t *parts;           /* fields, branches, or the one inner schema */
    uint32_t next, count;    /* parts */
    uint32_t depth;          /* records, arrays and maps, this one included */
    struct slice namespace;  /* for names inside */
    struct name_table names; /* record: its fields */
};

/* ---- types and frames ---- */

static struct type *new_type(struct parser *p, enum type_kind kind, json_t *source, const struct place *at)
{
    if (p->ntypes == p->types_cap) {
        uint32_t cap = p->types_cap ? p->types_cap * 2 : 32;
        struct type_info *more = reallocarray(p->types, cap, sizeof *more);
        if (!parse_ok(p, more))
            return NULL;
        p->types = more;
        p->types_cap = cap;
    }
    struct type *t = arena_calloc(&p->model->arena, 1, sizeof *t);
    if (!parse_ok(p, t))
        return NULL;
    t->kind = kind;
    t->place = at;
    t->number = p->ntypes;
    p->types[p->ntypes++] = (struct type_info){.type = t, .source = source};
    return t;
}

static struct type *new_type_at(struct parser *p, enum type_kind kind, const struct where *w)
{
    const struct place *at = parse_keep_place(p, w->at);
    return at ? new_type(p, kind, w->json, at) : NULL;
}

static struct frame *push_frame(struct parser *p, struct type *t, json_t *parts, const struct where *w,
                                size_t count)
{
    struct frame *f = arena_calloc(&p->scratch, 1, sizeof *f);
    if (!parse_ok(p, f))
        return NULL;
    *f = (struct frame){.up = p->top,
                        .type = t,
                        .parts = parts,
                        .count = (uint32_t)count,
                        .depth = w->depth + (t->kind != TYPE_UNION),
                        .namespace = w->namespace,
                        .names = {.arena = &p->scratch}};
    p->top = f;
    return f;
}

/* May one more record, array or map be nested here? If not, the parse stops. */
static bool depth_ok(struct parser *p, const struct where *w)
{
    if (w->depth < LIMIT_SCHEMA_DEPTH_MAX)
        return true;
    parse_fault(p, PROBLEM_DEPTH, &w->at, NULL, NULL,
                "Records, arrays and maps may be nested %d deep in a schema; define the inner ones apart and "
                "refer to "
                "them by name.",
                LIMIT_SCHEMA_DEPTH_MAX);
    if (!p->stop)
        p->stop = STOP_TOO_DEEP;
    return false;
}

/* ---- names of types ---- */

static void begin_primitive(struct parser *p, const struct where *w, enum type_kind kind, struct type **slot)
{
    bool plain = !json_is_object(w->json) || json_object_size(w->json) == 1;
    if (plain && p->primitives[kind]) {
        *slot = p->primitives[kind];
        return;
    }
    struct type *t = new_type_at(p, kind, w);
    if (!t)
        return;
    *slot = t;
    if (plain)
        p->primitives[kind] = t;
    else
        logical_read(p, t, w->json, t->place);
}

/* A type by its name: the text itself, or the "type" of an object. */
static void begin_name(struct parser *p, const struct where *w, struct slice name, struct type **slot)
{
    enum type_kind primitive;
    if (name_is_primitive(name, &primitive)) {
        begin_primitive(p, w, primitive, slot);
        return;
    }
    bool is_object = json_is_object(w->json);
    struct place type = {&w->at, "type", PLACE_NO_INDEX};
    const struct place *at = is_object ? &type : &w->at;
    struct slice fullname = name;
    if (w->namespace.len + name.len <= LIMIT_FULL_NAME_MAX) {
        if (!parse_ok(p, name_qualify(w->namespace, name, &p->joined, &fullname)))
            return;
        *slot = name_find(&p->names, fullname);
    }
    if (!*slot)
        parse_fault_unresolved(p, at, name, fullname);
    else if (is_object && json_object_get(w->json, "logicalType"))
        parse_warn(p, "The logicalType at %s is ignored: it belongs where the type is defined.",
                   parse_pointer(p, &w->at));
}

/* ---- definitions ---- */

/* What all named types have. NULL: memory is out. */
static struct type *begin_named(struct parser *p, struct where *w, struct type **slot, enum type_kind kind)
{
    struct type *t = new_type_at(p, kind, w);
    if (!t)
        return NULL;
    *slot = t;
    parse_name(p, t, w, t->place);
    parse_type_aliases(p, t, w->json);
    parse_doc(p, w->json, t->place, &t->doc, &t->has_doc);
    return t;
}

static void begin_record(struct parser *p, struct where *w, struct type **slot)
{
    if (!depth_ok(p, w))
        return;
    struct type *t = begin_named(p, w, slot, TYPE_RECORD);
    if (!t)
        return;
    logical_read(p, t, w->json, t->place);
    json_t *fields = json_object_get(w->json, "fields");
    if (!fields) {
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(t->place, "fields"), "an array of fields", NULL,
                    "A record needs \"fields\", an array (which may be empty).");
        return;
    }
    if (!json_is_array(fields)) {
        parse_fault_kind(p, PLACE_AT(t->place, "fields"), "\"fields\"", "an array", fields);
        return;
    }
    size_t n = json_array_size(fields);
    t->record.fields = arena_calloc(&p->model->arena, n + 1, sizeof *t->record.fields);
    if (!parse_ok(p, t->record.fields))
        return;
    t->record.nfields = n;
    w->namespace = name_namespace(t->fullname);
    push_frame(p, t, fields, w, n);
}

static void begin_enum(struct parser *p, struct where *w, struct type **slot)
{
    struct type *t = begin_named(p, w, slot, TYPE_ENUM);
    if (!t)
        return;
    logical_read(p, t, w->json, t->place);
    parse_enum(p, t, w->json);
}

static void begin_fixed(struct parser *p, struct where *w, struct type **slot)
{
    struct type *t = begin_named(p, w, slot, TYPE_FIXED);
    if (!t)
        return;
    parse_fixed_size(p, t, w->json);
    logical_read(p, t, w->json, t->place);
}

/* An array or a map: one schema stands inside. */
static void begin_container(struct parser *p, struct where *w, struct type **slot, enum type_kind kind)
{
    if (!depth_ok(p, w))
        return;
    struct type *t = new_type_at(p, kind, w);
    if (!t)
        return;
    *slot = t;
    logical_read(p, t, w->json, t->place);
    const char *member = kind == TYPE_ARRAY ? "items" : "values";
    json_t *inner = json_object_get(w->json, member);
    if (inner)
        push_frame(p, t, inner, w, 1);
    else if (kind == TYPE_ARRAY)
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(t->place, "items"), "a schema", NULL,
                    "An array needs \"items\", the schema of its items.");
    else
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(t->place, "values"), "a schema", NULL,
                    "A map needs \"values\", the schema of its values%s.",
                    json_object_get(w->json, "items") ? " (\"items\" is for arrays)" : "");
}

static void begin_array(struct parser *p, struct where *w, struct type **slot)
{
    begin_container(p, w, slot, TYPE_ARRAY);
}

static void begin_map(struct parser *p, struct where *w, struct type **slot)
{
    begin_container(p, w, slot, TYPE_MAP);
}

static void begin_union(struct parser *p, struct where *w, struct type **slot)
{
    if (w->in_union)
        parse_fault(p, PROBLEM_UNION, &w->at, "a type that is no union", w->json,
                    "A union must not stand directly in a union; put its branches into the outer one.");
    struct type *t = new_type_at(p, TYPE_UNION, w);
    if (!t)
        return;
    *slot = t;
    size_t n = json_array_size(w->json);
    if (!n) {
        parse_fault(p, PROBLEM_UNION, t->place, "at least one branch", w->json,
                    "A union without branches has no value; give it at least one.");
        return;
    }
    t->branches.branches = arena_calloc(&p->model->arena, n, sizeof *t->branches.branches);
    if (!parse_ok(p, t->branches.branches))
        return;
    t->branches.nbranches = n;
    push_frame(p, t, w->json, w, n);
}

static const struct {
    const char *word;
    void (*begin)(struct parser *, struct where *, struct type **slot);
} definitions[] = {
    {"record", begin_record}, {"enum", begin_enum}, {"fixed", begin_fixed},
    {"array", begin_array},   {"map", begin_map},
};

/* An object whose "type" is a string. */
static void begin_object(struct parser *p, struct where *w, struct slice word, struct type **slot)
{
    for (size_t i = 0; i < ARRAY_LEN(definitions); i++) {
        if (slice_eq(word, slice_str(definitions[i].word))) {
            definitions[i].begin(p, w, slot);
            return;
        }
    }
    if (!slice_eq(word, SLICE("error"))) {
        begin_name(p, w, word, slot);
        return;
    }
    parse_fault(p, PROBLEM_TYPE, PLACE_AT(&w->at, "type"), "record", json_object_get(w->json, "type"),
                "The type error belongs to protocols; write \"record\".");
    begin_record(p, w, slot);
}

static void fault_no_type(struct parser *p, const struct where *w)
{
    const char *hint = "";
    if (json_object_get(w->json, "protocol"))
        hint = "; this is a protocol, register one of its types";
    else if (json_object_get(w->json, "fields"))
        hint = "; a record has \"type\":\"record\"";
    parse_fault(p, PROBLEM_MISSING, PLACE_AT(&w->at, "type"), "the name of a type", NULL,
                "A schema needs a \"type\"%s.", hint);
}

/* Read the schema at w: its type, or as much of it as can be known now, goes to *slot; what stands inside is
 * read by later steps. *slot stays NULL after a fault that leaves no type. */
static void begin_type(struct parser *p, struct where w, struct type **slot)
{
    while (json_is_object(w.json) && !p->stop) {
        json_t *type = json_object_get(w.json, "type");
        if (!type) {
            fault_no_type(p, &w);
            return;
        }
        if (tree_is_string(type)) {
            begin_object(p, &w, tree_string(type), slot);
            return;
        }
        const struct place *up = parse_keep_place(p, w.at);
        if (!up)
            return;
        w.at = (struct place){up, "type", PLACE_NO_INDEX};
        if (!json_is_object(type) && !json_is_array(type)) {
            parse_fault_kind(p, &w.at, "\"type\"", "the name of a type", type);
            return;
        }
        parse_fault(p, PROBLEM_TYPE, &w.at, "the name of a type", type,
                    "\"type\" must be the name of a type here; put this inner schema in place of the object "
                    "around it.");
        w.json = type; /* to find what else is wrong */
    }
    if (tree_is_string(w.json))
        begin_name(p, &w, tree_string(w.json), slot);
    else if (json_is_array(w.json))
        begin_union(p, &w, slot);
    else if (!json_is_object(w.json))
        parse_fault(p, PROBLEM_TYPE, &w.at, "a string, an object or an array", w.json,
                    "A schema must be a string, an object or an array, not %s%s.", tree_kind_name(w.json),
                    json_is_null(w.json) ? " (the type is written \"null\", in quotes)" : "");
}

/* ---- the parts of what is open ---- */

static void begin_field(struct parser *p, struct frame *f, uint32_t i)
{
    json_t *j = json_array_get(f->parts, i), *type;
    struct field *field = &f->type->record.fields[i];
    field->place = parse_keep_place(p, (struct place){f->type->place, "fields", i});
    if (!field->place)
        return;
    if (!json_is_object(j)) {
        parse_fault_kind(p, field->place, "A field", "an object with \"name\" and \"type\"", j);
        return;
    }
    parse_field(p, field, j, &f->names);
    type = json_object_get(j, "type");
    if (!type) {
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(field->place, "type"), "a schema", NULL,
                    "A field needs a \"type\".");
        return;
    }
    struct where w = {.json = type,
                      .at = {field->place, "type", PLACE_NO_INDEX},
                      .namespace = f->namespace,
                      .depth = f->depth};
    begin_type(p, w, &field->type);
}

static void begin_inner(struct parser *p, struct frame *f)
{
    bool is_array = f->type->kind == TYPE_ARRAY;
    struct where w = {.json = f->parts,
                      .at = {f->type->place, is_array ? "items" : "values", PLACE_NO_INDEX},
                      .namespace = f->namespace,
                      .depth = f->depth};
    begin_type(p, w, is_array ? &f->type->items : &f->type->values);
}

static void begin_branch(struct parser *p, struct frame *f, uint32_t i)
{
    struct where w = {.json = json_array_get(f->parts, i),
                      .at = {f->type->place, NULL, i},
                      .namespace = f->namespace,
                      .depth = f->depth,
                      .in_union = true};
    begin_type(p, w, &f->type->branches.branches[i]);
}

static bool is_named(const struct type *t)
{
    return t->kind == TYPE_RECORD || t->kind == TYPE_ENUM || t->kind == TYPE_FIXED;
}

/* No two branches of one kind, unless they bear names; no named type twice. */
static void check_branches(struct parser *p, const struct type *u)
{
    bool seen[TYPE_KINDS] = {false};
    uint32_t stamp = ++p->unions;
    for (size_t i = 0; i < u->branches.nbranches; i++) {
        const struct type *t = u->branches.branches[i];
        if (!t || t->kind == TYPE_UNION)
            continue;
        struct type_info *info = &p->types[t->number];
        bool twice = is_named(t) ? info->stamp == stamp : seen[t->kind];
        info->stamp = stamp;
        seen[t->kind] = true;
        if (!twice)
            continue;
        parse_fault(p, PROBLEM_UNION, PLACE_AT_INDEX(u->place, NULL, i), "a branch of another type", NULL,
                    "The union has a branch %s already%s; remove one of the two.",
                    is_named(t) ? parse_quote(p, t->fullname) : type_kind_name(t->kind),
                    is_named(t) ? ""
                                : ", and only named types can be told apart (logical types are their "
                                  "underlying type)");
    }
}

static void close_frame(struct parser *p, struct frame *f)
{
    p->top = f->up;
    if (f->type->kind == TYPE_UNION)
        check_branches(p, f->type);
    else if (f->type->kind == TYPE_RECORD)
        parse_field_alias_clashes(p, f->type, &f->names);
}

static void step(struct parser *p)
{
    struct frame *f = p->top;
    if (f->next == f->count) {
        close_frame(p, f);
        return;
    }
    uint32_t i = f->next++;
    switch (f->type->kind) {
    case TYPE_RECORD: begin_field(p, f, i); break;
    case TYPE_UNION: begin_branch(p, f, i); break;
    default: begin_inner(p, f); break;
    }
}

/* If faults were found since there were so many: they are those of the types that are new, or of the one that is
 * open. */
static void blame(struct parser *p, const struct type *open, uint32_t types_before, uint32_t problems_before)
{
    if (p->err->problems == problems_before)
        return;
    if (open)
        p->types[open->number].is_faulty = true;
    for (uint32_t i = types_before; i < p->ntypes; i++)
        p->types[i].is_faulty = true;
}

static void read_tree(struct parser *p, json_t *tree, struct place at, struct type **slot)
{
    struct where root = {.json = tree, .at = at};
    uint32_t before = p->ntypes, faults = p->err->problems;
    begin_type(p, root, slot);
    blame(p, NULL, before, faults);
    while (p->top && !p->stop) {
        const struct type *open = p->top->type;
        uint32_t types = p->ntypes, problems = p->err->problems;
        step(p);
        blame(p, open, types, problems);
    }
}

void parse_known_types(struct parser *p, json_t *tree, struct place at)
{
    struct type *known = NULL;
    read_tree(p, tree, at, &known);
}

void parse_types(struct parser *p)
{
    read_tree(p, p->tree, (struct place){NULL, NULL, PLACE_NO_INDEX}, &p->model->root);
    if (!p->stop)
        parse_type_alias_clashes(p);
    if (!p->stop)
        parse_explain_unresolved(p);
}
