/* server/care/fsck_catalog.c - the catalog's rows and the records that they describe: do they say the same? */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/zstd.h"
#include "server/care/fsck.h"
#include "server/catalog_rows.h"
#include "server/register.h"
#include "server/registry/references.h"
#include "server/router.h"
#include "server/subject_settings.h"

enum { WORDS_MAX = 160 };

static struct fsck *fsck_of(struct store_check *c)
{
    return CONTAINER_OF(c, struct fsck, check);
}

/* ---- schemas ---- */

/* Is there no way on: memory is out, and not a fault of the row? */
static bool is_over(const struct err *err)
{
    return err->code == ERR_NO_MEMORY;
}

/* RC_NOTFOUND: there is no such row, or it is no schema, and `why`. */
static enum rc load(struct fsck *f, uint32_t id, struct schema **out, struct err *why)
{
    uint8_t key[SCHEMA_KEY_BYTES];
    struct slice text;
    enum rc rc = store_check_get(&f->check, SPACE_SCHEMA, schema_key(id, key), &text, why);
    if (rc == RC_NOTFOUND)
        err_set(why, ERR_NO_SCHEMA, "it is not there");
    if (rc != RC_OK)
        return rc;
    rc = schema_parse(out, text, (struct slice){0}, &f->scratch, why);
    return rc == RC_OK || is_over(why) ? rc : RC_NOTFOUND;
}

static enum rc has_schema(struct fsck *f, uint32_t id, bool *out, struct err *err)
{
    uint8_t key[SCHEMA_KEY_BYTES];
    struct slice text;
    enum rc rc = store_check_get(&f->check, SPACE_SCHEMA, schema_key(id, key), &text, err);
    *out = rc == RC_OK;
    return rc == RC_ERR ? rc : RC_OK;
}

/* By what two schemas are the same: its normal form, and what it refers to. */
static enum rc digest_of(struct fsck *f, uint32_t id, const struct schema *schema,
                         uint8_t digest[SHA256_BYTES], struct err *err)
{
    uint8_t key[SUBJECT_ROW_PREFIX + SCHEMA_KEY_BYTES] = {0, SUBJECT_ROW_REFERENCES};
    struct references refs = {0};
    struct slice row, list = {0};
    schema_key(id, key + SUBJECT_ROW_PREFIX);
    enum rc rc = store_check_get(&f->check, SPACE_SUBJECT, slice_of(key, sizeof key), &row, err);
    if (rc == RC_OK && references_decode(row, &f->scratch, &refs, err) != RC_OK && is_over(err))
        return RC_ERR; /* a damaged row is told when its turn comes */
    if (rc == RC_ERR)
        return rc;
    if (!references_list(&refs, &f->scratch, &list) || !register_digest(schema, list, digest))
        return err_oom(err);
    return RC_OK;
}

static enum rc on_schema(struct fsck *f, struct slice key, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    struct schema *schema;
    struct slice value;
    struct err why;
    uint32_t id = key.len == SCHEMA_KEY_BYTES ? get_be32(key.ptr) : 0;
    if (!id) {
        store_check_fault(&f->check, FAULT_SCHEMA, 0, key, "It is no schema's key.");
        return RC_OK;
    }
    enum rc rc = load(f, id, &schema, &why);
    if (rc == RC_NOTFOUND)
        store_check_fault(&f->check, FAULT_SCHEMA, 0, key, "Schema %u cannot be read: %.*s", id, WORDS_MAX,
                          why.message);
    if (rc != RC_OK) {
        *err = why;
        return rc == RC_ERR ? rc : RC_OK;
    }
    rc = digest_of(f, id, schema, digest, err);
    schema_free(schema);
    if (rc == RC_OK)
        rc = store_check_get(&f->check, SPACE_SCHEMA_HASH, slice_of(digest, sizeof digest), &value, err);
    if (rc == RC_NOTFOUND || (rc == RC_OK && (value.len != SCHEMA_ID_BYTES || get_le32(value.ptr) != id)))
        store_check_fault(&f->check, FAULT_SCHEMA_HASH, 0, key, "Schema %u is not found by its digest.", id);
    return rc == RC_ERR ? rc : RC_OK;
}

static enum rc on_hash(struct fsck *f, struct slice key, struct slice value, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    struct schema *schema;
    uint32_t id = value.len == SCHEMA_ID_BYTES ? get_le32(value.ptr) : 0;
    if (key.len != SHA256_BYTES || !id) {
        store_check_fault(&f->check, FAULT_SCHEMA_HASH, 0, key, "The row is damaged.");
        return RC_OK;
    }
    enum rc rc = load(f, id, &schema, err);
    if (rc == RC_NOTFOUND)
        store_check_fault(&f->check, FAULT_SCHEMA_HASH, 0, key, "It leads to schema %u: %.*s", id, WORDS_MAX,
                          err->message);
    if (rc != RC_OK)
        return rc == RC_ERR ? rc : RC_OK;
    rc = digest_of(f, id, schema, digest, err);
    schema_free(schema);
    if (rc == RC_OK && memcmp(digest, key.ptr, sizeof digest) != 0)
        store_check_fault(&f->check, FAULT_SCHEMA_HASH, 0, key,
                          "It leads to schema %u, which has another digest.", id);
    return rc;
}

/* ---- types and subjects ---- */

static enum rc check_versions(struct fsck *f, enum store_fault_kind kind, struct slice key,
                              const struct type_row *row, struct err *err)
{
    uint32_t last = 0;
    bool there;
    if (row->revision > f->check.revision)
        store_check_fault(&f->check, FAULT_NUMBER, 0, key, "Its revision %llu was not given yet.",
                          (unsigned long long)row->revision);
    for (uint32_t i = 0; i < row->nversions; i++) {
        const struct row_version v = type_row_version(row, i);
        if (v.number <= last || v.state > VERSION_GONE)
            store_check_fault(&f->check, kind, 0, key,
                              "Version %u stands behind %u, or is in no state that there is.", v.number,
                              last);
        last = v.number;
        if (has_schema(f, v.schema_id, &there, err) != RC_OK)
            return RC_ERR;
        if (!there)
            store_check_fault(&f->check, kind, 0, key, "Version %u has schema %u, which is not there.",
                              v.number, v.schema_id);
    }
    return RC_OK;
}

static enum rc add_type(struct fsck *f, struct slice name, const struct type_row *row, struct err *err)
{
    if (f->ntypes == f->types_cap) {
        size_t cap = f->types_cap ? 2 * f->types_cap : 64;
        struct fsck_type *p = realloc(f->types, cap * sizeof *p);
        if (!p)
            return err_oom(err);
        f->types = p;
        f->types_cap = cap;
    }
    struct fsck_type *t = &f->types[f->ntypes];
    *t = (struct fsck_type){
        .number = row->number, .nversions = row->nversions, .max_size = row->options.max_size};
    t->schema_id = arena_calloc(&f->arena, row->nversions, sizeof *t->schema_id);
    if (!t->schema_id || !arena_copy(&f->arena, name, &t->name))
        return err_oom(err);
    for (uint32_t i = 0; i < row->nversions; i++)
        t->schema_id[i] = type_row_version(row, i).schema_id;
    f->ntypes++;
    return RC_OK;
}

static enum rc on_type(struct fsck *f, struct slice name, struct slice value, struct err *err)
{
    struct type_row row;
    const char *fault = router_type_name_fault(name);
    struct err why;
    if (fault)
        store_check_fault(&f->check, FAULT_TYPE, 0, name, "It is no type's name: %s", fault);
    if (type_row_decode(value, &row, &why) != RC_OK) {
        store_check_fault(&f->check, FAULT_TYPE, 0, name, "%.*s", WORDS_MAX, why.message);
        return RC_OK;
    }
    if (!row.number)
        store_check_fault(&f->check, FAULT_TYPE, 0, name, "The type has no number.");
    else if (add_type(f, name, &row, err) != RC_OK)
        return RC_ERR;
    return check_versions(f, FAULT_TYPE, name, &row, err);
}

static enum rc on_references(struct fsck *f, struct slice key, struct slice value, struct err *err)
{
    struct references refs;
    bool there = false;
    if (references_decode(value, &f->scratch, &refs, err) != RC_OK) {
        if (is_over(err))
            return RC_ERR;
        store_check_fault(&f->check, FAULT_SUBJECT, 0, key, "A row of references is damaged.");
    }
    if (key.len == SUBJECT_ROW_PREFIX + SCHEMA_KEY_BYTES &&
        has_schema(f, get_be32(key.ptr + SUBJECT_ROW_PREFIX), &there, err) != RC_OK)
        return RC_ERR;
    if (!there)
        store_check_fault(&f->check, FAULT_SUBJECT, 0, key,
                          "A row of references is of a schema that is not there.");
    return RC_OK;
}

static enum rc on_subject(struct fsck *f, struct slice key, struct slice value, struct err *err)
{
    struct subject_settings settings;
    struct type_row row;
    struct err why;
    uint8_t kind = key.ptr[0] == 0 && key.len > 1 ? key.ptr[1] : 0;
    if (kind == SUBJECT_ROW_REFERENCES)
        return on_references(f, key, value, err);
    if (kind == SUBJECT_ROW_SETTINGS ? settings_decode(value, &settings, &why) != RC_OK
        : kind == SUBJECT_ROW_LINKS  ? value.len < 8
                                     : key.ptr[0] == 0) {
        store_check_fault(&f->check, FAULT_SUBJECT, 0, key, "The row is damaged.");
        return RC_OK;
    }
    if (kind)
        return RC_OK;
    if (!router_type_name_fault(key))
        store_check_fault(&f->check, FAULT_SUBJECT, 0, key,
                          "Its name is a type's: its row should be among those of types.");
    if (type_row_decode(value, &row, &why) != RC_OK || row.number) {
        store_check_fault(&f->check, FAULT_SUBJECT, 0, key, "The row is damaged.");
        return RC_OK;
    }
    return check_versions(f, FAULT_SUBJECT, key, &row, err);
}

static enum rc on_row(struct store_check *c, enum space space, struct slice key, struct slice value,
                      struct err *err)
{
    struct fsck *f = fsck_of(c);
    arena_reset(&f->scratch);
    switch (space) {
    case SPACE_SCHEMA: return on_schema(f, key, err);
    case SPACE_SCHEMA_HASH: return on_hash(f, key, value, err);
    case SPACE_TYPE: return on_type(f, key, value, err);
    case SPACE_SUBJECT: return on_subject(f, key, value, err);
    case SPACE_RECORD: break;
    }
    return RC_OK;
}

/* ---- types by number ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct fsck_type *)a)->number, y = ((const struct fsck_type *)b)->number;
    return x < y ? -1 : x > y;
}

static void sort_types(struct fsck *f)
{
    if (f->ntypes)
        qsort(f->types, f->ntypes, sizeof *f->types, by_number);
    f->types_sorted = true;
    for (size_t i = 1; i < f->ntypes; i++)
        if (f->types[i - 1].number == f->types[i].number)
            store_check_fault(&f->check, FAULT_TYPE, 0, f->types[i].name, "Another type has its number, %u.",
                              f->types[i].number);
}

/* The first whose number is at least this. */
static const struct fsck_type *type_from(struct fsck *f, uint32_t number)
{
    size_t low = 0, high = f->ntypes;
    if (!f->types_sorted)
        sort_types(f);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (f->types[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->ntypes ? &f->types[low] : NULL;
}

const struct fsck_type *fsck_type(struct fsck *f, uint32_t number)
{
    const struct fsck_type *t = f->types_sorted && number ? type_from(f, number) : NULL;
    return t && t->number == number ? t : NULL;
}

static uint32_t next_type(struct store_check *c, uint32_t from)
{
    const struct fsck_type *t = type_from(fsck_of(c), from);
    return t ? t->number : 0;
}

static uint64_t type_limit(struct store_check *c, uint32_t type)
{
    const struct fsck_type *t = fsck_type(fsck_of(c), type);
    return t ? t->max_size : 0;
}

/* ---- records ---- */

static bool is_version(const struct fsck_type *t, uint32_t schema_id)
{
    for (uint32_t i = 0; i < t->nversions; i++)
        if (t->schema_id[i] == schema_id)
            return true;
    return false;
}

static enum rc compiled(struct fsck *f, uint32_t id, const struct schema **out, struct err *err)
{
    unsigned at = id % FSCK_SCHEMAS;
    if (f->schemas[at].id != id) {
        struct schema *schema = NULL;
        if (load(f, id, &schema, err) == RC_ERR)
            return RC_ERR;
        if (f->schemas[at].schema)
            schema_free(f->schemas[at].schema);
        f->schemas[at].schema = schema;
        f->schemas[at].id = id;
    }
    *out = f->schemas[at].schema;
    return RC_OK;
}

/* The body as it was before it was packed, in the scratch memory. RC_NOTFOUND: what is packed is damaged, which was told. */
static enum rc unpacked(struct fsck *f, const struct store_key *key, const struct record *rec,
                        struct slice *out, struct err *err)
{
    struct err why;
    *out = rec->body;
    if (!rec->packed_bytes)
        return RC_OK;
    uint8_t *whole = arena_alloc(&f->scratch, rec->body_bytes);
    if (!whole)
        return err_oom(err);
    *out = slice_of(whole, rec->body_bytes);
    if (zstd_unpack(rec->packed, whole, rec->body_bytes, &why) == RC_OK)
        return RC_OK;
    if (is_over(&why)) {
        *err = why;
        return RC_ERR;
    }
    store_check_fault(&f->check, FAULT_RECORD, key->type, key->id,
                      "It is compressed, and no frame of zstd that holds %llu bytes.",
                      (unsigned long long)rec->body_bytes);
    return RC_NOTFOUND;
}

static enum rc decode(struct fsck *f, const struct store_key *key, const struct record *rec, struct err *err)
{
    const struct codec_opts opts = {.brief = false};
    const struct schema *schema;
    struct slice body;
    struct err why;
    if (compiled(f, rec->schema_id, &schema, err) != RC_OK)
        return RC_ERR;
    enum rc rc = unpacked(f, key, rec, &body, err);
    if (rc != RC_OK)
        return rc == RC_ERR ? rc : RC_OK;
    if (!schema || codec_check(f->codec, schema, &opts, body, 0, &f->scratch, &why) == RC_OK)
        return RC_OK;
    if (is_over(&why)) {
        *err = why;
        return RC_ERR;
    }
    struct slice place = why.first ? why.first->pointer : (struct slice){0};
    store_check_fault(&f->check, FAULT_RECORD, key->type, key->id,
                      "It is no Avro binary of schema %u: %.*s%s%.*s", rec->schema_id, WORDS_MAX, why.message,
                      place.len ? " At " : "", (int)(place.len < 60 ? place.len : 60),
                      (const char *)place.ptr);
    return RC_OK;
}

static enum rc on_record(struct store_check *c, const struct store_key *key, const struct record *rec,
                         struct err *err)
{
    struct fsck *f = fsck_of(c);
    arena_reset(&f->scratch);
    if (!f->at || f->at->number != key->type) {
        f->at = fsck_type(f, key->type);
        f->at_schema = 0;
    }
    if (f->at_schema != rec->schema_id && !is_version(f->at, rec->schema_id)) {
        store_check_fault(&f->check, FAULT_RECORD, key->type, key->id,
                          "It was written with schema %u, which is no version of its type.", rec->schema_id);
        return RC_OK;
    }
    f->at_schema = rec->schema_id;
    return decode(f, key, rec, err);
}

/* ---- life ---- */

enum rc fsck_init(struct fsck *f, struct err *err)
{
    router_init();
    f->check.row = on_row;
    f->check.next_type = next_type;
    f->check.type_limit = type_limit;
    f->check.record = on_record;
    f->codec = codec_new();
    return f->codec ? RC_OK : err_oom(err);
}

void fsck_release(struct fsck *f)
{
    for (size_t i = 0; i < FSCK_SCHEMAS; i++)
        if (f->schemas[i].schema)
            schema_free(f->schemas[i].schema);
    codec_free(f->codec);
    free(f->types);
    arena_release(&f->arena);
    arena_release(&f->scratch);
}
