/* schema/path/path_lex.c - a path's text, token by token. */
#include "schema/path/path_lex.h"

#include <stdarg.h>
#include <stdio.h>

#include "schema/encode/scan.h"
#include "schema/json.h"

struct op_row {
    struct slice text;
    unsigned precedence;
};

static const struct op_row op_rows[] = {
#define PATH_OP(name, text, precedence) {{(const uint8_t *)text, sizeof text - 1}, precedence},
#include "schema/path/path_ops.def"
#undef PATH_OP
};

struct slice path_op_text(enum path_op op)
{
    return op_rows[op].text;
}

unsigned path_op_precedence(enum path_op op)
{
    return op_rows[op].precedence;
}

enum rc path_fault(struct err *err, uint32_t column, const char *format, ...)
{
    char what[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    err_set(err, ERR_BAD_PATH, "The path, at column %u: %s", column, what);
    err->line = 1;
    err->column = column;
    return RC_ERR;
}

static bool is_name_start(uint8_t c)
{
    return (c | 0x20) >= 'a' ? (c | 0x20) <= 'z' : c == '_';
}

static const uint8_t *pass_name(const uint8_t *p)
{
    while (is_name_start(*p) || scan_is_digit(*p))
        p++;
    return p;
}

/* ---- tokens that are more than a character or an operator ---- */

static enum rc lex_step(struct path_lexer *l, struct token *t)
{
    const uint8_t *p = l->p + 1;
    t->kind = TOKEN_STEP;
    t->is_deep = *p == '.';
    p += t->is_deep;
    t->is_all = *p == '*';
    t->text = slice_of(p, is_name_start(*p) ? (size_t)(pass_name(p) - p) : 0);
    if (t->is_deep && !t->is_all && !t->text.len)
        return path_fault(l->err, (uint32_t)(p - l->text) + 1,
                          "behind \"..\" stands a field's name or \"*\".");
    if (*p == '"')
        return path_fault(l->err, (uint32_t)(p - l->text) + 1,
                          "a name has no quotes; a key of a map stands in parentheses: (\"key\").");
    l->p = p + t->is_all + t->text.len;
    return RC_OK;
}

static enum rc lex_string(struct path_lexer *l, struct token *t)
{
    unsigned flags;
    const uint8_t *quote = scan_string(l->p + 1, l->end, &flags);
    if (!quote)
        return path_fault(l->err, t->column, "here begins a text that is no JSON string.");
    t->kind = TOKEN_STRING;
    l->scratch->len = 0;
    if (!json_unescape(slice_of(l->p, (size_t)(quote + 1 - l->p)), l->scratch) ||
        !arena_copy(l->arena, buf_slice(l->scratch), &t->text))
        return err_oom(l->err);
    l->p = quote + 1;
    return RC_OK;
}

/* .5 is a number too: no field is called so. */
static enum rc lex_number(struct path_lexer *l, struct token *t)
{
    char *text = NULL;
    const uint8_t *end = *l->p == '.' ? NULL : scan_number(l->p);
    if (*l->p == '.') {
        for (end = l->p + 1; scan_is_digit(*end); end++)
            ;
        text = arena_printf(l->arena, "0%.*s", (int)(end - l->p), (const char *)l->p);
        if (!text)
            return err_oom(l->err);
    }
    if (!end || is_name_start(*end) || scan_is_digit(*end))
        return path_fault(l->err, t->column, "here begins something that is no number.");
    t->kind = TOKEN_NUMBER;
    t->text = text ? slice_str(text) : slice_of(l->p, (size_t)(end - l->p));
    l->p = end;
    return RC_OK;
}

static enum rc lex_word(struct path_lexer *l, struct token *t)
{
    t->kind = TOKEN_WORD;
    t->text = slice_of(l->p, (size_t)(pass_name(l->p) - l->p));
    l->p += t->text.len;
    if (slice_eq(t->text, SLICE("true")) || slice_eq(t->text, SLICE("false")) ||
        slice_eq(t->text, SLICE("null")))
        return RC_OK;
    return path_fault(l->err, t->column, "a field is written with a dot before its name: .%.*s",
                      (int)(t->text.len < 64 ? t->text.len : 64), (const char *)t->text.ptr);
}

/* ---- all of them ---- */

static bool lex_op(struct path_lexer *l, struct token *t)
{
    struct slice rest = slice_of(l->p, (size_t)(l->end - l->p));
    for (int op = 0; op < PATH_OPS; op++)
        if (slice_starts(rest, op_rows[op].text)) {
            t->kind = TOKEN_OP;
            t->op = (enum path_op)op;
            l->p += op_rows[op].text.len;
            return true;
        }
    return false;
}

static enum rc lex_mark(struct path_lexer *l, struct token *t)
{
    uint8_t c = *l->p;
    if (!c || !strchr("()[]{}|~^:!", c)) {
        struct slice rest = slice_of(l->p, (size_t)(l->end - l->p));
        size_t n = utf8_char_len(rest.ptr, l->end);
        return c > ' '
                   ? path_fault(l->err, t->column, "'%.*s' means nothing here.", (int)n, (const char *)l->p)
                   : path_fault(l->err, t->column, "a control character.");
    }
    t->kind = c == '!' ? TOKEN_NOT : TOKEN_MARK;
    t->mark = c;
    l->p++;
    return RC_OK;
}

enum rc path_lex(struct path_lexer *l, struct token *t)
{
    while (*l->p == ' ' || *l->p == '\t')
        l->p++;
    uint8_t c = *l->p;
    *t = (struct token){.kind = TOKEN_END, .column = (uint32_t)(l->p - l->text) + 1};
    if (l->p == l->end)
        return RC_OK;
    if (scan_is_digit(c) || (c == '.' && scan_is_digit(l->p[1])))
        return lex_number(l, t);
    if (c == '.')
        return lex_step(l, t);
    if (c == '"')
        return lex_string(l, t);
    if (is_name_start(c))
        return lex_word(l, t);
    return lex_op(l, t) ? RC_OK : lex_mark(l, t);
}
