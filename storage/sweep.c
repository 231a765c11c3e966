/* storage/sweep.c - see sweep.h. */
#include "storage/sweep.h"

#include <stdio.h>

#include "base/bytes.h"
#include "storage/stage.h"

enum { KEY_NUMBER_AT = 1, KEY_TRASH_BYTES = 9 }; /* of a trash key, as the engine gives it: kind, number */

bool sweep_full(const struct sweep *s)
{
    return s->rows + SWEEP_SPARE_ROWS > LIMIT_PURGE_KEYS_MAX ||
           s->pages + SWEEP_SPARE_PAGES > LIMIT_PURGE_PAGES_MAX || s->looks >= LIMIT_PURGE_KEYS_MAX;
}

enum rc sweep_delete(struct sweep *s, struct slice key, uint64_t value_bytes)
{
    s->rows++;
    s->pages += 1 + engine_value_pages(value_bytes);
    return stage_row(s->d, key, (struct slice){NULL, 0}, s->err);
}

/* ---- what is damaged ---- */

struct sweep_mark sweep_mark(const struct sweep *s)
{
    return (struct sweep_mark){overlay_mark(&s->d->overlay), s->d->next};
}

void sweep_set_aside(struct sweep *s, const char *why)
{
    s->looks++;
    s->state->set_aside++;
    snprintf(s->why, PURGE_WHY_MAX, "%s", why);
}

enum rc sweep_settle(struct sweep *s, const struct sweep_mark *mark, enum rc rc)
{
    if (rc != RC_ERR || s->err->code != ERR_IO)
        return rc;
    overlay_rollback(&s->d->overlay, mark->overlay);
    s->d->next = mark->next;
    sweep_set_aside(s, s->err->message);
    return RC_OK;
}

/* ---- the trash ---- */

enum rc sweep_next_dead(struct sweep *s, enum trash_kind kind, struct sweep_dead *out)
{
    struct key k;
    struct slice key, value;
    key_trash(&k, kind, s->state->at);
    if (s->state->at == 0) /* keys cut short, too */
        k.len = 2;
    enum rc rc = s->d->ops->seek(s->d->snap, key_slice(&k), &key, &value, s->err);
    for (; rc == RC_OK; rc = s->d->ops->next(s->d->snap, &key, &value, s->err)) {
        if (key.len == 0 || key.ptr[0] != kind)
            return RC_NOTFOUND;
        if (key.len == KEY_TRASH_BYTES && value.len >= TRASH_BYTES) {
            *out = (struct sweep_dead){get_be64(key.ptr + KEY_NUMBER_AT), (int64_t)get_le64(value.ptr)};
            s->state->at = out->number;
            return RC_OK;
        }
        sweep_set_aside(s, "A row of the trash is damaged.");
    }
    return rc;
}

enum rc sweep_delete_dead(struct sweep *s, enum trash_kind kind, uint64_t number)
{
    struct key k;
    key_trash(&k, kind, number);
    return sweep_delete(s, key_slice(&k), TRASH_BYTES);
}
