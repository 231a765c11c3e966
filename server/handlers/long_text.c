/* server/handlers/long_text.c - see long_text.h. */
#include "server/handlers/long_text.h"

enum rc long_text_count(struct long_text *t, struct worker *w, struct err *err)
{
    buf_trim(&t->text);
    if (!answer_memory_take(w, t->text.cap))
        return err_set(err, ERR_NO_MEMORY, "Too many answers wait for slow clients; try again.");
    t->counted = t->text.cap;
    return RC_OK;
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
