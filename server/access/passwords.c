/* server/access/passwords.c - see passwords.h. */
#include "server/access/passwords.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "server/access/lines.h"
#include "server/access/password_hash.h"

struct passwords {
    struct arena arena; /* names and hashes */
    struct user *users;
    size_t n, room;
    uint32_t *slot; /* open addressing, of 1 + index; mask is their number less 1 */
    size_t mask;
    const struct user *nobody;
};

/* ---- finding ---- */

static uint32_t *slot_of(const struct passwords *p, struct slice name)
{
    size_t i = hash_bytes(name) & p->mask;
    while (p->slot[i] && !slice_eq(p->users[p->slot[i] - 1].name, name))
        i = (i + 1) & p->mask;
    return &p->slot[i];
}

const struct user *passwords_find(const struct passwords *p, struct slice name)
{
    uint32_t found = p->slot ? *slot_of(p, name) : 0;
    return found ? &p->users[found - 1] : NULL;
}

struct user *passwords_users(struct passwords *p, size_t *n)
{
    *n = p->n;
    return p->users;
}

const struct user *passwords_nobody(const struct passwords *p)
{
    return p->nobody;
}

/* ---- reading ---- */

static bool make_room(struct passwords *p)
{
    if (p->n < p->room)
        return true;
    size_t room = p->room ? 2 * p->room : 16;
    struct user *users = realloc(p->users, room * sizeof *users);
    if (!users)
        return false;
    p->users = users;
    p->room = room;
    return true;
}

static enum rc add(struct passwords *p, const struct lines *l, struct err *err)
{
    struct user user = {.line = l->number};
    struct slice name, hash;
    if (lines_name(l, &name, &hash, err) != RC_OK)
        return RC_ERR;
    const char *fault = password_hash_fault(hash);
    if (fault)
        return lines_fault(l, err, fault);
    if (!make_room(p) || !arena_copy(&p->arena, name, &user.name) || !arena_copy(&p->arena, hash, &user.hash))
        return err_oom(err);
    p->users[p->n++] = user;
    return RC_OK;
}

/* So many that a third at least stays empty. */
static enum rc index_names(struct passwords *p, struct lines *l, struct err *err)
{
    size_t slots = 4;
    while (slots < p->n + p->n / 2)
        slots *= 2;
    p->slot = calloc(slots, sizeof *p->slot);
    if (!p->slot)
        return err_oom(err);
    p->mask = slots - 1;
    for (size_t i = 0; i < p->n; i++) {
        uint32_t *slot = slot_of(p, p->users[i].name);
        l->number = p->users[i].line;
        if (*slot)
            return lines_fault(l, err, "This name stands further up as well.");
        *slot = (uint32_t)i + 1;
    }
    return RC_OK;
}

static int by_kind(const void *a, const void *b)
{
    const struct user *one = *(const struct user *const *)a, *other = *(const struct user *const *)b;
    return slice_cmp(password_hash_kind(one->hash), password_hash_kind(other->hash));
}

/* One of the longest run of equal kinds. */
static enum rc choose_nobody(struct passwords *p, struct err *err)
{
    const struct user **sorted = p->n ? malloc(p->n * sizeof(*sorted)) : NULL;
    size_t longest = 0, run = 0;
    if (!p->n)
        return RC_OK;
    if (!sorted)
        return err_oom(err);
    for (size_t i = 0; i < p->n; i++)
        sorted[i] = &p->users[i];
    qsort(sorted, p->n, sizeof(*sorted), by_kind);
    for (size_t i = 0; i < p->n; i++) {
        run = i && by_kind(&sorted[i - 1], &sorted[i]) == 0 ? run + 1 : 1;
        if (run > longest) {
            longest = run;
            p->nobody = sorted[i];
        }
    }
    free(sorted);
    return RC_OK;
}

static enum rc read_lines(struct passwords *p, struct lines *l, struct err *err)
{
    while (lines_next(l))
        if (add(p, l, err) != RC_OK)
            return RC_ERR;
    return index_names(p, l, err) == RC_OK ? choose_nobody(p, err) : RC_ERR;
}

static enum rc read_open(struct lines *l, struct passwords **out, struct err *err)
{
    struct passwords *p = calloc(1, sizeof *p);
    enum rc rc = p ? read_lines(p, l, err) : err_oom(err);
    lines_close(l);
    if (rc == RC_OK)
        *out = p;
    else
        passwords_free(p);
    return rc;
}

enum rc passwords_load(const char *path, struct passwords **out, struct err *err)
{
    struct lines l = {0};
    if (path && lines_open(&l, path, err) != RC_OK)
        return RC_ERR;
    return read_open(&l, out, err);
}

enum rc passwords_parse(const char *path, struct slice text, struct passwords **out, struct err *err)
{
    struct lines l;
    return lines_of(&l, path, text, err) == RC_OK ? read_open(&l, out, err) : RC_ERR;
}

void passwords_free(struct passwords *p)
{
    if (!p)
        return;
    arena_release(&p->arena);
    free(p->users);
    free(p->slot);
    free(p);
}
