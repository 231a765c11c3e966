/* tests/fuzz/plain_rights.c - see plain_rights.h. */
#include "tests/fuzz/plain_rights.h"

bool plain_pattern_fits(struct slice pattern, struct slice name)
{
    if (!pattern.len)
        return !name.len;
    struct slice rest = slice_of(pattern.ptr + 1, pattern.len - 1);
    if (pattern.ptr[0] == '*')
        return plain_pattern_fits(rest, name) ||
               (name.len && plain_pattern_fits(pattern, slice_of(name.ptr + 1, name.len - 1)));
    return name.len && name.ptr[0] == pattern.ptr[0] &&
           plain_pattern_fits(rest, slice_of(name.ptr + 1, name.len - 1));
}

static bool is_for(const struct section *s, struct slice user)
{
    switch (s->kind) {
    case SECTION_ANONYMOUS: return true;
    case SECTION_AUTHENTICATED: return user.len > 0;
    case SECTION_USER: return user.len && slice_eq(s->name, user);
    case SECTION_GROUP:
        for (const struct member *m = s->members; user.len && m; m = m->next)
            if (slice_eq(m->name, user))
                return true;
        return false;
    case SECTION_ADDRESS: return false;
    }
    return false;
}

static bool is_star(struct slice pattern)
{
    for (size_t i = 0; i < pattern.len; i++)
        if (pattern.ptr[i] != '*')
            return false;
    return true;
}

static bool has(const struct section *first, struct slice user, uint8_t role, struct slice type)
{
    for (const struct section *s = first; s; s = s->next)
        for (const struct grant *g = is_for(s, user) ? s->grants : NULL; g; g = g->next)
            if (g->roles == role && (type.len ? plain_pattern_fits(g->pattern, type) : is_star(g->pattern)))
                return true;
    return false;
}

static bool has_anything(const struct section *first, struct slice user)
{
    for (const struct section *s = first; s; s = s->next)
        if (is_for(s, user) && s->grants)
            return true;
    return false;
}

static bool is_for_health(const struct section *first, struct slice user)
{
    for (const struct section *s = first; s; s = s->next)
        if (is_for(s, user) && s->health)
            return true;
    return false;
}

bool plain_may(const struct section *first, struct slice user, enum role role, struct slice type)
{
    bool reader = has(first, user, GRANT_READER, type), writer = has(first, user, GRANT_WRITER, type);
    bool schema = has(first, user, GRANT_SCHEMA, type), admin = has(first, user, GRANT_ADMIN, type);
    switch (role) {
    case ROLE_ANYONE: return true;
    case ROLE_HEALTH: return is_for_health(first, user) || has(first, user, GRANT_ADMIN, (struct slice){0});
    case ROLE_SEE: return type.len ? reader || writer || schema || admin : has_anything(first, user);
    case ROLE_READ: return reader || writer || admin;
    case ROLE_WRITE: return writer || admin;
    case ROLE_SCHEMA: return schema || admin;
    case ROLE_ADMIN: return admin;
    case ROLES: break;
    }
    return false;
}
