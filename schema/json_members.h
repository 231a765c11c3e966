/* schema/json_members.h - walking a JSON text that json_check has passed: the members of an object, the items of an
 * array, one after the other. No tree, no memory, no recursion. Part of the front of this folder.
 *
 * A walk goes into a value or over it, and then reads on behind it: so who walks down with a stack of walks reads each
 * byte once. Who wants a value's span pays for its bytes, once more if it is then entered. */
#ifndef SCHEMA_JSON_MEMBERS_H
#define SCHEMA_JSON_MEMBERS_H

#include "base/buf.h"
#include "base/slice.h"

enum json_kind {
    JSON_IS_NULL,
    JSON_IS_BOOLEAN,
    JSON_IS_NUMBER,
    JSON_IS_STRING,
    JSON_IS_ARRAY,
    JSON_IS_OBJECT
};

/* Of a value, white space before it or not. */
enum json_kind json_kind(struct slice value);
/* The text without white space around it. */
struct slice json_trim(struct slice text);

/* In an array or object. Borrows the text. */
struct json_walk {
    const uint8_t *at;  /* behind what has been read; at the value's first byte as long as has_value */
    const uint8_t *end; /* of the text */
    bool is_object;
    bool has_value;    /* a value begins at `at` that has not been passed over yet */
    bool is_begun;     /* the opening bracket has been passed */
    bool is_done;      /* and the closing one: `at` is behind it */
    struct slice name; /* object: the token of the member's name, with its quotes */
};

/* Of a text whose value is an array or object. */
struct json_walk json_walk_of(struct slice container);
/* On to the next member or item, over the one before it. False: there is none. */
bool json_walk_next(struct json_walk *);
/* The kind of the value that the walk is at. */
enum json_kind json_walk_kind(const struct json_walk *);
/* Pass over the value that the walk is at: its span. Once a value. */
struct slice json_walk_value(struct json_walk *);
/* Go into the value that the walk is at, which is an array or object. */
struct json_walk json_walk_enter(const struct json_walk *);
/* Go on behind it: `inner` is done. */
void json_walk_leave(struct json_walk *, const struct json_walk *inner);

/* Is the name, or the string token, this text? What is escaped is compared unescaped. */
bool json_token_is(struct slice token, struct slice text);
/* The content of a string token: borrowed from it, or, where something is escaped, from `scratch`, which is
 * overwritten. False: memory is out. */
MUST_USE bool json_token_text(struct slice token, struct buf *scratch, struct slice *out);

#endif
