/* schema/model/parse_fault.c - how the parser notes faults: pointers, sentences, and what an unknown name may have
 * meant. */
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "schema/json.h"
#include "schema/model/parse.h"

enum {
    QUOTED_MAX = 80,   /* bytes of a name or value in a message */
    EXPLAINED_MAX = 20 /* unknown names for which a guess is made */
};

/* A name that was not defined where it was used. */
struct unresolved {
    struct unresolved *next;
    struct problem *problem;
    struct slice name, fullname;
};

bool parse_ok(struct parser *p, bool ok)
{
    if (!ok)
        p->stop = STOP_NO_MEMORY;
    return ok;
}

const struct place *parse_keep_place(struct parser *p, struct place at)
{
    struct place *kept = arena_alloc(&p->model->arena, sizeof *kept);
    if (parse_ok(p, kept))
        *kept = at;
    return kept;
}

/* ---- texts ---- */

static bool is_listed(const struct parser *p)
{
    return p->err->problems < ERR_PROBLEMS_MAX;
}

/* What `b` holds as a C string in the arena of the problems; releases it. */
static const char *keep_text(struct parser *p, struct buf *b, bool ok)
{
    struct slice kept = SLICE("");
    ok = ok && arena_copy(p->problems, buf_slice(b), &kept);
    buf_release(b);
    parse_ok(p, ok);
    return (const char *)kept.ptr;
}

static const char *quote(struct parser *p, struct slice s)
{
    struct buf b = {0};
    bool cut = s.len > QUOTED_MAX;
    if (cut)
        s = utf8_cut(s, QUOTED_MAX);
    bool ok = json_quote(s, &b);
    if (ok && cut) {
        b.len--;
        ok = buf_append(&b, SLICE("...\""));
    }
    return keep_text(p, &b, ok);
}

static const char *pointer_text(struct parser *p, const struct place *at)
{
    struct buf b = {0};
    bool ok = buf_append_byte(&b, '"') && place_print(at, &b) && buf_append_byte(&b, '"');
    return keep_text(p, &b, ok);
}

/* Arguments of a fault that will not be listed cost nothing. */
const char *parse_quote(struct parser *p, struct slice s)
{
    return is_listed(p) ? quote(p, s) : "";
}

const char *parse_pointer(struct parser *p, const struct place *at)
{
    return is_listed(p) ? pointer_text(p, at) : "";
}

/* The value found, in few words. */
static const char *got_text(struct parser *p, const json_t *got)
{
    if (tree_is_string(got))
        return quote(p, tree_string(got));
    if (!tree_is_number(got))
        return json_is_object(got) ? "object" : json_is_array(got) ? "array" : tree_kind_name(got);
    struct slice s = tree_number(got);
    const char *text = arena_printf(p->problems, "%.*s%s", (int)(s.len < QUOTED_MAX ? s.len : QUOTED_MAX),
                                    (const char *)s.ptr, s.len > QUOTED_MAX ? "..." : "");
    return parse_ok(p, text) ? text : "";
}

/* ---- faults ---- */

static struct problem *add_problem(struct parser *p, enum problem_code code, const struct place *at,
                                   const char *expected, const json_t *got)
{
    if (!is_listed(p)) {
        p->err->truncated = true;
        return NULL;
    }
    struct buf pointer = {0};
    struct problem *problem = NULL;
    if (place_print(at, &pointer))
        problem = err_problem(p->err, p->problems, code, buf_slice(&pointer));
    buf_release(&pointer);
    if (!parse_ok(p, problem))
        return NULL;
    if (expected)
        problem->expected = slice_str(expected);
    if (got)
        problem->got = slice_str(got_text(p, got));
    return problem;
}

static void set_detail(struct parser *p, struct problem *problem, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = n < 0 ? NULL : arena_alloc(p->problems, (size_t)n + 1);
    if (!parse_ok(p, text))
        return;
    vsnprintf(text, (size_t)n + 1, format, args);
    problem->detail = slice_of(text, (size_t)n);
}

void parse_fault(struct parser *p, enum problem_code code, const struct place *at, const char *expected,
                 const json_t *got, const char *format, ...)
{
    struct problem *problem = add_problem(p, code, at, expected, got);
    if (!problem)
        return;
    va_list args;
    va_start(args, format);
    set_detail(p, problem, format, args);
    va_end(args);
}

void parse_fault_kind(struct parser *p, const struct place *at, const char *what, const char *expected,
                      const json_t *got)
{
    parse_fault(p, PROBLEM_TYPE, at, expected, got, "%s must be %s, not %s.", what, expected,
                tree_kind_name(got));
}

void parse_warn(struct parser *p, const char *format, ...)
{
    char text[MODEL_WARNING_MAX + 1];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    parse_ok(p, model_warn(p->model, "%s", text));
}

/* ---- unknown names ---- */

void parse_fault_unresolved(struct parser *p, const struct place *at, struct slice name,
                            struct slice fullname)
{
    struct problem *problem = add_problem(p, PROBLEM_UNKNOWN_TYPE, at, "the name of a type", NULL);
    if (!problem)
        return;
    problem->got = slice_str(quote(p, name));
    struct unresolved *u = arena_alloc(&p->scratch, sizeof *u);
    if (!parse_ok(p, u))
        return;
    *u = (struct unresolved){.problem = problem, .name = name};
    if (!parse_ok(p, arena_copy(&p->scratch, fullname, &u->fullname)))
        return;
    *p->unresolved_end = u;
    p->unresolved_end = &u->next;
}

/* Words of the schema language that are no types by themselves. */
static const struct {
    const char *word, *advice;
} keywords[] = {
    {"record", "write the record out: {\"type\":\"record\",\"name\":...,\"fields\":[...]}"},
    {"enum", "write the enum out: {\"type\":\"enum\",\"name\":...,\"symbols\":[...]}"},
    {"fixed", "write the fixed out: {\"type\":\"fixed\",\"name\":...,\"size\":...}"},
    {"array", "write the array out as an object of its own: {\"type\":\"array\",\"items\":...}"},
    {"map", "write the map out as an object of its own: {\"type\":\"map\",\"values\":...}"},
    {"union", "a union is written as a JSON array of its branches"},
};

/* A logical type's name in place of a type. */
static const struct {
    const char *word, *type;
} logical_words[] = {
    {"date", "int"},
    {"time-millis", "int"},
    {"time-micros", "long"},
    {"timestamp-millis", "long"},
    {"timestamp-micros", "long"},
    {"timestamp-nanos", "long"},
    {"local-timestamp-millis", "long"},
    {"local-timestamp-micros", "long"},
    {"local-timestamp-nanos", "long"},
    {"decimal", "bytes"},
    {"big-decimal", "bytes"},
    {"uuid", "string"},
};

static const char *advice_by_word(struct parser *p, struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (slice_eq(name, slice_str(keywords[i].word)))
            return keywords[i].advice;
    for (size_t i = 0; i < ARRAY_LEN(logical_words); i++)
        if (slice_eq(name, slice_str(logical_words[i].word)))
            return arena_printf(p->problems, "write {\"type\":\"%s\",\"logicalType\":\"%s\"}",
                                logical_words[i].type, logical_words[i].word);
    return NULL;
}

static const char *advice_by_names(struct parser *p, const struct unresolved *u)
{
    const struct type *later = name_find(&p->names, u->fullname);
    if (later)
        return arena_printf(p->problems,
                            "it is defined only later, at %s; a type must be defined where it is used first",
                            pointer_text(p, later->place));
    if (!name_has_dot(u->name) && name_find(&p->names, u->name))
        return "a type of the null namespace cannot be named from inside another namespace; give it a "
               "namespace";
    struct slice guess = name_guess(&p->names, u->name);
    if (!guess.len)
        return "";
    return arena_printf(p->problems, "did you mean %s?", quote(p, guess));
}

static void explain(struct parser *p, struct unresolved *u, bool guess)
{
    const char *advice = advice_by_word(p, u->name);
    if (!advice)
        advice = guess ? advice_by_names(p, u) : "";
    const char *name = (const char *)u->problem->got.ptr;
    const char *tried = "";
    if (!slice_eq(u->name, u->fullname)) /* shows which namespace was looked in */
        tried = arena_printf(p->problems, " (looked up as %s)", quote(p, u->fullname));
    const char *ends = !advice || !advice[0] ? "" : ": ";
    size_t n = advice ? strlen(advice) : 0;
    const char *text = arena_printf(p->problems, "Unknown type %s%s%s%s%s", name, tried ? tried : "", ends,
                                    advice ? advice : "", n && advice[n - 1] == '?' ? "" : ".");
    if (parse_ok(p, advice && tried && text))
        u->problem->detail = slice_str(text);
}

void parse_explain_unresolved(struct parser *p)
{
    unsigned n = 0;
    for (struct unresolved *u = p->unresolved; u && !p->stop; u = u->next)
        explain(p, u, n++ < EXPLAINED_MAX);
}
