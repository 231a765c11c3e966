/* schema/encode/explain.c - the second pass: walks a refused text beside the program and notes every problem, in
 * schema order, then unknown members. Slower than the encoder, but linear too: members are listed once,
 * brackets are found by skip.c, and which branches fit is asked of the encoder, which remembers. */
#include "schema/encode/explain.h"

#include "schema/encode/explain_walk.h"
#include "schema/json.h"

/* ---- the stack ---- */

static bool grow(struct explain *x, struct stack *s, uint32_t more, size_t size)
{
    return stack_reserve(s, more, size) || explain_stop(x, EXPLAIN_NO_MEMORY);
}

static struct explain_frame *top(const struct explain *x)
{
    return (struct explain_frame *)x->frames.ptr + x->frames.n - 1;
}

static struct explain_frame *push(struct explain *x, enum explain_kind kind, const struct explain_value *v)
{
    bool is_flat = kind == EXPLAIN_RECORD && x->program->ops[v->op].flags & OP_FLAG_FLAT;
    if (kind != EXPLAIN_TAG && x->depth >= LIMIT_DATA_DEPTH_MAX && !is_flat) {
        explain_stop_deep(x, v->branch);
        return NULL;
    }
    if (!grow(x, &x->frames, 1, sizeof(struct explain_frame)))
        return NULL;
    struct explain_frame *f = (struct explain_frame *)x->frames.ptr + x->frames.n++;
    *f = (struct explain_frame){.kind = kind,
                                .op = v->op,
                                .at = v->at,
                                .branch = v->branch,
                                .pointer_len = x->pointer.len,
                                .members = x->members.n,
                                .slots = x->slots.n};
    x->depth += kind != EXPLAIN_TAG;
    return f;
}

static void pop(struct explain *x)
{
    const struct explain_frame *f = top(x);
    x->depth -= f->kind != EXPLAIN_TAG;
    x->members.n = f->members;
    x->slots.n = f->slots;
    x->frames.n--;
}

/* ---- members ---- */

/* Append the object's members to x->members. */
static bool list_members(struct explain *x, const uint8_t *object)
{
    const uint8_t *p = scan_space(object + 1);
    while (*p != '}') {
        struct explain_member m;
        p = explain_read_member(x, p, &m);
        if (!grow(x, &x->members, 1, sizeof m))
            return false;
        ((struct explain_member *)x->members.ptr)[x->members.n++] = m;
        if (*p == ',')
            p = scan_space(p + 1);
    }
    return true;
}

/* For each field of the record: which member is its value, + 1. */
static bool list_fields(struct explain *x, const struct explain_frame *f)
{
    const struct op *op = &x->program->ops[f->op];
    if (!grow(x, &x->slots, op->b + 1, sizeof(uint32_t)))
        return false;
    uint32_t *slots = (uint32_t *)x->slots.ptr + x->slots.n;
    memset(slots, 0, op->b * sizeof *slots);
    x->slots.n += op->b;
    encode_pay(&x->e, (size_t)op->b * COST_FILL);
    for (uint32_t i = f->members; i < x->members.n; i++) {
        struct explain_member *m = (struct explain_member *)x->members.ptr + i;
        struct slice name;
        if (!explain_name(x, m, &name))
            return false;
        m->field = program_field(x->program, op, name);
        if (m->field >= 0)
            slots[m->field] = i + 1;
    }
    return true;
}

/* ---- the walk ---- */

static bool visit_child(struct explain *x, const struct explain_member *m, uint32_t op, struct slice branch)
{
    struct slice name;
    if (!explain_name(x, m, &name))
        return false;
    if (!json_pointer_push(&x->pointer, name))
        return explain_stop(x, EXPLAIN_NO_MEMORY);
    x->next = (struct explain_value){.op = op, .at = m->value, .branch = branch};
    x->has_next = true;
    return true;
}

static void step_field(struct explain *x, struct explain_frame *f)
{
    const struct op *op = &x->program->ops[f->op];
    const struct op_field *field = &x->program->fields[op->a + f->index];
    uint32_t slot = ((const uint32_t *)x->slots.ptr)[f->slots + f->index];
    f->index++;
    if (slot) {
        const struct explain_member m = ((const struct explain_member *)x->members.ptr)[slot - 1];
        visit_child(x, &m, field->op, f->branch);
    } else if (x->rules.missing == MISSING_REJECT ||
               (x->rules.missing == MISSING_DEFAULT && !field->has_default)) {
        if (json_pointer_push(&x->pointer, field->name))
            explain_missing(x, field, f->branch);
        else
            explain_stop(x, EXPLAIN_NO_MEMORY);
    } else if (x->depth + field->filling.depth > LIMIT_DATA_DEPTH_MAX) {
        if (json_pointer_push(&x->pointer, field->name))
            explain_stop_deep(x, f->branch);
        else
            explain_stop(x, EXPLAIN_NO_MEMORY);
    }
}

/* How many brackets of the value, which json_check has passed, are open at once. */
static uint32_t nesting(struct explain *x, const uint8_t *at)
{
    const uint8_t *end = skip_value(&x->e, at);
    uint32_t open = 0, most = 0;
    unsigned flags;
    for (const uint8_t *p = at; p < end; p++) {
        if (*p == '"')
            p = scan_string(p + 1, x->e.end, &flags);
        else if (*p == '{' || *p == '[')
            most = ++open > most ? open : most;
        else if (*p == '}' || *p == ']')
            open--;
    }
    return most;
}

/* A member that is ignored may be anything but too deep. */
static void look_at_ignored(struct explain *x, const struct explain_frame *f, struct slice name,
                            const uint8_t *value)
{
    if (x->depth + nesting(x, value) <= LIMIT_DATA_DEPTH_MAX)
        return;
    if (json_pointer_push(&x->pointer, name))
        explain_stop_deep(x, f->branch);
    else
        explain_stop(x, EXPLAIN_NO_MEMORY);
}

/* After the fields: the next member that is none. False: there are no more. */
static bool step_unknown(struct explain *x, struct explain_frame *f)
{
    for (; f->unknown < x->members.n; f->unknown++) {
        const struct explain_member m = ((const struct explain_member *)x->members.ptr)[f->unknown];
        if (m.field >= 0)
            continue;
        f->unknown++;
        struct slice name;
        if (!explain_name(x, &m, &name))
            return true;
        if (x->rules.unknown == UNKNOWN_IGNORE)
            look_at_ignored(x, f, name, m.value);
        else if (json_pointer_push(&x->pointer, name))
            explain_unknown(x, f->op, name, m.value, f->branch);
        else
            explain_stop(x, EXPLAIN_NO_MEMORY);
        return true;
    }
    return false;
}

static void step_record(struct explain *x, struct explain_frame *f)
{
    if (f->index < x->program->ops[f->op].b)
        step_field(x, f);
    else if (!step_unknown(x, f))
        pop(x);
}

/* Past the comma before the next value of an array or map, if there is one; at its closing bracket. */
static const uint8_t *next_item(const uint8_t *p)
{
    p = scan_space(p);
    return *p == ',' ? scan_space(p + 1) : p;
}

static bool push_index(struct buf *pointer, uint32_t index)
{
    if (!buf_reserve(pointer, 1 + NUM_U64_MAX_CHARS))
        return false;
    pointer->ptr[pointer->len++] = '/';
    pointer->len += num_print_u64(index, pointer->ptr + pointer->len);
    return true;
}

static void step_array(struct explain *x, struct explain_frame *f)
{
    const uint8_t *p = next_item(f->at);
    if (*p == ']') {
        pop(x);
        return;
    }
    f->at = skip_value(&x->e, p);
    if (!push_index(&x->pointer, f->index++)) {
        explain_stop(x, EXPLAIN_NO_MEMORY);
        return;
    }
    x->next = (struct explain_value){.op = x->program->ops[f->op].a, .at = p, .branch = f->branch};
    x->has_next = true;
}

static void step_map(struct explain *x, struct explain_frame *f)
{
    const uint8_t *p = next_item(f->at);
    if (*p == '}') {
        pop(x);
        return;
    }
    struct explain_member m;
    f->at = explain_read_member(x, p, &m);
    visit_child(x, &m, x->program->ops[f->op].a, f->branch);
}

static void step(struct explain *x)
{
    struct explain_frame *f = top(x);
    x->pointer.len = f->pointer_len;
    if (x->e.budget < 0) {
        explain_stop(x, EXPLAIN_TOO_MUCH_WORK);
        return;
    }
    switch (f->kind) {
    case EXPLAIN_RECORD: step_record(x, f); break;
    case EXPLAIN_ARRAY: step_array(x, f); break;
    case EXPLAIN_MAP: step_map(x, f); break;
    case EXPLAIN_TAG: pop(x); break;
    }
}

static void enter_record(struct explain *x, const struct explain_value *v)
{
    struct explain_frame *f = push(x, EXPLAIN_RECORD, v);
    if (!f || !list_members(x, v->at))
        return;
    f->unknown = f->members;
    list_fields(x, f);
}

static void enter_block(struct explain *x, enum explain_kind kind, const struct explain_value *v)
{
    struct explain_frame *f = push(x, kind, v);
    if (f)
        f->at = v->at + 1;
}

static void visit(struct explain *x, struct explain_value v)
{
    if (x->program->ops[v.op].code == OP_UNION) {
        struct explain_choice choice;
        if (!explain_union(x, &v, &choice))
            return;
        v.op = choice.op;
        v.branch = choice.branch;
        if (choice.is_tagged) {
            struct explain_member m;
            if (!push(x, EXPLAIN_TAG, &v))
                return;
            explain_read_member(x, scan_space(v.at + 1), &m);
            visit_child(x, &m, v.op, v.branch);
            return;
        }
    }
    switch ((enum opcode)x->program->ops[v.op].code) {
    case OP_RECORD: *v.at == '{' ? enter_record(x, &v) : explain_type(x, &v); break;
    case OP_ARRAY: *v.at == '[' ? enter_block(x, EXPLAIN_ARRAY, &v) : explain_type(x, &v); break;
    case OP_MAP: *v.at == '{' ? enter_block(x, EXPLAIN_MAP, &v) : explain_type(x, &v); break;
    default: explain_scalar(x, &v); break;
    }
}

static void walk(struct explain *x, uint32_t op)
{
    visit(x, (struct explain_value){.op = op, .at = scan_space(x->e.text)});
    while (!x->stop && !x->err->truncated && (x->has_next || x->frames.n)) {
        if (x->has_next) {
            x->has_next = false;
            visit(x, x->next);
        } else {
            step(x);
        }
    }
}

/* ---- the front ---- */

/* The only problem that is told; `branch` may be NULL. */
static enum rc refuse_limit(struct explain *x, enum problem_code code, struct slice pointer, uint32_t most,
                            const struct slice *branch)
{
    bool is_depth = code == PROBLEM_DEPTH;
    *x->err = (struct err){0};
    struct problem *p = err_problem(x->err, x->arena, code, pointer);
    const char *expected = arena_printf(x->arena, "%u %s at the most", most, is_depth ? "levels" : "items");
    const char *detail =
        arena_printf(x->arena,
                     is_depth ? "The body nests records, arrays and maps more than %u levels deep."
                              : "The body has more than %u items in one array or map.",
                     most);
    if (!p || !expected || !detail || (branch && !arena_copy(x->arena, *branch, &p->branch)))
        return err_oom(x->err);
    p->expected = slice_str(expected);
    p->detail = slice_str(detail);
    return err_sum_up(x->err, is_depth ? ERR_TOO_DEEP : ERR_TOO_MANY_ITEMS);
}

/* What is deeper has not been looked at. */
static enum rc refuse_depth(struct explain *x)
{
    return refuse_limit(x, PROBLEM_DEPTH, buf_slice(&x->pointer), LIMIT_DATA_DEPTH_MAX, &x->stop_branch);
}

/* It fits, but not what the type allows; the fast pass knows where. */
static enum rc refuse_excess(struct explain *x, const struct encode_job *job)
{
    const struct excess *e = &job->excess;
    uint32_t most = e->code == PROBLEM_DEPTH ? job->limits.depth : job->limits.items;
    return refuse_limit(x, e->code, e->pointer, most, NULL);
}

static enum rc finish(struct explain *x, const struct encode_job *job)
{
    struct err *err = x->err;
    if (job->excess.is_met && !err->problems && x->stop == EXPLAIN_GO_ON)
        return refuse_excess(x, job);
    bool is_deep = x->deep_begin && (x->stop == EXPLAIN_TOO_MUCH_WORK || !err->problems);
    if (is_deep && x->stop != EXPLAIN_NO_MEMORY)
        return refuse_depth(x);
    switch (x->stop) {
    case EXPLAIN_NO_MEMORY: return err_oom(err);
    case EXPLAIN_TOO_DEEP: return refuse_depth(x);
    case EXPLAIN_TOO_MUCH_WORK:
        return err_set(err, ERR_TOO_MUCH_WORK,
                       "Finding out what is wrong with this body takes too much work.");
    case EXPLAIN_GO_ON: break;
    }
    if (!err->problems && x->e.too_large_in_trial)
        return err_set(err, ERR_RECORD_TOO_LARGE, "The record takes more than %d bytes as Avro binary.",
                       LIMIT_RECORD_MAX);
    if (!err->problems)
        return err_set(err, ERR_INTERNAL, "The body was refused, but nothing wrong was found in it.");
    return err_sum_up(err, ERR_BAD_RECORD);
}

enum rc explain_text(struct codec *c, struct encode_job *job, struct slice json, struct arena *arena,
                     struct err *err)
{
    *err = (struct err){0};
    if (json_check(json, JSON_NEST_MAX, arena, err))
        return RC_ERR;
    struct explain x = {.program = job->program,
                        .mode = job->mode,
                        .rules = job->rules,
                        .depth = job->depth,
                        .arena = arena,
                        .err = err};
    struct buf out = {0};
    *err = (struct err){0};
    enum encode_result r = encode_prepare(&x.e, c, job, json, &out);
    if (r == ENCODE_FITS)
        walk(&x, job->op);
    else
        explain_stop(&x, r == ENCODE_NO_MEMORY ? EXPLAIN_NO_MEMORY : EXPLAIN_GO_ON);
    enum rc rc = finish(&x, job);
    job->budget = x.e.budget;
    stack_release(&x.frames);
    stack_release(&x.members);
    stack_release(&x.slots);
    buf_release(&x.pointer);
    buf_release(&x.name);
    buf_release(&x.fits);
    buf_release(&x.spelled);
    buf_release(&out);
    return rc;
}
