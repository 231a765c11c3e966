/* schema/resolve/match_verdict.c - what of each pair can be read, settled over all pairs at once, circles and all:
 *
 *   is_full      the greatest choice: all are, but those that are not by themselves, and who needs one
 *   is_possible  the least choice: those that are by themselves, and who then has all it needs; a datum ends
 *   chosen       of a reader's union: the first branch that takes everything, else the first that takes
 *                something, else the first
 *   is_same      the greatest choice again
 *
 * Each pair changes once and then tells its users, so it is linear. */
#include "schema/resolve/match_build.h"

struct judge {
    struct match *m;
    struct arena *arena;
    uint32_t *first; /* the users of pair i: users[first[i] .. first[i + 1]) */
    uint32_t *users;
    uint32_t *queue, nqueue;
    uint32_t *open; /* edges that are still undecided, or (full) still alive */
};

/* ---- who needs whom ---- */

static void walk_edges(const struct match *m, uint32_t *slot, uint32_t *users)
{
    for (uint32_t p = 0; p < m->npairs; p++)
        for (uint32_t e = m->pairs[p].edges; e < m->pairs[p].edges + m->pairs[p].n; e++)
            if (m->edges[e].pair != MATCH_NONE) {
                uint32_t at = slot[m->edges[e].pair]++;
                if (users)
                    users[at] = p;
            }
}

static bool collect_users(struct judge *j)
{
    const struct match *m = j->m;
    uint32_t *first = arena_calloc(j->arena, (size_t)m->npairs + 2, sizeof *first);
    j->users = arena_calloc(j->arena, (size_t)m->nedges + 1, sizeof *j->users);
    j->queue = arena_calloc(j->arena, m->npairs, sizeof *j->queue);
    j->open = arena_calloc(j->arena, m->npairs, sizeof *j->open);
    if (!first || !j->users || !j->queue || !j->open)
        return false;
    /* Counted two places up, then summed one place up, so that placing leaves the beginnings where they
     * belong. */
    walk_edges(m, first + 2, NULL);
    for (uint32_t p = 1; p <= m->npairs; p++)
        first[p + 1] += first[p];
    walk_edges(m, first + 1, j->users);
    j->first = first;
    return true;
}

static bool lacks_field(const struct match *m, const struct match_pair *p)
{
    for (uint32_t e = p->edges; p->kind == MATCH_RECORD && e < p->edges + p->n; e++)
        if (m->edges[e].field == MATCH_FIELD_MISSING || m->edges[e].field == MATCH_FIELD_AMBIGUOUS)
            return true;
    return false;
}

/* ---- every datum ---- */

static void judge_full(struct judge *j)
{
    struct match *m = j->m;
    j->nqueue = 0;
    for (uint32_t i = 0; i < m->npairs; i++) {
        struct match_pair *p = &m->pairs[i];
        if (p->kind != MATCH_ENUM)
            p->is_full =
                p->kind != MATCH_NOT && !lacks_field(m, p) && (p->kind != MATCH_READER_UNION || p->n);
        j->open[i] = p->n;
        if (!p->is_full)
            j->queue[j->nqueue++] = i;
    }
    for (uint32_t done = 0; done < j->nqueue; done++)
        for (uint32_t u = j->first[j->queue[done]]; u < j->first[j->queue[done] + 1]; u++) {
            struct match_pair *user = &m->pairs[j->users[u]];
            if (!user->is_full || (user->kind == MATCH_READER_UNION && --j->open[j->users[u]]))
                continue;
            user->is_full = false;
            j->queue[j->nqueue++] = j->users[u];
        }
}

/* ---- some datum ---- */

static uint32_t count_needed(const struct match *m, const struct match_pair *p)
{
    uint32_t n = 0;
    for (uint32_t e = p->edges; e < p->edges + p->n; e++)
        n += m->edges[e].pair != MATCH_NONE;
    return n;
}

/* How many of its edges must be possible; MATCH_NONE: it never is. */
static uint32_t needed(const struct match *m, const struct match_pair *p)
{
    switch ((enum match_kind)p->kind) {
    case MATCH_NOT: return MATCH_NONE;
    case MATCH_RECORD: return lacks_field(m, p) ? MATCH_NONE : count_needed(m, p);
    case MATCH_WRITER_UNION:
    case MATCH_READER_UNION: return p->n ? 1 : MATCH_NONE;
    default: return 0; /* arrays and maps may be empty, of an enum it depends on the symbol */
    }
}

static void judge_possible(struct judge *j)
{
    struct match *m = j->m;
    j->nqueue = 0;
    for (uint32_t i = 0; i < m->npairs; i++) {
        j->open[i] = needed(m, &m->pairs[i]);
        if ((m->pairs[i].is_possible = j->open[i] == 0))
            j->queue[j->nqueue++] = i;
    }
    for (uint32_t done = 0; done < j->nqueue; done++)
        for (uint32_t u = j->first[j->queue[done]]; u < j->first[j->queue[done] + 1]; u++) {
            uint32_t user = j->users[u];
            if (m->pairs[user].is_possible || j->open[user] == MATCH_NONE || --j->open[user])
                continue;
            m->pairs[user].is_possible = true;
            j->queue[j->nqueue++] = user;
        }
}

/* ---- which branch ---- */

static void choose(struct match *m, struct match_pair *p)
{
    for (uint32_t e = p->edges; e < p->edges + p->n; e++) {
        const struct match_pair *q = &m->pairs[m->edges[e].pair];
        if (q->is_full) {
            p->chosen = e;
            return;
        }
        if (p->chosen == MATCH_NONE || (q->is_possible && !m->pairs[m->edges[p->chosen].pair].is_possible))
            p->chosen = e;
    }
}

/* ---- the same bytes ---- */

/* An int's bytes are those of the same long. */
static bool copies(enum type_kind writer, enum type_kind reader)
{
    return writer == reader || (writer == TYPE_INT && reader == TYPE_LONG) ||
           (writer == TYPE_STRING && reader == TYPE_BYTES);
}

static bool takes_no_bytes(const struct match *m, const struct match_pair *p)
{
    return p->is_full && m->writer->ops[p->writer].size_min == 0 && m->reader->ops[p->reader].size_min == 0;
}

/* No union is put around what was none. */
static bool inner_stay(const struct match *m, const struct match_pair *p)
{
    bool stay = true;
    for (uint32_t e = p->edges; stay && e < p->edges + p->n; e++)
        stay = m->edges[e].pair != MATCH_NONE && m->pairs[m->edges[e].pair].kind != MATCH_READER_UNION;
    return stay;
}

static bool fields_stay(const struct match *m, const struct match_pair *p)
{
    bool stay = match_writer_type(m, p)->record.nfields == p->n;
    for (uint32_t i = 0; stay && i < p->n; i++)
        stay = m->edges[p->edges + i].field == MATCH_FIELD_FOUND && m->edges[p->edges + i].index == i;
    return stay;
}

/* Each branch of the writer's is taken by the branch of its own number. */
static bool branches_stay(const struct match *m, const struct match_pair *p)
{
    bool stay = match_reader_type(m, p)->kind == TYPE_UNION;
    for (uint32_t i = 0; stay && i < p->n; i++) {
        const struct match_pair *q = &m->pairs[m->edges[p->edges + i].pair];
        stay = q->chosen != MATCH_NONE && m->edges[q->chosen].index == i;
    }
    return stay;
}

static bool is_same_by_itself(const struct match *m, const struct match_pair *p)
{
    if (takes_no_bytes(m, p))
        return true;
    switch ((enum match_kind)p->kind) {
    case MATCH_NOT: return false;
    case MATCH_SCALAR: return copies(match_writer_type(m, p)->kind, match_reader_type(m, p)->kind);
    case MATCH_ENUM: return p->is_same;
    case MATCH_ITEMS: return inner_stay(m, p);
    case MATCH_RECORD: return fields_stay(m, p) && inner_stay(m, p);
    case MATCH_WRITER_UNION: return branches_stay(m, p);
    case MATCH_READER_UNION: return p->chosen != MATCH_NONE;
    }
    return false;
}

static void judge_same(struct judge *j)
{
    struct match *m = j->m;
    j->nqueue = 0;
    for (uint32_t i = 0; i < m->npairs; i++)
        if (!(m->pairs[i].is_same = is_same_by_itself(m, &m->pairs[i])))
            j->queue[j->nqueue++] = i;
    for (uint32_t done = 0; done < j->nqueue; done++) {
        uint32_t not = j->queue[done];
        for (uint32_t u = j->first[not ]; u < j->first[not +1]; u++) {
            struct match_pair *user = &m->pairs[j->users[u]];
            bool is_chosen = user->kind != MATCH_READER_UNION || m->edges[user->chosen].pair == not ;
            if (!user->is_same || !is_chosen || takes_no_bytes(m, user))
                continue;
            user->is_same = false;
            j->queue[j->nqueue++] = j->users[u];
        }
    }
}

bool match_judge(struct match_builder *b)
{
    struct judge j = {.m = b->match, .arena = &b->scratch};
    if (!collect_users(&j))
        return false;
    judge_full(&j);
    judge_possible(&j);
    for (uint32_t i = 0; i < b->match->npairs; i++)
        if (b->match->pairs[i].kind == MATCH_READER_UNION)
            choose(b->match, &b->match->pairs[i]);
    judge_same(&j);
    return true;
}
