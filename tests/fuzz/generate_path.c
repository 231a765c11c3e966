/* tests/fuzz/generate_path.c - see generate_path.h. */
#include "tests/fuzz/generate_path.h"

#include "base/json_quote.h"
#include "tests/fuzz/fuzz.h"

enum { DEPTH_MAX = 4, STEPS_MAX = 5, UNIONS_MAX = 8 };

struct generator {
    const struct program *program;
    struct slice *choices;
    struct buf *out;
    unsigned depth;
};

static void path(struct generator *g, uint32_t op);

static unsigned choose(struct generator *g, unsigned n)
{
    return fuzz_byte(g->choices) % n;
}

static void put(struct generator *g, const char *text)
{
    CHECK(buf_append(g->out, slice_str(text)), "memory is out");
}

#define PUT_ONE(g, texts) put(g, (texts)[choose(g, sizeof(texts) / sizeof *(texts))])

/* ---- where it is ---- */

/* Through unions, a branch of choice; and arrays, if `arrays`. */
static uint32_t inside(struct generator *g, uint32_t op, bool arrays)
{
    const struct program *p = g->program;
    for (int i = 0; i < UNIONS_MAX; i++) {
        const struct op *o = &p->ops[op];
        if (o->code == OP_UNION && o->b)
            op = p->branches[o->a + choose(g, o->b)].op;
        else if (o->code == OP_ARRAY && arrays)
            op = o->a;
        else
            break;
    }
    return op;
}

static uint32_t item_of(const struct program *p, uint32_t op, bool maps)
{
    const struct op *o = &p->ops[op];
    return o->code == OP_ARRAY || (maps && o->code == OP_MAP) ? o->a : op;
}

/* ---- predicates ---- */

static const char *const literals[] = {"0",
                                       "1",
                                       "-1",
                                       "1.5",
                                       "\"\"",
                                       "\"A\"",
                                       "\"a\"",
                                       "\"x\"",
                                       "true",
                                       "false",
                                       "null",
                                       "1e17",
                                       "9007199254740993",
                                       "\"\\u00e9\"",
                                       "\"1\"",
                                       ".5"};
static const char *const ops[] = {" == ", " != ",  " === ", " !== ", " < ",  " <= ",  " > ",
                                  " >= ", " ^== ", " ^= ",  " $== ", " $= ", " *== ", " *= ",
                                  " && ", " || ",  " + ",   " - ",   " * ",  " / ",   " % "};

static void expr(struct generator *g, uint32_t op)
{
    if (++g->depth > DEPTH_MAX) {
        put(g, ".");
        g->depth--;
        return;
    }
    switch (choose(g, 8)) {
    case 0: PUT_ONE(g, literals); break;
    case 1:
        put(g, "^");
        path(g, g->program->root);
        break;
    case 2:
        put(g, choose(g, 2) ? "!" : "-");
        expr(g, op);
        break;
    case 3:
        put(g, "(");
        expr(g, op);
        put(g, ")");
        break;
    case 4:
    case 5:
        expr(g, op);
        PUT_ONE(g, ops);
        expr(g, op);
        break;
    default: path(g, op);
    }
    g->depth--;
}

/* ---- steps ---- */

static uint32_t name(struct generator *g, uint32_t op)
{
    const struct op *o = &g->program->ops[op];
    if (o->code != OP_RECORD || !o->b) {
        put(g, "a");
        return op;
    }
    const struct op_field *f = &g->program->fields[o->a + choose(g, o->b)];
    CHECK(buf_append(g->out, f->name), "memory is out");
    return f->op;
}

static void keys(struct generator *g)
{
    static const char *const some[] = {"\"a\"",       "\"A\"",   "~\"\"", "~\"a\"",           "~\"^[A-Z]\"",
                                       "\"x\"|\"k\"", "~\".*\"", "\"\"",  "~\"(a+)+$\"|\"b\""};
    put(g, "(");
    PUT_ONE(g, some);
    put(g, ")");
}

static uint32_t any_part(struct generator *g, uint32_t op)
{
    const struct op *o = &g->program->ops[op];
    if (o->code == OP_RECORD && o->b)
        return g->program->fields[o->a + choose(g, o->b)].op;
    return item_of(g->program, op, true);
}

static uint32_t step(struct generator *g, uint32_t op)
{
    static const char *const positions[] = {"[0]",  "[-1]", "[1]", "[0:1]", "[-2:]",
                                            "[:1]", "[*]",  "[:]", "[1:-1]"};
    switch (choose(g, 12)) {
    case 0: put(g, ".*"); return any_part(g, inside(g, op, true));
    case 1: put(g, "..*"); return any_part(g, inside(g, op, true));
    case 2: put(g, ".."); return name(g, inside(g, op, true));
    case 3: PUT_ONE(g, positions); return item_of(g->program, inside(g, op, false), false);
    case 4: keys(g); return item_of(g->program, inside(g, op, true), true);
    case 5:
    case 6:
        op = item_of(g->program, inside(g, op, false), true);
        put(g, "{");
        expr(g, op);
        put(g, "}");
        return op;
    case 7:
        put(g, "(");
        path(g, op);
        put(g, "|");
        path(g, op);
        put(g, ")");
        return any_part(g, inside(g, op, true));
    default: put(g, "."); return name(g, inside(g, op, true));
    }
}

static void path(struct generator *g, uint32_t op)
{
    if (++g->depth > DEPTH_MAX)
        put(g, ".");
    else if (choose(g, 6) == 5)
        put(g, ".");
    else
        for (unsigned n = 1 + choose(g, STEPS_MAX); n > 0; n--)
            op = step(g, op);
    g->depth--;
}

void generate_path(const struct program *program, uint32_t op, struct slice *choices, struct buf *out)
{
    struct generator g = {program, choices, out, 0};
    path(&g, op);
}
