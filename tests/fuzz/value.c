/* tests/fuzz/value.c - data that are opened and changed. What was only looked at keeps its bytes; what is changed becomes
 * what the same change makes of the tree of its JSON (plain_tree.h); what is put in is what a plain encoder makes
 * (plain_codec.h), or is refused with pointers to its place; projections show what the tree has. The input: a byte of
 * options, a schema (schemas.h), the number of bytes that choose the data (generate.h), these, then what is done: a step
 * ends where its bytes do. */
#include "schema/value/value.h"

#include "base/json_quote.h"
#include "base/limits.h"
#include "schema/decode/decode.h"
#include "schema/json.h"
#include "schema/schema.h"
#include "schema/scratch.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/json_tree.h"
#include "tests/fuzz/plain_codec.h"
#include "tests/fuzz/plain_tree.h"
#include "tests/fuzz/schemas.h"

enum { STEPS_MAX = 24, PRINTED_MAX = 65536, PATHS_MAX = 3, PATH_BYTES_MAX = 200 };

struct run {
    const struct schema *schema;
    const struct program *program; /* the plain one */
    struct codec_opts opts;
    struct datum d;
    struct arena arena; /* the datum's */
    json_t *tree;
    struct slice in; /* the choices that are left */
    struct err err;
    bool is_over; /* there is something that Jansson cannot have */
};

static struct codec *codec;

/* A value, and where the tree has it. */
struct here {
    struct value *v;
    struct plain_place place;
    struct here_parent {
        struct value *v;
        struct plain_place place;
    } parent; /* v NULL: it is the root */
};

static unsigned choose(struct run *r, unsigned n)
{
    return n ? fuzz_byte(&r->in) % n : 0;
}

static uint8_t code_of(const struct run *r, const struct value *v)
{
    return r->program->ops[v->op].code;
}

/* ---- texts and trees ---- */

/* NULL: Jansson cannot have it, and the run is over. */
static json_t *load(struct run *r, struct slice json)
{
    json_error_t why;
    json_t *tree = json_loadb((const char *)json.ptr, json.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    CHECK(tree || json_tree_is_limit(&why), "%.*s: %s", SHOW(json), why.text);
    r->is_over |= !tree;
    return tree;
}

/* The tree of a value's bytes, by the decoder alone. */
static json_t *tree_of(struct run *r, uint32_t op, struct slice avro)
{
    struct buf json = {0};
    struct err err;
    CHECK(decode_json(r->program, op, JSON_AVRO, LIMIT_JSON_MAX, avro, avro, SLICE(""), &json, &err) == RC_OK,
          "%s", err.message);
    json_t *tree = load(r, buf_slice(&json));
    buf_release(&json);
    return tree;
}

/* The same, members in the same order. */
static void check_same(json_t *got, json_t *want, const char *what)
{
    char *a = json_dumps(got, JSON_ENCODE_ANY), *b = json_dumps(want, JSON_ENCODE_ANY);
    CHECK(a && b, "memory is out");
    CHECK(strcmp(a, b) == 0, "%s: got %.400s, want %.400s", what, a, b);
    free(a);
    free(b);
}

/* ---- the datum as a whole ---- */

static void finish(struct run *r, struct buf *out)
{
    CHECK(datum_finish(&r->d, out, &r->err) == RC_OK, "%s", r->err.message);
    struct arena arena = {0};
    CHECK(codec_check(codec, r->schema, &(struct codec_opts){0}, buf_slice(out), 0, &arena, &r->err) == RC_OK,
          "%s", r->err.message);
    arena_release(&arena);
}

static void check_whole(struct run *r)
{
    struct buf avro = {0};
    finish(r, &avro);
    json_t *got = tree_of(r, r->program->root, slice_not_null(buf_slice(&avro)));
    if (got)
        check_same(got, r->tree, "the whole");
    json_decref(got);
    buf_release(&avro);
}

/* ---- looking ---- */

static void check_here(struct run *r, const struct here *h)
{
    struct buf json = {0}, pointer = {0};
    CHECK(value_print(&r->d, h->v, JSON_AVRO, LIMIT_JSON_MAX, &json, &r->err) == RC_OK, "%s", r->err.message);
    json_t *got = load(r, buf_slice(&json));
    if (got)
        check_same(got, plain_at(&h->place), "a value");
    const struct codec_opts avro = {.form = JSON_AVRO}, *opts = r->d.opts;
    r->d.opts = &avro;
    CHECK(value_pointer(&r->d, h->v, &pointer), "memory is out");
    r->d.opts = opts;
    CHECK(json_tree_has(r->tree, buf_slice(&pointer), false), "the pointer %.*s leads nowhere",
          SHOW(pointer));
    json_decref(got);
    buf_release(&json);
    buf_release(&pointer);
}

static void open_value(struct run *r, struct value *v)
{
    CHECK(value_open(&r->d, v, &r->err) == RC_OK, "%s", r->err.message);
}

/* Down from the root, as far as the bytes say. */
static struct here go(struct run *r)
{
    struct here h = {.v = &r->d.root, .place = {.root = &r->tree}};
    for (unsigned steps = choose(r, 8); steps; steps--) {
        open_value(r, h.v);
        if (!h.v->nparts)
            break;
        unsigned n = choose(r, h.v->nparts);
        h.parent = (struct here_parent){h.v, h.place};
        h.place = plain_part(r->program, h.v->op, &h.place, n);
        h.v = h.v->part[n];
        CHECK(h.v->parent == h.parent.v && value_place(h.v) == n, "it is part of another");
    }
    return h;
}

static void look(struct run *r)
{
    struct here h = go(r);
    check_here(r, &h);
}

/* ---- what is put in ---- */

/* A text for an instruction, in the form of the options. */
static struct slice generate(struct run *r, uint32_t op)
{
    unsigned n = choose(r, 32);
    struct slice choices = slice_of(r->in.ptr, n < r->in.len ? n : r->in.len);
    struct buf text = {0};
    r->in = slice_of(r->in.ptr ? r->in.ptr + choices.len : NULL, r->in.len - choices.len);
    generate_json(schema_program_of(r->schema, r->opts.form), op, choices, &text);
    struct slice json = fuzz_copy(buf_slice(&text));
    buf_release(&text);
    return json;
}

/* All pointers begin with where the value is. */
static void check_refusal(struct run *r, const struct value *v)
{
    struct buf base = {0};
    CHECK(value_pointer(&r->d, v, &base), "memory is out");
    CHECK(r->err.code == ERR_BAD_RECORD || r->err.code == ERR_BAD_JSON || r->err.code == ERR_TOO_DEEP ||
              r->err.code == ERR_TOO_MUCH_WORK,
          "code %d: %s", r->err.code, r->err.message);
    for (const struct problem *p = r->err.first; p; p = p->next)
        CHECK(slice_starts(p->pointer, buf_slice(&base)), "%.*s is not in %.*s", SHOW(p->pointer),
              SHOW(base));
    buf_release(&base);
}

/* Is it what a plain encoder makes of the text, or refused as there? */
static void check_encoded(struct run *r, const struct value *v, struct slice json, enum rc rc)
{
    struct arena arena = {0};
    struct buf plain = {0};
    struct err err;
    bool is_json = json_check(json, JSON_NEST_MAX, &arena, &err) == RC_OK;
    CHECK(is_json || rc != RC_OK, "taken: %.*s", SHOW(json));
    if (is_json)
        switch (plain_encode(schema_program_of(r->schema, r->opts.form), v->op, &r->opts, json, &plain)) {
        case PLAIN_FITS:
            CHECK(rc == RC_OK, "refused: %.*s: %s", SHOW(json), r->err.message);
            CHECK(slice_eq(v->avro, buf_slice(&plain)), "%.*s", SHOW(json));
            break;
        case PLAIN_MISFIT: CHECK(rc != RC_OK, "taken: %.*s", SHOW(json)); break;
        case PLAIN_GIVES_UP: break;
        }
    buf_release(&plain);
    arena_release(&arena);
}

/* The tree of what the value has become; NULL: it was refused, and is what it was. */
static json_t *set_generated(struct run *r, struct value *v)
{
    struct slice json = generate(r, v->op), before = v->avro;
    enum rc rc = value_set_json(&r->d, v, json, SLICE(""), &r->err);
    if (rc != RC_OK) {
        check_refusal(r, v);
        CHECK(before.ptr == v->avro.ptr, "what was refused has changed it");
    }
    check_encoded(r, v, json, rc);
    fuzz_free(json);
    return rc == RC_OK ? tree_of(r, v->op, v->avro) : NULL;
}

/* One that is part of nothing yet; NULL: what is generated does not fit. */
static struct value *make(struct run *r, uint32_t op, json_t **tree)
{
    struct value *v = value_new(&r->d, op, &r->err);
    CHECK(v, "%s", r->err.message);
    *tree = set_generated(r, v);
    return *tree ? v : NULL;
}

/* ---- changes, each here and in the tree ---- */

static void set(struct run *r)
{
    struct here h = go(r);
    json_t *tree = set_generated(r, h.v);
    if (tree)
        plain_set(&h.place, tree);
}

/* A union's branch is set with its tag, a value without. */
static void set_branch(struct run *r, const struct here *h)
{
    const struct op *op = &r->program->ops[h->v->op];
    if (!op->b)
        return;
    uint32_t i = choose(r, op->b);
    const struct op_branch *branch = &r->program->branches[op->a + i];
    json_t *tree, *tagged;
    struct value *v = make(r, branch->op, &tree);
    if (!v)
        return;
    CHECK(value_set_branch(&r->d, h->v, i, v->avro, &r->err) == RC_OK, "%s", r->err.message);
    if (r->program->ops[branch->op].code == OP_NULL) {
        plain_set(&h->place, tree);
        return;
    }
    tagged = json_object();
    CHECK(tagged && json_object_setn_new(tagged, (const char *)branch->tag.ptr, branch->tag.len, tree) == 0,
          "memory is out");
    plain_set(&h->place, tagged);
}

static void insert(struct run *r, const struct here *h)
{
    uint32_t index = choose(r, h->v->nparts + 1);
    json_t *tree;
    struct value *v = make(r, r->program->ops[h->v->op].a, &tree);
    if (!v)
        return;
    CHECK(value_insert(&r->d, h->v, index, v, &r->err) == RC_OK, "%s", r->err.message);
    CHECK(json_array_insert_new(plain_at(&h->place), index, tree) == 0, "memory is out");
}

static void put_entry(struct run *r, const struct here *h, const char *key, struct value *v, json_t *tree)
{
    CHECK(value_put(&r->d, h->v, slice_str(key), v, &r->err) == RC_OK, "%s", r->err.message);
    CHECK(json_object_set_new(plain_at(&h->place), key, tree) == 0, "memory is out");
    CHECK(value_entry(h->v, slice_str(key)) == v, "another entry");
}

/* As many as a map is hashed for. */
static void put_many(struct run *r, const struct here *h, const struct value *like, json_t *tree)
{
    char key[] = "k0";
    for (int i = 0; i < 20; i++) {
        key[1] = (char)('a' + i);
        struct value *v = value_new(&r->d, like->op, &r->err);
        CHECK(v, "%s", r->err.message);
        value_set(&r->d, v, like->avro);
        put_entry(r, h, key, v, json_deep_copy(tree));
    }
}

static void put(struct run *r, const struct here *h)
{
    static const char *const keys[] = {"a", "b", "x", "", "n.A", "\xc3\xa4", "~/", "kc"};
    unsigned choice = choose(r, 4 * ARRAY_LEN(keys));
    json_t *tree;
    struct value *v = make(r, r->program->ops[h->v->op].a, &tree);
    if (!v)
        return;
    if (choice >= 3 * ARRAY_LEN(keys))
        put_many(r, h, v, tree);
    put_entry(r, h, keys[choice % ARRAY_LEN(keys)], v, tree);
}

/* Put something into what can take it. */
static void add(struct run *r)
{
    struct here h = go(r);
    open_value(r, h.v);
    switch (code_of(r, h.v)) {
    case OP_UNION: set_branch(r, &h); break;
    case OP_ARRAY: insert(r, &h); break;
    case OP_MAP: put(r, &h); break;
    default: break;
    }
}

static bool is_block(const struct run *r, const struct value *v)
{
    return v && (code_of(r, v) == OP_ARRAY || code_of(r, v) == OP_MAP);
}

/* The name may be the member's own, which goes. */
static void remove_plainly(const struct plain_place *p)
{
    struct slice name = fuzz_copy(p->name);
    if (json_is_array(p->in))
        CHECK(json_array_remove(p->in, p->index) == 0, "no such item");
    else
        CHECK(json_object_deln(p->in, (const char *)name.ptr, name.len) == 0, "no such member");
    fuzz_free(name);
}

static void remove_one(struct run *r)
{
    struct here h = go(r);
    if (!is_block(r, h.parent.v))
        return;
    value_remove(h.v);
    CHECK(!h.v->parent, "it has a parent still");
    CHECK(json_is_array(h.place.in) || !value_entry(h.parent.v, h.v->key), "it is found still");
    remove_plainly(&h.place);
}

static void remove_some(struct run *r)
{
    struct here h = go(r);
    if (!is_block(r, h.v))
        return;
    open_value(r, h.v);
    uint32_t n = h.v->nparts, gone = 0;
    uint8_t pattern = fuzz_byte(&r->in);
    for (uint32_t i = n; i-- > 0;) { /* from the end, so that places before it stay */
        if (!(pattern >> (i % 8) & 1))
            continue;
        value_mark(h.v->part[i]);
        struct plain_place part = plain_part(r->program, h.v->op, &h.place, i);
        remove_plainly(&part);
        gone++;
    }
    CHECK(value_remove_marked(h.v) == gone, "not as many");
}

static void clear(struct run *r)
{
    struct here h = go(r);
    if (!is_block(r, h.v))
        return;
    value_clear(h.v);
    plain_set(&h.place, code_of(r, h.v) == OP_ARRAY ? json_array() : json_object());
}

/* Out of an array and in again at another place. */
static void move(struct run *r)
{
    struct here h = go(r);
    if (!h.parent.v || code_of(r, h.parent.v) != OP_ARRAY)
        return;
    json_t *item = json_incref(plain_at(&h.place));
    value_remove(h.v);
    remove_plainly(&h.place);
    uint32_t index = choose(r, h.parent.v->nparts + 1);
    CHECK(value_insert(&r->d, h.parent.v, index, h.v, &r->err) == RC_OK, "%s", r->err.message);
    CHECK(json_array_insert_new(plain_at(&h.parent.place), index, item) == 0, "memory is out");
}

/* ---- comparing ---- */

static bool equal(struct run *r, struct value *a, struct value *b)
{
    bool there = false, back = true;
    CHECK(value_equal(&r->d, a, b, &there, &r->err) == RC_OK, "%s", r->err.message);
    CHECK(value_equal(&r->d, b, a, &back, &r->err) == RC_OK, "%s", r->err.message);
    CHECK(there == back, "one way equal, the other not");
    return there;
}

static void compare(struct run *r)
{
    struct here h = go(r);
    struct buf avro = {0};
    json_t *tree;
    struct value *copy = value_new(&r->d, h.v->op, &r->err), *other = make(r, h.v->op, &tree);
    struct slice bytes;
    CHECK(copy && value_write(&r->d, h.v, &avro, &r->err) == RC_OK &&
              arena_copy(&r->arena, buf_slice(&avro), &bytes),
          "%s", r->err.message);
    value_set(&r->d, copy, bytes);
    CHECK(equal(r, h.v, copy), "a copy is another");
    if (other) {
        bool want = json_equal(tree, plain_at(&h.place));
        CHECK(equal(r, h.v, other) == want, "equal: %d", !want);
    }
    json_decref(tree);
    buf_release(&avro);
}

/* ---- projections ---- */

/* To a record that can stand at the instruction; false: there is none, or the bytes lead to none. */
static bool find_record(struct run *r, uint32_t *op)
{
    for (int i = 0; i < 12; i++) {
        const struct op *o = &r->program->ops[*op];
        switch (o->code) {
        case OP_RECORD: return o->b;
        case OP_ARRAY:
        case OP_MAP: *op = o->a; break;
        case OP_UNION:
            if (!o->b)
                return false;
            *op = r->program->branches[o->a + choose(r, o->b)].op;
            break;
        default: return false;
        }
    }
    return false;
}

static void choose_path(struct run *r, struct buf *path)
{
    uint32_t op = r->program->root;
    for (unsigned n = 1 + choose(r, 3); n && find_record(r, &op); n--) {
        const struct op *record = &r->program->ops[op];
        const struct op_field *f = &r->program->fields[record->a + choose(r, record->b)];
        if (path->len + f->name.len > PATH_BYTES_MAX)
            break;
        CHECK((!path->len || buf_append_byte(path, '.')) && buf_append(path, f->name), "memory is out");
        op = f->op;
    }
}

static void check_projection(struct run *r, struct slice list_text, const struct slice *paths, size_t n)
{
    struct arena arena = {0};
    struct buf avro = {0}, json = {0};
    struct projection_list list;
    struct projection *p;
    finish(r, &avro);
    CHECK(projection_list_parse(&list, list_text, &arena, &r->err) == RC_OK &&
              projection_new(&p, r->schema, &list, &arena, &r->err) == RC_OK &&
              projection_print(p, JSON_AVRO, LIMIT_JSON_MAX, buf_slice(&avro), &json, &r->err) == RC_OK,
          "%.*s: %s", SHOW(list_text), r->err.message);
    json_t *want = plain_project(r->program, r->program->root, r->tree, paths, n),
           *got = load(r, buf_slice(&json));
    if (got)
        check_same(got, want, "a projection");
    json_decref(want);
    json_decref(got);
    buf_release(&avro);
    buf_release(&json);
    arena_release(&arena);
}

static void project(struct run *r)
{
    struct buf path[PATHS_MAX] = {0}, text = {0};
    struct slice paths[PATHS_MAX];
    size_t n = 0;
    for (unsigned i = 1 + choose(r, PATHS_MAX); i; i--) {
        choose_path(r, &path[n]);
        paths[n] = buf_slice(&path[n]);
        if (!paths[n].len)
            continue;
        CHECK((!text.len || buf_append_byte(&text, ',')) && buf_append(&text, paths[n]), "memory is out");
        n++;
    }
    if (n)
        check_projection(r, buf_slice(&text), paths, n);
    for (size_t i = 0; i < PATHS_MAX; i++)
        buf_release(&path[i]);
    buf_release(&text);
}

/* ---- the input ---- */

static void step(struct run *r)
{
    switch (choose(r, 10)) {
    case 0: look(r); break;
    case 1:
    case 2: set(r); break;
    case 3:
    case 4: add(r); break;
    case 5: remove_one(r); break;
    case 6: remove_some(r); break;
    case 7: move(r); break;
    case 8: compare(r); break;
    default: choose(r, 4) ? project(r) : clear(r); break;
    }
}

/* Avro binary from choices. */
static void make_datum(struct run *r, struct buf *avro)
{
    const struct codec_opts opts = {.missing = MISSING_ZERO, .unknown = UNKNOWN_IGNORE};
    unsigned n = fuzz_byte(&r->in);
    struct slice choices = slice_of(r->in.ptr, n < r->in.len ? n : r->in.len);
    struct buf json = {0};
    r->in = slice_of(r->in.ptr ? r->in.ptr + choices.len : NULL, r->in.len - choices.len);
    generate_json(r->program, r->program->root, choices, &json);
    if (codec_from_json(codec, r->schema, &opts, buf_slice(&json), avro, &r->arena, &r->err) != RC_OK)
        CHECK(buf_append(avro, schema_initial(r->schema)), "memory is out");
    buf_release(&json);
}

/* Nothing was changed yet: the bytes are what they were, wherever somebody has looked. */
static void look_around(struct run *r, struct slice avro)
{
    struct buf out = {0};
    struct slice in = r->in;
    for (int i = 0; i < 4 && !r->is_over; i++)
        look(r);
    r->in = in;
    finish(r, &out);
    CHECK(slice_eq(avro, buf_slice(&out)), "looking has changed it");
    buf_release(&out);
}

static void run(struct run *r)
{
    struct buf made = {0};
    make_datum(r, &made);
    struct slice avro = fuzz_copy(buf_slice(&made));
    buf_release(&made);
    r->tree = avro.len <= PRINTED_MAX ? tree_of(r, r->program->root, avro) : NULL;
    if (r->tree) {
        datum_init(&r->d, r->schema, &r->opts, codec, false, avro, &r->arena);
        look_around(r, avro);
        for (int i = 0; i < STEPS_MAX && r->in.len && !r->is_over; i++) {
            step(r);
            if (!r->is_over)
                check_whole(r);
        }
    }
    json_decref(r->tree);
    fuzz_free(avro);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r = {.in = slice_of(data, size)};
    struct fuzz_schema s;
    uint8_t options = fuzz_byte(&r.in);
    if (!codec)
        codec = codec_new();
    CHECK(codec, "memory is out");
    r.opts.form = options & 1 ? JSON_AVRO : (enum json_form)((options >> 4) % JSON_AVRO);
    r.opts.missing = (options >> 1 & 3) % 3;
    r.opts.unknown = options >> 3 & 1;
    fuzz_schema_take(&s, &r.in);
    r.schema = s.schema;
    if (r.schema) {
        r.program = schema_program(r.schema);
        run(&r);
    }
    fuzz_schema_release(&s);
    arena_release(&r.arena);
    return 0;
}
