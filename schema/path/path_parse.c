/* schema/path/path_parse.c - the parser's tokens, paths and their steps. It calls itself for what stands in brackets, at most
 * LIMIT_PATH_DEPTH_MAX times inside of each other. */
#include "schema/path/path_parse.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/num.h"
#include "base/utf8.h"
#include "schema/path/path_regex.h"

/* ---- tokens ---- */

enum rc path_next(struct path_parser *p)
{
    return path_lex(&p->lexer, &p->token);
}

bool path_at_mark(const struct path_parser *p, char mark)
{
    return p->token.kind == TOKEN_MARK && p->token.mark == (uint8_t)mark;
}

enum rc path_unexpected(struct path_parser *p, const char *wanted)
{
    const struct token *t = &p->token;
    size_t bytes = (size_t)(p->lexer.p - p->lexer.text) - (t->column - 1);
    struct slice text = utf8_cut(slice_of(p->lexer.text + t->column - 1, bytes), 64);
    if (t->kind == TOKEN_END)
        return path_fault(p->err, t->column, "it ends where %s is expected.", wanted);
    return path_fault(p->err, t->column, "%.*s stands where %s is expected.", (int)text.len,
                      (const char *)text.ptr, wanted);
}

enum rc path_expect(struct path_parser *p, char mark, const char *within)
{
    char wanted[64];
    if (path_at_mark(p, mark))
        return path_next(p);
    snprintf(wanted, sizeof wanted, "'%c' to close '%s'", mark, within);
    return path_unexpected(p, wanted);
}

enum rc path_enter(struct path_parser *p)
{
    if (++p->depth <= LIMIT_PATH_DEPTH_MAX)
        return RC_OK;
    return path_fault(p->err, p->token.column, "more than %d levels inside of each other.",
                      LIMIT_PATH_DEPTH_MAX);
}

void path_leave(struct path_parser *p)
{
    p->depth--;
}

/* ---- keys of maps ---- */

static enum rc parse_key(struct path_parser *p, struct path_key *key)
{
    bool is_regex = path_at_mark(p, '~');
    if (is_regex && path_next(p))
        return RC_ERR;
    if (p->token.kind != TOKEN_STRING)
        return path_unexpected(p, "a key in quotes");
    key->text = p->token.text;
    if (is_regex && regex_compile(key->text, p->token.column, p->arena, &p->regex_bytes, &key->regex, p->err))
        return RC_ERR;
    return path_next(p);
}

enum rc path_parse_keys(struct path_parser *p, const struct slice *first, struct path_step *s)
{
    struct path_key **end = &s->keys;
    s->kind = STEP_KEYS;
    for (;; first = NULL) {
        struct path_key *key = arena_calloc(p->arena, 1, sizeof *key);
        if (!key)
            return err_oom(p->err);
        if (first)
            key->text = *first;
        else if (parse_key(p, key))
            return RC_ERR;
        *end = key;
        end = &key->next;
        if (!path_at_mark(p, '|'))
            return path_expect(p, ')', "(");
        if (path_next(p))
            return RC_ERR;
    }
}

/* ---- alternatives ---- */

enum rc path_parse_either(struct path_parser *p, const struct path_types *from, struct path_way *first,
                          struct path_step *s)
{
    struct path_way **end = &s->ways;
    s->kind = STEP_EITHER;
    for (;; first = NULL) {
        struct path_way *way = first;
        if (!way && path_parse_way(p, from, NULL, &way, NULL))
            return RC_ERR;
        *end = way;
        end = &way->next;
        if (!path_at_mark(p, '|'))
            return path_expect(p, ')', "(");
        if (path_next(p))
            return RC_ERR;
    }
}

/* ---- positions ---- */

static enum rc parse_position(struct path_parser *p, int64_t *out)
{
    uint64_t n;
    bool is_negative = p->token.kind == TOKEN_OP && p->token.op == PATH_OP_MINUS;
    if (is_negative && path_next(p))
        return RC_ERR;
    if (p->token.kind != TOKEN_NUMBER)
        return path_unexpected(p, "a position");
    if (!num_parse_decimal(p->token.text, INT64_MAX, &n))
        return path_fault(p->err, p->token.column, "a position is an integer.");
    *out = is_negative ? -(int64_t)n : (int64_t)n;
    return path_next(p);
}

static bool at_position(const struct path_parser *p)
{
    return p->token.kind == TOKEN_NUMBER || (p->token.kind == TOKEN_OP && p->token.op == PATH_OP_MINUS);
}

/* Behind the bracket. [*] is what [:] is. */
static enum rc parse_positions(struct path_parser *p, struct path_step *s)
{
    s->kind = STEP_SLICE;
    if (p->token.kind == TOKEN_OP && p->token.op == PATH_OP_TIMES)
        return path_next(p) ? RC_ERR : path_expect(p, ']', "[");
    s->has_from = !path_at_mark(p, ':');
    if (s->has_from && parse_position(p, &s->from))
        return RC_ERR;
    if (!path_at_mark(p, ':')) {
        s->kind = STEP_INDEX;
        return path_expect(p, ']', "[");
    }
    if (path_next(p))
        return RC_ERR;
    s->has_to = at_position(p);
    if (s->has_to && parse_position(p, &s->to))
        return RC_ERR;
    return path_expect(p, ']', "[");
}

/* ---- steps ---- */

bool path_at_step(const struct path_parser *p)
{
    return p->token.kind == TOKEN_STEP || path_at_mark(p, '(') || path_at_mark(p, '[') ||
           path_at_mark(p, '{');
}

static enum rc parse_named(struct path_parser *p, const struct path_way *way, struct path_step *s)
{
    const struct token *t = &p->token;
    s->name = t->text;
    if (t->is_deep)
        s->kind = t->is_all ? STEP_DEEP_ALL : STEP_DEEP_FIELD;
    else if (t->is_all)
        s->kind = STEP_ALL;
    else
        s->kind = t->text.len ? STEP_FIELD : STEP_SELF;
    if (path_next(p))
        return RC_ERR;
    if (s->kind == STEP_SELF && (way->first || p->token.kind == TOKEN_STEP))
        return path_fault(p->err, s->column, "behind this dot stands a field's name or \"*\".");
    return RC_OK;
}

/* The token is what the step begins with. */
static enum rc parse_step(struct path_parser *p, const struct path_types *from, const struct path_way *way,
                          struct path_step *s)
{
    bool is_paren = path_at_mark(p, '('), is_bracket = path_at_mark(p, '[');
    if (p->token.kind == TOKEN_STEP)
        return parse_named(p, way, s);
    if (path_next(p))
        return RC_ERR;
    if (is_bracket)
        return parse_positions(p, s);
    if (!is_paren)
        s->kind = STEP_WHERE; /* its predicate must wait until it is known what it is about */
    else if (path_at_mark(p, '~') || p->token.kind == TOKEN_STRING)
        return path_parse_keys(p, NULL, s);
    else
        return path_parse_either(p, from, NULL, s);
    return RC_OK;
}

/* ---- where steps lead ---- */

static enum rc way_leads(struct path_parser *p, const struct path_way *way, const struct path_types *from,
                         struct path_types *to);

static enum rc either_leads(struct path_parser *p, const struct path_step *s, struct path_types **types)
{
    struct path_types *to = path_types_take(&p->checker);
    enum rc rc = to ? RC_OK : RC_ERR;
    for (const struct path_way *w = s->ways; w && rc == RC_OK; w = w->next)
        rc = way_leads(p, w, *types, to);
    path_types_give(&p->checker, *types);
    *types = to;
    return rc;
}

static enum rc step_leads(struct path_parser *p, const struct path_step *s, struct path_types **types)
{
    return s->kind == STEP_EITHER ? either_leads(p, s, types) : path_types_step(&p->checker, s, types);
}

/* Where a path begins. */
static struct path_types *begin_types(struct path_parser *p, const struct path_way *way,
                                      const struct path_types *from)
{
    struct path_types *types = path_types_take(&p->checker);
    enum rc rc = RC_ERR;
    if (types && way->is_from_root)
        rc = path_types_add(&p->checker, types, p->checker.program->root);
    else if (types)
        rc = path_types_add_all(&p->checker, types, from);
    if (rc == RC_OK)
        return types;
    path_types_give(&p->checker, types);
    return NULL;
}

static enum rc way_leads(struct path_parser *p, const struct path_way *way, const struct path_types *from,
                         struct path_types *to)
{
    struct path_types *types = begin_types(p, way, from);
    enum rc rc = types ? RC_OK : RC_ERR;
    for (const struct path_step *s = way->first; s && rc == RC_OK; s = s->next)
        rc = step_leads(p, s, &types);
    if (rc == RC_OK)
        rc = path_types_add_all(&p->checker, to, types);
    path_types_give(&p->checker, types);
    return rc;
}

/* ---- paths ---- */

static uint32_t depth_of(const struct path_step *s)
{
    uint32_t depth = s->kind == STEP_WHERE ? s->expr->depth : 0;
    if (s->kind == STEP_EITHER)
        for (const struct path_way *w = s->ways; w; w = w->next)
            depth = w->depth > depth ? w->depth : depth;
    return depth + 1;
}

/* `s` has been parsed, but for the predicate. */
static enum rc add_step(struct path_parser *p, struct path_way *way, struct path_step *s,
                        struct path_types **types)
{
    if (step_leads(p, s, types))
        return RC_ERR;
    if (s->kind == STEP_WHERE && (path_parse_where(p, *types, &s->expr) || path_expect(p, '}', "{")))
        return RC_ERR;
    *(way->last ? &way->last->next : &way->first) = s;
    way->last = s;
    way->depth = depth_of(s) > way->depth ? depth_of(s) : way->depth;
    return RC_OK;
}

static enum rc parse_steps(struct path_parser *p, struct path_way *way, struct path_step *first,
                           struct path_types **types)
{
    if (first && add_step(p, way, first, types))
        return RC_ERR;
    if (!first && !path_at_step(p))
        return path_unexpected(p, "a path, which begins with a dot,");
    while (path_at_step(p)) {
        struct path_step *s = arena_calloc(p->arena, 1, sizeof *s);
        if (!s)
            return err_oom(p->err);
        s->column = p->token.column;
        if (parse_step(p, *types, way, s) || add_step(p, way, s, types))
            return RC_ERR;
    }
    return RC_OK;
}

enum rc path_parse_way(struct path_parser *p, const struct path_types *from, struct path_step *first,
                       struct path_way **out, struct path_types *to)
{
    struct path_way *way = *out = arena_calloc(p->arena, 1, sizeof *way);
    if (!way)
        return err_oom(p->err);
    if (path_enter(p))
        return RC_ERR;
    way->is_from_root = !first && path_at_mark(p, '^');
    if (way->is_from_root && path_next(p))
        return RC_ERR;
    struct path_types *types = begin_types(p, way, from);
    if (!types)
        return RC_ERR;
    enum rc rc = parse_steps(p, way, first, &types);
    if (rc == RC_OK && to)
        rc = path_types_add_all(&p->checker, to, types);
    path_types_give(&p->checker, types);
    path_leave(p);
    return rc;
}

/* ---- all of it ---- */

static enum rc parse_all(struct path_parser *p, struct path *path)
{
    struct path_types *root = path_types_take(&p->checker), *end = path_types_take(&p->checker);
    if (!root || !end || path_types_add(&p->checker, root, p->checker.program->root) || path_next(p) ||
        path_parse_way(p, root, NULL, &path->way, end))
        return RC_ERR;
    if (p->token.kind != TOKEN_END)
        return path_unexpected(p, "the next step or the end");
    path->may_end_in_array = path_types_have(&p->checker, end, OP_ARRAY);
    path->may_end_in_map = path_types_have(&p->checker, end, OP_MAP);
    return RC_OK;
}

static enum rc check_text(struct slice text, struct err *err)
{
    size_t valid = utf8_valid_len(text);
    if (valid < text.len)
        return path_fault(err, (uint32_t)valid + 1, "it is not UTF-8.");
    if (text.len > LIMIT_PATH_TEXT_MAX)
        return path_fault(err, LIMIT_PATH_TEXT_MAX + 1, "a path has at most %d bytes.", LIMIT_PATH_TEXT_MAX);
    return RC_OK;
}

enum rc path_parse(struct path **out, const struct schema *schema, struct slice text, struct arena *arena,
                   struct err *err)
{
    struct path *path = *out = arena_calloc(arena, 1, sizeof *path);
    struct arena sets = {0};
    struct buf scratch = {0};
    struct slice copy; /* with a zero behind it */
    if (text.len <= LIMIT_PATH_TEXT_MAX && (!path || !arena_copy(arena, text, &copy)))
        return err_oom(err);
    if (check_text(text, err))
        return RC_ERR;
    struct path_parser p = {
        .lexer = {copy.ptr, copy.ptr, copy.ptr + copy.len, arena, &scratch, err},
        .checker = {schema_program(schema), &sets, NULL, LIMIT_PATH_WORK_MAX, err},
        .arena = arena,
        .err = err,
    };
    path->schema = schema;
    enum rc rc = parse_all(&p, path);
    buf_release(&scratch);
    arena_release(&sets);
    return rc;
}
