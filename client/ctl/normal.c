/* client/ctl/normal.c - see normal.h. The walks recurse, to the depth to which Jansson reads (2,048), which a stack holds. */
#include "client/ctl/normal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_quote.h"

/* The order of members; all others come behind, sorted. */
static const char *const order[] = {"name",  "type",   "doc",  "aliases", "symbols",
                                    "items", "values", "size", "fields"};

static const char *const primitives[] = {"null",  "boolean", "int",   "long",
                                         "float", "double",  "bytes", "string"};
static const char *const named[] = {"record", "error", "enum", "fixed"};

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* ---- names in full ---- */

/* The namespace of a full name, as a string of its own; NULL: none, or memory is out. */
static char *namespace_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? strndup(name, (size_t)(dot - name)) : NULL;
}

static json_t *full_name(const char *name, const char *space)
{
    if (strchr(name, '.') || !space || !*space)
        return json_string(name[0] == '.' ? name + 1 : name);
    return json_sprintf("%s.%s", space, name);
}

static json_t *in_full(const json_t *schema, const char *space);

static json_t *list_in_full(const json_t *list, const char *space)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list); i++)
        json_array_append_new(out, in_full(json_array_get(list, i), space));
    return out;
}

static json_t *fields_in_full(const json_t *fields, const char *space)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(fields); i++) {
        json_t *field = json_copy((json_t *)json_array_get(fields, i)),
               *type = json_object_get(field, "type");
        if (type)
            json_object_set_new(field, "type", in_full(type, space));
        json_array_append_new(out, field);
    }
    return out;
}

static json_t *aliases_in_full(const json_t *aliases, const char *space)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(aliases); i++) {
        const char *alias = json_string_value(json_array_get(aliases, i));
        json_array_append_new(out, alias ? full_name(alias, space) : json_copy(json_array_get(aliases, i)));
    }
    return out;
}

/* A record, an enum or a fixed: what stands in it is in its namespace. */
static void name_in_full(json_t *out, char **inside, const char *space)
{
    const char *name = json_string_value(json_object_get(out, "name"));
    const char *own = json_string_value(json_object_get(out, "namespace"));
    json_t *full = name ? full_name(name, own ? own : space) : NULL;
    if (!full)
        return;
    *inside = namespace_of(json_string_value(full));
    json_object_set_new(out, "name", full);
    json_object_del(out, "namespace");
}

/* {"type":"int"} is "int". */
static json_t *shortened(json_t *out)
{
    json_t *type = json_object_get(out, "type");
    if (json_object_size(out) != 1 || !json_is_string(type))
        return out;
    json_incref(type);
    json_decref(out);
    return type;
}

static json_t *object_in_full(const json_t *schema, const char *space)
{
    json_t *out = json_copy((json_t *)schema);
    const char *type = json_string_value(json_object_get(out, "type"));
    bool bears_name = type && is_one_of(type, named, ARRAY_LEN(named));
    char *inside = NULL;
    if (bears_name) {
        name_in_full(out, &inside, space);
        space = inside;
    }
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        json_t *member = json_object_get(out, order[i]);
        if (!strcmp(order[i], "fields") && json_is_array(member))
            json_object_set_new(out, order[i], fields_in_full(member, space));
        else if (!strcmp(order[i], "aliases") && bears_name && json_is_array(member))
            json_object_set_new(out, order[i], aliases_in_full(member, space));
        else if (member && (!strcmp(order[i], "items") || !strcmp(order[i], "values") ||
                            (!strcmp(order[i], "type") && !bears_name && type && strcmp(type, "array") != 0 &&
                             strcmp(type, "map") != 0) ||
                            (!strcmp(order[i], "type") && !type)))
            json_object_set_new(out, order[i], in_full(member, space));
    }
    free(inside);
    return shortened(out);
}

static json_t *in_full(const json_t *schema, const char *space)
{
    const char *name = json_string_value(schema);
    if (name)
        return is_one_of(name, primitives, ARRAY_LEN(primitives)) ? json_string(name)
                                                                  : full_name(name, space);
    if (json_is_array(schema))
        return list_in_full(schema, space);
    if (json_is_object(schema))
        return object_in_full(schema, space);
    return json_copy((json_t *)schema);
}

/* ---- printing ---- */

static bool line_begin(struct buf *out, unsigned depth)
{
    static const char spaces[] = "                                ";
    size_t want = 2 * (size_t)depth;
    bool good = buf_append_byte(out, '\n');
    for (; good && want; want -= want < 32 ? want : 32)
        good = buf_append(out, slice_of(spaces, want < 32 ? want : 32));
    return good;
}

static bool print(const json_t *value, struct buf *out, unsigned depth);

static size_t rank_of(const char *key)
{
    size_t i = 0;
    while (i < ARRAY_LEN(order) && strcmp(order[i], key) != 0)
        i++;
    return i;
}

static int compare_keys(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t rank_x = rank_of(x), rank_y = rank_of(y);
    return rank_x != rank_y ? (rank_x < rank_y ? -1 : 1) : strcmp(x, y);
}

static bool print_member(const json_t *object, const char *key, struct buf *out, unsigned depth)
{
    return line_begin(out, depth) && json_quote(slice_str(key), out) && buf_append(out, SLICE(": ")) &&
           print(json_object_get(object, key), out, depth);
}

static bool print_object(const json_t *object, struct buf *out, unsigned depth)
{
    size_t n = json_object_size(object), i = 0;
    const char **keys = malloc((n + 1) * sizeof *keys), *key;
    json_t *value;
    bool good = keys && buf_append_byte(out, '{');
    if (good) {
        json_object_foreach((json_t *)object, key, value) keys[i++] = key;
        qsort(keys, n, sizeof *keys, compare_keys);
    }
    for (i = 0; good && i < n; i++)
        good = (i == 0 || buf_append_byte(out, ',')) && print_member(object, keys[i], out, depth + 1);
    free(keys);
    return good && (n == 0 || line_begin(out, depth)) && buf_append_byte(out, '}');
}

/* Lists of strings and numbers stand on one line. */
static bool is_flat(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_object(json_array_get(list, i)) || json_is_array(json_array_get(list, i)))
            return false;
    return true;
}

static bool print_array(const json_t *list, struct buf *out, unsigned depth)
{
    size_t n = json_array_size(list);
    bool flat = is_flat(list), good = buf_append_byte(out, '[');
    for (size_t i = 0; good && i < n; i++) {
        good = i == 0 || (flat ? buf_append(out, SLICE(", ")) : buf_append_byte(out, ','));
        good = good && (flat || line_begin(out, depth + 1)) && print(json_array_get(list, i), out, depth + 1);
    }
    return good && (flat || line_begin(out, depth)) && buf_append_byte(out, ']');
}

static bool print_scalar(const json_t *value, struct buf *out)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    bool good = text && buf_append(out, slice_str(text));
    free(text);
    return good;
}

static bool print(const json_t *value, struct buf *out, unsigned depth)
{
    if (json_is_object(value))
        return print_object(value, out, depth);
    if (json_is_array(value))
        return print_array(value, out, depth);
    return print_scalar(value, out);
}

const char *normal_print(struct slice text, struct buf *out)
{
    json_error_t at;
    json_t *schema = json_loadb((const char *)text.ptr, text.len,
                                JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &at);
    if (!schema)
        return "is not JSON";
    json_t *full = in_full(schema, NULL);
    bool good = full && print(full, out, 0) && buf_append_byte(out, '\n');
    json_decref(full);
    json_decref(schema);
    return good ? NULL : "takes more memory than there is";
}
