/* schema/schema.c - the front: a schema's model and its compiled program under one roof. */
#include "schema/schema.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "schema/model/canonical.h"
#include "schema/model/model.h"
#include "schema/program/program.h"
#include "schema/resolve/resolve.h"

struct schema {
    struct schema_programs programs; /* first: program.h */
    struct model *model;
    struct program *program;
    uint64_t fingerprint;
    enum schema_raw raw;
};

/* Any attribute makes the normal form longer than the bare name. */
static enum schema_raw raw_of(const struct model *m)
{
    if (slice_eq(m->normal_form, SLICE("\"bytes\"")))
        return SCHEMA_RAW_BYTES;
    return slice_eq(m->normal_form, SLICE("\"string\"")) ? SCHEMA_RAW_STRING : SCHEMA_RAW_NONE;
}

static void release(struct schema *s)
{
    for (unsigned form = 0; form < JSON_FORMS; form++) {
        struct program *p = atomic_load_explicit(&s->programs.of_form[form], memory_order_relaxed);
        if (p != s->program)
            program_free(p);
    }
    program_free(s->program);
    model_free(s->model);
    memset(s, 0, sizeof *s);
}

static enum rc build(struct schema *s, const struct model_source *source, struct arena *arena,
                     struct err *err)
{
    enum rc rc = model_parse(&s->model, source, arena, err);
    if (rc && s->model)
        program_check_defaults(s->model, arena, err);
    if (!rc)
        rc = program_compile(&s->program, s->model, arena, err);
    if (!rc && !canonical_fingerprint(s->model, &s->fingerprint))
        rc = err_oom(err);
    if (!rc) {
        s->raw = raw_of(s->model);
        atomic_init(&s->programs.of_form[JSON_PLAIN], s->program);
        atomic_init(&s->programs.of_form[JSON_AVRO], s->program);
    }
    return rc;
}

static enum rc parse(struct schema **out, struct model_source source, struct arena *arena, struct err *err)
{
    struct schema *s = calloc(1, sizeof *s);
    if (!s)
        return err_oom(err);
    struct slice fullname = source.fullname;
    source.fullname = (struct slice){0};
    enum rc rc = build(s, &source, arena, err);
    if (!rc && fullname.len) { /* the whole text is valid, the defaults of entries that are not picked too */
        release(s);
        source.fullname = fullname;
        rc = build(s, &source, arena, err);
    }
    if (rc)
        schema_free(s);
    else
        *out = s;
    return rc;
}

enum rc schema_parse(struct schema **out, struct slice text, struct slice fullname, struct arena *arena,
                     struct err *err)
{
    return parse(out, (struct model_source){.text = text, .fullname = fullname}, arena, err);
}

enum rc schema_parse_known(struct schema **out, struct slice text, const struct slice *known, size_t n,
                           struct arena *arena, struct err *err)
{
    return parse(out, (struct model_source){.text = text, .known = known, .nknown = n}, arena, err);
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    release(s);
    free(s);
}

struct slice schema_text(const struct schema *s)
{
    return s->model->text;
}

struct slice schema_normal_form(const struct schema *s)
{
    return s->model->normal_form;
}

bool schema_canonical(const struct schema *s, struct buf *out)
{
    return canonical_print(s->model, out);
}

uint64_t schema_fingerprint(const struct schema *s)
{
    return s->fingerprint;
}

size_t schema_warnings(const struct schema *s)
{
    return s->model->nwarnings;
}

struct slice schema_warning(const struct schema *s, size_t i)
{
    return s->model->warnings[i];
}

enum schema_raw schema_raw(const struct schema *s)
{
    return s->raw;
}

struct slice schema_initial(const struct schema *s)
{
    return s->program->initial;
}

int schema_field(const struct schema *s, struct slice name)
{
    const struct op *root = &s->program->ops[s->program->root];
    return root->code == OP_RECORD ? program_field(s->program, root, name) : -1;
}

/* Whoever is first keeps his. */
const struct program *schema_spell(const struct schema *schema, unsigned form)
{
    struct schema *s = (struct schema *)(uintptr_t)schema; /* what is seen of it stays as it is */
    struct program *none = NULL, *made;
    if (!program_spell(s->program, form, &made))
        return NULL;
    if (atomic_compare_exchange_strong_explicit(&s->programs.of_form[form], &none, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    if (made != s->program)
        program_free(made);
    return none;
}

bool schema_print_program(const struct schema *s, struct buf *out)
{
    return program_print(s->program, out);
}

enum rc schema_resolver_new(struct resolver **out, const struct schema *writer, const struct schema *reader,
                            struct err *err)
{
    return resolver_compile(out, writer->program, reader->program, err);
}

void schema_resolver_free(struct resolver *r)
{
    resolver_free(r);
}

bool schema_resolver_is_copy(const struct resolver *r)
{
    return r->ops[0].code == RESOLVE_COPY;
}

bool schema_resolver_reads_all(const struct resolver *r)
{
    return r->is_full;
}

bool schema_resolver_reads_any(const struct resolver *r)
{
    return r->is_possible;
}

bool schema_print_resolver(const struct resolver *r, struct buf *out)
{
    return resolver_print(r, out);
}
