/* schema/projection.c - which fields are asked for: the list as text, and what it means for the data of a schema. Paths
 * that begin alike stand together in the sorted list, so a node is a part of it; for each the records are collected that
 * can stand there. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "schema/model/names.h"
#include "schema/projection_parts.h"
#include "schema/scratch.h"

/* ---- the list ---- */

enum { SHOWN_MAX = 60 }; /* bytes of a name in a message */

static int shown(struct slice s)
{
    return s.len < SHOWN_MAX ? (int)s.len : SHOWN_MAX;
}

static COLD enum rc refuse_text(struct slice path, struct err *err)
{
    if (!path.len)
        return err_set(err, ERR_BAD_PARAMETER, "fields is a list of names, a,b.c; one of them is empty.");
    if (!utf8_valid(path))
        return err_set(err, ERR_BAD_PARAMETER, "fields is a list of names, a,b.c; one of them is no text.");
    return err_set(err, ERR_BAD_PARAMETER, "fields is a list of names, a,b.c; '%.*s' is none.", shown(path),
                   (const char *)path.ptr);
}

/* A dot is less than all that may stand in a name, so what begins alike is together. */
static int compare_paths(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

static bool contains(struct slice outer, struct slice path)
{
    return slice_starts(path, outer) && (path.len == outer.len || path.ptr[outer.len] == '.');
}

static uint32_t sort(struct slice *path, uint32_t n)
{
    uint32_t kept = 0;
    qsort(path, n, sizeof *path, compare_paths);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || !contains(path[kept - 1], path[i]))
            path[kept++] = path[i];
    return kept;
}

static uint32_t count_paths(struct slice text)
{
    uint32_t n = 1;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == ',';
    return n;
}

enum rc projection_list_parse(struct projection_list *out, struct slice text, struct arena *arena,
                              struct err *err)
{
    text = slice_not_null(text);
    uint32_t n = count_paths(text);
    struct slice *path = arena_calloc(arena, n, sizeof *path);
    if (!path)
        return err_oom(err);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *comma = memchr(text.ptr, ',', text.len);
        path[i] = slice_of(text.ptr, comma ? (size_t)(comma - text.ptr) : text.len);
        text = slice_of(text.ptr + path[i].len + 1, text.len - path[i].len - (comma != NULL));
        if (!name_is_full(path[i]))
            return refuse_text(path[i], err);
    }
    *out = (struct projection_list){.path = path, .n = sort(path, n)};
    return RC_OK;
}

bool projection_list_text(const struct projection_list *list, struct arena *arena, struct slice *out)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < list->n; i++)
        bytes += list->path[i].len + 1;
    uint8_t *text = arena_alloc(arena, bytes), *p = text;
    if (!text)
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        memcpy(p, list->path[i].ptr, list->path[i].len);
        p += list->path[i].len;
        *p++ = ',';
    }
    *out = slice_of(text, bytes - 1);
    return true;
}

/* ---- what it means ---- */

/* The paths [begin, end) are alike in their first `at` bytes. */
struct node {
    uint32_t begin, end, at;
    uint32_t types, ntypes; /* in maker.types: instructions of what can stand there */
    struct projection_node made;
};

struct maker {
    const struct program *program;
    const struct projection_list *list;
    struct stack nodes;         /* struct node: those that are made, and those to come */
    struct stack types;         /* uint32_t */
    struct stack fields;        /* struct projection_field */
    struct stack records, open; /* uint32_t: of the node that is being made */
    struct buf seen;            /* uint32_t an instruction: the last node that it was met at, + 1 */
    uint32_t work;              /* steps that are left */
    struct err *err;
};

static enum rc pay(struct maker *m, uint32_t steps)
{
    if (steps > m->work)
        return err_set(
            m->err, ERR_BAD_PARAMETER,
            "fields takes too much work: its names are looked for in more than %d places of the schema.",
            LIMIT_FIELDS_WORK_MAX);
    m->work -= steps;
    return RC_OK;
}

static enum rc push(struct maker *m, struct stack *s, const void *item, size_t size)
{
    if (!stack_reserve(s, 1, size))
        return err_oom(m->err);
    memcpy((uint8_t *)s->ptr + (size_t)s->n++ * size, item, size);
    return RC_OK;
}

static enum rc push_number(struct maker *m, struct stack *s, uint32_t number)
{
    return push(m, s, &number, sizeof number);
}

static struct node *node_at(const struct maker *m, uint32_t i)
{
    return (struct node *)m->nodes.ptr + i;
}

/* ---- records that can stand somewhere ---- */

static enum rc look_through(struct maker *m, uint32_t node, uint32_t first)
{
    const struct program *p = m->program;
    const struct op *op = &p->ops[first];
    uint32_t *seen = (uint32_t *)(void *)m->seen.ptr;
    if (seen[first] == node + 1)
        return RC_OK;
    seen[first] = node + 1;
    if (pay(m, 1) != RC_OK)
        return RC_ERR;
    switch (op->code) {
    case OP_RECORD: return push_number(m, &m->records, first);
    case OP_ARRAY:
    case OP_MAP: return push_number(m, &m->open, op->a);
    case OP_UNION:
        for (uint32_t i = op->b; i-- > 0;) /* the first is taken first */
            if (push_number(m, &m->open, p->branches[op->a + i].op) != RC_OK)
                return RC_ERR;
        return pay(m, op->b);
    default: return RC_OK;
    }
}

static enum rc collect_records(struct maker *m, uint32_t i)
{
    const struct node *node = node_at(m, i);
    m->records.n = m->open.n = 0;
    for (uint32_t t = 0; t < node->ntypes; t++)
        if (push_number(m, &m->open, ((const uint32_t *)m->types.ptr)[node->types + t]) != RC_OK)
            return RC_ERR;
    while (m->open.n)
        if (look_through(m, i, ((const uint32_t *)m->open.ptr)[--m->open.n]) != RC_OK)
            return RC_ERR;
    return RC_OK;
}

/* ---- names ---- */

/* Append to the message the fields of the records, until it is full. */
static void list_known(const struct maker *m, size_t n)
{
    char *message = m->err->message;
    const uint32_t *records = m->records.ptr;
    for (uint32_t r = 0; r < m->records.n; r++) {
        const struct op *op = &m->program->ops[records[r]];
        for (uint32_t i = 0; i < op->b; i++) {
            struct slice name = m->program->fields[op->a + i].name;
            const char *comma = r + i ? ", " : "";
            bool fits = name.len + sizeof ", , ..." <= sizeof m->err->message - n;
            n += (size_t)snprintf(message + n, sizeof m->err->message - n, "%s%.*s", comma,
                                  fits ? (int)name.len : 3, fits ? (const char *)name.ptr : "...");
            if (!fits)
                return;
        }
    }
    snprintf(message + n, sizeof m->err->message - n, ".");
}

static COLD enum rc refuse_name(const struct maker *m, struct slice before, struct slice path)
{
    err_set(m->err, ERR_BAD_PARAMETER, "fields: there is no '%.*s'; ", shown(path), (const char *)path.ptr);
    size_t n = strlen(m->err->message), room = sizeof m->err->message - n;
    char *end = m->err->message + n;
    bool is_root = !before.len;
    if (!m->records.n && is_root)
        snprintf(end, room, "what is stored here are no records with fields.");
    else if (!m->records.n)
        snprintf(end, room, "'%.*s' holds no record.", shown(before), (const char *)before.ptr);
    else {
        n += (size_t)(is_root ? snprintf(end, room, "known are ")
                              : snprintf(end, room, "known in '%.*s' are ", shown(before),
                                         (const char *)before.ptr));
        list_known(m, n);
    }
    return RC_ERR;
}

/* The part of the node's paths that go on with the same name as path `i`: its end; *name is what they have so far. */
static uint32_t alike(const struct maker *m, const struct node *node, uint32_t i, struct slice *name)
{
    const struct slice *path = m->list->path;
    const uint8_t *from = path[i].ptr + node->at;
    const uint8_t *dot = memchr(from, '.', path[i].len - node->at);
    *name = slice_of(path[i].ptr, dot ? (size_t)(dot - path[i].ptr) : path[i].len);
    uint32_t end = i + 1;
    while (end < node->end && contains(*name, path[end]))
        end++;
    return end;
}

/* Find it in each record of the node. */
static enum rc find_name(struct maker *m, struct slice name, uint32_t inner)
{
    const struct program *p = m->program;
    for (uint32_t r = 0; r < m->records.n; r++) {
        uint32_t record = ((const uint32_t *)m->records.ptr)[r];
        int index = program_field(p, &p->ops[record], name);
        if (index < 0)
            continue;
        struct projection_field f = {.record = record, .index = (uint32_t)index, .node = inner};
        if (push(m, &m->fields, &f, sizeof f) != RC_OK ||
            push_number(m, &m->types, p->fields[p->ops[record].a + f.index].op) != RC_OK)
            return RC_ERR;
    }
    return pay(m, m->records.n);
}

static int compare_fields(const void *a, const void *b)
{
    const struct projection_field *x = a, *y = b;
    if (x->record != y->record)
        return x->record < y->record ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The paths [i, end) of the node, which go on with one name. */
static enum rc make_name(struct maker *m, const struct node *node, uint32_t i, uint32_t end,
                         struct slice name)
{
    struct slice path = m->list->path[i], before = slice_of(path.ptr, node->at ? node->at - 1 : 0);
    bool is_whole = path.len == name.len;
    struct node inner = {.begin = i, .end = end, .at = (uint32_t)name.len + 1, .types = m->types.n};
    uint32_t fields = m->fields.n;
    if (find_name(m, slice_of(name.ptr + node->at, name.len - node->at),
                  is_whole ? PROJECTION_WHOLE : m->nodes.n) != RC_OK)
        return RC_ERR;
    if (m->fields.n == fields)
        return refuse_name(m, before, name);
    inner.ntypes = m->types.n - inner.types;
    return is_whole ? RC_OK : push(m, &m->nodes, &inner, sizeof inner);
}

static enum rc make_node(struct maker *m, uint32_t number)
{
    const struct node node = *node_at(m, number);
    uint32_t first = m->fields.n, end;
    if (collect_records(m, number) != RC_OK)
        return RC_ERR;
    for (uint32_t i = node.begin; i < node.end; i = end) {
        struct slice name;
        end = alike(m, &node, i, &name);
        if (make_name(m, &node, i, end, name) != RC_OK)
            return RC_ERR;
    }
    uint32_t n = m->fields.n - first;
    qsort((struct projection_field *)m->fields.ptr + first, n, sizeof(struct projection_field),
          compare_fields);
    node_at(m, number)->made = (struct projection_node){.first = first, .n = n};
    return RC_OK;
}

static enum rc make_nodes(struct maker *m)
{
    struct node root = {.end = m->list->n, .ntypes = 1};
    size_t bytes = m->program->nops * sizeof(uint32_t);
    if (!buf_reserve(&m->seen, bytes))
        return err_oom(m->err);
    memset(m->seen.ptr, 0, bytes);
    if (push_number(m, &m->types, m->program->root) != RC_OK ||
        push(m, &m->nodes, &root, sizeof root) != RC_OK)
        return RC_ERR;
    for (uint32_t i = 0; i < m->nodes.n; i++)
        if (make_node(m, i) != RC_OK)
            return RC_ERR;
    return RC_OK;
}

/* What is left of it, in the arena. */
static enum rc keep(const struct maker *m, const struct schema *schema, struct arena *arena,
                    struct projection **out)
{
    struct projection *p = arena_alloc(arena, sizeof *p);
    struct projection_node *nodes = arena_calloc(arena, m->nodes.n, sizeof *nodes);
    struct projection_field *fields = arena_calloc(arena, m->fields.n, sizeof *fields);
    if (!p || !nodes || !fields)
        return err_oom(m->err);
    for (uint32_t i = 0; i < m->nodes.n; i++)
        nodes[i] = node_at(m, i)->made;
    memcpy(fields, m->fields.ptr, m->fields.n * sizeof *fields);
    *p = (struct projection){.schema = schema, .nodes = nodes, .fields = fields};
    *out = p;
    return RC_OK;
}

enum rc projection_new(struct projection **out, const struct schema *schema,
                       const struct projection_list *list, struct arena *arena, struct err *err)
{
    struct maker m = {
        .program = schema_program(schema), .list = list, .work = LIMIT_FIELDS_WORK_MAX, .err = err};
    enum rc rc = make_nodes(&m);
    if (rc == RC_OK)
        rc = keep(&m, schema, arena, out);
    stack_release(&m.nodes);
    stack_release(&m.types);
    stack_release(&m.fields);
    stack_release(&m.records);
    stack_release(&m.open);
    buf_release(&m.seen);
    return rc;
}
