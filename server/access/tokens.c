/* server/access/tokens.c - see tokens.h. Of a token the file knows a digest only, and by that it is found: what a search by digests tells
 * by how long it takes leads nobody to a token. */
#include "server/access/tokens.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hex.h"
#include "server/access/lines.h"

struct tokens {
    struct arena arena; /* names */
    struct token *tokens;
    size_t n, room;
};

static bool make_room(struct tokens *t)
{
    if (t->n < t->room)
        return true;
    size_t room = t->room ? 2 * t->room : 16;
    struct token *tokens = realloc(t->tokens, room * sizeof *tokens);
    if (!tokens)
        return false;
    t->tokens = tokens;
    t->room = room;
    return true;
}

static bool digest_read(struct slice text, uint8_t out[SHA256_BYTES])
{
    if (text.len != 2 * SHA256_BYTES)
        return false;
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        int byte = hex_byte(text.ptr + 2 * i);
        if (byte < 0)
            return false;
        out[i] = (uint8_t)byte;
    }
    return true;
}

static enum rc add(struct tokens *t, const struct lines *l, struct err *err)
{
    struct token token = {.line = l->number};
    struct slice name, digest;
    if (lines_name(l, &name, &digest, err) != RC_OK)
        return RC_ERR;
    if (!digest_read(digest, token.digest))
        return lines_fault(l, err,
                           "What is behind the name is no SHA-256 of a token, 64 hexadecimal digits.");
    if (!make_room(t) || !arena_copy(&t->arena, name, &token.name))
        return err_oom(err);
    t->tokens[t->n++] = token;
    return RC_OK;
}

static int by_digest(const void *a, const void *b)
{
    return memcmp(((const struct token *)a)->digest, ((const struct token *)b)->digest, SHA256_BYTES);
}

static enum rc sort(struct tokens *t, struct lines *l, struct err *err)
{
    if (t->n)
        qsort(t->tokens, t->n, sizeof *t->tokens, by_digest);
    for (size_t i = 1; i < t->n; i++) {
        const struct token *a = &t->tokens[i - 1], *b = &t->tokens[i];
        l->number = a->line > b->line ? a->line : b->line;
        if (by_digest(a, b) == 0)
            return lines_fault(l, err, "This digest stands further up as well.");
    }
    return RC_OK;
}

static enum rc read_lines(struct tokens *t, struct lines *l, struct err *err)
{
    while (lines_next(l))
        if (add(t, l, err) != RC_OK)
            return RC_ERR;
    return sort(t, l, err);
}

static enum rc read_open(struct lines *l, struct tokens **out, struct err *err)
{
    struct tokens *t = calloc(1, sizeof *t);
    enum rc rc = t ? read_lines(t, l, err) : err_oom(err);
    lines_close(l);
    if (rc == RC_OK)
        *out = t;
    else
        tokens_free(t);
    return rc;
}

enum rc tokens_load(const char *path, struct tokens **out, struct err *err)
{
    struct lines l = {0};
    if (path && lines_open(&l, path, err) != RC_OK)
        return RC_ERR;
    return read_open(&l, out, err);
}

enum rc tokens_parse(const char *path, struct slice text, struct tokens **out, struct err *err)
{
    struct lines l;
    return lines_of(&l, path, text, err) == RC_OK ? read_open(&l, out, err) : RC_ERR;
}

void tokens_free(struct tokens *t)
{
    if (!t)
        return;
    arena_release(&t->arena);
    free(t->tokens);
    free(t);
}

struct token *tokens_all(struct tokens *t, size_t *n)
{
    *n = t->n;
    return t->tokens;
}

const struct token *tokens_find(const struct tokens *t, struct slice token)
{
    struct token wanted;
    sha256(token, wanted.digest);
    return t->n ? bsearch(&wanted, t->tokens, t->n, sizeof *t->tokens, by_digest) : NULL;
}
