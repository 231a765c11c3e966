/* client/ctl/schema.h - what the commands about schemas share. */
#ifndef CLIENT_CTL_SCHEMA_H
#define CLIENT_CTL_SCHEMA_H

#include "client/ctl/ctl.h"

/* Would the server take it for the type that was named, with the options that were? */
MUST_USE enum avrod_code schema_ask_verdict(const struct ctl *, const struct buf *schema, const char *query,
                                            struct avrod_answer *, struct avrod_error *);

/* A good verdict for people; the exit code. */
MUST_USE int schema_print_verdict(const struct ctl *, const char *body, size_t len);

#endif
