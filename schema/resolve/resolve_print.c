/* schema/resolve/resolve_print.c - a resolver as text, one instruction a line, then what belongs to it, for people
 * and tests. Types and fields of the writer's are told by their numbers in its program. */
#include "schema/resolve/resolve.h"

static bool print_name(const struct program *p, uint32_t field, struct buf *out)
{
    struct slice name = p->fields[field].name;
    return buf_printf(out, ".%.*s", (int)name.len, (const char *)name.ptr);
}

static bool print_fields(const struct resolver *r, const struct resolver_step *s, struct buf *out)
{
    bool ok = print_name(r->writer, s->first, out);
    return ok && (s->n == 1 || (buf_printf(out, " to ") && print_name(r->writer, s->first + s->n - 1, out)));
}

static bool print_step(const struct resolver *r, const struct resolver_step *s, struct buf *out)
{
    static const char *const names[] = {
        [STEP_COPY] = "copy",   [STEP_SKIP] = "skip",       [STEP_LITERAL] = "default",
        [STEP_VALUE] = "value", [STEP_MISSING] = "missing", [STEP_AMBIGUOUS] = "ambiguous"};
    bool ok = buf_printf(out, "      %s ", names[s->code]);
    if (ok && (s->code == STEP_COPY || s->code == STEP_SKIP))
        ok = print_fields(r, s, out);
    else if (ok)
        ok = print_name(r->reader, s->field, out);
    if (ok && s->code == STEP_VALUE)
        ok = print_name(r->writer, s->first, out) && buf_printf(out, " -> %u", s->op);
    if (ok && s->find != RESOLVE_NONE)
        ok = buf_printf(out, " at %u", s->find);
    return ok && (!(s->flags & RESOLVE_COUNTED) || buf_printf(out, " counted")) && buf_printf(out, "\n");
}

static bool print_parts(const struct resolver *r, const struct resolver_op *op, struct buf *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < op->b; i++)
        switch ((enum resolve_code)op->code) {
        case RESOLVE_RECORD:
        case RESOLVE_SCATTERED: ok = print_step(r, &r->steps[op->a + i], out); break;
        case RESOLVE_UNION: ok = buf_printf(out, "      %u -> %u\n", i, r->branches[op->a + i]); break;
        case RESOLVE_ENUM:
            ok = r->symbols[op->a + i] == RESOLVE_NONE
                     ? buf_printf(out, "      %u -> none\n", i)
                     : buf_printf(out, "      %u -> %u\n", i, r->symbols[op->a + i]);
            break;
        default: return true;
        }
    return ok;
}

static bool print_operands(const struct resolver_op *op, struct buf *out)
{
    switch ((enum resolve_code)op->code) {
    case RESOLVE_COPY: return buf_printf(out, " %u", op->a);
    case RESOLVE_ARRAY:
    case RESOLVE_MAP: return buf_printf(out, " of %u", op->a);
    case RESOLVE_INTO: return buf_printf(out, " %u -> %u", op->b, op->a);
    case RESOLVE_NOT: return buf_printf(out, " %u as %u", op->a, op->b);
    default: return true;
    }
}

bool resolver_print(const struct resolver *r, struct buf *out)
{
    static const char *const names[RESOLVE_CODES] = {
#define RESOLVE_OP(name, text) [RESOLVE_##name] = text,
#include "schema/resolve/resolve_ops.def"
#undef RESOLVE_OP
    };
    for (uint32_t i = 0; i < r->nops; i++) {
        const struct resolver_op *op = &r->ops[i];
        if (!buf_printf(out, "%4u  %s", i, names[op->code]) || !print_operands(op, out) ||
            ((op->flags & RESOLVE_COUNTED) && !buf_printf(out, " counted")) ||
            ((op->flags & RESOLVE_INDEXED) && !buf_printf(out, " indexed")) || !buf_printf(out, "\n") ||
            !print_parts(r, op, out))
            return false;
    }
    return true;
}
