/* storage/touch.c - writing down that records were used, which nobody waits for. */
#include <stdlib.h>

#include "base/clock.h"
#include "storage/store.h"

/* The worker's; lives until the store is closed, since nobody waits for its end. */
struct touch {
    struct store_write write;
    bool waits;
    uint8_t id[LIMIT_ID_MAX];
};

static void touch_done(struct store_write *w)
{
    struct touch *t = CONTAINER_OF(w, struct touch, write);
    t->waits = false;
    w->worker->waiting_touches--;
    if (w->rc == RC_OK)
        counter_add(&w->worker->touched, w->count);
}

/* One that is free; NULL: there is none, or one for this key waits already. */
static struct touch *touch_for(const struct store_worker *w, const struct store_key *key)
{
    struct touch *found = NULL;
    for (unsigned i = 0; i < LIMIT_TOUCHES_WAITING; i++) {
        struct touch *t = &w->touches[i];
        if (!t->waits)
            found = t;
        else if (t->write.key.type == key->type && slice_eq(t->write.key.id, key->id))
            return NULL;
    }
    return found;
}

static COLD void touch(struct store_worker *w, const struct store_key *key)
{
    struct err err;
    if (!w->touches && !(w->touches = calloc(LIMIT_TOUCHES_WAITING, sizeof *w->touches)))
        return;
    struct touch *t = touch_for(w, key);
    if (!t)
        return;
    memcpy(t->id, key->id.ptr, key->id.len);
    t->write.kind = WRITE_TOUCH;
    t->write.key =
        (struct store_key){.space = SPACE_RECORD, .type = key->type, .id = slice_of(t->id, key->id.len)};
    t->write.done = touch_done;
    if (store_write(w, &t->write, &err) == RC_ERR)
        return;
    t->waits = true;
    w->waiting_touches++;
}

void store_touch(struct store_worker *w, const struct store_key *key, const struct record *rec)
{
    if (unlikely(store_touch_due(rec, clock_wall_ms())) && !store_busy(w))
        touch(w, key);
}
