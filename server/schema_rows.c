/* server/schema_rows.c - see schema_rows.h. */
#include "server/schema_rows.h"

#include <assert.h>
#include <stddef.h>

#include "base/log.h"

struct row_read {
    struct store_get get;
    struct arena *arena;
    struct slice bytes;
};

static void read_done(struct store_get *get)
{
    struct row_read *r = CONTAINER_OF(get, struct row_read, get);
    if (get->rc == RC_OK && !arena_copy(r->arena, get->rec.body, &r->bytes))
        get->rc = err_oom(&get->err);
}

/* The engines call back before they return; on a helper nothing else would do. */
enum rc schema_row_read(struct store_worker *store, const struct store_key *key, struct arena *arena,
                        struct slice *out, struct err *err)
{
    struct row_read r = {.get = {.key = *key, .done = read_done, .rc = RC_PENDING}, .arena = arena};
    store_get(store, &r.get);
    assert(r.get.rc != RC_PENDING);
    *out = r.bytes;
    if (r.get.rc == RC_ERR)
        *err = r.get.err;
    return r.get.rc;
}

static COLD enum rc refuse(uint32_t schema_id, enum rc rc, struct err *err)
{
    if (rc == RC_ERR && err_status(err->code) == 503)
        return RC_ERR;
    log_error("schema %u cannot be loaded: %s", schema_id,
              rc == RC_ERR ? err->message : "its row is missing");
    return err_set(err, ERR_INTERNAL, "The schema of an older version cannot be loaded from the store.");
}

enum rc schema_row_load(struct store_worker *store, const struct type *type, uint32_t schema_id,
                        struct arena *arena, const struct schema **out, struct schema **own, struct err *err)
{
    const struct type_version *v = type ? type_version_of_schema(type, schema_id) : NULL;
    uint8_t bytes[SCHEMA_KEY_BYTES];
    const struct store_key key = {.space = SPACE_SCHEMA, .id = schema_key(schema_id, bytes)};
    struct schema *schema;
    struct slice text;
    *own = NULL;
    *out = v ? type_schema(v) : NULL;
    if (*out)
        return RC_OK;
    enum rc rc = schema_row_read(store, &key, arena, &text, err);
    if (rc == RC_OK)
        rc = schema_parse(&schema, text, (struct slice){0}, arena, err);
    if (rc != RC_OK)
        return refuse(schema_id, rc, err);
    if (v) {
        type_schema_offer(v, schema);
        *out = type_schema(v);
    } else {
        *out = *own = schema;
    }
    return RC_OK;
}
