/* server/handlers/records/record_pack.c - see record_pack.h. */
#include "server/handlers/records/record_pack.h"

#include "base/limits.h"
#include "base/zstd.h"
#include "server/counts.h"

static uint64_t bytes_of(const struct stored_body *b)
{
    return (uint64_t)b->part[0].len + b->part[1].len;
}

/* It must save an eighth, or it only costs whoever reads. */
static void pack(struct stored_body *b, struct buf *room, struct arena *arena)
{
    uint64_t bytes = bytes_of(b);
    struct slice packed;
    room->len = 0;
    if (!buf_reserve(room, bytes - bytes / 8))
        return;
    size_t n = zstd_pack(b->part, b->part[1].len ? 2 : 1, room->ptr, bytes - bytes / 8);
    if (!n || !arena_copy(arena, slice_of(room->ptr, n), &packed))
        return;
    *b = (struct stored_body){.part = {packed}, .plain_bytes = bytes};
}

void record_pack_here(struct stored_body *b, struct arena *arena)
{
    struct buf room = {0};
    pack(b, &room, arena);
    buf_release(&room);
}

void record_pack_count(struct counts *counts, const struct stored_body *b)
{
    if (!b->plain_bytes)
        return;
    count(counts, COUNT_packed_records, 1);
    count(counts, COUNT_packed_plain_bytes, b->plain_bytes);
    count(counts, COUNT_packed_bytes, b->part[0].len);
}

static void done(struct packing *p)
{
    record_pack_count(p->req->worker->counts, &p->body);
    p->then(p->req, &p->body);
}

static void help(struct job *job)
{
    struct packing *p = CONTAINER_OF(job, struct packing, job);
    record_pack_here(&p->body, &p->req->arena);
}

static void helped(struct job *job)
{
    done(CONTAINER_OF(job, struct packing, job));
}

void record_pack(struct packing *p)
{
    struct err err;
    if (likely(bytes_of(&p->body) <= LIMIT_PACK_INLINE_MAX)) {
        pack(&p->body, &p->req->worker->resolved, &p->req->arena);
        done(p);
        return;
    }
    p->job = (struct job){.is_bulk = true, .run = help, .done = helped};
    if (worker_offload(p->req->worker, &p->job, &err) == RC_ERR)
        p->failed(p->req, &err);
}
