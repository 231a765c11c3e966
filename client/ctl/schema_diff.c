/* client/ctl/schema_diff.c - avroctl schema diff: two schemas laid out alike, line by line, and the server's verdict. */
#include <stdlib.h>

#include "client/ctl/ctl.h"
#include "client/ctl/json_text.h"
#include "client/ctl/line_diff.h"
#include "client/ctl/normal.h"
#include "client/ctl/problems.h"
#include "client/ctl/schema.h"

enum { CONTEXT_LINES = 3 };

/* The lines of a difference, in the texts that are compared. */
struct shown {
    struct shown_line {
        enum line_mark mark;
        struct slice line;
    } * at;
    size_t n, room;
    bool no_memory, differs;
};

static void collect(void *user, enum line_mark mark, struct slice line)
{
    struct shown *s = user;
    if (s->n == s->room && !s->no_memory) {
        size_t room = s->room ? 2 * s->room : 256;
        struct shown_line *at = realloc(s->at, room * sizeof *at);
        s->no_memory = !at;
        s->at = at ? at : s->at;
        s->room = at ? room : s->room;
    }
    if (s->no_memory)
        return;
    s->at[s->n++] = (struct shown_line){mark, line};
    s->differs |= mark != LINE_BOTH;
}

/* ---- printing ---- */

static bool is_near_change(const struct shown *s, size_t i)
{
    size_t from = i < CONTEXT_LINES ? 0 : i - CONTEXT_LINES, to = i + CONTEXT_LINES;
    for (size_t k = from; k <= to && k < s->n; k++)
        if (s->at[k].mark != LINE_BOTH)
            return true;
    return false;
}

static void print_lines(const struct shown *s)
{
    bool left_out = false;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_near_change(s, i)) {
            left_out = true;
            continue;
        }
        if (left_out)
            printf("  ...\n");
        left_out = false;
        printf("%c %.*s\n", s->at[i].mark, (int)s->at[i].line.len, (const char *)s->at[i].line.ptr);
    }
}

static void print_json_lines(const struct shown *s, struct json_text *t)
{
    char mark[2] = {0};
    struct buf line = {0};
    json_text_open(t, "difference", '[');
    for (size_t i = 0; i < s->n; i++) {
        if (s->at[i].mark == LINE_BOTH)
            continue;
        line.len = 0;
        t->no_memory |= !buf_append(&line, s->at[i].line) || !buf_append_byte(&line, 0);
        mark[0] = (char)s->at[i].mark;
        json_text_open(t, NULL, '{');
        json_text_string(t, "mark", mark);
        json_text_string(t, "line", t->no_memory ? NULL : (const char *)line.ptr);
        json_text_close(t, '}');
    }
    json_text_close(t, ']');
    buf_release(&line);
}

/* ---- the verdict ---- */

struct verdict {
    struct avrod_answer answer;
    struct avrod_error error;
    enum avrod_code code;
};

static int print_json(const struct ctl *ctl, const struct shown *s, const struct verdict *v)
{
    struct json_text t = {0};
    bool refused = v->code != AVROD_OK;
    json_text_begin(&t);
    json_text_raw(&t, "same", s->differs ? SLICE("false") : SLICE("true"));
    print_json_lines(s, &t);
    if (refused)
        json_text_raw(&t, "verdict", slice_of(v->error.body, v->error.body_bytes));
    else
        json_text_raw(&t, "verdict", slice_of(v->answer.body, v->answer.body_bytes));
    json_text_end(&t);
    int code = print_json_line(ctl, &t);
    return code ? code : refused ? EXIT_REFUSED : 0;
}

static int print(const struct ctl *ctl, const struct shown *s, const struct verdict *v)
{
    print_lines(s);
    if (v->code == AVROD_OK)
        return schema_print_verdict(ctl, v->answer.body, v->answer.body_bytes);
    printf("refused: %s\n", v->error.message);
    problems_print(v->error.body, v->error.body_bytes, stdout);
    return EXIT_REFUSED;
}

/* A verdict is 200, 409 or 422, with a body; everything else is a failure. */
static bool is_verdict(const struct verdict *v)
{
    return v->code == AVROD_OK || (v->code == AVROD_REFUSED && v->error.body && !v->error.body_cut &&
                                   (v->error.status == 409 || v->error.status == 422));
}

/* ---- the command ---- */

static int compare(const struct ctl *ctl, struct slice old_text, const struct buf *schema, struct shown *s,
                   struct buf normals[2])
{
    const char *fault = normal_print(old_text, &normals[0]);
    if (fault)
        return fail(ctl, EXIT_NO_ANSWER, "The type's schema %s.", fault);
    fault = normal_print(buf_slice(schema), &normals[1]);
    if (fault)
        return fail(ctl, EXIT_REFUSED, "The schema %s.", fault);
    if (!line_diff(buf_slice(&normals[0]), buf_slice(&normals[1]), collect, s) || s->no_memory)
        return fail_memory(ctl);
    return 0;
}

static int ask_and_print(const struct ctl *ctl, const struct buf *schema, const struct shown *s)
{
    struct verdict v = {0};
    v.code = schema_ask_verdict(ctl, schema, NULL, &v.answer, &v.error);
    int code;
    if (!is_verdict(&v))
        code = fail_call(ctl, &v.error);
    else
        code = ctl->args->json ? print_json(ctl, s, &v) : print(ctl, s, &v);
    avrod_answer_release(&v.answer);
    avrod_error_release(&v.error);
    return code;
}

int command_schema_diff(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    struct avrod_answer old = {0};
    struct avrod_error error = {0};
    struct buf schema = {0}, normals[2] = {{0}};
    struct shown s = {0};
    int code = file_read(ctl, a->words[1], &schema);
    if (code == 0 &&
        avrod_schema_get(ctl->client, a->words[0], (uint32_t)a->schema_version, &old, &error) != AVROD_OK)
        code = fail_call(ctl, &error);
    if (code == 0)
        code = compare(ctl, slice_of(old.body, old.body_bytes), &schema, &s, normals);
    if (code == 0)
        code = ask_and_print(ctl, &schema, &s);
    free(s.at);
    buf_release(&normals[0]);
    buf_release(&normals[1]);
    buf_release(&schema);
    avrod_answer_release(&old);
    return code;
}
