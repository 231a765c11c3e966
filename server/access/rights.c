/* server/access/rights.c - see rights.h. What stands in the sections is not copied to each user: a principal is a list of the
 * sections that are for it, so that memory is linear in the file, and a decision asks a few small tables. */
#include "server/access/rights.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "server/access/name_map.h"
#include "server/access/rights_file.h"
#include "server/ini_file.h"

struct principal {
    const struct rights *rights;
    bool is_anonymous, may_all;
    bool health;
    uint8_t all, any; /* of the sets together */
    unsigned nsets, nquotas;
    const struct grants **sets;
    struct quota_of *quotas;
    const struct quota_limits *each;
};

/* A user that the file names, while and after it is read. */
struct user {
    struct principal principal;
    const struct section *own; /* NULL: only groups name it */
    struct in_group {
        struct in_group *next;
        const struct section *group;
    } * groups;
    unsigned ngroups;
};

struct rights {
    struct arena arena;
    bool asks_for_name;
    const struct section *anonymous, *authenticated, *address; /* NULL: the file has none */
    struct principal nobody, others;
    struct name_map users; /* to struct user */
    uint32_t nquotas;
    struct named_quota {
        struct slice name;
        const struct quota_limits *limits;
    } * quotas;
};

/* ---- decisions ---- */

static const uint8_t grants_for[ROLES] = {
    [ROLE_SEE] = GRANT_READER | GRANT_WRITER | GRANT_SCHEMA | GRANT_ADMIN,
    [ROLE_READ] = GRANT_READER | GRANT_WRITER | GRANT_ADMIN,
    [ROLE_WRITE] = GRANT_WRITER | GRANT_ADMIN,
    [ROLE_SCHEMA] = GRANT_SCHEMA | GRANT_ADMIN,
    [ROLE_ADMIN] = GRANT_ADMIN,
};

static bool sets_have(const struct principal *p, uint8_t roles, struct slice name)
{
    for (unsigned i = 0; i < p->nsets; i++)
        if (grants_have(p->sets[i], roles, name))
            return true;
    return false;
}

bool principal_may(const struct principal *p, enum role role, struct slice type)
{
    uint8_t roles = grants_for[role];
    if (p->may_all || role == ROLE_ANYONE || p->all & roles)
        return true;
    if (role == ROLE_HEALTH)
        return p->health || p->all & GRANT_ADMIN;
    if (!(p->any & roles))
        return false;
    return type.len ? sets_have(p, roles, type) : role == ROLE_SEE;
}

bool principal_sees(const struct principal *p, struct slice type)
{
    return principal_may(p, ROLE_SEE, type);
}

bool principal_sees_all(const struct principal *p)
{
    return p->may_all || p->all;
}

bool principal_is_anonymous(const struct principal *p)
{
    return p->is_anonymous;
}

const struct rights *principal_rights(const struct principal *p)
{
    return p->rights;
}

bool rights_ask_for_name(const struct rights *r)
{
    return r->asks_for_name;
}

const struct principal *rights_principal(const struct rights *r, struct slice user)
{
    if (!user.len)
        return &r->nobody;
    const struct user *known = name_map_find(&r->users, user);
    return known ? &known->principal : &r->others;
}

/* ---- quotas ---- */

unsigned principal_quotas(const struct principal *p, struct quota_of *out, unsigned max,
                          const struct quota_limits **each)
{
    unsigned n = p->nquotas < max ? p->nquotas : max;
    if (n)
        memcpy(out, p->quotas, n * sizeof *out);
    *each = p->each;
    return n;
}

uint32_t rights_quotas(const struct rights *r)
{
    return r->nquotas;
}

struct slice rights_quota_name(const struct rights *r, uint32_t id)
{
    assert(id < r->nquotas);
    return r->quotas[id].name;
}

const struct quota_limits *rights_quota_limits(const struct rights *r, uint32_t id)
{
    assert(id < r->nquotas);
    return r->quotas[id].limits;
}

const struct quota_limits *rights_each_quota(const struct rights *r)
{
    return r->others.each;
}

static bool limits_any(const struct quota_limits *l)
{
    return l->requests_per_second || l->bytes_per_second;
}

const struct quota_limits *rights_address_quota(const struct rights *r)
{
    return r->address && limits_any(&r->address->limits) ? &r->address->limits : NULL;
}

uint32_t rights_address_connections(const struct rights *r)
{
    return r->address ? (uint32_t)r->address->connections : 0;
}

/* ---- making: the sections ---- */

struct making {
    struct rights *rights;
    const char *name; /* of the file */
    struct err *err;
};

static enum rc fail(struct making *m, unsigned line)
{
    const struct err why = *m->err;
    struct ini_place place;
    if (why.code != ERR_CONFIG)
        return RC_ERR;
    return err_set(m->err, ERR_CONFIG, "%s: %s", ini_place_of(m->name, line, &place), why.message);
}

static struct user *user_at(struct making *m, struct slice name)
{
    struct arena *arena = &m->rights->arena;
    void **at = name_map_at(&m->rights->users, name, arena);
    if (at && !*at)
        *at = arena_calloc(arena, 1, sizeof(struct user));
    if (at && *at)
        return *at;
    err_oom(m->err);
    return NULL;
}

static enum rc take_user(struct making *m, const struct section *s)
{
    struct user *u = user_at(m, s->name);
    if (!u)
        return RC_ERR;
    u->own = s;
    return RC_OK;
}

static enum rc take_group(struct making *m, const struct section *s)
{
    for (const struct member *one = s->members; one; one = one->next) {
        struct user *u = user_at(m, one->name);
        struct in_group *in = arena_alloc(&m->rights->arena, sizeof *in);
        if (!u || !in)
            return err_oom(m->err);
        if (u->ngroups++ == LIMIT_RIGHTS_GROUPS_MAX) {
            err_set(m->err, ERR_CONFIG, "A user is in at most %d groups.", LIMIT_RIGHTS_GROUPS_MAX);
            return fail(m, one->line);
        }
        *in = (struct in_group){.next = u->groups, .group = s};
        u->groups = in;
    }
    return RC_OK;
}

/* Of how many quotas, so that their names have room: those that users have for themselves are counted later. */
static enum rc take_section(struct making *m, struct section *s)
{
    struct rights *r = m->rights;
    unsigned line = s->line;
    if (grants_make(&s->made, s->grants, &r->arena, &line, m->err) != RC_OK)
        return fail(m, line);
    if (s->kind != SECTION_ANONYMOUS && (s->made.any || s->health))
        r->asks_for_name = true;
    switch (s->kind) {
    case SECTION_ANONYMOUS: r->anonymous = s; break;
    case SECTION_AUTHENTICATED: r->authenticated = s; break;
    case SECTION_ADDRESS: r->address = s; break;
    case SECTION_USER: return take_user(m, s);
    case SECTION_GROUP: return take_group(m, s);
    }
    return RC_OK;
}

/* ---- making: principals ---- */

static void add_set(struct principal *p, const struct section *s)
{
    if (!s)
        return;
    p->health |= s->health;
    p->all |= s->made.all;
    p->any |= s->made.any;
    if (s->made.any)
        p->sets[p->nsets++] = &s->made;
}

/* The sets and quotas that it may have: anonymous's, authenticated's, its own, and its groups'. */
static enum rc principal_begin(struct making *m, struct principal *p, unsigned ngroups)
{
    struct rights *r = m->rights;
    *p = (struct principal){.rights = r};
    p->sets = arena_alloc(&r->arena, (3 + ngroups) * sizeof(const struct grants *));
    p->quotas = arena_alloc(&r->arena, (1 + ngroups) * sizeof *p->quotas);
    return p->sets && p->quotas ? RC_OK : err_oom(m->err);
}

static bool is_given(const struct section *s, enum rights_key key)
{
    return s && s->given >> key & 1;
}

/* A user's own limits; those that it has none of are what all who are known have. */
static struct quota_limits limits_of(const struct section *own, const struct section *authenticated)
{
    const struct section *requests = is_given(own, KEY_requests_per_second) ? own : authenticated;
    const struct section *bytes = is_given(own, KEY_bytes_per_second) ? own : authenticated;
    struct quota_limits l = {0};
    if (requests) {
        l.requests_per_second = requests->limits.requests_per_second;
        l.requests_burst = requests->limits.requests_burst;
    }
    if (bytes) {
        l.bytes_per_second = bytes->limits.bytes_per_second;
        l.bytes_burst = bytes->limits.bytes_burst;
    }
    return l;
}

/* `what` and `name` in one: a new quota. */
static enum rc quota_new(struct making *m, const char *what, struct slice name,
                         const struct quota_limits *limits, uint32_t *id)
{
    struct rights *r = m->rights;
    char *text =
        arena_printf(&r->arena, "%s%s%.*s", what, name.len ? " " : "", (int)name.len, (const char *)name.ptr);
    if (!text)
        return err_oom(m->err);
    *id = r->nquotas++;
    r->quotas[*id] = (struct named_quota){slice_str(text), limits};
    return RC_OK;
}

static enum rc add_quota(struct making *m, struct principal *p, const char *what, struct slice name,
                         const struct quota_limits *limits)
{
    uint32_t id;
    if (!limits_any(limits))
        return RC_OK;
    if (quota_new(m, what, name, limits, &id) != RC_OK)
        return RC_ERR;
    p->quotas[p->nquotas++] = (struct quota_of){.limits = limits, .id = id};
    return RC_OK;
}

static enum rc make_nobody(struct making *m)
{
    struct rights *r = m->rights;
    struct principal *p = &r->nobody;
    if (principal_begin(m, p, 0) != RC_OK)
        return RC_ERR;
    p->is_anonymous = true;
    add_set(p, r->anonymous);
    return r->anonymous ? add_quota(m, p, "anonymous", (struct slice){0}, &r->anonymous->limits) : RC_OK;
}

static enum rc make_others(struct making *m)
{
    struct rights *r = m->rights;
    struct principal *p = &r->others;
    if (principal_begin(m, p, 0) != RC_OK)
        return RC_ERR;
    add_set(p, r->anonymous);
    add_set(p, r->authenticated);
    if (r->authenticated && limits_any(&r->authenticated->limits))
        p->each = &r->authenticated->limits;
    return RC_OK;
}

static enum rc make_user(struct making *m, struct slice name, struct user *u)
{
    struct rights *r = m->rights;
    struct principal *p = &u->principal;
    struct quota_limits *own = arena_alloc(&r->arena, sizeof *own);
    if (!own || principal_begin(m, p, u->ngroups) != RC_OK)
        return err_oom(m->err);
    add_set(p, r->anonymous);
    add_set(p, r->authenticated);
    add_set(p, u->own);
    *own = limits_of(u->own, r->authenticated);
    if (add_quota(m, p, "user", name, own) != RC_OK)
        return RC_ERR;
    for (const struct in_group *in = u->groups; in; in = in->next) {
        add_set(p, in->group);
        if (limits_any(&in->group->limits))
            p->quotas[p->nquotas++] = (struct quota_of){&in->group->limits, in->group->quota_id};
    }
    return RC_OK;
}

static enum rc make_principals(struct making *m)
{
    struct rights *r = m->rights;
    if (make_nobody(m) != RC_OK || make_others(m) != RC_OK)
        return RC_ERR;
    for (size_t i = 0; i < r->users.room; i++) {
        struct name_slot *slot = &r->users.slots[i];
        if (slot->value && make_user(m, slot->name, slot->value) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

/* ---- making: all of it ---- */

static enum rc make(struct making *m, struct section *first)
{
    struct rights *r = m->rights;
    size_t groups = 0;
    for (struct section *s = first; s; s = s->next) {
        groups += s->kind == SECTION_GROUP;
        if (take_section(m, s) != RC_OK)
            return RC_ERR;
    }
    r->quotas = arena_alloc(&r->arena, (1 + groups + r->users.n) * sizeof *r->quotas);
    if (!r->quotas)
        return err_oom(m->err);
    for (struct section *s = first; s; s = s->next)
        if (s->kind == SECTION_GROUP && limits_any(&s->limits) &&
            quota_new(m, "group", s->name, &s->limits, &s->quota_id) != RC_OK)
            return RC_ERR;
    return make_principals(m);
}

static struct rights *rights_new(struct err *err)
{
    struct rights *r = calloc(1, sizeof *r);
    if (!r)
        err_oom(err);
    return r;
}

/* What has been read to its arena becomes rights, or nothing. */
static enum rc finish(struct rights *r, enum rc rc, struct section *first, const char *name,
                      struct rights **out, struct err *err)
{
    struct making m = {.rights = r, .name = name, .err = err};
    if (rc == RC_OK)
        rc = make(&m, first);
    if (rc != RC_OK) {
        rights_free(r);
        r = NULL;
    }
    *out = r;
    return rc;
}

enum rc rights_load_stream(FILE *stream, const char *path, struct rights **out, struct err *err)
{
    struct section *first;
    struct rights *r = rights_new(err);
    *out = NULL;
    if (!r)
        return RC_ERR;
    enum rc rc = rights_stream_read(stream, path, &r->arena, &first, err);
    return finish(r, rc, first, path, out, err);
}

static void rights_of_no_file(struct rights *r)
{
    r->asks_for_name = true;
    r->nobody = (struct principal){.rights = r, .is_anonymous = true};
    r->others = (struct principal){.rights = r, .may_all = true};
}

enum rc rights_load(const char *path, struct rights **out, struct err *err)
{
    struct section *first;
    struct rights *r = rights_new(err);
    *out = r;
    if (!r)
        return RC_ERR;
    if (!path) {
        rights_of_no_file(r);
        return RC_OK;
    }
    enum rc rc = rights_file_read(path, &r->arena, &first, err);
    return finish(r, rc, first, path, out, err);
}

void rights_free(struct rights *r)
{
    if (!r)
        return;
    arena_release(&r->arena);
    free(r);
}
