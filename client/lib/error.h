/* client/lib/error.h - filling a struct avrod_error. */
#ifndef CLIENT_LIB_ERROR_H
#define CLIENT_LIB_ERROR_H

#include "base/buf.h"
#include "base/compiler.h"
#include "client/avrod.h"

/* Empty, whatever it held. */
void error_begin(struct avrod_error *);

/* Code and sentence; returns the code. */
enum avrod_code error_set(struct avrod_error *, enum avrod_code, const char *format, ...) PRINTF_LIKE(3, 4);
enum avrod_code error_memory(struct avrod_error *);

/* AVROD_REFUSED with what the answer says: a problem document, the registry's form of an error, or some other body. The
 * body is taken, *body is empty then. */
enum avrod_code error_refused(struct avrod_error *, int status, struct buf *body);

#endif
