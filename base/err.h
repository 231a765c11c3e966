/* base/err.h - the one way to fail. The table of codes is errors.def; only server/http/respond.c
 * turns an error into HTTP. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdint.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/slice.h"

/* RC_ERR: failed, *err is filled. Above zero: expected outcomes, *err untouched, outputs as documented. */
enum rc {
    RC_ERR = -1,
    RC_OK = 0,
    RC_NOTFOUND, /* absent */
    RC_PENDING,  /* the answer comes by a callback */
    RC_CONFLICT, /* a condition failed */
    RC_AGAIN,    /* prepare, submit again */
};

enum err_code {
    ERR_NONE,
#define ERROR(name, status, slug, title) ERR_##name,
#include "base/errors.def"
#undef ERROR
    ERR_CODES
};

/* What one entry of `errors` says is wrong. Slugs: problem_slug(). */
enum problem_code {
#define PROBLEM(name, slug) PROBLEM_##name,
#include "base/problems.def"
#undef PROBLEM
    PROBLEM_CODES
};

/* One fault in a body. All texts in the arena that err_problem was given. */
struct problem {
    struct problem *next;
    struct slice pointer; /* RFC 6901, into the body as sent, uncut */
    enum problem_code code;
    struct slice expected, got, branch; /* empty: not said */
    struct slice detail;                /* a sentence, or empty */
};

enum { ERR_PROBLEMS_MAX = 100 };

/* Owned by the caller, set once where the fault is found, passed up untouched. */
struct err {
    enum err_code code;
    uint32_t line, column;          /* from 1, in bytes; 0: not a fault of a text */
    struct problem *first, *last;   /* in an arena; at most ERR_PROBLEMS_MAX */
    uint32_t problems;              /* how many are listed */
    bool truncated;                 /* more were found than are listed */
    uint32_t operation;             /* of a patch or a transaction, from 1; 0: not about one */
    uint64_t used_bytes, max_bytes; /* of a store that is full; 0: not said */
    char message[256];              /* one plain sentence for the person who called */
};

/* Fill *err (replacing what it held) and return RC_ERR, so that a caller can `return err_set(...)`. */
enum rc err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);
enum rc err_oom(struct err *err);

/* Append a problem with its pointer and code, the texts copied to `arena`; NULL beyond the 100th (then
 * truncated is set) and when memory is out. The caller fills in what else there is to say. */
struct problem *err_problem(struct err *err, struct arena *arena, enum problem_code code,
                            struct slice pointer);

/* Fill in the code and a sentence for the problems that are listed (at least one):
 * how many, and the first. */
enum rc err_sum_up(struct err *err, enum err_code code);

unsigned err_status(enum err_code code);   /* the HTTP status */
const char *err_slug(enum err_code code);  /* stable, for machines */
const char *err_title(enum err_code code); /* for people */
const char *problem_slug(enum problem_code code);

#endif
