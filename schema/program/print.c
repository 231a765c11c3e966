/* schema/program/print.c - a program as text, one instruction a line, then what belongs to it, for people and golden
 * tests. */
#include "schema/program/program.h"

static bool print_bytes(struct buf *out, struct slice s)
{
    enum { SHOWN = 24 };
    for (size_t i = 0; i < s.len && i < SHOWN; i++)
        if (!buf_printf(out, "%02x", s.ptr[i]))
            return false;
    return s.len <= SHOWN || buf_printf(out, "... (%zu bytes)", s.len);
}

static bool print_record(const struct program *p, const struct op *op, struct buf *out)
{
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op_field *f = &p->fields[op->a + i];
        if (!buf_printf(out, "      .%.*s -> %u", (int)f->name.len, (const char *)f->name.ptr, f->op))
            return false;
        if (!buf_printf(out, f->has_default ? "  default <" : "  zero <") ||
            !print_bytes(out, f->filling.avro) || !buf_printf(out, ">\n"))
            return false;
    }
    return true;
}

static bool print_enum(const struct program *p, const struct op *op, struct buf *out)
{
    for (uint32_t i = 0; i < op->b; i++) {
        struct slice name = p->symbols[op->a + i].name;
        if (!buf_printf(out, "      %u %.*s\n", i, (int)name.len, (const char *)name.ptr))
            return false;
    }
    return true;
}

static bool print_union(const struct program *p, const struct op *op, struct buf *out)
{
    for (uint32_t i = 0; i < op->b; i++) {
        const struct op_branch *b = &p->branches[op->a + i];
        if (!buf_printf(out, "      %u %.*s", i, (int)b->tag.len, (const char *)b->tag.ptr))
            return false;
        if (b->short_tag.len &&
            !buf_printf(out, " (%.*s)", (int)b->short_tag.len, (const char *)b->short_tag.ptr))
            return false;
        if (!buf_printf(out, " -> %u\n", b->op))
            return false;
    }
    return true;
}

/* The operands on the instruction's own line. */
static bool print_operands(const struct op *op, struct buf *out)
{
    switch ((enum opcode)op->code) {
    case OP_ARRAY:
    case OP_MAP: return buf_printf(out, " of %u", op->a);
    case OP_FIXED: return buf_printf(out, " of %u bytes", op->a);
    case OP_UNION:
        return (!(op->flags & OP_FLAG_NULLABLE) || buf_printf(out, " nullable")) &&
               (!(op->flags & OP_FLAG_SINGLE) || buf_printf(out, " single"));
    default: return true;
    }
}

static bool print_parts(const struct program *p, const struct op *op, struct buf *out)
{
    switch ((enum opcode)op->code) {
    case OP_RECORD: return print_record(p, op, out);
    case OP_ENUM: return print_enum(p, op, out);
    case OP_UNION: return print_union(p, op, out);
    default: return true;
    }
}

bool program_print(const struct program *p, struct buf *out)
{
    static const char *const names[OPCODES] = {
#define OP(name, text) [OP_##name] = text,
#include "schema/program/ops.def"
#undef OP
    };
    for (uint32_t i = 0; i < p->nops; i++) {
        const struct op *op = &p->ops[i];
        struct slice name = program_name(p, i);
        if (!buf_printf(out, "%4u  %s", i, names[op->code]))
            return false;
        if (name.len && !buf_printf(out, " %.*s", (int)name.len, (const char *)name.ptr))
            return false;
        if (!print_operands(op, out) || !buf_printf(out, "  least %u\n", op->size_min) ||
            !print_parts(p, op, out))
            return false;
    }
    return buf_printf(out, "initial <") && print_bytes(out, p->initial) && buf_printf(out, ">\n");
}
