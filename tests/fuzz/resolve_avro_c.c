/* tests/fuzz/resolve_avro_c.c - see resolve_avro_c.h. */
#include "tests/fuzz/resolve_avro_c.h"

#include "schema/model/model.h"
#include "schema/program/program.h"
#include "tests/fuzz/fuzz.h"

#ifdef FUZZ_AVRO_C
#include <avro.h>

/* Avro C loses memory of its own, which the leak checker, if there is one, shall not count. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* ---- where it is right ---- */

static bool is_text(const struct type *t)
{
    return t->kind == TYPE_STRING || t->kind == TYPE_BYTES;
}

static const struct field *field_of(const struct type *record, struct slice name)
{
    for (size_t i = 0; i < record->record.nfields; i++)
        if (slice_eq(record->record.fields[i].name, name))
            return &record->record.fields[i];
    return NULL;
}

/* depth: types that contain themselves are not asked of it. */
static bool is_right(const struct type *w, const struct type *r, unsigned depth)
{
    if (depth == 10 || w->kind == TYPE_UNION || r->kind == TYPE_UNION || w->kind == TYPE_ENUM ||
        w->kind == TYPE_NULL || is_text(w) != is_text(r) || (is_text(w) && w->kind != r->kind))
        return false;
    if (w->kind == TYPE_ARRAY || w->kind == TYPE_MAP)
        return w->kind == r->kind && is_right(w->items, r->items, depth + 1);
    if (w->kind == TYPE_FIXED)
        return w->fixed_size && slice_eq(w->fullname, r->fullname);
    if (w->kind != TYPE_RECORD)
        return true;
    if (!slice_eq(w->fullname, r->fullname) || !r->record.nfields)
        return false;
    for (size_t i = 0; i < r->record.nfields; i++) {
        const struct field *f = &r->record.fields[i], *from = field_of(w, f->name);
        if (!from || !is_right(from->type, f->type, depth + 1))
            return false;
    }
    return true;
}

/* ---- asking it ---- */

static avro_schema_t parse(const struct schema *s)
{
    avro_schema_t out = NULL;
    struct slice text = schema_text(s);
    return avro_schema_from_json_length((const char *)text.ptr, text.len, &out) == 0 ? out : NULL;
}

static bool read_value(avro_value_iface_t *resolved, avro_value_t *value, struct slice avro)
{
    avro_value_t source;
    if (avro_resolved_writer_new_value(resolved, &source) != 0)
        return false;
    avro_resolved_writer_set_dest(&source, value);
    avro_reader_t reader = avro_reader_memory(avro.len ? (const char *)avro.ptr : "", (int64_t)avro.len);
    bool ok = avro_value_read(reader, &source) == 0;
    CHECK(ok, "Avro C: %s", avro_strerror());
    avro_reader_free(reader);
    avro_value_decref(&source);
    return ok;
}

static bool read_json(avro_schema_t writer, avro_schema_t reader, struct slice avro, struct buf *json)
{
    avro_value_iface_t *class = avro_generic_class_from_schema(reader);
    avro_value_iface_t *resolved = avro_resolved_writer_new(writer, reader);
    avro_value_t value;
    char *text = NULL;
    if (!class || !resolved || avro_generic_value_new(class, &value) != 0)
        return false; /* and what there is is lost */
    bool ok = read_value(resolved, &value, avro) && avro_value_to_json(&value, 1, &text) == 0;
    if (ok)
        CHECK(buf_append(json, slice_str(text)), "memory is out");
    free(text);
    avro_value_decref(&value);
    avro_value_iface_decref(resolved);
    avro_value_iface_decref(class);
    return ok;
}

bool resolve_avro_c(const struct schema *writer, const struct schema *reader, struct slice avro,
                    struct buf *json)
{
    if (!is_right(schema_program(writer)->model->root, schema_program(reader)->model->root, 0))
        return false;
    if (__lsan_disable)
        __lsan_disable();
    avro_schema_t w = parse(writer), r = parse(reader);
    bool ok = w && r && read_json(w, r, avro, json);
    if (w)
        avro_schema_decref(w);
    if (r)
        avro_schema_decref(r);
    if (__lsan_enable)
        __lsan_enable();
    return ok;
}
#else
bool resolve_avro_c(const struct schema *writer, const struct schema *reader, struct slice avro,
                    struct buf *json)
{
    (void)writer, (void)reader, (void)avro, (void)json;
    return false;
}
#endif
