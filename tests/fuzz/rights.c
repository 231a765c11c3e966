/* tests/fuzz/rights.c - files of --access: any bytes are taken or refused with a line; what is taken means what the plain reading of
 * the rules (plain_rights.c) says, for everybody whom the file names, and for names like those that it names. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/plain_rights.h"

enum { NAMES_MAX = 24, PATTERN_MAX = 12 };

struct names {
    unsigned n;
    struct slice at[NAMES_MAX];
};

static void add_name(struct names *names, struct slice name)
{
    if (names->n < NAMES_MAX)
        names->at[names->n++] = name;
}

/* A name that the pattern fits: what stands for its stars is in `bytes`. Recursion of the plain rules bounds its length. */
static struct slice name_like(struct arena *arena, struct slice pattern, struct slice stars)
{
    uint8_t *out = arena_alloc(arena, pattern.len * (stars.len + 1) + 1);
    size_t n = 0;
    assert(out);
    for (size_t i = 0; i < pattern.len; i++)
        for (size_t k = 0; k < (pattern.ptr[i] == '*' ? stars.len : 1); k++)
            out[n++] = pattern.ptr[i] == '*' ? stars.ptr[k] : pattern.ptr[i];
    return slice_of(out, n);
}

static void collect(const struct section *first, struct arena *arena, struct names *users,
                    struct names *types)
{
    add_name(users, (struct slice){0});
    add_name(users, SLICE("stranger"));
    add_name(types, (struct slice){0});
    add_name(types, SLICE("t"));
    for (const struct section *s = first; s; s = s->next) {
        if (s->kind == SECTION_USER)
            add_name(users, s->name);
        for (const struct member *m = s->members; m; m = m->next)
            add_name(users, m->name);
        for (const struct grant *g = s->grants; g; g = g->next) {
            if (g->pattern.len > PATTERN_MAX)
                continue;
            add_name(types, name_like(arena, g->pattern, SLICE("")));
            add_name(types, name_like(arena, g->pattern, SLICE("ab")));
        }
    }
}

static bool is_short(const struct section *first)
{
    for (const struct section *s = first; s; s = s->next)
        for (const struct grant *g = s->grants; g; g = g->next)
            if (g->pattern.len > PATTERN_MAX)
                return false;
    return true;
}

static void compare(const struct rights *r, const struct section *first, const struct names *users,
                    const struct names *types)
{
    for (unsigned u = 0; u < users->n; u++) {
        const struct principal *p = rights_principal(r, users->at[u]);
        struct quota_of quotas[80];
        const struct quota_limits *each;
        unsigned n = principal_quotas(p, quotas, 80, &each);
        for (unsigned i = 0; i < n; i++)
            assert(quotas[i].id < rights_quotas(r) && rights_quota_name(r, quotas[i].id).len);
        assert(principal_is_anonymous(p) == !users->at[u].len);
        for (unsigned t = 0; t < types->n; t++)
            for (unsigned role = 0; role < ROLES; role++)
                if (principal_may(p, (enum role)role, types->at[t]) !=
                    plain_may(first, users->at[u], (enum role)role, types->at[t]))
                    abort();
    }
}

static FILE *open_bytes(const uint8_t *data, size_t size)
{
    FILE *stream = size ? fmemopen((void *)(uintptr_t)data, size, "r") : fopen("/dev/null", "r");
    assert(stream);
    return stream;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct section *first;
    struct rights *r;
    struct err err, again;
    struct names users = {0}, types = {0};
    FILE *stream = open_bytes(data, size);
    enum rc plain = rights_stream_read(stream, "f", &arena, &first, &err);
    fclose(stream);
    stream = open_bytes(data, size);
    enum rc rc = rights_load_stream(stream, "f", &r, &again);
    fclose(stream);
    if (plain != RC_OK)
        assert(rc == RC_ERR && !r && err.code == ERR_CONFIG && !strncmp(err.message, "f:", 2));
    else if (rc != RC_OK)
        assert(!r && again.code == ERR_CONFIG && !strncmp(again.message, "f:", 2));
    else {
        collect(first, &arena, &users, &types);
        if (is_short(first))
            compare(r, first, &users, &types);
    }
    rights_free(r);
    arena_release(&arena);
    return 0;
}
