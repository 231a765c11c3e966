/* schema/path/path_run.c - the steps of a path, one after the other: each makes a list of values out of the one before. */
#include "schema/path/path_run.h"

#include "base/limits.h"
#include "schema/path/path_regex.h"

void path_run_init(struct path_run *r, struct datum *d, struct err *err)
{
    *r = (struct path_run){.d = d, .err = err};
}

void path_run_release(struct path_run *r)
{
    arena_release(&r->texts);
}

/* ---- lists ---- */

/* The longest list: a value may be in one more than once, before it is put in order. */
enum { LIST_MAX = 4 * LIMIT_VALUES_MAX };

static enum rc grow(struct path_run *r, struct path_stack *s, uint32_t more)
{
    size_t cap = s->cap ? 2 * (size_t)s->cap : 16;
    if ((size_t)s->n + more > LIST_MAX)
        return err_set(r->err, ERR_TOO_MUCH_WORK, "The path finds more than %d values.", LIST_MAX);
    while (cap < (size_t)s->n + more)
        cap *= 2;
    struct value **at = arena_alloc(r->d->arena, cap * sizeof *at);
    if (!at)
        return err_oom(r->err);
    if (s->n)
        memcpy(at, s->at, s->n * sizeof *at);
    s->at = at;
    s->cap = (uint32_t)cap;
    return RC_OK;
}

static enum rc reserve(struct path_run *r, struct path_stack *s, uint32_t more)
{
    if (datum_pay(r->d, (uint64_t)more * COST_VISIT, r->err))
        return RC_ERR;
    return s->cap - s->n >= more ? RC_OK : grow(r, s, more);
}

enum rc path_push(struct path_run *r, struct path_stack *s, struct value *v)
{
    if (reserve(r, s, 1))
        return RC_ERR;
    s->at[s->n++] = v;
    return RC_OK;
}

enum rc path_push_parts(struct path_run *r, struct path_stack *s, const struct value *v)
{
    if (reserve(r, s, v->nparts))
        return RC_ERR;
    for (uint32_t i = v->nparts; i-- > 0;)
        s->at[s->n++] = v->part[i];
    return RC_OK;
}

static enum rc push_in_order(struct path_run *r, const struct value *v)
{
    if (reserve(r, &r->found, v->nparts))
        return RC_ERR;
    for (uint32_t i = 0; i < v->nparts; i++)
        r->found.at[r->found.n++] = v->part[i];
    return RC_OK;
}

/* What stands in [begin, middle) was looked at; what was made of it stands behind. */
static void replace_list(struct path_run *r, uint32_t begin, uint32_t middle)
{
    uint32_t n = r->found.n - middle;
    memmove(r->found.at + begin, r->found.at + middle, n * sizeof *r->found.at);
    r->found.n = begin + n;
}

/* ---- into records and maps ---- */

static enum rc key_fits(struct path_run *r, const struct path_key *key, struct slice name, bool *fits)
{
    if (!key->regex) {
        *fits = slice_eq(key->text, name);
        return datum_pay(r->d, COST_VISIT, r->err);
    }
    if (!r->regex)
        r->regex = regex_scratch_new(r->d->arena);
    if (!r->regex)
        return err_oom(r->err);
    return regex_find(key->regex, r->regex, name, r->d, fits, r->err);
}

static enum rc find_keys(struct path_run *r, const struct path_step *s, struct value *v)
{
    const struct op *op = &r->d->program->ops[v->op];
    bool is_map = op->code == OP_MAP;
    for (uint32_t i = 0; i < v->nparts; i++) {
        struct slice name = is_map ? v->part[i]->key : r->d->program->fields[op->a + i].name;
        bool fits = false;
        for (const struct path_key *k = s->keys; k && !fits; k = k->next)
            if (key_fits(r, k, name, &fits))
                return RC_ERR;
        if (fits && path_push(r, &r->found, v->part[i]))
            return RC_ERR;
    }
    return RC_OK;
}

/* v: a record, map or scalar. */
static enum rc find_inside(struct path_run *r, const struct path_step *s, struct value *v)
{
    enum opcode code = path_code(r, v);
    if (code != OP_RECORD && (code != OP_MAP || s->kind == STEP_FIELD))
        return RC_OK;
    if (value_open(r->d, v, r->err))
        return RC_ERR;
    if (s->kind == STEP_ALL)
        return push_in_order(r, v);
    if (s->kind == STEP_KEYS)
        return find_keys(r, s, v);
    struct value *field = value_field(r->d, v, s->name);
    return field ? path_push(r, &r->found, field) : datum_pay(r->d, COST_VISIT, r->err);
}

/* Through unions and arrays. */
static enum rc look_through(struct path_run *r, const struct path_step *s, struct value *v)
{
    uint32_t before = r->todo.n;
    if (path_push(r, &r->todo, v))
        return RC_ERR;
    while (r->todo.n > before) {
        v = r->todo.at[--r->todo.n];
        if (value_enter_union(r->d, &v, r->err))
            return RC_ERR;
        bool is_array = path_code(r, v) == OP_ARRAY;
        if (is_array ? value_open(r->d, v, r->err) || path_push_parts(r, &r->todo, v) : find_inside(r, s, v))
            return RC_ERR;
    }
    return RC_OK;
}

/* ---- at any depth ---- */

static bool is_wanted(const struct path_run *r, const struct path_step *s, const struct value *v)
{
    const struct op *op = &r->d->program->ops[v->parent->op];
    if (op->code == OP_RECORD)
        return s->kind == STEP_DEEP_ALL || slice_eq(r->d->program->fields[op->a + v->place].name, s->name);
    return op->code == OP_MAP && s->kind == STEP_DEEP_ALL;
}

static enum rc look_below(struct path_run *r, const struct path_step *s, struct value *top)
{
    uint32_t before = r->todo.n;
    if (path_push(r, &r->todo, top))
        return RC_ERR;
    while (r->todo.n > before) {
        struct value *v = r->todo.at[--r->todo.n];
        if (v != top && is_wanted(r, s, v) && path_push(r, &r->found, v))
            return RC_ERR;
        if (value_open(r->d, v, r->err) || (v->is_open && path_push_parts(r, &r->todo, v)))
            return RC_ERR;
    }
    return RC_OK;
}

/* ---- items ---- */

/* Null where an array or map may be is none of either: it has no items. */
static bool is_absent(const struct path_run *r, const struct value *v, const struct value *inner,
                      bool has_maps)
{
    const struct program *p = r->d->program;
    return path_code(r, inner) == OP_NULL &&
           (path_union_has(p, v->op, OP_ARRAY) || (has_maps && path_union_has(p, v->op, OP_MAP)));
}

/* An array's elements, a map's entries, or the value itself. */
static enum rc push_items(struct path_run *r, struct value *v, bool has_maps)
{
    struct value *inner = v;
    if (value_enter_union(r->d, &inner, r->err))
        return RC_ERR;
    enum opcode code = path_code(r, inner);
    if (code == OP_ARRAY || (has_maps && code == OP_MAP))
        return value_open(r->d, inner, r->err) ? RC_ERR : push_in_order(r, inner);
    return is_absent(r, v, inner, has_maps) ? RC_OK : path_push(r, &r->found, v);
}

static enum rc to_items(struct path_run *r, struct path_found *f, bool has_maps)
{
    uint32_t middle = r->found.n;
    if (f->are_items)
        return RC_OK;
    for (uint32_t i = f->begin; i < middle; i++)
        if (push_items(r, r->found.at[i], has_maps))
            return RC_ERR;
    replace_list(r, f->begin, middle);
    f->are_items = true;
    return RC_OK;
}

/* Not as to_items: a null that was found is shown. */
enum rc path_run_flatten(struct path_run *r, struct path_found *f)
{
    uint32_t middle = r->found.n;
    if (f->are_items)
        return RC_OK;
    for (uint32_t i = f->begin; i < middle; i++) {
        struct value *v = r->found.at[i], *inner = v;
        if (value_enter_union(r->d, &inner, r->err))
            return RC_ERR;
        bool is_array = path_code(r, inner) == OP_ARRAY;
        if (is_array ? value_open(r->d, inner, r->err) || push_in_order(r, inner)
                     : path_push(r, &r->found, v))
            return RC_ERR;
    }
    replace_list(r, f->begin, middle);
    f->are_items = true;
    return RC_OK;
}

/* A place in n items, counted from the end if it is negative; the nearest there is. */
static uint32_t clamp(int64_t at, uint32_t n)
{
    if (at < 0)
        at += n;
    return at < 0 ? 0 : at > n ? n : (uint32_t)at;
}

static void pick(struct path_run *r, const struct path_step *s, const struct path_found *f)
{
    uint32_t n = r->found.n - f->begin, from = 0, to = n;
    if (s->kind == STEP_INDEX) {
        int64_t at = s->from < 0 ? s->from + n : s->from;
        from = at < 0 || at >= n ? n : (uint32_t)at;
        to = from < n ? from + 1 : n;
    } else {
        from = s->has_from ? clamp(s->from, n) : 0;
        to = s->has_to ? clamp(s->to, n) : n;
    }
    r->found.n = f->begin + to;
    if (from < to)
        replace_list(r, f->begin, f->begin + from);
    else
        r->found.n = f->begin;
}

/* Lists that predicates make stand behind this one. */
static enum rc keep(struct path_run *r, const struct path_step *s, const struct path_found *f)
{
    uint32_t n = r->found.n, kept = f->begin;
    for (uint32_t i = f->begin; i < n; i++) {
        struct value *item = r->found.at[i];
        bool holds;
        if (path_where(r, s->expr, item, &holds))
            return RC_ERR;
        if (holds)
            r->found.at[kept++] = item;
    }
    r->found.n = kept;
    return RC_OK;
}

/* ---- steps ---- */

/* A list, and whether some of it may be inside of some other: then what is found next may come twice, or too late. */
struct state {
    struct path_found list;
    bool is_nested;
    struct value *base; /* what all of it is in */
};

static enum rc step_each(struct path_run *r, const struct path_step *s, struct state *now,
                         enum rc (*find)(struct path_run *, const struct path_step *, struct value *))
{
    uint32_t middle = r->found.n;
    for (uint32_t i = now->list.begin; i < middle; i++)
        if (find(r, s, r->found.at[i]))
            return RC_ERR;
    replace_list(r, now->list.begin, middle);
    now->list.are_items = false;
    return now->is_nested ? path_order(r, &now->list, now->base) : RC_OK;
}

static enum rc step_items(struct path_run *r, const struct path_step *s, struct state *now)
{
    if (to_items(r, &now->list, s->kind == STEP_WHERE) ||
        (now->is_nested && path_order(r, &now->list, now->base)))
        return RC_ERR;
    if (s->kind == STEP_WHERE)
        return keep(r, s, &now->list);
    pick(r, s, &now->list);
    now->list.are_items = s->kind == STEP_SLICE;
    return RC_OK;
}

static enum rc run_steps(struct path_run *r, const struct path_step *s, struct state *now);

/* The list once more, behind itself, or the root. */
static enum rc begin_way(struct path_run *r, const struct path_way *w, const struct state *now, uint32_t end,
                         struct state *inner)
{
    *inner = *now;
    inner->list.begin = r->found.n;
    if (w->is_from_root) {
        *inner = (struct state){.list = {.begin = r->found.n}, .base = &r->d->root};
        return path_push(r, &r->found, &r->d->root);
    }
    for (uint32_t i = now->list.begin; i < end; i++)
        if (path_push(r, &r->found, r->found.at[i]))
            return RC_ERR;
    return RC_OK;
}

static enum rc step_either(struct path_run *r, const struct path_step *s, struct state *now)
{
    uint32_t middle = r->found.n;
    bool are_items = true;
    for (const struct path_way *w = s->ways; w; w = w->next) {
        struct state inner;
        if (begin_way(r, w, now, middle, &inner) || run_steps(r, w->first, &inner))
            return RC_ERR;
        are_items &= inner.list.are_items;
        if (w->is_from_root)
            now->base = inner.base;
    }
    replace_list(r, now->list.begin, middle);
    now->list.are_items = are_items;
    now->is_nested = true;
    return path_order(r, &now->list, now->base);
}

static enum rc run_step(struct path_run *r, const struct path_step *s, struct state *now)
{
    switch (s->kind) {
    case STEP_SELF: return RC_OK;
    case STEP_FIELD:
    case STEP_ALL:
    case STEP_KEYS: return step_each(r, s, now, look_through);
    case STEP_DEEP_FIELD:
    case STEP_DEEP_ALL:
        if (step_each(r, s, now, look_below))
            return RC_ERR;
        now->is_nested = true;
        return RC_OK;
    case STEP_EITHER: return step_either(r, s, now);
    default: return step_items(r, s, now);
    }
}

static enum rc run_steps(struct path_run *r, const struct path_step *s, struct state *now)
{
    for (; s; s = s->next)
        if (run_step(r, s, now))
            return RC_ERR;
    return RC_OK;
}

enum rc path_run_way(struct path_run *r, const struct path_way *way, struct value *context,
                     struct path_found *out)
{
    struct value *base = way->is_from_root ? &r->d->root : context;
    struct state now = {.list = {.begin = r->found.n}, .base = base};
    if (path_push(r, &r->found, base) || run_steps(r, way->first, &now))
        return RC_ERR;
    *out = now.list;
    return RC_OK;
}
