/* server/register.h - taking a schema into a lineage: parsed and compared with the versions before it on a
 * helper, decided inside the writer's transaction, and in the catalog before its caller hears of it. putschema
 * is one caller, the registry's API another.
 *
 *   register_schema -> helper: parse, digest, compat_check -> writer: is the lineage as it was? schema id,
 *   version, row -> catalog_put -> done */
#ifndef SERVER_REGISTER_H
#define SERVER_REGISTER_H

#include "base/sha256.h"
#include "server/catalog.h"
#include "server/conditions.h"
#include "server/subject_settings.h"
#include "server/type_options.h"

struct stored_check; /* server/stored_check.h */

/* One registration, in the request's arena: req->state points to it (it is the first member of the handler's own)
 * until done. Zero-initialised, then filled in by the caller. */
struct registration {
    /* ---- given; slices are borrowed until done ---- */
    enum space space; /* SPACE_TYPE, or SPACE_SUBJECT: a lineage that no type has, with rows of the same form,
                          and not in the catalog */
    struct slice name;               /* of the lineage; a type's may be one (router_type_name_fault) */
    struct slice text;               /* of the schema */
    struct slice fullname;           /* empty, or which entry of a top-level union is meant */
    struct type_options_given given; /* options that change with it: they hold for this schema already */
    struct condition condition;      /* on the revision of the lineage */
    /* It need not be the latest: a version that has the schema already is as good as a new one. */
    bool any_version;
    bool dry_run; /* say what would be, and store nothing */
    /* Of the registry's: a new type starts with the registry's level for all. */
    bool by_registry;
    bool normalize;            /* a schema that is new to the store is kept as its normal form */
    const struct slice *known; /* texts whose types the schema uses; schema_parse_known */
    size_t nknown;
    /* Which texts those are, part of what makes a schema the same (empty: none), and what is kept of them
     * (registry/references.h). */
    struct slice references, references_row;
    /* Inside the transaction, before a version is added; NULL: nothing to do. RC_AGAIN: what it rests on has
     * changed, all is tried again. */
    enum rc (*confirm)(struct registration *, struct store_txn *, struct err *);
    /* Of the registry's: the number that the version is to have (0: any), and the id that the schema is to have. Neither is
     * chosen by who registers: it is refused if it would be another. */
    uint32_t wanted_version;
    bool has_wanted_id;
    uint32_t wanted_id;
    /* A dry run only: compare with this version alone, whatever the mode says of others; 0: as the mode says. No
     * such version: NO_VERSION. */
    uint32_t against;
    /* A dry run only: also look whether it reads what is stored; in the arena, its limit set
     * (server/stored_check.h). NULL: not asked for. */
    struct stored_check *stored;
    /* On the request's worker; it answers. False: memory is out, and nothing was answered: it is called again a
     * moment later, since what is committed must not be refused. */
    bool (*done)(struct request *, struct registration *r);
    /* Inside the transaction: what is remembered of its answer under an idempotency key. */
    enum rc (*note)(struct request *, const struct registration *, struct store_idem *, struct err *);

    /* ---- got ---- */
    /* RC_OK: it is registered, and seen by all (dry run: it would be). RC_CONFLICT: the condition failed; of the
     * rest revision and version are set. RC_ERR: err, and nothing was stored: as of schema_parse; BAD_SCHEMA (its
     * initial record is too large); INCOMPATIBLE: `compat` has the reasons; NO_SPACE, IO, NO_MEMORY, HELPERS_BUSY,
     * QUEUE_FULL ... */
    enum rc rc;
    struct err err;
    struct compat compat;  /* reasons; the `version` of each is its number, not an index */
    enum compat_mode mode; /* by which it was compared */
    bool is_new;           /* a version was added (would be); false: the lineage had it */
    bool is_first;         /* ... and the lineage with it */
    /* Of the lineage after it; on RC_CONFLICT, or in a dry run, as it is; 0: there is none. */
    uint64_t revision;
    uint32_t version;            /* its number; on RC_CONFLICT the latest, 0: there is none */
    uint32_t schema_id;          /* 0: a dry run, and the store does not know the schema */
    const struct schema *schema; /* parsed, until done returns; NULL: it could not be */

    /* ---- register's own ---- */
    struct schema *parsed;
    uint8_t digest[SHA256_BYTES];
    const struct type *type; /* as the catalog had it when the helper began: for schemas that are compiled */
    uint64_t compared_revision; /* of the lineage that it was compared with; 0: there was none */
    enum compat_mode compared_mode;
    struct settings_pair settings;
    uint8_t settings_key[LIMIT_ID_MAX], settings_row[SETTINGS_BYTES];
    uint8_t references_key[SUBJECT_ROW_PREFIX + SCHEMA_KEY_BYTES];
    struct catalog_change change;
    struct slice row; /* as it is stored; empty: it is as it was */
    uint8_t schema_key[SCHEMA_KEY_BYTES], schema_id_bytes[SCHEMA_ID_BYTES];
};

/* By what the store knows a schema again: SHA-256 of its normal form; with references of that, 00 and those.
 * False: memory is out. */
MUST_USE bool register_digest(const struct schema *, struct slice references, uint8_t digest[SHA256_BYTES]);
/* Are r->version, r->schema_id and r->is_new as wanted? READ_ONLY (another id), BAD_SCHEMA (another number). */
MUST_USE enum rc register_wanted(const struct registration *, struct err *);
/* The level that a lineage goes by which has such options, or is about to be made with them. */
enum compat_mode register_level(const struct registration *, const struct type_options *);

/* Begin. The request holds no table (its route is without ROUTE_TYPE) and its operation is free; when `done` runs it
 * may hold one. Takes as long as parsing and comparing do, some ten milliseconds a version, and a commit. */
void register_schema(struct request *, struct registration *);

/* ---- inside: register_check.c, register_decide.c ---- */

/* On a helper: parse (once), and compare with the lineage as `store` has it. Fills in all of `got`. RC_PENDING in
 * r->rc: the writer is to decide. */
void register_check(struct request *, struct registration *, struct store_worker *store);
/* struct store_write.call of a request whose state is a registration. RC_AGAIN: the lineage has changed. */
enum rc register_decide(struct store_write *, struct store_txn *, struct err *);

#endif
