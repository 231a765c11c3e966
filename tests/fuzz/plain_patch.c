/* tests/fuzz/plain_patch.c - see plain_patch.h. */
#include "tests/fuzz/plain_patch.h"

#include <math.h>

#include "tests/fuzz/json_tree.h"

static const struct op *op_of(const struct plain_patch *p, uint32_t op)
{
    return &p->program->ops[op];
}

static struct slice key_of(const char *key, size_t len)
{
    return slice_of(key, len);
}

static const char *chars(struct slice s)
{
    return s.len ? (const char *)s.ptr : "";
}

static json_t *get(json_t *object, struct slice name)
{
    return json_object_getn(object, chars(name), name.len);
}

static void set(json_t *object, struct slice name, json_t *value)
{
    CHECK(json_object_setn_new(object, chars(name), name.len, value) == 0, "memory is out");
}

static json_t *tagged(struct slice tag, json_t *value)
{
    json_t *object = json_object();
    set(object, tag, value);
    return object;
}

/* ---- unions ---- */

static const struct op_branch *branch_at(const struct plain_patch *p, const struct op *u, uint32_t i)
{
    return &p->program->branches[u->a + i];
}

static bool is_code(const struct plain_patch *p, uint32_t op, enum opcode code)
{
    return op_of(p, op)->code == code;
}

static bool takes_objects(const struct plain_patch *p, uint32_t op)
{
    return is_code(p, op, OP_RECORD) || is_code(p, op, OP_MAP);
}

static bool is_nullable(const struct plain_patch *p, uint32_t op)
{
    const struct op *o = op_of(p, op);
    if (o->code == OP_NULL)
        return true;
    for (uint32_t i = 0; o->code == OP_UNION && i < o->b; i++)
        if (is_code(p, branch_at(p, o, i)->op, OP_NULL))
            return true;
    return false;
}

/* How many of its branches are not null; *one: the last of them. */
static uint32_t values_of(const struct plain_patch *p, const struct op *u, uint32_t *one)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->b; i++)
        if (!is_code(p, branch_at(p, u, i)->op, OP_NULL)) {
            *one = i;
            n++;
        }
    return n;
}

/* By full name, else by short one; PROGRAM_NONE: it names none, or null. */
static uint32_t named(const struct plain_patch *p, const struct op *u, struct slice name)
{
    for (int shortly = 0; shortly < 2; shortly++)
        for (uint32_t i = 0; i < u->b; i++) {
            const struct op_branch *b = branch_at(p, u, i);
            struct slice tag = shortly ? b->short_tag : b->tag;
            if (tag.len && slice_eq(tag, name) && !is_code(p, b->op, OP_NULL))
                return i;
        }
    return PROGRAM_NONE;
}

/* What is in the union: its branch and *value; PROGRAM_NONE: null, or nothing. */
static uint32_t holds(const struct plain_patch *p, const struct op *u, json_t *shown, json_t **value)
{
    uint32_t one = PROGRAM_NONE;
    *value = NULL;
    if (!shown || json_is_null(shown))
        return PROGRAM_NONE;
    if (values_of(p, u, &one) == 1) {
        *value = shown;
        return one;
    }
    CHECK(json_is_object(shown) && json_object_size(shown) == 1, "no tag");
    void *it = json_object_iter(shown);
    *value = json_object_iter_value(it);
    return named(p, u, key_of(json_object_iter_key(it), json_object_iter_key_len(it)));
}

/* ---- merge ---- */

static int field_of(const struct plain_patch *p, const struct op *record, struct slice name)
{
    for (uint32_t i = 0; i < record->b; i++)
        if (slice_eq(p->program->fields[record->a + i].name, name))
            return (int)i;
    return -1;
}

static bool has_place(const struct plain_patch *p, uint32_t op, struct slice name)
{
    return is_code(p, op, OP_MAP) || field_of(p, op_of(p, op), name) >= 0;
}

static uint32_t bare_branch(const struct plain_patch *p, const struct op *u, uint32_t current)
{
    uint32_t found = PROGRAM_NONE, n = 0;
    if (current != PROGRAM_NONE && takes_objects(p, branch_at(p, u, current)->op))
        return current;
    for (uint32_t i = 0; i < u->b; i++)
        if (takes_objects(p, branch_at(p, u, i)->op)) {
            found = i;
            n++;
        }
    return n == 1 ? found : PROGRAM_NONE;
}

/* Could a bare value begin with the name of a branch? */
static bool may_be_bare(const struct plain_patch *p, const struct op *u, struct slice name)
{
    for (uint32_t i = 0; i < u->b; i++) {
        uint32_t op = branch_at(p, u, i)->op;
        if (takes_objects(p, op) && (p->opts->unknown == UNKNOWN_IGNORE || has_place(p, op, name)))
            return true;
    }
    return false;
}

static json_t *merge_union(struct plain_patch *p, const struct op *u, json_t *target, json_t *patch)
{
    json_t *inner;
    uint32_t one, current = holds(p, u, target, &inner), bare = bare_branch(p, u, current),
                  tag = PROGRAM_NONE;
    void *it = json_object_iter(patch);
    struct slice first = it ? key_of(json_object_iter_key(it), json_object_iter_key_len(it)) : SLICE("");
    if (it)
        tag = named(p, u, first);
    if (tag != PROGRAM_NONE) {
        const struct op_branch *b = branch_at(p, u, tag);
        p->gives_up |= may_be_bare(p, u, first) || json_object_size(patch) != 1;
        return tagged(b->tag,
                      plain_merge(p, b->op, tag == current ? inner : NULL, json_object_iter_value(it)));
    }
    if (bare == PROGRAM_NONE)
        return json_deep_copy(patch);
    json_t *merged = plain_merge(p, branch_at(p, u, bare)->op, bare == current ? inner : NULL, patch);
    if (values_of(p, u, &one) == 1)
        return merged;
    p->gives_up |= may_be_bare(p, u, branch_at(p, u, bare)->tag);
    return tagged(branch_at(p, u, bare)->tag, merged);
}

static void merge_field(struct plain_patch *p, const struct op *record, json_t *into, struct slice name,
                        json_t *value)
{
    int i = field_of(p, record, name);
    if (i < 0) {
        if (p->opts->unknown != UNKNOWN_IGNORE)
            set(into, name, json_deep_copy(value));
        return;
    }
    const struct op_field *field = &p->program->fields[record->a + (uint32_t)i];
    if (!json_is_null(value)) {
        set(into, name, plain_merge(p, field->op, get(into, name), value));
    } else if (is_nullable(p, field->op) || !field->has_default) {
        set(into, name, json_null());
    } else {
        set(into, name, p->default_of(p, field));
    }
}

json_t *plain_merge(struct plain_patch *p, uint32_t op, json_t *target, json_t *patch)
{
    const struct op *o = op_of(p, op);
    const char *key;
    size_t len;
    json_t *value;
    if (!json_is_object(patch))
        return json_deep_copy(patch);
    if (o->code == OP_UNION)
        return merge_union(p, o, target, patch);
    if (!takes_objects(p, op))
        return json_deep_copy(patch);
    json_t *into = json_is_object(target) ? json_deep_copy(target) : json_object();
    json_object_keylen_foreach(patch, key, len, value)
    {
        struct slice name = key_of(key, len);
        if (o->code == OP_RECORD)
            merge_field(p, o, into, name, value);
        else if (json_is_null(value))
            json_object_deln(into, key, len);
        else
            set(into, name, plain_merge(p, o->a, get(into, name), value));
    }
    return into;
}

/* ---- pointers ---- */

enum place_kind { PLACE_ROOT, PLACE_FIELD, PLACE_ITEM, PLACE_ENTRY, PLACE_TAG };

struct target {
    enum place_kind kind;
    json_t *holder; /* an object or array of the tree */
    json_t *value;  /* NULL: nothing yet */
    size_t index;
    struct slice name; /* in the buffer */
    const struct op_field *field;
    uint32_t op; /* of the value */
};

static bool index_of(struct slice token, size_t *out)
{
    size_t n = 0;
    if (!token.len || token.len > 9 || (token.ptr[0] == '0' && token.len > 1))
        return false;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9')
            return false;
        n = n * 10 + (size_t)(token.ptr[i] - '0');
    }
    *out = n;
    return true;
}

static bool into_array(struct target *at, json_t *array, struct slice token, bool adds)
{
    size_t n = json_array_size(array);
    at->kind = PLACE_ITEM;
    at->holder = array;
    at->value = NULL;
    if (adds && slice_eq(token, SLICE("-"))) {
        at->index = n;
        return true;
    }
    if (!index_of(token, &at->index) || at->index >= n + adds)
        return false;
    if (!adds)
        at->value = json_array_get(array, at->index);
    return true;
}

static bool into_object(const struct plain_patch *p, struct target *at, const struct op *o,
                        struct slice token, bool adds)
{
    int field = o->code == OP_RECORD ? field_of(p, o, token) : -1;
    at->kind = o->code == OP_RECORD ? PLACE_FIELD : PLACE_ENTRY;
    at->holder = at->value;
    at->value = get(at->holder, token);
    if (o->code == OP_MAP)
        return at->value || adds;
    if (field < 0)
        return false;
    at->field = &p->program->fields[o->a + (uint32_t)field];
    at->op = at->field->op;
    return true;
}

/* One step; a union that shows no tag is none. */
static bool step(struct plain_patch *p, struct target *at, struct slice token, bool adds)
{
    uint32_t one;
    const struct op *o = op_of(p, at->op);
    if (o->code == OP_UNION) {
        json_t *inner;
        uint32_t branch = holds(p, o, at->value, &inner);
        if (branch == PROGRAM_NONE)
            return false;
        const struct op_branch *b = branch_at(p, o, branch);
        at->op = b->op;
        if (values_of(p, o, &one) > 1) {
            p->gives_up |= may_be_bare(p, o, b->tag); /* what misfits below would be put as something else */
            at->kind = PLACE_TAG;
            at->holder = at->value;
            at->value = inner;
            at->name = b->tag;
            return slice_eq(token, b->tag);
        }
        o = op_of(p, at->op);
    }
    if (o->code == OP_ARRAY || o->code == OP_MAP)
        at->op = o->a;
    at->name = token;
    if (o->code == OP_ARRAY)
        return into_array(at, at->value, token, adds);
    return (o->code == OP_RECORD || o->code == OP_MAP) && into_object(p, at, o, token, adds);
}

static bool find(struct plain_patch *p, json_t *root, json_t *pointer, bool adds, struct buf *token,
                 struct target *at)
{
    const uint8_t *at_text = (const uint8_t *)json_string_value(pointer),
                  *end = at_text + json_string_length(pointer);
    *at = (struct target){.kind = PLACE_ROOT, .value = root, .op = p->program->root};
    while (at_text < end) {
        at_text = json_tree_token(at_text + 1, end, token);
        if (!step(p, at, buf_slice(token), adds && at_text == end))
            return false;
    }
    return true;
}

/* ---- operations ---- */

/* The tree with the value there; takes both references. */
static json_t *place_value(json_t *tree, const struct target *at, json_t *value)
{
    switch (at->kind) {
    case PLACE_ROOT: json_decref(tree); return value;
    case PLACE_ITEM:
        CHECK((at->value ? json_array_set_new(at->holder, at->index, value)
                         : json_array_insert_new(at->holder, at->index, value)) == 0,
              "memory is out");
        break;
    case PLACE_FIELD:
    case PLACE_ENTRY:
    case PLACE_TAG: set(at->holder, at->name, value); break;
    }
    return tree;
}

static bool take_out(struct plain_patch *p, const struct target *at)
{
    switch (at->kind) {
    case PLACE_ROOT:
    case PLACE_TAG: return false;
    case PLACE_ITEM: json_array_remove(at->holder, at->index); break;
    case PLACE_ENTRY: json_object_deln(at->holder, chars(at->name), at->name.len); break;
    case PLACE_FIELD:
        if (is_nullable(p, at->field->op))
            set(at->holder, at->name, json_null());
        else if (at->field->has_default)
            set(at->holder, at->name, p->default_of(p, at->field));
        else
            return false;
    }
    return true;
}

/* What put makes of the tree, whose reference is taken. */
static json_t *finish(struct plain_patch *p, json_t *tree)
{
    json_t *done = tree ? p->put(p, tree, p->opts) : NULL;
    json_decref(tree);
    return done;
}

static json_t *add(struct plain_patch *p, json_t *tree, json_t *path, bool adds, json_t *value,
                   struct buf *token)
{
    struct target at;
    if (find(p, tree, path, adds, token, &at))
        return finish(p, place_value(tree, &at, value));
    json_decref(tree);
    json_decref(value);
    return NULL;
}

static json_t *drop(json_t *tree)
{
    json_decref(tree);
    return NULL;
}

static json_t *do_remove(struct plain_patch *p, json_t *tree, json_t *path, struct buf *token)
{
    struct target at;
    return find(p, tree, path, false, token, &at) && take_out(p, &at) ? finish(p, tree) : drop(tree);
}

static json_t *do_copy(struct plain_patch *p, json_t *tree, json_t *operation, bool moves, struct buf *token)
{
    struct target at;
    json_t *from = json_object_get(operation, "from"), *path = json_object_get(operation, "path");
    if (!find(p, tree, from, false, token, &at))
        return drop(tree);
    if (moves && json_equal(from, path))
        return tree;
    json_t *value = json_deep_copy(at.value);
    if (moves)
        tree = do_remove(p, tree, from, token);
    if (tree)
        return add(p, tree, path, true, value, token);
    json_decref(value);
    return NULL;
}

static json_t *do_test(struct plain_patch *p, json_t *tree, json_t *operation, struct buf *token)
{
    struct target at;
    const struct codec_opts strict = {.missing = MISSING_REJECT};
    json_t *path = json_object_get(operation, "path"), *value = json_object_get(operation, "value");
    json_t *other = json_deep_copy(tree);
    if (!find(p, other, path, false, token, &at)) {
        json_decref(other);
        return drop(tree);
    }
    other = place_value(other, &at, json_deep_copy(value));
    json_t *wanted = p->put(p, other, &strict);
    json_decref(other);
    bool equal = wanted && json_equal(wanted, tree);
    json_decref(wanted);
    return equal ? tree : drop(tree);
}

/* A whole number that fits a long. */
static bool whole(json_t *by, int64_t *out)
{
    double part, value = json_number_value(by);
    if (json_is_integer(by)) {
        *out = json_integer_value(by);
        return true;
    }
    if (modf(value, &part) != 0 || fabs(value) >= 0x1p63)
        return false;
    *out = (int64_t)value;
    return true;
}

static json_t *sum_of_integers(json_t *is, json_t *by, enum opcode code)
{
    int64_t more;
    if (!whole(by, &more))
        return NULL;
    __int128 sum = (__int128)json_integer_value(is) + more;
    bool fits = code == OP_INT ? sum == (int32_t)sum : sum == (int64_t)sum;
    return fits ? json_integer((json_int_t)sum) : NULL;
}

static json_t *sum_of_reals(json_t *is, json_t *by, enum opcode code)
{
    if (json_is_string(is)) /* no finite number */
        return json_deep_copy(is);
    double sum = json_number_value(is);
    if (code == OP_FLOAT) /* its text is shorter than what it is */
        sum = (double)(float)sum;
    sum += json_number_value(by);
    if (code == OP_FLOAT)
        sum = (double)(float)sum;
    return isfinite(sum) ? json_real(sum) : NULL;
}

static json_t *do_increment(struct plain_patch *p, json_t *tree, json_t *operation, struct buf *token)
{
    struct target at;
    uint32_t one, op;
    json_t *by = json_object_get(operation, "by"), *sum = NULL;
    if (!find(p, tree, json_object_get(operation, "path"), false, token, &at))
        return drop(tree);
    op = at.op;
    if (is_code(p, op, OP_UNION) && values_of(p, op_of(p, op), &one) == 1 && !json_is_null(at.value))
        op = branch_at(p, op_of(p, op), one)->op;
    if (is_code(p, op, OP_INT) || is_code(p, op, OP_LONG))
        sum = sum_of_integers(at.value, by, op_of(p, op)->code);
    else if (is_code(p, op, OP_FLOAT) || is_code(p, op, OP_DOUBLE))
        sum = sum_of_reals(at.value, by, op_of(p, op)->code);
    return sum ? finish(p, place_value(tree, &at, sum)) : drop(tree);
}

json_t *plain_operation(struct plain_patch *p, json_t *record, json_t *operation)
{
    const char *name = json_string_value(json_object_get(operation, "op"));
    json_t *path = json_object_get(operation, "path"), *value = json_object_get(operation, "value");
    json_t *tree = json_deep_copy(record), *done = NULL;
    struct buf token = {0};
    if (!strcmp(name, "add") || !strcmp(name, "replace"))
        done = add(p, tree, path, !strcmp(name, "add"), json_deep_copy(value), &token);
    else if (!strcmp(name, "remove"))
        done = do_remove(p, tree, path, &token);
    else if (!strcmp(name, "move") || !strcmp(name, "copy"))
        done = do_copy(p, tree, operation, !strcmp(name, "move"), &token);
    else if (!strcmp(name, "test"))
        done = do_test(p, tree, operation, &token);
    else
        done = do_increment(p, tree, operation, &token);
    buf_release(&token);
    return done;
}
