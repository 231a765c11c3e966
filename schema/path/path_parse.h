/* schema/path/path_parse.h - between the two files that parse paths. */
#ifndef SCHEMA_PATH_PARSE_H
#define SCHEMA_PATH_PARSE_H

#include "schema/path/path_lex.h"
#include "schema/path/path_types.h"

struct path_parser {
    struct path_lexer lexer;
    struct path_checker checker;
    struct token token; /* the next one */
    uint32_t depth;     /* of what is being parsed */
    size_t regex_bytes; /* of regular expressions, compiled */
    struct arena *arena;
    struct err *err;
};

/* On to the next token. */
MUST_USE enum rc path_next(struct path_parser *);
/* Pass the mark, which must stand here. `what` begins there: "{" for instance. */
MUST_USE enum rc path_expect(struct path_parser *, char mark, const char *within);
bool path_at_mark(const struct path_parser *, char mark);
/* BAD_PATH: this token cannot stand here. */
COLD enum rc path_unexpected(struct path_parser *, const char *wanted);
/* One level deeper, which path_leave undoes. BAD_PATH. */
MUST_USE enum rc path_enter(struct path_parser *);
void path_leave(struct path_parser *);

/* Does a step begin here? */
bool path_at_step(const struct path_parser *);
/* A path that stands at values of these types. first: its first step, already parsed and not yet checked, or NULL. What
 * it leads to is put into *to, unless that is NULL. */
MUST_USE enum rc path_parse_way(struct path_parser *, const struct path_types *from, struct path_step *first,
                                struct path_way **out, struct path_types *to);
/* Alternatives or keys, of which the first is given or to be parsed (NULL), up to the closing parenthesis. */
MUST_USE enum rc path_parse_either(struct path_parser *, const struct path_types *from,
                                   struct path_way *first, struct path_step *);
MUST_USE enum rc path_parse_keys(struct path_parser *, const struct slice *first, struct path_step *);
/* A predicate about values of these types. */
MUST_USE enum rc path_parse_where(struct path_parser *, const struct path_types *item,
                                  struct path_expr **out);

#endif
