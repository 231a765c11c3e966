/* server/reading.c - see reading.h. */
#include "server/reading.h"

#include <stddef.h>

#include "base/num.h"
#include "server/catalog_pairs.h"
#include "server/params.h"
#include "server/schema_load.h"
#include "server/timing.h"
#include "server/words.h"

/* A resolver of this request alone: its type keeps no more of them. */
struct own_reading {
    const struct type_version *writer, *reader;
    struct resolver *resolver;
};

/* ---- which version ---- */

enum rc reading_version(const struct request *req, struct slice text, const char *what,
                        const struct type_version **out, struct err *err)
{
    const struct type *type = req->type;
    struct words words;
    uint64_t number;
    *out = type->latest;
    if (slice_eq(text, SLICE("latest")))
        return RC_OK;
    if (!num_parse_decimal(text, UINT64_MAX, &number) || !number)
        return err_set(err, ERR_BAD_PARAMETER, "%s is a number from 1, or latest, not '%s'.", what,
                       words_of(text, &words));
    *out = number <= UINT32_MAX ? type_version_find(type, (uint32_t)number) : NULL;
    if (*out)
        return RC_OK;
    return err_set(err, ERR_NO_VERSION, "There is no version %llu of '%s'; the latest is %u.",
                   (unsigned long long)number, words_of(req->type_name, &words), type->latest->number);
}

static COLD enum rc ask(struct request *req, const struct slice *param, const struct slice *header,
                        struct err *err)
{
    const struct type_version *by_header = NULL;
    if (header && reading_version(req, *header, "Accept-Schema-Version", &by_header, err) != RC_OK)
        return RC_ERR;
    req->reader = by_header;
    if (param && reading_version(req, *param, "version", &req->reader, err) != RC_OK)
        return RC_ERR;
    if (!by_header || by_header == req->reader)
        return RC_OK;
    return err_set(err, ERR_BAD_PARAMETER,
                   "version asks for version %u, Accept-Schema-Version for version %u; give one of them.",
                   req->reader->number, by_header->number);
}

enum rc reading_ask(struct request *req, struct err *err)
{
    const struct slice *param = params_find(req, PARAM_version);
    const struct slice *header = &req->header[HEADER_ACCEPT_SCHEMA_VERSION];
    return likely(!param && !header->len) ? RC_OK : ask(req, param, header->len ? header : NULL, err);
}

/* ---- what leads there ---- */

/* Of versions that have one schema the newest stands for all. */
static uint32_t pair_index(const struct type *t, const struct type_version *v)
{
    return (uint32_t)(type_version_of_schema(t, v->schema_id) - t->version);
}

static const struct resolver *find_resolver(const struct type *t, const struct own_reading *own,
                                            const struct reading *r)
{
    if (unlikely(own) && own->writer == r->writer && own->reader == r->reader)
        return own->resolver;
    return pairs_find(t->pairs, pair_index(t, r->writer), pair_index(t, r->reader));
}

enum rc reading_find_other(const struct request *req, uint32_t schema_id, const struct type_version *reader,
                           struct reading *out)
{
    return reading_find_in(req->type, req->own_reading, schema_id, reader, out);
}

enum rc reading_find_in(const struct type *type, const struct own_reading *own, uint32_t schema_id,
                        const struct type_version *reader, struct reading *out)
{
    *out = (struct reading){.writer = reader, .reader = reader};
    if (reader->schema_id == schema_id)
        return type_schema(reader) ? RC_OK : RC_AGAIN;
    out->writer = type_version_of_schema(type, schema_id);
    if (!out->writer)
        return RC_NOTFOUND;
    if (!type_schema(out->writer) || !type_schema(reader))
        return RC_AGAIN;
    out->resolver = find_resolver(type, own, out);
    if (!out->resolver)
        return RC_AGAIN;
    if (schema_resolver_is_copy(out->resolver))
        out->resolver = NULL;
    return RC_OK;
}

/* ---- making it ---- */

/* In the request's arena; req->state while it lasts. */
struct load {
    struct reading reading;
    void (*then)(struct request *);
    void (*failed)(struct request *, const struct err *);
    void *state; /* the handler's, put back at the end */
    struct resolver *resolver;
    struct own_reading *own; /* room for what the type does not take */
    enum rc rc;
    struct err err;
};

static void load_end(struct request *req, const struct err *err)
{
    struct load *l = req->state;
    req->state = l->state;
    req->is_away = false;
    if (err)
        l->failed(req, err);
    else
        l->then(req);
}

static void make(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct load *l = req->state;
    const struct reading *r = &l->reading;
    if (find_resolver(req->type, req->own_reading, r)) /* all that came while it was made wait here */
        return;
    l->rc = schema_resolver_new(&l->resolver, type_schema(r->writer), type_schema(r->reader), &l->err);
    if (l->rc == RC_ERR && l->err.code == ERR_TOO_MUCH_WORK)
        err_set(&l->err, ERR_OTHER_VERSION,
                "The record is of version %u, whose schema is too large to be read as version %u.",
                r->writer->number, r->reader->number);
}

void reading_release(struct request *req)
{
    struct own_reading *own = req->own_reading;
    if (own)
        schema_resolver_free(own->resolver);
    req->own_reading = NULL;
}

static void made(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    struct load *l = req->state;
    const struct type *t = req->type;
    timing_lap(req, STAGE_store);
    if (l->rc != RC_OK) {
        load_end(req, &l->err);
        return;
    }
    if (l->resolver && !pairs_offer(t->pairs, pair_index(t, l->reading.writer),
                                    pair_index(t, l->reading.reader), l->resolver)) {
        reading_release(req);
        *l->own = (struct own_reading){l->reading.writer, l->reading.reader, l->resolver};
        req->own_reading = l->own;
    }
    load_end(req, NULL);
}

static void make_resolver(struct request *req)
{
    struct load *l = req->state;
    if (l->reading.writer->schema_id == l->reading.reader->schema_id ||
        find_resolver(req->type, req->own_reading, &l->reading)) {
        load_end(req, NULL);
        return;
    }
    req->is_away = true;
    req->job = (struct job){.run = make, .done = made};
    if (worker_offload(req->worker, &req->job, &l->err) == RC_ERR)
        load_end(req, &l->err);
}

static void load_writer(struct request *req)
{
    struct load *l = req->state;
    schema_load_or(req, l->reading.writer, make_resolver, load_end);
}

void reading_load_or(struct request *req, const struct reading *r, void (*then)(struct request *),
                     void (*failed)(struct request *, const struct err *))
{
    struct load *l = arena_alloc(&req->arena, sizeof *l);
    struct own_reading *own = arena_alloc(&req->arena, sizeof *own);
    if (!l || !own) {
        struct err err;
        err_oom(&err);
        failed(req, &err);
        return;
    }
    *l = (struct load){.reading = *r, .then = then, .failed = failed, .state = req->state, .own = own};
    req->state = l;
    schema_load_or(req, l->reading.reader, load_writer, load_end);
}

void reading_load(struct request *req, const struct reading *r, void (*then)(struct request *))
{
    reading_load_or(req, r, then, answer_err);
}

/* ---- reading ---- */

enum rc reading_resolve(const struct reading *r, size_t bytes_max, struct slice avro, struct buf *out,
                        struct arena *arena, struct err *err)
{
    enum rc rc = codec_resolve_within(r->resolver, bytes_max, avro, out, arena, err);
    if (likely(rc != RC_ERR) || err->code != ERR_OTHER_VERSION)
        return rc;
    struct err why = *err;
    err_set(err, ERR_OTHER_VERSION, "The record is of version %u and cannot be read as version %u. %s",
            r->writer->number, r->reader->number, why.message);
    err->first = why.first;
    err->last = why.last;
    err->problems = why.problems;
    err->truncated = why.truncated;
    return RC_ERR;
}
