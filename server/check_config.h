/* server/check_config.h - --check-config: is what the options name as it must be? */
#ifndef SERVER_CHECK_CONFIG_H
#define SERVER_CHECK_CONFIG_H

#include "base/err.h"
#include "server/options.h"

/* Behind options_parse. Reads files, and opens no store, binds nothing, makes and changes nothing. CONFIG, as the server would
 * say it at its start. */
MUST_USE enum rc check_config(const struct options *, struct err *err);

#endif
