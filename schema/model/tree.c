/* schema/model/tree.c - schema texts to Jansson trees and parts of them back to text, without loss. */
#include "schema/model/tree.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include "schema/json.h"

enum { MARK_STRING = 's', MARK_NUMBER = 'n', NAME_ESCAPE = 1 };

/* ---- the transcript ---- */

/* The end of the string token at p, behind its closing quote. */
static const uint8_t *string_end(const uint8_t *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

static bool is_space(uint8_t b)
{
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
}

static bool is_name(const uint8_t *behind, const uint8_t *end)
{
    while (behind < end && is_space(*behind))
        behind++;
    return behind < end && *behind == ':';
}

/* Copy a name's token, with NUL as U+0001 '0' and U+0001 as U+0001 '1'. Both can only stand there escaped. */
static bool transcribe_name(struct slice token, struct buf *out)
{
    const uint8_t *p = token.ptr, *end = p + token.len, *start = p;
    for (; p < end; p++) {
        if (*p != '\\')
            continue;
        p++;
        if (*p != 'u' || memcmp(p, "u000", 4) != 0 || (p[4] != '0' && p[4] != '1'))
            continue;
        p += 4;
        if (!buf_append(out, slice_of(start, (size_t)(p - start))) || !buf_append_byte(out, '1') ||
            !buf_append_byte(out, *p))
            return false;
        start = p + 1;
    }
    return buf_append(out, slice_of(start, (size_t)(end - start)));
}

static bool transcribe_string(struct slice token, struct buf *out)
{
    return buf_append_byte(out, '"') && buf_append_byte(out, MARK_STRING) &&
           buf_append(out, slice_of(token.ptr + 1, token.len - 1));
}

static bool transcribe_number(struct slice token, struct buf *out)
{
    return buf_append_byte(out, '"') && buf_append_byte(out, MARK_NUMBER) && buf_append(out, token) &&
           buf_append_byte(out, '"');
}

static const uint8_t *number_end(const uint8_t *p, const uint8_t *end)
{
    while (p < end && ((*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == '.' || (*p | 0x20) == 'e'))
        p++;
    return p;
}

static bool transcribe(struct slice text, struct buf *out)
{
    const uint8_t *p = text.ptr, *end = p + text.len, *next;
    if (!buf_reserve(out, text.len + text.len / 8))
        return false;
    for (; p < end; p = next) {
        bool ok = true;
        if (*p == '"') {
            next = string_end(p);
            struct slice token = slice_of(p, (size_t)(next - p));
            ok = is_name(next, end) ? transcribe_name(token, out) : transcribe_string(token, out);
        } else if (*p == '-' || (*p >= '0' && *p <= '9')) {
            next = number_end(p, end);
            ok = transcribe_number(slice_of(p, (size_t)(next - p)), out);
        } else {
            next = p + 1;
            ok = is_space(*p) || buf_append_byte(out, *p);
        }
        if (!ok)
            return false;
    }
    return true;
}

/* Jansson 2.14 goes on where memory for a token is out, and writes behind what it has. So it is given a malloc that
 * does not return then: the parse is over at once, and what it had is the arena's, from where all of it comes. */
struct parse {
    struct arena *arena;
    jmp_buf no_memory;
};
static _Thread_local struct parse *parsing; /* NULL: somebody else uses Jansson */
static pthread_once_t allocator_once = PTHREAD_ONCE_INIT;

static void *tree_malloc(size_t bytes)
{
    if (!parsing)
        return malloc(bytes);
    void *p = arena_alloc(parsing->arena, bytes);
    if (!p)
        longjmp(parsing->no_memory, 1);
    return p;
}

static void tree_free(void *p)
{
    if (!parsing)
        free(p);
}

static void set_allocator(void)
{
    json_set_alloc_funcs(tree_malloc, tree_free);
}

/* NULL: memory is out, or *why says what is wrong. */
static json_t *load(struct slice transcript, struct arena *arena, bool *no_memory, json_error_t *why)
{
    struct parse p = {.arena = arena};
    pthread_once(&allocator_once, set_allocator);
    json_t *json = NULL;
    *no_memory = true;
    parsing = &p;
    if (!setjmp(p.no_memory)) {
        json =
            json_loadb((const char *)transcript.ptr, transcript.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, why);
        *no_memory = false;
    }
    parsing = NULL;
    return *no_memory ? NULL : json;
}

enum rc tree_parse(json_t **out, struct slice text, struct arena *arena, struct err *err)
{
    struct buf transcript = {0};
    json_error_t why;
    bool no_memory = true;
    *out = NULL;
    if (transcribe(text, &transcript))
        *out = load(buf_slice(&transcript), arena, &no_memory, &why);
    buf_release(&transcript);
    if (no_memory)
        return err_oom(err);
    if (*out)
        return RC_OK;
    return err_set(err, ERR_INTERNAL, "The JSON reader refused a text that had passed the check: %s.",
                   why.text);
}

/* ---- values ---- */

static bool is_marked(const json_t *j, char mark)
{
    return json_is_string(j) && json_string_value(j)[0] == mark;
}

static struct slice unmarked(const json_t *j)
{
    return slice_of(json_string_value(j) + 1, json_string_length(j) - 1);
}

bool tree_is_string(const json_t *j)
{
    return is_marked(j, MARK_STRING);
}

bool tree_is_number(const json_t *j)
{
    return is_marked(j, MARK_NUMBER);
}

struct slice tree_string(const json_t *j)
{
    assert(tree_is_string(j));
    return unmarked(j);
}

struct slice tree_number(const json_t *j)
{
    assert(tree_is_number(j));
    return unmarked(j);
}

const char *tree_kind_name(const json_t *j)
{
    switch (json_typeof(j)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: return "null";
    default: return tree_is_number(j) ? "a number" : "a string";
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tree_member *)a)->name, ((const struct tree_member *)b)->name);
}

bool tree_members(json_t *object, enum tree_order order, struct buf *stack)
{
    size_t n = json_object_size(object), start = stack->len;
    if (!buf_reserve(stack, n * sizeof(struct tree_member)))
        return false;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        struct tree_member m = {name, value};
        memcpy(stack->ptr + stack->len, &m, sizeof m);
        stack->len += sizeof m;
    }
    if (order == TREE_SORTED && n > 1)
        qsort(stack->ptr + start, n, sizeof(struct tree_member), by_name);
    return true;
}

/* ---- printing ---- */

bool tree_print_name(const char *name, struct buf *out)
{
    if (!strchr(name, NAME_ESCAPE))
        return json_quote(slice_str(name), out);
    struct buf content = {0};
    bool ok = true;
    for (; ok && *name; name++) {
        uint8_t b = (uint8_t)*name;
        if (b == NAME_ESCAPE)
            b = *++name == '0' ? 0 : NAME_ESCAPE;
        ok = buf_append_byte(&content, b);
    }
    ok = ok && json_quote(buf_slice(&content), out);
    buf_release(&content);
    return ok;
}

/* An array or object that is being printed. */
struct print_frame {
    json_t *node;
    size_t next, count, members_start; /* in bytes of the stack of members */
};

static bool print_scalar(const json_t *j, struct buf *out)
{
    if (tree_is_string(j))
        return json_quote(tree_string(j), out);
    if (tree_is_number(j))
        return buf_append(out, tree_number(j));
    return buf_append(out, slice_str(tree_kind_name(j)));
}

static bool push_frame(json_t *j, enum tree_order order, struct buf *frames, struct buf *members)
{
    struct print_frame f = {.node = j, .members_start = members->len};
    if (json_is_object(j)) {
        f.count = json_object_size(j);
        if (!tree_members(j, order, members))
            return false;
    } else {
        f.count = json_array_size(j);
    }
    return buf_append(frames, slice_of(&f, sizeof f));
}

/* The next child of the innermost frame, its comma and name printed; NULL when there is none, the bracket
 * printed. */
static bool print_step(struct buf *frames, struct buf *members, struct buf *out, json_t **child)
{
    struct print_frame f;
    uint8_t *top = frames->ptr + frames->len - sizeof f;
    memcpy(&f, top, sizeof f);
    bool is_object = json_is_object(f.node);
    *child = NULL;
    if (f.next == f.count) {
        frames->len -= sizeof f;
        members->len = f.members_start;
        return buf_append_byte(out, is_object ? '}' : ']');
    }
    if (f.next && !buf_append_byte(out, ','))
        return false;
    if (is_object) {
        struct tree_member m;
        memcpy(&m, members->ptr + f.members_start + f.next * sizeof m, sizeof m);
        *child = m.value;
        if (!tree_print_name(m.name, out) || !buf_append_byte(out, ':'))
            return false;
    } else {
        *child = json_array_get(f.node, f.next);
    }
    f.next++;
    memcpy(top, &f, sizeof f);
    return true;
}

bool tree_print(json_t *root, enum tree_order order, struct buf *out)
{
    struct buf frames = {0}, members = {0};
    json_t *j = root;
    bool ok = true;
    do {
        if (!j)
            ok = print_step(&frames, &members, out, &j);
        else if (json_is_object(j) || json_is_array(j)) {
            ok = buf_append_byte(out, json_is_object(j) ? '{' : '[') &&
                 push_frame(j, order, &frames, &members);
            j = NULL;
        } else {
            ok = print_scalar(j, out);
            j = NULL;
        }
    } while (ok && (j || frames.len));
    buf_release(&frames);
    buf_release(&members);
    return ok;
}
