/* server/handlers/records/long_text.h - a text that was made whole, and leaves in pieces: so no turn of the worker copies all
 * of it. Its memory is counted in the budget of waiting answers. */
#ifndef SERVER_HANDLERS_LONG_TEXT_H
#define SERVER_HANDLERS_LONG_TEXT_H

#include "server/handler.h"

/* Zero-initialised is empty. In the request's arena, until the request is over. */
struct long_text {
    struct buf text; /* owned: released behind its end */
    size_t sent;
    uint64_t counted; /* in the budget */
};

/* Count what it takes, trimmed to what it needs. RC_ERR: NO_MEMORY, the budget is spent. Any thread. */
MUST_USE enum rc long_text_count(struct long_text *, struct worker *, struct err *);
/* While it is made, again and again: count what it has grown by, if that is worth it. NO_MEMORY, as above. */
MUST_USE enum rc long_text_count_growth(struct long_text *, struct worker *, struct err *);
/* The same, whatever is left. */
void long_text_count_always(struct long_text *, struct worker *);
/* What stream.more does with it: append the next part. RC_PENDING: there is more; RC_OK: that was all. */
MUST_USE enum rc long_text_more(struct long_text *, struct buf *out, size_t room);
void long_text_release(struct long_text *, struct worker *);

/* Answer with it: 200. It is req->state from then on, and is released with the request. */
void long_text_answer(struct request *, struct long_text *, const char *content_type);

#endif
