/* schema/path/path_lex.h - the tokens of a path. */
#ifndef SCHEMA_PATH_LEX_H
#define SCHEMA_PATH_LEX_H

#include "schema/path/path.h"

enum token_kind {
    TOKEN_END,
    TOKEN_STEP,   /* . .name .* ..name ..* */
    TOKEN_NUMBER, /* without a sign; text: as RFC 8259 spells it */
    TOKEN_STRING, /* text: its content */
    TOKEN_WORD,   /* true, false, null */
    TOKEN_OP,     /* of path_ops.def; a minus may be a sign */
    TOKEN_NOT,    /* ! */
    TOKEN_MARK    /* one of ( ) [ ] { } | ~ ^ : */
};

struct token {
    enum token_kind kind;
    uint32_t column; /* of its first byte, from 1 */
    uint8_t mark;
    enum path_op op;
    bool is_deep, is_all; /* step */
    struct slice text;    /* number, string, word; of a step: the name, or empty */
};

struct path_lexer {
    const uint8_t *text, *p, *end; /* a zero stands at `end` */
    struct arena *arena;           /* contents of strings */
    struct buf *scratch;
    struct err *err;
};

/* The next token. BAD_PATH, NO_MEMORY. */
MUST_USE enum rc path_lex(struct path_lexer *, struct token *);
/* BAD_PATH at this column. Returns RC_ERR. */
COLD enum rc path_fault(struct err *, uint32_t column, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
