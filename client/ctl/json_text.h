/* client/ctl/json_text.h - printing JSON objects, a member after the other. Texts that are JSON already go in as they are, so that
 * no number changes on its way. */
#ifndef CLIENT_CTL_JSON_TEXT_H
#define CLIENT_CTL_JSON_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Zero-initialised is ready; json_text_release. Names are plain ASCII; NULL where an array's element is meant. */
struct json_text {
    struct buf text;
    bool no_memory, comma;
};

void json_text_begin(struct json_text *); /* an object */
void json_text_end(struct json_text *);
void json_text_open(struct json_text *, const char *name, char bracket); /* '{' or '[' inside */
void json_text_close(struct json_text *, char bracket);
void json_text_string(struct json_text *, const char *name, const char *value); /* NULL is null */
void json_text_bytes(struct json_text *, const char *name, struct slice value); /* as base64 */
void json_text_u64(struct json_text *, const char *name, uint64_t value);
void json_text_real(struct json_text *, const char *name, double value);
void json_text_raw(struct json_text *, const char *name, struct slice json);
void json_text_release(struct json_text *);

#endif
