/* schema/resolve/resolve_holds.c - which types of the writer's hold, at any depth, records that are scattered, or
 * arrays whose items take no bytes: what has it tells all types that contain it, each once. */
#include "schema/resolve/resolve.h"

struct spread {
    const struct program *p;
    uint8_t *holds;
    uint32_t *first, *users; /* of type t: users[first[t] .. first[t + 1]) */
    uint32_t *queue, nqueue;
};

/* The types right inside a type: how many, and the i-th. */
static uint32_t inner_count(const struct op *op)
{
    switch ((enum opcode)op->code) {
    case OP_RECORD:
    case OP_UNION: return op->b;
    case OP_ARRAY:
    case OP_MAP: return 1;
    default: return 0;
    }
}

static uint32_t inner(const struct program *p, const struct op *op, uint32_t i)
{
    switch ((enum opcode)op->code) {
    case OP_RECORD: return p->fields[op->a + i].op;
    case OP_UNION: return p->branches[op->a + i].op;
    default: return op->a;
    }
}

static void walk_inner(const struct program *p, uint32_t *slot, uint32_t *users)
{
    for (uint32_t t = 0; t < p->nops; t++)
        for (uint32_t i = 0; i < inner_count(&p->ops[t]); i++) {
            uint32_t at = slot[inner(p, &p->ops[t], i)]++;
            if (users)
                users[at] = t;
        }
}

static bool collect_users(struct spread *s, struct arena *arena)
{
    const struct program *p = s->p;
    uint32_t *first = arena_calloc(arena, (size_t)p->nops + 2, sizeof *first);
    s->queue = arena_calloc(arena, p->nops, sizeof *s->queue);
    if (!first || !s->queue)
        return false;
    /* Counted two places up, then summed one place up, so that placing leaves the beginnings where they
     * belong. */
    walk_inner(p, first + 2, NULL);
    for (uint32_t t = 1; t <= p->nops; t++)
        first[t + 1] += first[t];
    s->users = arena_calloc(arena, (size_t)first[p->nops + 1] + 1, sizeof *s->users);
    if (!s->users)
        return false;
    walk_inner(p, first + 1, s->users);
    s->first = first;
    return true;
}

/* From the types in the queue to all that contain them. */
static void spread(struct spread *s, uint8_t what)
{
    for (uint32_t done = 0; done < s->nqueue; done++)
        for (uint32_t u = s->first[s->queue[done]]; u < s->first[s->queue[done] + 1]; u++)
            if (!(s->holds[s->users[u]] & what)) {
                s->holds[s->users[u]] |= what;
                s->queue[s->nqueue++] = s->users[u];
            }
    s->nqueue = 0;
}

static void begin(struct spread *s, uint32_t type, uint8_t what)
{
    if (s->holds[type] & what)
        return;
    s->holds[type] |= what;
    s->queue[s->nqueue++] = type;
}

static void find_empty(struct spread *s)
{
    for (uint32_t t = 0; t < s->p->nops; t++)
        if (s->p->ops[t].code == OP_ARRAY && s->p->ops[s->p->ops[t].a].size_min == 0)
            begin(s, t, HOLDS_EMPTY);
    spread(s, HOLDS_EMPTY);
}

static void find_scattered(struct spread *s, const struct resolver *r)
{
    for (uint32_t i = 0; i < r->nops; i++)
        if (r->ops[i].code == RESOLVE_SCATTERED)
            begin(s, r->ops[i].e, HOLDS_SCATTERED);
    spread(s, HOLDS_SCATTERED);
}

bool resolver_find_holds(struct resolver *r)
{
    struct arena scratch = {0};
    struct spread s = {.p = r->writer};
    r->holds = s.holds = arena_calloc(&r->arena, r->writer->nops, sizeof *s.holds);
    bool ok = s.holds && collect_users(&s, &scratch);
    if (ok) {
        find_empty(&s);
        find_scattered(&s, r);
    }
    arena_release(&scratch);
    return ok;
}
