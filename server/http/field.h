/* server/http/field.h - which of headers.def a field name is. Pure; any thread. */
#ifndef SERVER_HTTP_FIELD_H
#define SERVER_HTTP_FIELD_H

#include "base/slice.h"

/* The index of enum header, or -1. `name` has no control characters. */
int field_find(struct slice name);
bool field_is_list(int header);
const char *field_name(int header);

#endif
