/* client/lib/send.h - sending a request that was put together here. */
#ifndef CLIENT_LIB_SEND_H
#define CLIENT_LIB_SEND_H

#include "client/avrod.h"
#include "client/lib/target.h"

/* avrod_send with the target, which is released whatever comes. */
MUST_USE enum avrod_code send_target(avrod_client *, struct target *, struct avrod_request *,
                                     struct avrod_answer *, struct avrod_error *);

#endif
