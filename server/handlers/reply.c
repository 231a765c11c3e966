/* server/handlers/reply.c - see reply.h. */
#include "server/handlers/reply.h"

#include <time.h>

#include "base/num.h"
#include "server/catalog.h"

void reply_ok(struct request *req)
{
    answer_text(req, 200, SLICE("OK"));
}

void reply_no_memory(struct request *req)
{
    struct err err;
    err_oom(&err);
    answer_err(req, &err);
}

void reply_no_type(struct request *req)
{
    struct err err;
    catalog_no_type(req->type_name, &err);
    answer_err(req, &err);
}

void reply_read_refused(struct request *req, const struct err *err)
{
    req->response.headers = SLICE("Vary: " VARY_READS "\r\n");
    answer_err(req, err);
}

enum rc reply_condition(struct request *req, uint64_t revision, uint32_t version, struct slice suffix,
                        enum read_verdict *verdict, struct err *err)
{
    uint8_t plain[TAG_MAX], coded[TAG_MAX];
    struct read_tags tags = {.plain = tag_print(revision, version, suffix, CODING_identity, plain)};
    bool is_coded;
    if (req->coding)
        tags.coded = tag_print(revision, version, suffix, req->coding, coded);
    enum rc rc = condition_of_read(req->header[HEADER_IF_MATCH], req->header[HEADER_IF_NONE_MATCH], &tags,
                                   verdict, &is_coded, err);
    if (rc == RC_OK && is_coded)
        req->response.coding = req->coding;
    return rc;
}

static void wait_a_moment(struct job *job)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    (void)job;
    nanosleep(&moment, NULL); /* a helper's time, so that no worker's is lost */
}

void reply_later(struct request *req, void (*again)(struct job *))
{
    req->job = (struct job){.run = wait_a_moment, .done = again};
    worker_offload_always(req->worker, &req->job);
}

bool reply_header_u64(struct request *req, const char *name, uint64_t value)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    return response_header(req, name, slice_of(digits, num_print_u64(value, digits)));
}

bool reply_warnings(struct request *req, const struct schema *schema)
{
    bool ok = true;
    for (size_t i = 0; ok && i < schema_warnings(schema); i++)
        ok = response_header(req, "Schema-Warning", schema_warning(schema, i));
    return ok;
}

void reply_write_init(struct store_write *w, int kind, void (*done)(struct store_write *))
{
    /* Field by field: the struct has large parts that nobody reads before they are set. */
    w->kind = kind;
    w->cond = COND_NONE;
    w->revisions = NULL;
    w->nrevisions = 0;
    w->upto = (struct slice){0};
    w->schema_id = 0;
    w->expires_ms = 0;
    w->plain_bytes = 0;
    w->content_type = (struct slice){0};
    for (size_t i = 0; i < ARRAY_LEN(w->part); i++)
        w->part[i] = (struct slice){0};
    w->edit = NULL;
    w->edit_bytes_max = 0;
    w->call = NULL;
    w->opens_group = false;
    w->idem = NULL;
    w->lane = CONTAINER_OF(w, struct request, write)->conn; /* those of a connection stay in their order */
    w->done = done;
}
