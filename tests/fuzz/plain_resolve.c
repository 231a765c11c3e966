/* tests/fuzz/plain_resolve.c - see plain_resolve.h. */
#include "tests/fuzz/plain_resolve.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "schema/model/names.h"
#include "tests/fuzz/fuzz.h"

enum { DEPTH_MAX = 60, WORK_MAX = 20000, OUT_MAX = 1 << 20 };

struct plain {
    const struct program *writer, *reader;
    unsigned work, depth;
    struct {
        const struct type *w, *r;
    } path[DEPTH_MAX]; /* pairs that are being asked about */
    struct slice rest; /* of the datum */
};

static bool gives_up(struct plain *c)
{
    c->work += c->work <= WORK_MAX;
    return c->work > WORK_MAX;
}

/* ---- which types meet ---- */

static bool is_named(const struct type *t)
{
    return t->fullname.len > 0;
}

static bool bears_name(const struct type *r, struct slice fullname)
{
    bool bears = slice_eq(r->fullname, fullname);
    for (size_t i = 0; i < r->naliases; i++)
        bears |= slice_eq(r->aliases[i], fullname);
    return bears;
}

static bool is_promotion(enum type_kind w, enum type_kind r)
{
    static const char *const pairs[] = {"il", "if", "id", "lf", "ld", "fd", "sb", "bs"};
    static const char letters[TYPE_KINDS + 1] = "--ilfdbs------";
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (letters[w] == pairs[i][0] && letters[r] == pairs[i][1])
            return true;
    return false;
}

/* Neither is a union: may the one be read as the other, as far as they themselves tell? */
static bool meet(const struct type *w, const struct type *r)
{
    if (w->kind != r->kind)
        return is_promotion(w->kind, r->kind);
    if (is_named(w) && !bears_name(r, w->fullname) &&
        !slice_eq(name_short(w->fullname), name_short(r->fullname)))
        return false;
    if (w->kind == TYPE_FIXED && w->fixed_size != r->fixed_size)
        return false;
    return w->logical != LOGICAL_DECIMAL || r->logical != LOGICAL_DECIMAL || w->scale == r->scale;
}

/* The writer's fields that a field's name and aliases are: how many, and the first. */
static unsigned sources(const struct type *w, const struct field *f, const struct field **found)
{
    unsigned n = 0;
    for (size_t i = 0; i < w->record.nfields; i++) {
        const struct field *from = &w->record.fields[i];
        bool is = slice_eq(from->name, f->name);
        for (size_t a = 0; a < f->naliases; a++)
            is |= slice_eq(from->name, f->aliases[a]);
        if (is && n++ == 0)
            *found = from;
    }
    return n;
}

static int64_t symbol_of(const struct type *w, const struct type *r, uint64_t symbol)
{
    for (size_t i = 0; i < r->enumeration.nsymbols; i++)
        if (slice_eq(r->enumeration.symbols[i], w->enumeration.symbols[symbol]))
            return (int64_t)i;
    return r->enumeration.default_index;
}

/* How near a branch is: 0 the same type, 1 one of another namespace or a promotion, 2 none. */
static unsigned distance(const struct type *w, const struct type *r)
{
    if (w->kind != r->kind)
        return is_promotion(w->kind, r->kind) ? 1 : 2;
    if (!is_named(w) || bears_name(r, w->fullname))
        return 0;
    return slice_eq(name_short(w->fullname), name_short(r->fullname)) ? 1 : 2;
}

/* Whether the branch may be taken: one of another namespace only if none bears the name. */
static bool is_candidate(const struct type *w, const struct type *r, const struct type *b, unsigned far)
{
    bool has_namesake = false;
    for (size_t i = 0; is_named(w) && i < r->branches.nbranches; i++)
        has_namesake |= distance(w, r->branches.branches[i]) == 0;
    return distance(w, b) == far && (far == 0 || !has_namesake);
}

/* ---- verdicts ---- */

/* all: of every datum; a pair within itself holds, as long as nothing speaks against it. Else of some
 * datum; a pair within itself does not help it to end. */
static bool ask(struct plain *c, const struct type *w, const struct type *r, bool all);

static bool ask_record(struct plain *c, const struct type *w, const struct type *r, bool all)
{
    for (size_t i = 0; i < r->record.nfields; i++) {
        const struct field *f = &r->record.fields[i], *from = NULL;
        unsigned n = sources(w, f, &from);
        if (n > 1 || (n == 0 && !f->has_default) || (n == 1 && !ask(c, from->type, f->type, all)))
            return false;
    }
    return true;
}

static bool ask_symbols(const struct type *w, const struct type *r)
{
    for (size_t i = 0; i < w->enumeration.nsymbols; i++)
        if (symbol_of(w, r, i) < 0)
            return false;
    return true;
}

static bool ask_pair(struct plain *c, const struct type *w, const struct type *r, bool all)
{
    if (w->kind == TYPE_UNION) {
        for (size_t i = 0; i < w->branches.nbranches; i++)
            if (ask(c, w->branches.branches[i], r, all) != all)
                return !all;
        return all;
    }
    if (r->kind == TYPE_UNION) {
        for (size_t i = 0; i < r->branches.nbranches; i++) {
            const struct type *b = r->branches.branches[i];
            if ((is_candidate(w, r, b, 0) || is_candidate(w, r, b, 1)) && ask(c, w, b, all))
                return true;
        }
        return false;
    }
    if (!meet(w, r))
        return false;
    switch (w->kind) {
    case TYPE_RECORD: return ask_record(c, w, r, all);
    case TYPE_ENUM: return !all || ask_symbols(w, r);
    case TYPE_ARRAY:
    case TYPE_MAP: return !all || ask(c, w->items, r->items, all);
    default: return true;
    }
}

static bool ask(struct plain *c, const struct type *w, const struct type *r, bool all)
{
    for (unsigned i = 0; i < c->depth; i++)
        if (c->path[i].w == w && c->path[i].r == r)
            return all;
    if (gives_up(c) || c->depth == DEPTH_MAX) {
        c->work = WORK_MAX + 1;
        return false;
    }
    c->path[c->depth].w = w;
    c->path[c->depth++].r = r;
    bool yes = ask_pair(c, w, r, all);
    c->depth--;
    return yes;
}

static bool ask_afresh(struct plain *c, const struct type *w, const struct type *r, bool all)
{
    unsigned depth = c->depth;
    c->depth = 0;
    bool yes = ask(c, w, r, all);
    c->depth = depth;
    return yes;
}

/* The nearest branch that takes everything, else that takes something, else the nearest; -1: none. */
static int choose(struct plain *c, const struct type *w, const struct type *r)
{
    for (unsigned pass = 0; pass < 3; pass++)
        for (unsigned far = 0; far < 2; far++)
            for (size_t i = 0; i < r->branches.nbranches; i++) {
                const struct type *b = r->branches.branches[i];
                if (is_candidate(w, r, b, far) && (pass == 2 || ask_afresh(c, w, b, pass == 0)))
                    return (int)i;
            }
    return -1;
}

/* ---- data ---- */

static bool take(struct plain *c, size_t n, struct slice *out)
{
    if (n > c->rest.len)
        return false;
    *out = slice_of(c->rest.ptr, n);
    c->rest = slice_of(c->rest.ptr + n, c->rest.len - n);
    return true;
}

static bool take_long(struct plain *c, int64_t *out)
{
    uint64_t v = 0;
    struct slice byte;
    for (unsigned shift = 0;; shift += 7) {
        if (!take(c, 1, &byte))
            return false;
        v |= (uint64_t)(*byte.ptr & 0x7f) << shift;
        if (*byte.ptr < 0x80)
            break;
    }
    *out = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    return true;
}

static bool take_text(struct plain *c, struct slice *out)
{
    int64_t len;
    return take_long(c, &len) && len >= 0 && take(c, (size_t)len, out);
}

static void put(struct plain *c, struct buf *out, struct slice s)
{
    if (out->len + s.len > OUT_MAX)
        c->work = WORK_MAX + 1;
    else
        CHECK(buf_append(out, s), "memory is out");
}

static void put_long(struct plain *c, struct buf *out, int64_t v)
{
    uint64_t bits = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    for (; bits >= 0x80; bits >>= 7)
        put(c, out, slice_of(&(uint8_t){(uint8_t)(bits | 0x80)}, 1));
    put(c, out, slice_of(&(uint8_t){(uint8_t)bits}, 1));
}

/* The number at the beginning as the reader's number. */
static bool resolve_number(struct plain *c, enum type_kind w, enum type_kind r, struct buf *out)
{
    int64_t i = 0;
    double d = 0;
    float f = 0;
    struct slice raw;
    if (w == TYPE_INT || w == TYPE_LONG) {
        if (!take_long(c, &i))
            return false;
        d = (double)i;
        f = (float)i;
    } else if (!take(c, w == TYPE_FLOAT ? 4 : 8, &raw)) {
        return false;
    } else if (w == TYPE_FLOAT) {
        memcpy(&f, raw.ptr, sizeof f);
        d = (double)f;
    } else {
        memcpy(&d, raw.ptr, sizeof d);
    }
    switch (r) {
    case TYPE_FLOAT: put(c, out, slice_of(&f, sizeof f)); break;
    case TYPE_DOUBLE: put(c, out, slice_of(&d, sizeof d)); break;
    default: put_long(c, out, i); break;
    }
    return true;
}

static bool resolve(struct plain *c, const struct type *w, const struct type *r, struct buf *out);

/* Over a value, by reading it as itself. */
static bool skip(struct plain *c, const struct type *w)
{
    struct buf dropped = {0};
    const struct program *reader = c->reader;
    c->reader = c->writer;
    bool ok = resolve(c, w, w, &dropped);
    c->reader = reader;
    buf_release(&dropped);
    return ok;
}

/* Each field of the writer's is passed over, so that each of the reader's is found where it is. */
static bool resolve_record(struct plain *c, const struct type *w, const struct type *r, struct buf *out)
{
    struct slice at[64], behind;
    if (w->record.nfields > 64) {
        c->work = WORK_MAX + 1;
        return false;
    }
    for (size_t i = 0; i < w->record.nfields; i++) {
        at[i] = c->rest;
        if (w != r && !skip(c, w->record.fields[i].type))
            return false;
    }
    behind = c->rest;
    for (size_t i = 0; i < r->record.nfields; i++) {
        const struct field *f = &r->record.fields[i], *from = NULL;
        unsigned n = w == r ? 1 : sources(w, f, &from);
        if (w == r)
            from = f;
        else if (n == 1)
            c->rest = at[from - w->record.fields];
        if (n > 1 || (n == 0 && !f->has_default))
            return false;
        if (n == 0)
            put(c, out, c->reader->fields[c->reader->ops[r->number].a + i].filling.avro);
        else if (!resolve(c, from->type, f->type, out))
            return false;
    }
    if (w != r)
        c->rest = behind;
    return true;
}

static bool resolve_items(struct plain *c, const struct type *w, const struct type *r, struct buf *out)
{
    int64_t count, bytes;
    struct slice key;
    do {
        if (!take_long(c, &count) || (count < 0 && !take_long(c, &bytes)))
            return false;
        uint64_t n = count < 0 ? -(uint64_t)count : (uint64_t)count;
        if (n > WORK_MAX) {
            c->work = WORK_MAX + 1;
            return false;
        }
        for (uint64_t i = 0; i < n; i++) {
            put_long(c, out, 1); /* each item is a block of its own */
            if (w->kind == TYPE_MAP) {
                if (!take_text(c, &key))
                    return false;
                put_long(c, out, (int64_t)key.len);
                put(c, out, key);
            }
            if (!resolve(c, w->items, r->items, out))
                return false;
        }
    } while (count);
    put_long(c, out, 0);
    return true;
}

static bool resolve_text(struct plain *c, const struct type *w, const struct type *r, struct buf *out)
{
    struct slice text;
    if (!take_text(c, &text) || (w->kind == TYPE_BYTES && r->kind == TYPE_STRING && !utf8_valid(text)))
        return false;
    put_long(c, out, (int64_t)text.len);
    put(c, out, text);
    return true;
}

static bool resolve_union(struct plain *c, const struct type *w, const struct type *r, struct buf *out)
{
    int branch = choose(c, w, r);
    if (branch < 0)
        return false;
    put_long(c, out, branch);
    return resolve(c, w, r->branches.branches[branch], out);
}

static bool resolve_value(struct plain *c, const struct type *w, const struct type *r, struct buf *out)
{
    int64_t i;
    struct slice raw;
    if (w->kind == TYPE_UNION) {
        if (!take_long(c, &i))
            return false;
        if (w == r) { /* passed over */
            put_long(c, out, i);
            r = r->branches.branches[i];
        }
        return resolve(c, w->branches.branches[i], r, out);
    }
    if (r->kind == TYPE_UNION)
        return resolve_union(c, w, r, out);
    if (!meet(w, r))
        return false;
    switch (w->kind) {
    case TYPE_NULL: return true;
    case TYPE_BOOLEAN:
    case TYPE_FIXED:
        if (!take(c, w->kind == TYPE_BOOLEAN ? 1 : w->fixed_size, &raw))
            return false;
        put(c, out, raw);
        return true;
    case TYPE_INT:
    case TYPE_LONG:
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return resolve_number(c, w->kind, r->kind, out);
    case TYPE_BYTES:
    case TYPE_STRING: return resolve_text(c, w, r, out);
    case TYPE_ENUM:
        if (!take_long(c, &i) || symbol_of(w, r, (uint64_t)i) < 0)
            return false;
        put_long(c, out, symbol_of(w, r, (uint64_t)i));
        return true;
    case TYPE_RECORD: return resolve_record(c, w, r, out);
    case TYPE_ARRAY:
    case TYPE_MAP: return resolve_items(c, w, r, out);
    default: return false;
    }
}

static bool resolve(struct plain *c, const struct type *w, const struct type *r, struct buf *out)
{
    if (gives_up(c) || c->depth == DEPTH_MAX) {
        c->work = WORK_MAX + 1;
        return false;
    }
    c->depth++;
    bool ok = resolve_value(c, w, r, out);
    c->depth--;
    return ok;
}

/* ---- the front ---- */

static enum plain_result result(const struct plain *c, bool ok)
{
    return c->work > WORK_MAX ? PLAIN_GIVES_UP : ok ? PLAIN_FITS : PLAIN_MISFIT;
}

enum plain_result plain_reads_all(const struct program *writer, const struct program *reader)
{
    struct plain c = {.writer = writer, .reader = reader};
    bool ok = ask(&c, writer->model->root, reader->model->root, true);
    return result(&c, ok);
}

enum plain_result plain_reads_any(const struct program *writer, const struct program *reader)
{
    struct plain c = {.writer = writer, .reader = reader};
    bool ok = ask(&c, writer->model->root, reader->model->root, false);
    return result(&c, ok);
}

enum plain_result plain_resolve(const struct program *writer, const struct program *reader, struct slice avro,
                                struct buf *out)
{
    struct plain c = {.writer = writer, .reader = reader, .rest = avro};
    bool ok = resolve(&c, writer->model->root, reader->model->root, out);
    return result(&c, ok);
}
