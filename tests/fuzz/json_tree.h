/* tests/fuzz/json_tree.h - a JSON text as Jansson reads it, where Jansson can: an oracle for the checker and
 * for the pointers of problems. */
#ifndef TESTS_FUZZ_JSON_TREE_H
#define TESTS_FUZZ_JSON_TREE_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "tests/fuzz/fuzz.h"

/* What Jansson alone cannot have, though RFC 8259 does: U+0000 in names, numbers beyond a double, more than
 * 2,048 levels. */
static inline bool json_tree_is_limit(const json_error_t *why)
{
    enum json_error_code code = json_error_code(why);
    return code == json_error_null_byte_in_key || code == json_error_numeric_overflow ||
           code == json_error_stack_overflow;
}

static inline json_t *json_tree_load(struct slice text, size_t flags, json_error_t *why)
{
    return json_loadb(text.len ? (const char *)text.ptr : "", text.len,
                      JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | flags, why);
}

/* One reference token of RFC 6901, unescaped into `out`. Returns what is behind it. */
static inline const uint8_t *json_tree_token(const uint8_t *p, const uint8_t *end, struct buf *out)
{
    for (out->len = 0; p < end && *p != '/'; p++) {
        uint8_t c = *p;
        if (c == '~') {
            p++;
            CHECK(p < end && (*p == '0' || *p == '1'), "a tilde that stands for nothing");
            c = *p == '0' ? '~' : '/';
        }
        CHECK(buf_append_byte(out, c), "memory is out");
    }
    return p;
}

static inline json_t *json_tree_item(json_t *array, struct slice token)
{
    size_t index = 0;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token.ptr[i] - '0');
    }
    return token.len ? json_array_get(array, index) : NULL;
}

/* Does the pointer lead to a value? may_lack_last: or to where a member could be. */
static inline bool json_tree_has(json_t *root, struct slice pointer, bool may_lack_last)
{
    struct buf token = {0};
    pointer = slice_not_null(pointer);
    const uint8_t *p = pointer.ptr, *end = p + pointer.len;
    json_t *at = root, *last = NULL;
    while (at && p < end) {
        if (*p++ != '/')
            break;
        p = json_tree_token(p, end, &token);
        struct slice name = buf_slice(&token);
        last = at;
        at = json_is_object(at) ? json_object_getn(at, name.len ? (const char *)name.ptr : "", name.len)
                                : json_tree_item(at, name);
    }
    buf_release(&token);
    return p == end && (at || (may_lack_last && json_is_object(last)));
}

#endif
