/* server/access/grants.c - see grants.h. */
#include "server/access/grants.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "server/words.h"

/* ---- patterns ---- */

static bool is_pattern(struct slice s)
{
    return s.len && memchr(s.ptr, '*', s.len);
}

/* Those are what a shell, a regular expression or a list in another form would mean something by. */
static bool is_refused(uint8_t c)
{
    return c <= ' ' || c == 0x7f || strchr("?[]{}()|\\^$\"'`;=,", c);
}

const char *grants_pattern_fault(struct slice pattern)
{
    if (!pattern.len)
        return "is empty";
    if (pattern.len > LIMIT_SUBJECT_NAME_MAX)
        return "is longer than any name";
    if (!utf8_valid(pattern))
        return "is no UTF-8";
    for (size_t i = 0; i < pattern.len; i++)
        if (is_refused(pattern.ptr[i]))
            return "has a character that no pattern has: `*` is the only special one";
    return NULL;
}

/* The last star takes one byte more whenever what is behind it does not fit: those before it need not be tried again. */
bool grants_pattern_fits(struct slice pattern, struct slice name)
{
    size_t p = 0, n = 0, behind_star = SIZE_MAX, retry = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            behind_star = ++p;
            retry = n;
        } else if (p < pattern.len && pattern.ptr[p] == name.ptr[n]) {
            p++, n++;
        } else if (behind_star != SIZE_MAX) {
            p = behind_star;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* ---- tables ---- */

static bool is_all(struct slice pattern)
{
    for (size_t i = 0; i < pattern.len; i++)
        if (pattern.ptr[i] != '*')
            return false;
    return true;
}

static enum rc name_place(struct grants *g, struct slice name, struct arena *arena, struct granted **out,
                          struct err *err)
{
    void **at = name_map_at(&g->names, name, arena);
    if (at && !*at)
        *at = arena_calloc(arena, 1, sizeof **out);
    if (!at || !*at)
        return err_oom(err);
    *out = *at;
    return RC_OK;
}

static enum rc pattern_place(struct grants *g, struct slice pattern, struct granted **out, struct err *err)
{
    unsigned i = 0;
    while (i < g->npatterns && !slice_eq(g->patterns[i].pattern, pattern))
        i++;
    if (i == LIMIT_RIGHTS_PATTERNS_MAX)
        return err_set(err, ERR_CONFIG, "A section has at most %d names with `*`.",
                       LIMIT_RIGHTS_PATTERNS_MAX);
    if (i == g->npatterns)
        g->npatterns++;
    *out = &g->patterns[i];
    return RC_OK;
}

static enum rc add(struct grants *g, const struct grant *one, struct arena *arena, struct err *err)
{
    struct granted all = {.roles = g->all}, *at = &all;
    struct words words;
    enum rc rc = RC_OK;
    if (!is_pattern(one->pattern))
        rc = name_place(g, one->pattern, arena, &at, err);
    else if (!is_all(one->pattern))
        rc = pattern_place(g, one->pattern, &at, err);
    if (rc != RC_OK)
        return rc;
    if (at->roles & one->roles)
        return err_set(err, ERR_CONFIG, "'%s' stands twice in one list.", words_of(one->pattern, &words));
    at->pattern = one->pattern;
    at->roles |= one->roles;
    g->all = all.roles;
    g->any |= one->roles;
    return RC_OK;
}

static unsigned count_patterns(const struct grant *list)
{
    unsigned n = 0;
    for (; list && n < LIMIT_RIGHTS_PATTERNS_MAX; list = list->next)
        n += is_pattern(list->pattern);
    return n;
}

enum rc grants_make(struct grants *g, const struct grant *list, struct arena *arena, unsigned *line,
                    struct err *err)
{
    *g = (struct grants){0};
    g->patterns = arena_calloc(arena, count_patterns(list) + 1, sizeof *g->patterns);
    if (!g->patterns)
        return err_oom(err);
    for (; list; list = list->next) {
        *line = list->line;
        if (add(g, list, arena, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

bool grants_have(const struct grants *g, uint8_t roles, struct slice name)
{
    if (g->all & roles)
        return true;
    if (!(g->any & roles))
        return false;
    const struct granted *own = name_map_find(&g->names, name);
    if (own && own->roles & roles)
        return true;
    for (unsigned i = 0; i < g->npatterns; i++)
        if (g->patterns[i].roles & roles && grants_pattern_fits(g->patterns[i].pattern, name))
            return true;
    return false;
}
