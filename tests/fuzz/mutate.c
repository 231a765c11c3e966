/* tests/fuzz/mutate.c - see mutate.h. */
#include "tests/fuzz/mutate.h"

#include <jansson.h>

#include "tests/fuzz/fuzz.h"

enum { PLACES_MAX = 64 };

/* Where a type stands: the member of an object or the element of an array. */
struct place {
    json_t *holder;
    const char *key; /* NULL: an element */
    size_t index;
};

struct places {
    struct place at[PLACES_MAX];
    size_t n;
};

static json_t *type_at(struct place p)
{
    return p.key ? json_object_get(p.holder, p.key) : json_array_get(p.holder, p.index);
}

/* Takes the reference. */
static void replace(struct place p, json_t *type)
{
    if (p.key)
        json_object_set_new(p.holder, p.key, type);
    else
        json_array_set_new(p.holder, p.index, type);
}

static bool is_a(json_t *type, const char *kind)
{
    const char *word = json_string_value(json_object_get(type, "type"));
    return word && strcmp(word, kind) == 0;
}

static void collect(struct places *all, struct place p)
{
    json_t *type = type_at(p), *fields = json_object_get(type, "fields");
    if (!type || all->n == PLACES_MAX)
        return;
    all->at[all->n++] = p;
    for (size_t i = 0; json_is_array(type) && i < json_array_size(type); i++)
        collect(all, (struct place){type, NULL, i});
    if (is_a(type, "array"))
        collect(all, (struct place){type, "items", 0});
    if (is_a(type, "map"))
        collect(all, (struct place){type, "values", 0});
    for (size_t i = 0; is_a(type, "record") && i < json_array_size(fields); i++)
        collect(all, (struct place){json_array_get(fields, i), "type", 0});
}

/* ---- the changes: each does nothing where it makes no sense ---- */

static json_t *parsed(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    CHECK(json, "%s", text);
    return json;
}

static void promote(struct place p, uint8_t how)
{
    static const char *const words[] = {"int", "long", "float", "double", "string", "bytes"};
    const char *word = json_string_value(type_at(p));
    for (size_t i = 0; word && i < 6; i++)
        if (strcmp(word, words[i]) == 0) {
            size_t to = i < 4 ? i + 1 + how % 3 : 9 - i;
            replace(p, json_string(words[to < 6 ? to : 5]));
            return;
        }
}

static void wrap(struct place p, uint8_t how)
{
    json_t *type = type_at(p);
    if (json_is_array(type) || (!p.key && json_is_array(p.holder)))
        return;
    json_t *wrapped = json_array();
    if (how & 1)
        json_array_append_new(wrapped, json_string(how & 2 ? "null" : "double"));
    json_array_append(wrapped, type);
    if (how & 4)
        json_array_append_new(wrapped, json_string(how & 8 ? "boolean" : "bytes"));
    replace(p, wrapped);
}

static void unwrap(struct place p, uint8_t how)
{
    json_t *type = type_at(p);
    if (json_array_size(type))
        replace(p, json_incref(json_array_get(type, how % json_array_size(type))));
}

static void rotate(json_t *array)
{
    if (json_array_size(array) < 2)
        return;
    json_array_append(array, json_array_get(array, 0));
    json_array_remove(array, 0);
}

/* The list that the type is made of. */
static json_t *parts(struct place p)
{
    json_t *type = type_at(p);
    if (json_is_array(type))
        return type;
    json_t *fields = json_object_get(type, "fields");
    return fields ? fields : json_object_get(type, "symbols");
}

static void rotate_parts(struct place p, uint8_t how)
{
    for (unsigned i = 0; i <= how % 4; i++)
        rotate(parts(p));
}

static void remove_part(struct place p, uint8_t how)
{
    json_t *list = parts(p);
    if (json_array_size(list))
        json_array_remove(list, how % json_array_size(list));
}

static void add_field(json_t *fields, uint8_t how)
{
    static const char *const texts[] = {
        "{\"name\":\"added\",\"type\":\"int\",\"default\":7}",
        "{\"name\":\"added2\",\"type\":[\"null\",\"string\"],\"default\":null}",
        "{\"name\":\"added3\",\"type\":{\"type\":\"array\",\"items\":\"null\"},\"default\":[null,null]}",
        "{\"name\":\"added4\",\"type\":\"string\"}",
        "{\"name\":\"added5\",\"type\":{\"type\":\"record\",\"name\":\"Added\",\"fields\":[{\"name\":\"x\","
        "\"type\":"
        "\"int\",\"default\":1}]},\"default\":{}}",
        "{\"name\":\"added6\",\"type\":\"null\",\"default\":null}",
        "{\"name\":\"added7\",\"type\":{\"type\":\"map\",\"values\":\"long\"},\"default\":{\"k\":3}}",
        "{\"name\":\"added8\",\"type\":[\"int\",\"bytes\"],\"default\":\"later\"}",
    };
    json_array_insert_new(fields, how / 8 % (json_array_size(fields) + 1), parsed(texts[how % 8]));
}

static void add_part(struct place p, uint8_t how)
{
    static const char *const types[] = {"null",  "boolean", "int",   "long",
                                        "float", "double",  "bytes", "string"};
    static const char *const symbols[] = {"added", "A", "B", "x", "Unknown"};
    json_t *type = type_at(p);
    if (is_a(type, "record"))
        add_field(json_object_get(type, "fields"), how);
    else if (is_a(type, "enum"))
        json_array_insert_new(json_object_get(type, "symbols"), 0, json_string(symbols[how % 5]));
    else if (json_is_array(type))
        json_array_insert_new(type, how / 8 % (json_array_size(type) + 1), json_string(types[how % 8]));
}

/* A field's name; the old one is an alias, or not. */
static void rename_field(struct place p, uint8_t how)
{
    json_t *fields = json_object_get(type_at(p), "fields");
    if (!json_array_size(fields))
        return;
    json_t *field = json_array_get(fields, how / 2 % json_array_size(fields)), *aliases = json_array();
    json_array_append(aliases, json_object_get(field, "name"));
    if (how & 1)
        json_object_set(field, "aliases", aliases);
    json_object_set_new(field, "name", json_string("renamed"));
    json_decref(aliases);
}

/* One field more takes the other's name as an alias; the other is removed, or not. */
static void join_fields(struct place p, uint8_t how)
{
    json_t *fields = json_object_get(type_at(p), "fields");
    size_t n = json_array_size(fields);
    if (n < 2)
        return;
    size_t other = how / 4 % n;
    json_t *field = json_array_get(fields, (other + 1) % n), *aliases = json_array();
    json_array_append(aliases, json_object_get(json_array_get(fields, other), "name"));
    json_object_set_new(field, "aliases", aliases);
    if (how & 1)
        json_object_set_new(field, "default", json_null());
    if (how & 2)
        json_array_remove(fields, other);
}

static void rename_type(struct place p, uint8_t how)
{
    json_t *type = type_at(p), *name = json_object_get(type, "name");
    if (!name)
        return;
    if (how & 1) {
        json_object_set_new(type, "namespace", json_string(how & 2 ? "other" : "n"));
        return;
    }
    json_t *aliases = json_array();
    json_array_append(aliases, name);
    if (how & 2)
        json_object_set(type, "aliases", aliases);
    json_object_set_new(type, "name", json_string("Renamed"));
    json_decref(aliases);
}

static void set_default(struct place p, uint8_t how)
{
    json_t *type = type_at(p), *symbols = json_object_get(type, "symbols");
    if (how & 1)
        json_object_del(type, "default");
    else if (is_a(type, "enum") && json_array_size(symbols))
        json_object_set(type, "default", json_array_get(symbols, how / 2 % json_array_size(symbols)));
}

static void set_number(struct place p, uint8_t how)
{
    json_t *type = type_at(p);
    if (is_a(type, "fixed"))
        json_object_set_new(type, "size", json_integer(how % 4));
    else if (json_is_object(type) && json_object_get(type, "scale"))
        json_object_set_new(type, "scale", json_integer(how % 3));
}

static void replace_type(struct place p, uint8_t how)
{
    static const char *const texts[] = {
        "\"int\"",
        "\"string\"",
        "\"null\"",
        "[\"null\",\"long\",\"string\"]",
        "{\"type\":\"array\",\"items\":\"int\"}",
        "{\"type\":\"fixed\",\"name\":\"F2\",\"size\":2}",
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":2}",
        "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"B\",\"A\"]}",
    };
    replace(p, parsed(texts[how % 8]));
}

static void (*const changes[])(struct place, uint8_t how) = {
    promote,  promote,  wrap,         unwrap,      rotate_parts, rotate_parts, remove_part,  remove_part,
    add_part, add_part, rename_field, rename_type, set_default,  set_number,   replace_type, join_fields,
};

bool mutate_schema(struct slice text, struct slice choices, struct buf *out)
{
    json_t *root = json_array();
    json_t *schema = json_loadb((const char *)text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool ok = root && schema && json_array_append(root, schema) == 0;
    while (ok && choices.len) {
        struct places all = {.n = 0};
        collect(&all, (struct place){root, NULL, 0});
        uint8_t what = fuzz_byte(&choices), how = fuzz_byte(&choices);
        size_t kinds = sizeof changes / sizeof *changes;
        changes[what % kinds](all.at[what / kinds * 7 % all.n], how);
    }
    char *printed = ok ? json_dumps(json_array_get(root, 0), JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (printed)
        CHECK(buf_append(out, slice_str(printed)), "memory is out");
    free(printed);
    json_decref(schema);
    json_decref(root);
    return printed;
}
