/* tests/fuzz/generate_patch.c - see generate_patch.h. */
#include "tests/fuzz/generate_patch.h"

#include "base/json_quote.h"
#include "base/num.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/generate.h"

enum { DEPTH_MAX = 6, TEXT_MAX = 3000, VALUE_CHOICES = 12, OPERATIONS_MAX = 6 };

struct generator {
    const struct program *program;
    struct slice choices;
    struct buf *out;
    unsigned depth;
};

static unsigned choose(struct generator *g, unsigned n)
{
    return fuzz_byte(&g->choices) % n;
}

static void put(struct generator *g, const char *text)
{
    CHECK(buf_append(g->out, slice_str(text)), "memory is out");
}

static void put_string(struct generator *g, struct slice s)
{
    CHECK(json_quote(s, g->out), "memory is out");
}

/* A value of the type, or of any other. */
static void put_value(struct generator *g, uint32_t op)
{
    size_t n = g->choices.len < VALUE_CHOICES ? g->choices.len : VALUE_CHOICES;
    struct slice choices = slice_of(g->choices.ptr, n);
    if (choose(g, 16) == 15)
        op = choose(g, 255) % g->program->nops;
    generate_json(g->program, op, choices, g->out);
    g->choices = n < g->choices.len ? slice_of(g->choices.ptr + n, g->choices.len - n) : slice_of(NULL, 0);
}

static const struct op_branch *branch_at(const struct generator *g, const struct op *u, uint32_t i)
{
    return &g->program->branches[u->a + i];
}

/* What is in the union as it is shown. */
static json_t *enter(const struct generator *g, const struct op *u, json_t *shown,
                     const struct op_branch **branch)
{
    *branch = NULL;
    if (!shown || json_is_null(shown))
        return NULL;
    if (u->flags & OP_FLAG_SINGLE) {
        *branch = branch_at(g, u, u->single_branch);
        return shown;
    }
    void *it = json_object_iter(shown);
    for (uint32_t i = 0; i < u->b; i++)
        if (slice_eq(branch_at(g, u, i)->tag,
                     slice_of(json_object_iter_key(it), json_object_iter_key_len(it))))
            *branch = branch_at(g, u, i);
    return json_object_iter_value(it);
}

/* ---- merge ---- */

static void merge(struct generator *g, uint32_t op, json_t *target);

static void member(struct generator *g, const char **before, struct slice name, uint32_t op, json_t *target)
{
    unsigned what = choose(g, 8);
    if (what < 3)
        return;
    put(g, *before);
    *before = ",";
    put_string(g, name);
    put(g, ":");
    if (what == 3)
        put(g, "null");
    else
        merge(g, op, target);
}

static void merge_record(struct generator *g, const struct op *o, json_t *target)
{
    const char *before = "";
    put(g, "{");
    for (uint32_t i = 0; i < o->b; i++) {
        const struct op_field *f = &g->program->fields[o->a + i];
        member(g, &before, f->name, f->op, json_object_getn(target, (const char *)f->name.ptr, f->name.len));
    }
    if (choose(g, 16) == 15) {
        put(g, before);
        put(g, choose(g, 2) ? "\"unknown\":{\"a\":null}" : "\"unknown\":null");
    }
    put(g, "}");
}

static void merge_map(struct generator *g, const struct op *o, json_t *target)
{
    static const char *const fresh[] = {"a", "b", "new", "map", ""};
    const char *before = "", *key;
    size_t len;
    json_t *value;
    put(g, "{");
    json_object_keylen_foreach(target, key, len, value)
    {
        member(g, &before, slice_of(key, len), o->a, value);
    }
    for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++)
        if (!json_object_get(target, fresh[i]))
            member(g, &before, slice_str(fresh[i]), o->a, NULL);
    put(g, "}");
}

static void merge_union(struct generator *g, uint32_t op, json_t *target)
{
    const struct op *u = &g->program->ops[op];
    const struct op_branch *current, *b;
    json_t *inner = enter(g, u, target, &current);
    unsigned how = choose(g, 4);
    if (!u->b || how == 0) {
        put_value(g, op);
    } else if (how == 1 && current) {
        merge(g, current->op, inner);
    } else {
        b = how == 2 && current ? current : branch_at(g, u, choose(g, 255) % u->b);
        put(g, "{");
        put_string(g, b->short_tag.len && choose(g, 2) ? b->short_tag : b->tag);
        put(g, ":");
        merge(g, b->op, b == current ? inner : NULL);
        put(g, choose(g, 16) == 15 ? ",\"x\":1}" : "}");
    }
}

static void merge(struct generator *g, uint32_t op, json_t *target)
{
    const struct op *o = &g->program->ops[op];
    unsigned what = choose(g, 16);
    if (g->depth == DEPTH_MAX || g->out->len > TEXT_MAX || what == 15) {
        put_value(g, op);
        return;
    }
    g->depth++;
    if (o->code == OP_UNION)
        merge_union(g, op, target);
    else if (o->code == OP_RECORD)
        merge_record(g, o, json_is_object(target) ? target : NULL);
    else if (o->code == OP_MAP)
        merge_map(g, o, json_is_object(target) ? target : NULL);
    else
        put_value(g, op);
    g->depth--;
}

void generate_merge(const struct program *p, json_t *record, struct slice choices, struct buf *out)
{
    struct generator g = {.program = p, .choices = choices, .out = out};
    merge(&g, p->root, record);
}

/* ---- operations ---- */

static void put_token(struct generator *g, struct slice token)
{
    put(g, "/");
    for (size_t i = 0; i < token.len; i++) {
        uint8_t c = token.ptr[i];
        if (c == '~' || c == '/') {
            put(g, c == '~' ? "~0" : "~1");
            continue;
        }
        if (c < 0x20 || c == '"' || c == '\\')
            CHECK(buf_printf(g->out, "\\u%04x", c), "memory is out");
        else
            CHECK(buf_append_byte(g->out, c), "memory is out");
    }
}

/* The n-th member. */
static json_t *put_member(struct generator *g, json_t *object, struct slice *name)
{
    size_t n = choose(g, 255) % json_object_size(object);
    void *it = json_object_iter(object);
    while (n--)
        it = json_object_iter_next(object, it);
    *name = slice_of(json_object_iter_key(it), json_object_iter_key_len(it));
    put_token(g, *name);
    return json_object_iter_value(it);
}

static void put_index(struct generator *g, size_t i)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    put_token(g, slice_of(digits, num_print_u64(i, digits)));
}

/* The type of a record's field, or else of any. */
static uint32_t field_op(const struct generator *g, const struct op *o, struct slice name)
{
    int i = program_field(g->program, o, name);
    return i < 0 ? g->program->root : g->program->fields[o->a + (uint32_t)i].op;
}

/* One step down from *at; false: the path ends. */
static bool put_step(struct generator *g, uint32_t *op, json_t **at)
{
    const struct op *o = &g->program->ops[*op];
    struct slice name;
    if (o->code == OP_UNION) {
        const struct op_branch *b;
        json_t *inner = enter(g, o, *at, &b);
        if (!b)
            return false;
        *op = b->op;
        if (!(o->flags & OP_FLAG_SINGLE)) {
            put_token(g, choose(g, 16) == 15 ? b->short_tag : b->tag);
            *at = inner;
            return true;
        }
        o = &g->program->ops[*op];
    }
    if (json_is_array(*at) && json_array_size(*at)) {
        size_t i = choose(g, 255) % json_array_size(*at);
        put_index(g, i);
        *at = json_array_get(*at, i);
        *op = o->a;
    } else if (json_is_object(*at) && json_object_size(*at)) {
        *at = put_member(g, *at, &name);
        *op = o->code == OP_MAP ? o->a : field_op(g, o, name);
    } else {
        return false;
    }
    return true;
}

/* A path that leads somewhere, or nearly, as a JSON string; the type of what is there. */
static uint32_t put_path(struct generator *g, json_t *record)
{
    static const char *const ends[] = {"/-", "/0", "/1", "/a", "/new", "/", "/01", "/~1", "/x/y", "/2"};
    uint32_t op = g->program->root;
    json_t *at = record;
    put(g, "\"");
    for (unsigned i = 0; i < DEPTH_MAX && choose(g, 8) && put_step(g, &op, &at); i++)
        ;
    if (choose(g, 3) == 2) {
        const struct op *o = &g->program->ops[op];
        put(g, ends[choose(g, sizeof ends / sizeof *ends)]);
        if (o->code == OP_ARRAY || o->code == OP_MAP)
            op = o->a;
    }
    put(g, "\"");
    return op;
}

static void operation(struct generator *g, json_t *record)
{
    static const char *const names[] = {"add", "remove", "replace", "move", "copy", "test", "increment"};
    static const char *const sums[] = {
        "1", "-1", "0", "1e2", "0.5", "2147483647", "-9223372036854775807", "1e19", "1e308", "-0.0"};
    unsigned kind = choose(g, 7);
    put(g, "{\"op\":\"");
    put(g, names[kind]);
    put(g, "\",\"path\":");
    uint32_t op = put_path(g, record);
    if (kind == 3 || kind == 4) {
        put(g, ",\"from\":");
        put_path(g, record);
    } else if (kind == 6) {
        put(g, ",\"by\":");
        put(g, sums[choose(g, sizeof sums / sizeof *sums)]);
    } else if (kind != 1) {
        put(g, ",\"value\":");
        put_value(g, op);
    }
    put(g, "}");
}

void generate_operations(const struct program *p, json_t *record, struct slice choices, struct buf *out)
{
    struct generator g = {.program = p, .choices = choices, .out = out};
    put(&g, "[");
    for (unsigned n = choose(&g, OPERATIONS_MAX), i = 0; i <= n; i++) {
        put(&g, i ? "," : "");
        operation(&g, record);
    }
    put(&g, "]");
}
