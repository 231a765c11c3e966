/* server/conditions.c - see conditions.h. */
#include "server/conditions.h"

#include <assert.h>

#include "base/num.h"
#include "server/words.h"

struct slice tag_print(uint64_t revision, uint32_t version, struct slice suffix, enum coding coding,
                       uint8_t *out)
{
    struct slice behind = coding_suffix(coding);
    assert(suffix.len + behind.len <= TAG_MAX - 2 * NUM_U64_MAX_CHARS - 3);
    size_t n = 0;
    out[n++] = '"';
    n += num_print_u64(revision, out + n);
    out[n++] = '-';
    n += num_print_u64(version, out + n);
    if (suffix.len)
        memcpy(out + n, suffix.ptr, suffix.len);
    n += suffix.len;
    if (behind.len)
        memcpy(out + n, behind.ptr, behind.len);
    n += behind.len;
    out[n++] = '"';
    return slice_of(out, n);
}

/* ---- lists of tags ---- */

struct tag {
    bool weak;
    struct slice text; /* with its quotes */
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static bool is_tag_char(uint8_t c)
{
    return c == 0x21 || (c >= 0x23 && c != 0x7f);
}

/* The next tag of a list; RC_NOTFOUND at its end. Fails with BAD_REQUEST. */
static enum rc tag_next(struct slice *list, struct tag *out, const char *header, struct err *err)
{
    const uint8_t *at = list->ptr, *end = at + list->len;
    while (at < end && (is_blank(*at) || *at == ','))
        at++;
    if (at == end)
        return RC_NOTFOUND;
    out->weak = end - at > 2 && at[0] == 'W' && at[1] == '/';
    const uint8_t *from = at + (out->weak ? 2 : 0), *to = from + 1;
    while (to < end && is_tag_char(*to))
        to++;
    if (*from != '"' || to >= end || *to != '"')
        goto bad;
    out->text = slice_of(from, (size_t)(to + 1 - from));
    for (at = to + 1; at < end && is_blank(*at);)
        at++;
    if (at < end && *at != ',')
        goto bad;
    *list = slice_of(at, (size_t)(end - at));
    return RC_OK;
bad:;
    struct words words;
    return err_set(err, ERR_BAD_REQUEST,
                   "%s is a list of entity tags, each in double quotes, or *; this is not: %s", header,
                   words_of(*list, &words));
}

static bool is_star(struct slice s)
{
    return s.len == 1 && s.ptr[0] == '*';
}

/* The revision of a tag of ours; false: it is not. */
static bool tag_revision(const struct tag *tag, uint64_t *revision)
{
    struct slice s = slice_of(tag->text.ptr + 1, tag->text.len - 2);
    const uint8_t *dash = s.len ? memchr(s.ptr, '-', s.len) : NULL;
    if (tag->weak || !dash || dash + 1 == s.ptr + s.len || dash[1] < '0' || dash[1] > '9')
        return false;
    return num_parse_decimal(slice_of(s.ptr, (size_t)(dash - s.ptr)), UINT64_MAX, revision) && *revision;
}

/* ---- writes ---- */

static enum rc collect(struct slice list, const char *header, struct arena *arena, struct condition *out,
                       struct err *err)
{
    struct slice rest = list;
    struct tag tag;
    enum rc rc;
    unsigned n = 0;
    while ((rc = tag_next(&rest, &tag, header, err)) == RC_OK)
        n++;
    if (rc == RC_ERR)
        return RC_ERR;
    if (!n)
        return err_set(err, ERR_BAD_REQUEST, "%s is empty; it is a list of entity tags, or *.", header);
    uint64_t *revisions = arena_alloc(arena, n * sizeof *revisions);
    if (!revisions)
        return err_oom(err);
    out->revisions = revisions;
    while (tag_next(&list, &tag, header, err) == RC_OK)
        if (tag_revision(&tag, &revisions[out->nrevisions]))
            out->nrevisions++;
    return RC_OK;
}

enum rc condition_of_write(struct slice if_match, struct slice if_none_match, struct arena *arena,
                           struct condition *out, struct err *err)
{
    *out = (struct condition){.kind = IF_ANY};
    bool must_match = if_match.ptr;
    if (likely(!must_match && !if_none_match.ptr))
        return RC_OK;
    if (must_match && if_none_match.ptr)
        return err_set(err, ERR_BAD_REQUEST, "Give If-Match or If-None-Match, not both.");
    struct slice list = must_match ? if_match : if_none_match;
    if (is_star(list)) {
        out->kind = must_match ? IF_PRESENT : IF_ABSENT;
        return RC_OK;
    }
    out->kind = must_match ? IF_REVISION_IN : IF_REVISION_NOT_IN;
    return collect(list, must_match ? "If-Match" : "If-None-Match", arena, out, err);
}

void condition_attach(const struct condition *c, struct store_write *w)
{
    switch (c->kind) {
    case IF_ANY: w->cond = COND_NONE; break;
    case IF_ABSENT: w->cond = COND_ABSENT; break;
    case IF_PRESENT: w->cond = COND_PRESENT; break;
    case IF_REVISION_IN: w->cond = COND_REVISION_IN; break;
    case IF_REVISION_NOT_IN: w->cond = COND_REVISION_NOT_IN; break;
    }
    w->revisions = c->revisions;
    w->nrevisions = c->nrevisions;
}

static bool is_listed(const struct condition *c, uint64_t revision)
{
    for (unsigned i = 0; i < c->nrevisions; i++)
        if (c->revisions[i] == revision)
            return true;
    return false;
}

bool condition_holds(const struct condition *c, uint64_t revision)
{
    switch (c->kind) {
    case IF_ANY: return true;
    case IF_ABSENT: return !revision;
    case IF_PRESENT: return revision;
    case IF_REVISION_IN: return revision && is_listed(c, revision);
    case IF_REVISION_NOT_IN: return !revision || !is_listed(c, revision);
    }
    assert(!"a condition that is none");
    return false;
}

/* ---- reads ---- */

/* Which of the tags a list names. */
struct named {
    bool plain, coded;
};

static enum rc list_names(struct slice list, const char *header, const struct read_tags *tags, bool weakly,
                          struct named *out, struct err *err)
{
    *out = (struct named){.plain = tags->plain.len && is_star(list)};
    if (is_star(list))
        return RC_OK;
    struct tag candidate;
    enum rc rc;
    while ((rc = tag_next(&list, &candidate, header, err)) == RC_OK) {
        bool counts = weakly || !candidate.weak;
        out->plain |= counts && tags->plain.len && slice_eq(candidate.text, tags->plain);
        out->coded |= counts && tags->coded.len && slice_eq(candidate.text, tags->coded);
    }
    return rc == RC_ERR ? RC_ERR : RC_OK;
}

enum rc condition_of_read(struct slice if_match, struct slice if_none_match, const struct read_tags *tags,
                          enum read_verdict *verdict, bool *is_coded, struct err *err)
{
    struct named named;
    *verdict = READ_GO;
    *is_coded = false;
    if (if_match.len) {
        if (list_names(if_match, "If-Match", tags, false, &named, err) != RC_OK)
            return RC_ERR;
        if (!named.plain && !named.coded)
            *verdict = READ_FAILED;
    }
    if (*verdict == READ_GO && if_none_match.len) {
        if (list_names(if_none_match, "If-None-Match", tags, true, &named, err) != RC_OK)
            return RC_ERR;
        if (named.plain || named.coded)
            *verdict = READ_NOT_MODIFIED;
        *is_coded = named.coded;
    }
    return RC_OK;
}
