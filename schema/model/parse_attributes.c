/* schema/model/parse_attributes.c - what stands beside "type": names, aliases, docs, symbols, sizes, and all of a
 * field but its type. Source: Avro 1.12 specification, "Schema Declaration" and "Names". */
#include "base/limits.h"
#include "base/num.h"
#include "schema/model/parse.h"

#define NAME_RULE "a name has letters, digits and _ only and does not begin with a digit"

/* ---- names ---- */

/* The namespace that holds for a definition: its own, else the one around it. */
static struct slice read_namespace(struct parser *p, json_t *source, const struct where *w,
                                   const struct place *at)
{
    json_t *j = json_object_get(source, "namespace");
    if (!j)
        return w->namespace;
    if (!tree_is_string(j)) {
        parse_fault_kind(p, PLACE_AT(at, "namespace"), "A namespace", "a string", j);
        return w->namespace;
    }
    return tree_string(j);
}

/* One that is inherited was checked where it stands. */
static void check_namespace(struct parser *p, json_t *source, const struct place *at)
{
    json_t *own = json_object_get(source, "namespace");
    if (!own || !tree_is_string(own))
        return;
    struct slice namespace = tree_string(own);
    if (!namespace.len || name_is_full(namespace))
        return;
    parse_fault(p, PROBLEM_NAME, PLACE_AT(at, "namespace"), "names joined by dots", own,
                "%s is no valid namespace: " NAME_RULE "; dots stand between names.",
                parse_quote(p, namespace));
}

static void check_name(struct parser *p, json_t *name, const struct place *at)
{
    struct slice s = tree_string(name);
    enum type_kind primitive;
    if (s.len && s.ptr[0] == '.' && name_is_full(slice_of(s.ptr + 1, s.len - 1)))
        parse_fault(p, PROBLEM_NAME, PLACE_AT(at, "name"), "a name", name,
                    "A name must not begin with a dot; for the null namespace write \"namespace\":\"\".");
    else if (!name_is_full(s))
        parse_fault(p, PROBLEM_NAME, PLACE_AT(at, "name"), "a name", name,
                    "%s is no valid name: " NAME_RULE "; dots stand between the parts of a full name.",
                    parse_quote(p, s));
    else if (name_is_primitive(name_short(s), &primitive))
        parse_fault(p, PROBLEM_NAME, PLACE_AT(at, "name"), "a name of its own", name,
                    "%s is a primitive type's name and cannot be defined, in no namespace; choose another.",
                    parse_quote(p, name_short(s)));
}

static void define(struct parser *p, struct type *t, json_t *name, const struct place *at)
{
    void *taken;
    if (!parse_ok(p, name_add(&p->names, t->fullname, t, &taken)) || !taken)
        return;
    parse_fault(p, PROBLEM_DUPLICATE, PLACE_AT(at, "name"), "a name that is not taken", name,
                "%s is defined already, at %s; refer to it by its name, or choose another.",
                parse_quote(p, t->fullname), parse_pointer(p, ((struct type *)taken)->place));
}

void parse_name(struct parser *p, struct type *t, const struct where *w, const struct place *at)
{
    json_t *name = json_object_get(w->json, "name");
    struct slice namespace = read_namespace(p, w->json, w, at);
    if (!name) {
        check_namespace(p, w->json, at);
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(at, "name"), "a name", NULL, "%s %s needs a \"name\".",
                    t->kind == TYPE_ENUM ? "An" : "A", type_kind_name(t->kind));
        return;
    }
    if (!tree_is_string(name)) {
        check_namespace(p, w->json, at);
        parse_fault_kind(p, PLACE_AT(at, "name"), "A name", "a string", name);
        return;
    }
    check_name(p, name, at);
    bool is_full = name_has_dot(tree_string(name)); /* what "namespace" says is ignored */
    struct slice prefix = is_full ? SLICE("") : namespace;
    if (!is_full)
        check_namespace(p, w->json, at);
    if (prefix.len + tree_string(name).len > LIMIT_FULL_NAME_MAX) {
        parse_fault(p, PROBLEM_SIZE, PLACE_AT(at, "name"), "a shorter name", NULL,
                    "A full name may have at most %d bytes, namespace and all; shorten it.",
                    LIMIT_FULL_NAME_MAX);
        return;
    }
    struct slice fullname;
    if (parse_ok(p, name_qualify(prefix, tree_string(name), &p->joined, &fullname)) &&
        parse_ok(p, arena_copy(&p->model->arena, fullname, &t->fullname)))
        define(p, t, name, at);
}

/* ---- lists of strings ---- */

/* The strings of an array, copied into the model; those that are none are noted and left out. */
static void read_strings(struct parser *p, json_t *list, const struct place *up, const char *step,
                         const char *what, struct slice **out, size_t *n)
{
    if (!json_is_array(list)) {
        parse_fault_kind(p, PLACE_AT(up, step), what, "an array of strings", list);
        return;
    }
    if (!json_array_size(list))
        return;
    struct slice *strings = arena_calloc(&p->model->arena, json_array_size(list), sizeof *strings);
    if (!parse_ok(p, strings))
        return;
    *out = strings;
    for (size_t i = 0; i < json_array_size(list) && !p->stop; i++) {
        const json_t *j = json_array_get(list, i);
        if (!tree_is_string(j))
            parse_fault(p, PROBLEM_TYPE, PLACE_AT_INDEX(up, step, i), "a string", j,
                        "%s must be an array of strings; this element is %s.", what, tree_kind_name(j));
        else if (parse_ok(p, arena_copy(&p->model->arena, tree_string(j), &strings[*n])))
            ++*n;
    }
}

void parse_type_aliases(struct parser *p, struct type *t, json_t *source)
{
    json_t *list = json_object_get(source, "aliases");
    if (!list)
        return;
    read_strings(p, list, t->place, "aliases", "\"aliases\"", &t->aliases, &t->naliases);
    struct slice namespace = name_namespace(t->fullname);
    for (size_t i = 0; i < t->naliases; i++) {
        struct slice fullname;
        p->alias_bytes += namespace.len + t->aliases[i].len;
        if (p->alias_bytes > LIMIT_ALIASES_MAX) {
            parse_fault(p, PROBLEM_SIZE, PLACE_AT(t->place, "aliases"), "fewer or shorter aliases", NULL,
                        "All aliases together may have %d bytes as full names; leave some out.",
                        LIMIT_ALIASES_MAX);
            t->naliases = i;
            return;
        }
        if (!parse_ok(p, name_qualify(namespace, t->aliases[i], &p->joined, &fullname)) ||
            !parse_ok(p, arena_copy(&p->model->arena, fullname, &t->aliases[i])))
            return;
    }
}

void parse_type_alias_clashes(struct parser *p)
{
    struct name_table aliases = {.arena = &p->scratch};
    for (uint32_t i = 0; i < p->ntypes; i++) {
        struct type *t = p->types[i].type;
        for (size_t a = 0; a < t->naliases; a++) {
            void *other = name_find(&p->names, t->aliases[a]);
            if (!other && !parse_ok(p, name_add(&aliases, t->aliases[a], t, &other)))
                return;
            if (other && other != t)
                parse_fault(
                    p, PROBLEM_DUPLICATE, PLACE_AT_INDEX(t->place, "aliases", a), "an alias of its own", NULL,
                    "%s is also the name or an alias of the type at %s; a type can be known by it only once.",
                    parse_quote(p, t->aliases[a]), parse_pointer(p, ((struct type *)other)->place));
        }
    }
}

/* ---- attributes of types ---- */

void parse_doc(struct parser *p, json_t *source, const struct place *at, struct slice *doc, bool *has_doc)
{
    const json_t *j = json_object_get(source, "doc");
    if (!j)
        return;
    if (!tree_is_string(j)) {
        parse_fault_kind(p, PLACE_AT(at, "doc"), "\"doc\"", "a string", j);
        return;
    }
    *has_doc = parse_ok(p, arena_copy(&p->model->arena, tree_string(j), doc));
}

static void check_symbol(struct parser *p, struct type *t, const json_t *j, size_t i, struct name_table *seen)
{
    struct slice s = tree_string(j);
    if (!name_is_simple(s))
        parse_fault(p, PROBLEM_NAME, PLACE_AT_INDEX(t->place, "symbols", i), "a name", j,
                    "%s is no valid symbol: " NAME_RULE ".", parse_quote(p, s));
    void *taken;
    if (parse_ok(p, name_add(seen, s, t, &taken)) && taken)
        parse_fault(p, PROBLEM_DUPLICATE, PLACE_AT_INDEX(t->place, "symbols", i), "a new symbol", j,
                    "The symbol %s stands twice; remove one of the two.", parse_quote(p, s));
}

static void read_enum_default(struct parser *p, struct type *t, json_t *source)
{
    const json_t *j = json_object_get(source, "default");
    t->enumeration.default_index = -1;
    if (!j)
        return;
    if (!tree_is_string(j)) {
        parse_fault_kind(p, PLACE_AT(t->place, "default"), "An enum's default", "one of its symbols", j);
        return;
    }
    for (size_t i = 0; i < t->enumeration.nsymbols; i++) {
        if (slice_eq(t->enumeration.symbols[i], tree_string(j))) {
            t->enumeration.default_index = (int)i;
            return;
        }
    }
    parse_fault(p, PROBLEM_DEFAULT, PLACE_AT(t->place, "default"), "one of the symbols", j,
                "The enum's default %s is none of its symbols; add it to them or choose one of them.",
                parse_quote(p, tree_string(j)));
}

void parse_enum(struct parser *p, struct type *t, json_t *source)
{
    json_t *list = json_object_get(source, "symbols");
    if (!list) {
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(t->place, "symbols"), "an array of strings", NULL,
                    "An enum needs \"symbols\", an array of names.");
    } else {
        read_strings(p, list, t->place, "symbols", "\"symbols\"", &t->enumeration.symbols,
                     &t->enumeration.nsymbols);
        if (json_is_array(list) && !json_array_size(list))
            parse_fault(p, PROBLEM_SIZE, PLACE_AT(t->place, "symbols"), "at least one symbol", list,
                        "An enum without symbols has no value; give it at least one.");
    }
    struct name_table seen = {.arena = &p->scratch};
    for (size_t i = 0; i < json_array_size(list) && !p->stop; i++)
        if (tree_is_string(json_array_get(list, i)))
            check_symbol(p, t, json_array_get(list, i), i, &seen);
    read_enum_default(p, t, source);
}

void parse_fixed_size(struct parser *p, struct type *t, json_t *source)
{
    const json_t *j = json_object_get(source, "size");
    static const char expected[] = "a whole number of bytes from 0 to 2147483647";
    if (!j) {
        parse_fault(p, PROBLEM_MISSING, PLACE_AT(t->place, "size"), expected, NULL,
                    "A fixed needs a \"size\", its number of bytes.");
    } else if (!tree_is_number(j)) {
        parse_fault_kind(p, PLACE_AT(t->place, "size"), "A fixed's size", expected, j);
    } else if (!num_parse_decimal(tree_number(j), LIMIT_FIXED_SIZE_MAX, &t->fixed_size)) {
        parse_fault(p, PROBLEM_SIZE, PLACE_AT(t->place, "size"), expected, j,
                    "A fixed's size must be %s, written in digits only.", expected);
    }
}

/* ---- fields ---- */

static void read_field_name(struct parser *p, struct field *f, json_t *source, struct name_table *names)
{
    const json_t *j = json_object_get(source, "name");
    const struct place *at = PLACE_AT(f->place, "name");
    if (!j) {
        parse_fault(p, PROBLEM_MISSING, at, "a name", NULL, "A field needs a \"name\".");
        return;
    }
    if (!tree_is_string(j)) {
        parse_fault_kind(p, at, "A field's name", "a string", j);
        return;
    }
    struct slice s = tree_string(j);
    void *taken;
    if (!name_is_simple(s))
        parse_fault(p, PROBLEM_NAME, at, "a name", j, "%s is no valid field name: " NAME_RULE ".",
                    parse_quote(p, s));
    if (!parse_ok(p, arena_copy(&p->model->arena, s, &f->name)) ||
        !parse_ok(p, name_add(names, f->name, f, &taken)))
        return;
    if (taken)
        parse_fault(p, PROBLEM_DUPLICATE, at, "a name that is not taken", j,
                    "The record has a field %s already; rename one of the two.", parse_quote(p, s));
}

static void read_order(struct parser *p, struct field *f, json_t *source)
{
    static const char *const words[] = {
        [ORDER_ASCENDING] = "ascending", [ORDER_DESCENDING] = "descending", [ORDER_IGNORE] = "ignore"};
    const json_t *j = json_object_get(source, "order");
    f->order = ORDER_ASCENDING;
    if (!j)
        return;
    for (unsigned i = 0; tree_is_string(j) && i < ARRAY_LEN(words); i++) {
        if (slice_eq(tree_string(j), slice_str(words[i]))) {
            f->order = i;
            return;
        }
    }
    parse_fault(p, tree_is_string(j) ? PROBLEM_SYMBOL : PROBLEM_TYPE, PLACE_AT(f->place, "order"),
                "ascending, descending or ignore", j,
                "\"order\" must be \"ascending\", \"descending\" or \"ignore\".");
}

static void read_default(struct parser *p, struct field *f, json_t *source)
{
    json_t *j = json_object_get(source, "default");
    if (!j)
        return;
    struct buf b = {0};
    f->has_default = parse_ok(p, tree_print(j, TREE_AS_WRITTEN, &b) &&
                                     arena_copy(&p->model->arena, buf_slice(&b), &f->default_json));
    buf_release(&b);
}

void parse_field(struct parser *p, struct field *f, json_t *source, struct name_table *names)
{
    read_field_name(p, f, source, names);
    json_t *aliases = json_object_get(source, "aliases");
    if (aliases)
        read_strings(p, aliases, f->place, "aliases", "\"aliases\"", &f->aliases, &f->naliases);
    parse_doc(p, source, f->place, &f->doc, &f->has_doc);
    read_order(p, f, source);
    read_default(p, f, source);
    if (json_object_get(source, "logicalType"))
        parse_warn(p, "The logicalType of the field at %s has no effect: it belongs inside the field's type.",
                   parse_pointer(p, f->place));
}

void parse_field_alias_clashes(struct parser *p, struct type *record, struct name_table *names)
{
    for (size_t i = 0; i < record->record.nfields; i++) {
        struct field *f = &record->record.fields[i];
        for (size_t a = 0; a < f->naliases; a++) {
            void *taken;
            if (!parse_ok(p, name_add(names, f->aliases[a], f, &taken)))
                return;
            const struct field *other = taken;
            if (other && other != f)
                parse_fault(
                    p, PROBLEM_DUPLICATE, PLACE_AT_INDEX(f->place, "aliases", a), "an alias of its own", NULL,
                    "%s is also the name or an alias of the field %s; a field can be known by it only once.",
                    parse_quote(p, f->aliases[a]), parse_quote(p, other->name));
        }
    }
}
