/* client/lib/answer.h - filling a struct avrod_answer. */
#ifndef CLIENT_LIB_ANSWER_H
#define CLIENT_LIB_ANSWER_H

#include "client/lib/exchange.h"

/* Take head and body of a good exchange. False: memory is out. */
MUST_USE bool answer_take(struct avrod_answer *, struct exchange *);

#endif
