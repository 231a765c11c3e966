/* storage/range.c - see range.h. */
#include "storage/range.h"

#include <assert.h>

#include "storage/stage.h"

/* The next write begins with this id. */
static void go_on_at(struct store_write *w, struct slice id)
{
    assert(id.len && id.len <= sizeof w->resume);
    memcpy(w->resume, id.ptr, id.len);
    w->resume_len = (uint16_t)id.len;
}

/* What is past its time is the purge's: nobody sees it. */
static enum rc delete_one(struct decider *d, struct store_write *w, struct slice id)
{
    const struct store_key key = {.space = SPACE_RECORD, .type = w->key.type, .id = id};
    struct view v;
    if (stage_look(d, &key, &v, &w->err) != RC_OK)
        return RC_ERR;
    if (!v.visible)
        return RC_OK;
    w->count++;
    return stage_delete(d, &v, &w->err);
}

static bool is_behind(const struct store_write *w, struct slice id)
{
    return w->upto.len && slice_cmp(id, w->upto) >= 0;
}

enum rc range_decide(struct decider *d, struct store_write *w)
{
    const struct engine_ops *ops = d->ops;
    struct slice key, value;
    struct key from;
    w->resume_len = 0;
    if (!stage_live(d, &w->key))
        return RC_NOTFOUND;
    key_from(&from, SPACE_RECORD, w->key.type, w->key.id);
    size_t prefix_len = key_prefix_len(SPACE_RECORD) - 1; /* engines leave the first byte out */
    const struct slice prefix = slice_of(from.bytes + 1, prefix_len);
    enum rc rc = ops->seek(d->snap, key_slice(&from), &key, &value, &w->err);
    for (unsigned looks = 0; rc == RC_OK; rc = ops->next(d->snap, &key, &value, &w->err)) {
        struct slice id = slice_of(key.ptr + prefix_len, key.len - prefix_len);
        if (!slice_starts(key, prefix) || is_behind(w, id))
            break;
        if (looks++ == LIMIT_RANGE_KEYS_MAX) {
            go_on_at(w, id);
            break;
        }
        if (delete_one(d, w, id) != RC_OK)
            return RC_ERR;
    }
    if (rc == RC_ERR)
        return rc;
    if (w->count)
        w->revision = ++d->next.revision;
    return RC_OK;
}
