/* schema/path/path_regex.c - the home of PCRE2. All its memory is an arena's. What a search costs cannot be known before, nor be
 * asked for behind: so it may take a hundred steps, then ten thousand ..., each time paid for in full. */
#include "schema/path/path_regex.h"

#include "base/limits.h"
#include "schema/path/path_lex.h"
#include "schema/value/value.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { STEPS_FIRST = 100, STEPS_FACTOR = 100, COST_SEARCH = 200, COST_STEP = 10, PASSED_A_NS = 8 };

static void *take(PCRE2_SIZE bytes, void *arena)
{
    return arena_alloc(arena, bytes);
}

/* It dies with the arena. */
static void give(void *p, void *arena)
{
    (void)p;
    (void)arena;
}

/* ---- compiling ---- */

static enum rc fault(struct err *err, uint32_t column, int code, PCRE2_SIZE at)
{
    uint8_t words[128];
    if (code == PCRE2_ERROR_HEAP_FAILED || code == PCRE2_ERROR_NOMEMORY)
        return err_oom(err);
    pcre2_get_error_message(code, words, sizeof words);
    return path_fault(err, column, "the regular expression is none, at its byte %zu: %s.", (size_t)at + 1,
                      (const char *)words);
}

/* Not a byte by itself (\C): it would split a character. */
static pcre2_code *compile(struct slice text, struct arena *arena, int *code, PCRE2_SIZE *at)
{
    pcre2_general_context *general = pcre2_general_context_create(take, give, arena);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    *code = PCRE2_ERROR_HEAP_FAILED;
    if (!context)
        return NULL;
    uint32_t options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_NEVER_BACKSLASH_C;
    return pcre2_compile(slice_not_null(text).ptr, text.len, options, code, at, context);
}

enum rc regex_compile(struct slice text, uint32_t column, struct arena *arena, size_t *total,
                      const struct regex **out, struct err *err)
{
    int code;
    PCRE2_SIZE at = 0;
    size_t bytes;
    pcre2_code *compiled = compile(text, arena, &code, &at);
    if (!compiled)
        return fault(err, column, code, at);
    *out = (const struct regex *)compiled;
    if (pcre2_pattern_info(compiled, PCRE2_INFO_SIZE, &bytes) == 0)
        *total += bytes;
    if (*total > LIMIT_REGEX_BYTES_MAX)
        return path_fault(err, column, "the regular expressions take more than %d bytes, compiled.",
                          LIMIT_REGEX_BYTES_MAX);
    return RC_OK;
}

/* ---- looking ---- */

struct regex_scratch {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

struct regex_scratch *regex_scratch_new(struct arena *arena)
{
    struct regex_scratch *s = arena_alloc(arena, sizeof *s);
    pcre2_general_context *general = s ? pcre2_general_context_create(take, give, arena) : NULL;
    if (!general)
        return NULL;
    s->data = pcre2_match_data_create(1, general);
    s->context = pcre2_match_context_create(general);
    if (!s->data || !s->context)
        return NULL;
    pcre2_set_heap_limit(s->context, LIMIT_REGEX_HEAP_MAX / 1024);
    return s;
}

/* One step may pass over the rest of the key, but over the whole of it no more often than it has bytes. */
static uint64_t cost_of(uint64_t steps, uint64_t bytes)
{
    uint64_t passes = steps < bytes ? steps : bytes;
    return COST_SEARCH + steps * COST_STEP + passes * bytes / PASSED_A_NS;
}

enum rc regex_find(const struct regex *regex, struct regex_scratch *s, struct slice key, struct datum *d,
                   bool *found, struct err *err)
{
    const pcre2_code *code = (const pcre2_code *)regex;
    int rc = PCRE2_ERROR_MATCHLIMIT;
    for (uint32_t steps = STEPS_FIRST; rc == PCRE2_ERROR_MATCHLIMIT && steps <= LIMIT_REGEX_STEPS_MAX;
         steps *= STEPS_FACTOR) {
        if (datum_pay(d, cost_of(steps, key.len), err))
            return RC_ERR;
        pcre2_set_match_limit(s->context, steps);
        rc = pcre2_match(code, slice_not_null(key).ptr, key.len, 0, PCRE2_NO_UTF_CHECK, s->data, s->context);
    }
    *found = rc >= 0;
    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH)
        return RC_OK;
    if (rc == PCRE2_ERROR_NOMEMORY)
        return err_oom(err);
    return err_set(err, ERR_TOO_MUCH_WORK,
                   "A regular expression of the path takes too much work on a key of %zu bytes.", key.len);
}
