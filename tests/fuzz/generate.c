/* tests/fuzz/generate.c - see generate.h. */
#include "tests/fuzz/generate.h"

#include "schema/json.h"
#include "tests/fuzz/fuzz.h"

enum { DEPTH_MAX = 12, TEXT_MAX = 4000 };

struct generator {
    const struct program *program;
    struct slice choices;
    struct buf *out;
    unsigned depth;
};

static void value(struct generator *g, uint32_t op);

static unsigned choose(struct generator *g, unsigned n)
{
    return fuzz_byte(&g->choices) % n;
}

static void put(struct generator *g, const char *text)
{
    CHECK(buf_append(g->out, slice_str(text)), "memory is out");
}

static void put_string(struct generator *g, struct slice s)
{
    CHECK(json_quote(s, g->out), "memory is out");
}

#define PUT_ONE(g, texts) put(g, (texts)[choose(g, sizeof(texts) / sizeof *(texts))])

static const char *const anything[] = {
    "null",
    "true",
    "0",
    "-1",
    "1.0",
    "1.5",
    "1e400",
    "\"\"",
    "\"A\"",
    "\"NaN\"",
    "\"x\"",
    "{}",
    "[]",
    "{\"a\":1}",
    "[null]",
    "{\"null\":{}}",
    "[[],{}]",
    "{\"R\":{}}",
    "{\"map\":{}}",
    "{\"A\":{\"B\":null}}",
    "{\"v\":null}",
    "{\"x\":1,\"x\":2}",
    "\"\\u0100\"",
    "-",
};
static const char *const integers[] = {
    "0",
    "-0",
    "1",
    "-1",
    "63",
    "64",
    "-65",
    "1e2",
    "10e-1",
    "16777217",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "0.0",
    "1.5",
    "1e18",
    "1e19",
    "\"1\"",
};
static const char *const reals[] = {
    "0",
    "-0.0",
    "1",
    "0.1",
    "1.5",
    "3.4028235677973366e38",
    "3.4028234e38",
    "1e-46",
    "5e-324",
    "1e308",
    "1e309",
    "16777217",
    "\"NaN\"",
    "\"Infinity\"",
    "\"-Infinity\"",
    "\"N\\u0061N\"",
    "\"nan\"",
    "123456789012345678901234567890",
};
static const char *const strings[] = {
    "\"\"",
    "\"a\"",
    "\"ab\"",
    "\"abc\"",
    "\"A\"",
    "\"NaN\"",
    "\"\\u00ff\"",
    "\"\\u0000\\u0080\"",
    "\"\\u0100\"",
    "\"\\ud83d\\ude00\"",
    "\"\\n\\\"\"",
    "\"0123456789abcdef\"",
    "\"\xc3\xa9\"",
    "\"\\ud800\"",
    "\"a long string that takes more than sixty-four bytes, so that its length takes two\"",
};
/* Of logical types, base64, and longs in quotes. */
static const char *const texts[] = {
    "\"2024-02-29\"",
    "\"2023-02-29\"",
    "\"0000-01-01\"",
    "\"9999-12-31\"",
    "\"12:00:00.5\"",
    "\"23:59:59.999999\"",
    "\"23:59:60\"",
    "\"24:00:00\"",
    "\"2024-02-29T12:00:00.5Z\"",
    "\"2024-02-29t12:00:00.123456789z\"",
    "\"1969-12-31T23:59:59.999999-23:59\"",
    "\"2024-02-29T12:00:00.500\"",
    "\"1677-09-21T00:12:43.145224192Z\"",
    "\"2262-04-11T23:47:16.854775808Z\"",
    "\"0000-01-01T00:00:00+01:00\"",
    "\"2024\\u002d02-29\"",
    "\"12.30\"",
    "\"-0.01\"",
    "\"12.345\"",
    "\"1234567.89\"",
    "\"1e3\"",
    "\"0x04d2\"",
    "\"0x\"",
    "12.5",
    "1234567890123456789012345678901.5",
    "\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"",
    "\"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6\"",
    "\"f81d4fae-7dec-11d0-a765-00a0c91e6bg6\"",
    "\"\"",
    "\"YWI=\"",
    "\"YWJj\"",
    "\"YWJ=\"",
    "\"YQ==\"",
    "\"+/==\"",
    "\"9223372036854775807\"",
    "\"-9223372036854775809\"",
    "\"5\"",
    "\"05\"",
};
static const char *const names[] = {"a", "b", "v", "x", "A", "R", "map", "n.A", "", "\\u0000", "\\u0061"};
static const char *const spaces[] = {"", "", "", "", "", " ", "\n\t"};

static void members(struct generator *g, uint32_t op)
{
    const char *before = "";
    for (unsigned n = choose(g, 4); n; n--) {
        put(g, before);
        put(g, "\"");
        PUT_ONE(g, names);
        put(g, "\":");
        value(g, op);
        before = ",";
    }
}

static void items(struct generator *g, uint32_t op)
{
    const char *before = "";
    for (unsigned n = choose(g, 4); n; n--) {
        put(g, before);
        value(g, op);
        before = ",";
    }
}

/* Fields from one on, then those before it: often in order, often not. */
static void fields(struct generator *g, const struct op *op)
{
    const char *before = "";
    uint32_t first = op->b ? choose(g, 4) % op->b : 0;
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op_field *f = &g->program->fields[op->a + (first + i) % op->b];
        unsigned what = choose(g, 16);
        if (what == 15) /* left out */
            continue;
        put(g, before);
        before = ",";
        PUT_ONE(g, spaces);
        put_string(g, f->name);
        PUT_ONE(g, spaces);
        put(g, ":");
        value(g, f->op);
        if (what == 14)
            put(g, ",\"unknown\":{\"a\":[1]}");
    }
}

static void branch(struct generator *g, const struct op *op)
{
    if (op->b == 0) {
        put(g, "null");
        return;
    }
    const struct op_branch *b = &g->program->branches[op->a + choose(g, 255) % op->b];
    unsigned how = choose(g, 3);
    if (how == 0 || g->program->ops[b->op].code == OP_NULL) {
        value(g, b->op);
        return;
    }
    put(g, "{");
    put_string(g, how == 1 || !b->short_tag.len ? b->tag : b->short_tag);
    put(g, ":");
    value(g, b->op);
    put(g, "}");
}

static void fitting(struct generator *g, uint32_t i)
{
    const struct op *op = &g->program->ops[i];
    switch ((enum opcode)op->code) {
    case OP_NULL: put(g, "null"); break;
    case OP_BOOLEAN: put(g, choose(g, 2) ? "true" : "false"); break;
    case OP_INT:
    case OP_LONG: PUT_ONE(g, integers); break;
    case OP_FLOAT:
    case OP_DOUBLE: PUT_ONE(g, reals); break;
    case OP_ENUM:
        if (op->b) {
            put_string(g, g->program->symbols[op->a + choose(g, 255) % op->b].name);
            break;
        } /* fall through */
    case OP_BYTES:
    case OP_STRING:
    case OP_FIXED: PUT_ONE(g, strings); break;
    case OP_UNION: branch(g, op); break;
    case OP_ARRAY:
        put(g, "[");
        items(g, op->a);
        put(g, "]");
        break;
    case OP_MAP:
        put(g, "{");
        members(g, op->a);
        put(g, "}");
        break;
    case OP_RECORD:
        put(g, "{");
        fields(g, op);
        put(g, "}");
        break;
    case OP_UINT32: PUT_ONE(g, integers); break;
    default: PUT_ONE(g, texts); break;
    }
}

static void value(struct generator *g, uint32_t op)
{
    unsigned what = choose(g, 32);
    PUT_ONE(g, spaces);
    if (what == 31 || g->depth == DEPTH_MAX || g->out->len > TEXT_MAX) {
        PUT_ONE(g, anything);
        return;
    }
    g->depth++;
    fitting(g, op);
    g->depth--;
}

void generate_json(const struct program *p, uint32_t op, struct slice choices, struct buf *out)
{
    struct generator g = {.program = p, .choices = choices, .out = out};
    value(&g, op);
}
