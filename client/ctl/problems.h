/* client/ctl/problems.h - the lists inside a problem document, or a verdict on a schema, for people. */
#ifndef CLIENT_CTL_PROBLEMS_H
#define CLIENT_CTL_PROBLEMS_H

#include <stddef.h>
#include <stdio.h>

/* `errors` and `reasons`, a line each; nothing if it has none or is no JSON. */
void problems_print(const char *body, size_t len, FILE *out);

#endif
