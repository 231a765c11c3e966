/* server/handlers/schemas/types.c - listing the types. */
#include <stddef.h>

#include "server/access/access.h"
#include "server/catalog.h"
#include "server/handlers/handlers.h"
#include "server/handlers/records/long_text.h"
#include "server/handlers/reply.h"
#include "server/json_form.h"
#include "server/registry/handlers.h"
#include "server/server.h"
#include "server/timing.h"
#include "server/type_options.h"

/* A worker counts so many types in a small part of a millisecond. */
enum { PAGE_TYPES = 128 };

/* In the request's arena. */
struct listing {
    size_t ntypes, printed, counted; /* behind what is printed so many are counted */
    const struct type *types[PAGE_TYPES];
    struct store_count counts[PAGE_TYPES];
    struct long_text out;
    enum compat_mode level; /* of types that have none of their own */
    bool ok;                /* else memory is out */
};

/* The name needs no escapes: see router_type_name_fault. */
static bool versions_print(const struct type *t, struct buf *out)
{
    bool ok = buf_append(out, SLICE(",\"versions\":["));
    for (uint32_t i = 0; ok && i < t->nversions; i++)
        ok = buf_printf(out, "%s{\"version\":%u,\"schema_id\":%u%s}", i ? "," : "", t->version[i].number,
                        t->version[i].schema_id, t->version[i].deleted ? ",\"deleted\":true" : "");
    return ok && buf_append(out, SLICE("]}"));
}

static bool number_print(uint64_t n, struct buf *out)
{
    return n ? buf_printf(out, "%llu", (unsigned long long)n) : buf_append(out, SLICE("null"));
}

static bool limits_print(struct type_options o, struct buf *out)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < TYPE_LIMITS; i++)
        ok = buf_printf(out, ",\"%s\":", type_limit_name((enum type_limit)i)) &&
             number_print(*type_limit_of(&o, (enum type_limit)i), out);
    return ok && buf_append(out, SLICE(",\"max_size\":")) && number_print(o.max_size, out);
}

static bool type_print(const struct type *t, enum compat_mode level, const struct store_count *count,
                       struct buf *out)
{
    const struct type_options *o = &t->options;
    return buf_printf(
               out,
               "{\"name\":\"%.*s\",\"version\":%u,\"schema_id\":%u,\"revision\":%llu,\"missing\":\"%s\","
               "\"unknown\":\"%s\",\"compatibility\":\"%s\",\"compression\":\"%s\",\"ttl\":",
               (int)t->name.len, (const char *)t->name.ptr, t->latest->number, t->latest->schema_id,
               (unsigned long long)t->revision, missing_name(o->missing), unknown_name(o->unknown),
               compat_mode_name(o->follows_level ? level : o->compatibility),
               compression_name(o->compression)) &&
           number_print(o->ttl_s, out) && limits_print(*o, out) &&
           buf_printf(out, ",\"records\":%llu,\"bytes\":%llu,\"json\":{", (unsigned long long)count->records,
                      (unsigned long long)count->bytes) &&
           json_form_print(o->form, out) && buf_append_byte(out, '}') && versions_print(t, out);
}

static void page_print(struct listing *l)
{
    for (size_t i = 0; l->ok && i < l->counted; i++, l->printed++)
        l->ok = buf_append(&l->out.text, l->printed ? SLICE(",\n") : SLICE("[")) &&
                type_print(l->types[i], l->level, &l->counts[i], &l->out.text);
}

static enum rc page_count(struct request *req, struct listing *l, struct err *err)
{
    struct slice last = l->printed ? l->types[l->counted - 1]->name : (struct slice){NULL, 0};
    const struct type *t = catalog_after(req->hold, last);
    for (l->counted = 0; t && l->counted < PAGE_TYPES; t = catalog_after(req->hold, t->name)) {
        if (!access_sees(req, t->name))
            continue;
        l->types[l->counted] = t;
        if (store_count(req->worker->store, t->number, &l->counts[l->counted++], err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

static void list_end(struct request *req, struct listing *l)
{
    struct err err;
    if (!l->ok || !buf_append(&l->out.text, l->printed ? SLICE("]\n") : SLICE("[]\n")))
        err_oom(&err);
    else if (long_text_count(&l->out, req->worker, &err) == RC_OK) {
        long_text_answer(req, &l->out, "application/json");
        return;
    }
    long_text_release(&l->out, req->worker);
    answer_err(req, &err);
}

static void list_go_on(struct request *);

static void page_print_job(struct job *job)
{
    page_print(CONTAINER_OF(job, struct request, job)->state);
}

static void page_printed(struct job *job)
{
    struct request *req = CONTAINER_OF(job, struct request, job);
    timing_lap(req, STAGE_encode);
    list_go_on(req);
}

/* The worker counts a page, a helper prints it, and so on; few types are printed at once. */
static void list_go_on(struct request *req)
{
    struct listing *l = req->state;
    struct err err;
    if (page_count(req, l, &err) != RC_OK) {
        long_text_release(&l->out, req->worker);
        answer_err(req, &err);
        return;
    }
    timing_lap(req, STAGE_store);
    if (l->ok && l->counted && l->ntypes > PAGE_TYPES) {
        req->job = (struct job){.run = page_print_job, .done = page_printed};
        if (worker_offload(req->worker, &req->job, &err) == RC_PENDING)
            return;
        long_text_release(&l->out, req->worker);
        answer_err(req, &err);
        return;
    }
    page_print(l);
    timing_lap(req, STAGE_encode);
    list_end(req, l);
}

void schemas_handle(struct request *req)
{
    if (registry_is_asked_for_schemas(req)) {
        registry_schemas_handle(req);
        return;
    }
    req->response.headers = SLICE("Vary: Accept, Accept-Encoding\r\n");
    struct listing *l = arena_alloc(&req->arena, sizeof *l);
    if (!l || !catalog_enter(req)) {
        reply_no_memory(req);
        return;
    }
    l->ntypes = catalog_count(req->hold);
    l->printed = l->counted = 0;
    l->out = (struct long_text){0};
    l->ok = true;
    l->level = catalog_level(req->worker->server->catalog);
    req->state = l;
    list_go_on(req);
}
