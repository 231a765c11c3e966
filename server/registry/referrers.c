/* server/registry/referrers.c - which schemas refer to a version, or to any of a subject: what stands in the way of its
 * deletion. */
#include <stdlib.h>

#include "base/bytes.h"
#include "server/access/access.h"
#include "server/registry/in_use.h"
#include "server/registry/references.h"
#include "server/words.h"

/* ---- schemas that refer to it ---- */

struct search {
    struct slice subject;
    uint32_t version; /* 0: any */
    enum which which;
    struct slice except;
    struct referrers all; /* whether they are anybody's version or not */
    bool *is_version;
    size_t cap;
    struct arena arena; /* of one row */
};

static bool refers(const struct references *refs, const struct search *s)
{
    for (size_t i = 0; i < refs->n; i++)
        if ((!s->version || refs->at[i].version == s->version) && slice_eq(refs->at[i].subject, s->subject))
            return true;
    return false;
}

static bool grow(struct search *s)
{
    if (s->all.n < s->cap)
        return true;
    size_t cap = s->cap ? s->cap * 2 : 16;
    uint32_t *id = reallocarray(s->all.id, cap, sizeof *id);
    if (id)
        s->all.id = id;
    bool *flags = id ? reallocarray(s->is_version, cap, sizeof *flags) : NULL;
    if (!flags)
        return false;
    s->is_version = flags;
    s->cap = cap;
    return true;
}

static enum rc look_at_schema(struct call *c, void *arg, struct slice key, struct slice bytes,
                              struct err *err)
{
    struct search *s = arg;
    struct references refs;
    if (key.len != SUBJECT_ROW_PREFIX + SCHEMA_KEY_BYTES)
        return RC_OK;
    (void)c;
    arena_reset(&s->arena);
    if (references_decode(bytes, &s->arena, &refs, err) != RC_OK)
        return RC_ERR;
    if (!refers(&refs, s))
        return RC_OK;
    if (!grow(s))
        return err_oom(err);
    s->is_version[s->all.n] = false;
    s->all.id[s->all.n++] = get_be32(key.ptr + SUBJECT_ROW_PREFIX);
    return RC_OK;
}

/* ---- those that are somebody's version ---- */

static enum rc look_at_lineage(struct call *c, void *arg, struct slice name, const struct type_row *row,
                               struct err *err)
{
    struct search *s = arg;
    if (slice_eq(name, s->except))
        return RC_OK;
    for (uint32_t i = 0; i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        for (size_t k = 0; which_has(s->which, &v) && k < s->all.n; k++) {
            if (s->all.id[k] != v.schema_id)
                continue;
            s->is_version[k] = true;
            if (s->all.first_version)
                continue;
            s->all.first_version = v.number;
            if (!arena_copy(call_arena(c), name, &s->all.first_name))
                return err_oom(err);
        }
    }
    return RC_OK;
}

static void keep_versions(struct search *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->all.n; i++)
        if (s->is_version[i])
            s->all.id[kept++] = s->all.id[i];
    s->all.n = kept;
}

enum rc referrers_find(struct call *c, struct slice subject, uint32_t version, enum which which,
                       struct slice except, struct referrers *out, struct err *err)
{
    static const uint8_t from[] = {0, SUBJECT_ROW_REFERENCES}, upto[] = {0, SUBJECT_ROW_REFERENCES + 1};
    struct search s = {.subject = subject, .version = version, .which = which, .except = except};
    enum rc rc = rows_each(c, SPACE_SUBJECT, slice_of(from, sizeof from), slice_of(upto, sizeof upto),
                           look_at_schema, &s, err);
    if (rc == RC_OK && s.all.n)
        rc = lineage_each(c, (struct slice){0}, look_at_lineage, &s, err);
    if (rc == RC_OK)
        keep_versions(&s);
    else
        free(s.all.id);
    free(s.is_version);
    arena_release(&s.arena);
    *out = rc == RC_OK ? s.all : (struct referrers){0};
    return rc;
}

/* ---- may a type be dropped? ---- */

static enum rc refuse(const struct request *req, const struct referrers *found, struct slice type_name,
                      struct err *err)
{
    struct words name, first;
    words_of(type_name, &name);
    if (!access_sees(req, found->first_name))
        return err_set(err, ERR_IN_USE, "A schema that you may not see refers to '%s'.", name.text);
    words_of(found->first_name, &first);
    if (found->n == 1)
        return err_set(err, ERR_IN_USE, "Version %u of '%s' (schema %u) refers to '%s'.",
                       found->first_version, first.text, found->id[0], name.text);
    return err_set(err, ERR_IN_USE, "%zu schemas refer to '%s'; one is version %u of '%s'.", found->n,
                   name.text, found->first_version, first.text);
}

enum rc in_use_look(struct request *req, struct store_worker *store, struct slice type_name, uint64_t *links,
                    struct err *err)
{
    struct call c = {.req = req,
                     .arena = &req->arena,
                     .subject = type_name,
                     .space = SPACE_TYPE,
                     .store = store,
                     .sees_all = true};
    struct referrers found;
    if (links_read(&c, links, err) != RC_OK)
        return RC_ERR;
    if (!*links) /* there has never been a reference */
        return RC_OK;
    if (referrers_find(&c, type_name, 0, WHICH_ALL, type_name, &found, err) != RC_OK)
        return RC_ERR;
    enum rc rc = found.n ? refuse(req, &found, type_name, err) : RC_OK;
    free(found.id);
    return rc;
}

enum rc in_use_confirm(struct store_txn *txn, uint64_t links, struct err *err)
{
    uint64_t now;
    if (links_txn_get(txn, &now, err) != RC_OK)
        return RC_ERR;
    return now == links ? RC_OK : RC_AGAIN;
}

/* ---- how many there have been ---- */

static const uint8_t links_key[] = {0, SUBJECT_ROW_LINKS};

static enum rc links_decode(struct slice row, uint64_t *out, struct err *err)
{
    if (row.len < 8)
        return err_set(err, ERR_STORE_FORMAT, "The row that counts references is damaged.");
    *out = get_le64(row.ptr);
    return RC_OK;
}

enum rc links_read(struct call *c, uint64_t *out, struct err *err)
{
    struct slice row;
    *out = 0;
    enum rc rc = rows_get(c, SPACE_SUBJECT, slice_of(links_key, sizeof links_key), &row, err);
    if (rc == RC_OK)
        return links_decode(row, out, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

enum rc links_txn_get(struct store_txn *txn, uint64_t *out, struct err *err)
{
    const struct store_key key = {.space = SPACE_SUBJECT, .id = slice_of(links_key, sizeof links_key)};
    struct record rec;
    *out = 0;
    enum rc rc = txn_get(txn, &key, &rec, err);
    if (rc == RC_OK)
        return links_decode(rec.body, out, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

enum rc links_txn_add(struct store_txn *txn, struct links *l, struct err *err)
{
    const struct store_key key = {.space = SPACE_SUBJECT, .id = slice_of(links_key, sizeof links_key)};
    if (links_txn_get(txn, &l->count, err) != RC_OK)
        return RC_ERR;
    put_le64(l->bytes, ++l->count);
    const struct record row = {.body = slice_of(l->bytes, sizeof l->bytes)};
    return txn_put(txn, &key, &row, err);
}
