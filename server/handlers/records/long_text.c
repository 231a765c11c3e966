/* server/handlers/records/long_text.c - see long_text.h. */
#include "server/handlers/records/long_text.h"

/* More than this is counted while it is made. */
enum { GROWTH_BYTES = 1 << 20 };

/* It has so many bytes of the budget from now on. */
static enum rc count_as(struct long_text *t, struct worker *w, uint64_t bytes, struct err *err)
{
    if (bytes > t->counted && !answer_memory_take(w, bytes - t->counted))
        return err_set(err, ERR_NO_MEMORY, "Too many answers wait for slow clients; try again.");
    if (bytes < t->counted)
        answer_memory_give(w, t->counted - bytes);
    t->counted = bytes;
    return RC_OK;
}

enum rc long_text_count(struct long_text *t, struct worker *w, struct err *err)
{
    buf_trim(&t->text);
    return count_as(t, w, t->text.cap, err);
}

enum rc long_text_count_growth(struct long_text *t, struct worker *w, struct err *err)
{
    return t->text.cap < t->counted + GROWTH_BYTES ? RC_OK : count_as(t, w, t->text.cap, err);
}

void long_text_count_always(struct long_text *t, struct worker *w)
{
    buf_trim(&t->text);
    t->counted = t->text.cap;
    answer_memory_take_always(w, t->counted);
}

enum rc long_text_more(struct long_text *t, struct buf *out, size_t room)
{
    size_t left = t->text.len - t->sent, n = left < room ? left : room;
    if (!buf_append(out, slice_of(t->text.ptr + t->sent, n)))
        return RC_ERR;
    t->sent += n;
    return n == left ? RC_OK : RC_PENDING;
}

void long_text_release(struct long_text *t, struct worker *w)
{
    buf_release(&t->text);
    if (t->counted)
        answer_memory_give(w, t->counted);
    t->counted = 0;
    t->sent = 0;
}

static enum rc more(struct request *req, struct buf *out, size_t room)
{
    return long_text_more(req->state, out, room);
}

static void end(struct request *req)
{
    long_text_release(req->state, req->worker);
}

void long_text_answer(struct request *req, struct long_text *t, const char *content_type)
{
    static const struct stream stream = {.more = more, .end = end};
    req->state = t;
    req->response.status = 200;
    req->response.content_type = content_type;
    req->response.stream = &stream;
    req->response.stream_bytes = t->text.len;
    answer(req);
}
