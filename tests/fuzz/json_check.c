/* tests/fuzz/json_check.c - the strict JSON checker beside Jansson's verdict, where Jansson is right; and
 * strings there and back. The input is the text. */
#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "tests/fuzz/json_tree.h"

static json_t *load(struct slice text, size_t flags, bool *is_limit)
{
    json_error_t why;
    json_t *tree = json_tree_load(text, flags, &why);
    *is_limit = !tree && json_tree_is_limit(&why);
    return tree;
}

/* How deep a valid text nests. */
static uint32_t depth_of(struct slice text)
{
    uint32_t depth = 0, deepest = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']'))
            depth--;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* The place that is told is one of the text, or just behind it. */
static void check_place(struct slice text, const struct err *err)
{
    uint32_t line = 1, column = 1;
    for (size_t i = 0;; i++) {
        if (line == err->line && column == err->column)
            return;
        CHECK(i < text.len, "no place %u:%u in %.*s", err->line, err->column, SHOW(text));
        column++;
        if (text.ptr[i] == '\n') {
            line++;
            column = 1;
        }
    }
}

static void check_refusal(struct slice text, const struct err *err)
{
    bool is_limit;
    CHECK(utf8_valid(slice_str(err->message)), "a message that is not UTF-8");
    if (err->code == ERR_TOO_DEEP)
        return;
    CHECK(err->code == ERR_BAD_JSON, "code %d", err->code);
    check_place(text, err);
    if (!err->problems)
        return;
    CHECK(err->problems == 1 && err->first->code == PROBLEM_DUPLICATE, "%u problems", err->problems);
    json_t *tree = load(text, 0, &is_limit); /* only the name is wrong with it */
    CHECK(is_limit || tree, "a name stands twice, and more is wrong: %.*s", SHOW(text));
    json_decref(tree);
}

/* A text that is one string: undone as Jansson does it, quoted and undone again. */
static void check_string(struct slice text, const json_t *tree)
{
    const uint8_t *from = memchr(text.ptr, '"', text.len), *to = memrchr(text.ptr, '"', text.len);
    struct buf content = {0}, quoted = {0}, again = {0};
    struct arena arena = {0};
    struct err err;
    struct slice want = slice_of(json_string_value(tree), json_string_length(tree));
    CHECK(json_unescape(slice_of(from, (size_t)(to - from) + 1), &content), "memory is out");
    CHECK(slice_eq(buf_slice(&content), want), "%.*s: %.*s", SHOW(text), SHOW(content));
    CHECK(json_quote(buf_slice(&content), &quoted), "memory is out");
    CHECK(json_check(buf_slice(&quoted), 0, &arena, &err) == RC_OK, "quoted as %.*s", SHOW(quoted));
    CHECK(json_unescape(buf_slice(&quoted), &again), "memory is out");
    CHECK(slice_eq(buf_slice(&content), buf_slice(&again)), "%.*s: %.*s", SHOW(content), SHOW(again));
    buf_release(&content);
    buf_release(&quoted);
    buf_release(&again);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = fuzz_copy(slice_of(data, size));
    struct arena arena = {0};
    struct err err = {0};
    bool is_limit;
    enum rc rc = json_check(text, LIMIT_DATA_DEPTH_MAX, &arena, &err);
    json_t *tree = load(text, JSON_REJECT_DUPLICATES, &is_limit);
    if (rc == RC_OK)
        CHECK(tree || is_limit, "only Jansson refuses %.*s", SHOW(text));
    else
        check_refusal(text, &err);
    if (memchr(text.ptr, 0, text.len)) /* which Jansson passes over behind a number */
        CHECK(rc != RC_OK, "a NUL is taken: %.*s", SHOW(text));
    else if (tree) {
        bool is_deep = depth_of(text) > LIMIT_DATA_DEPTH_MAX;
        CHECK((rc != RC_OK) == is_deep, "only we refuse %.*s: %s", SHOW(text), err.message);
        CHECK(!is_deep || err.code == ERR_TOO_DEEP, "code %d", err.code);
    }
    if (rc == RC_OK && json_is_string(tree))
        check_string(text, tree);
    json_decref(tree);
    arena_release(&arena);
    fuzz_free(text);
    return 0;
}
