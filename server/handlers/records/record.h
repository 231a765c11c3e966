/* server/handlers/records/record.h - what reading and writing records have in common. */
#ifndef SERVER_HANDLERS_RECORD_H
#define SERVER_HANDLERS_RECORD_H

#include "schema/encoding.h"
#include "server/catalog.h"
#include "server/conditions.h"
#include "server/handler.h"
#include "server/range.h"
#include "server/reading.h"

/* ---- record_show.c ---- */

struct path;

/* What of a record is to be answered, and by what right. */
struct shown {
    const struct reading *reading;   /* of reading_find, and complete; borrowed for the call */
    const struct record *rec;        /* borrowed for the call; revision 0: none is told */
    const struct path *path;         /* in the arena: what it finds is shown, as JSON; NULL: the record */
    struct slice path_text;          /* for the tag */
    bool lasts;                      /* its body lives as long as the request */
    void (*again)(struct request *); /* read the record once more: its chunks went while it waited */
};

/* 200 with the record, or the field req->field of it, or what the path finds, in the form that Accept asks for; or 206, 304, 404 (no
 * such field), 406, 412, 416. A long one is printed by a helper and sent in pieces. Uses req->state. */
void record_show(struct request *, const struct shown *);
/* The same with the initial record of the version that is asked for, whose schema must be compiled; without a
 * tag. */
void record_show_initial(struct request *);
/* Load that schema, then do it. */
void record_initial(struct request *);
/* record_tag.c: the answer bears the tag that a get of the record with the same parameters has, where it is shown in this
 * version; revision 0: none. */
void record_tag(struct request *, uint64_t revision, const struct type_version *);
/* How such a tag ends for who asks for this form; static. */
struct slice record_tag_suffix(const struct type_version *, enum json_form);
/* 404. */
void record_absent(struct request *);
/* 500, logged: what the store holds is not what was put there. */
COLD void record_damaged(struct request *, const char *what);
/* Is it the record's fault that it cannot be printed, and not the moment's? */
bool record_is_damage(const struct err *);

/* 200 or 206 with the content of a raw type as it is, or 416. content_type: in the arena, or static. One in
 * chunks is sent from them, in pieces. Uses req->state. */
void record_show_raw(struct request *, const struct shown *, const char *content_type);
/* Which part of so many bytes is asked for; sets the status and the header fields of ranges. BAD_RANGE,
 * NO_MEMORY. */
MUST_USE enum rc record_raw_part(struct request *, const struct shown *, uint64_t bytes, struct range *,
                                 struct err *);
/* The same of a reading with a resolver: by way of a helper. */
void record_show_raw_resolved(struct request *, const struct shown *, const char *content_type);

/* A record of req->type has been read for whoever asked: where the type has a limit, it counts as used. */
static inline void record_used(struct request *req, const struct record *rec)
{
    if (unlikely(rec->used_ms) && req->type->options.max_size)
        store_touch(req->worker->store, &req->get.key, rec);
}

/* ---- record_reading.c ---- */

/* How a stored record is to be shown, in a type as new as it needs (req->type may change). RC_OK: with *out.
 * RC_PENDING: a schema or a resolver is being made, and `again` runs then, which reads the record once more.
 * RC_ERR: it is answered. Uses the request's operation. */
MUST_USE enum rc record_reading_other(struct request *, const struct record *,
                                      void (*again)(struct request *), struct reading *out);
MUST_USE static inline enum rc record_reading(struct request *req, const struct record *rec,
                                              void (*again)(struct request *), struct reading *out)
{
    const struct type_version *v = reading_reader(req);
    if (unlikely(v->schema_id != rec->schema_id || !type_schema(v)))
        return record_reading_other(req, rec, again, out);
    *out = (struct reading){.writer = v, .reader = v};
    return RC_OK;
}

/* ---- record_chunks.c ---- */

/* Answer with `frame` (at most FRAME_BYTES_MAX, copied), then so many bytes of a body that is in chunks, from
 * its byte `first` on. The status and the Content-Type are set. Of the record only blob and body_bytes are
 * looked at. Uses req->state. */
void record_send_chunks(struct request *, const struct record *, struct slice frame, uint64_t first,
                        uint64_t bytes);

/* ---- record_join.c ---- */

/* Append the body of a record that is in chunks or packed, as it was put: the one way to it. What the record borrows from
 * this worker's snapshot may be dead afterwards if it has a blob; if it has none, nothing is read. RC_NOTFOUND: chunks are
 * missing. IO, NO_MEMORY. */
MUST_USE enum rc record_join(struct store_worker *, const struct record *, struct buf *joined, struct err *);

/* Have what it borrows of its body copied to the arena. False: memory is out. */
MUST_USE bool record_body_keep(struct arena *, struct record *);

/* ---- record_writer.c ---- */

/* What is put: on what condition, how its body is to be read, and the version that has written it. Handlers
 * that put something have one as the first of what req->state points to. */
struct record_input {
    struct condition condition;
    const struct encoding *encoding;    /* NULL: the body is kept as it is */
    const struct type_version *version; /* whose schema is compiled */
    struct reading reading;             /* of what another version than the latest writes, as the latest */
    int field;                          /* of schema_field; -1: the whole */
    size_t frame_bytes;                 /* before the datum, in a form that is no JSON */
    struct writer_id writer;            /* record_writer.c's own, all three */
    uint32_t versions_left;
    void (*then)(struct request *);
    bool dry_run; /* record_dry.c's own, both */
    void (*found)(struct request *, const struct record *);
};

/* Find the version that has written the body, by the frame of its form, by Schema-Version, or else the
 * latest, and have its schema compiled. The encoding is set, and the latest schema compiled. Then go on with
 * `then`, at once or later; or answer (400, 404 no such version, 422). */
void record_find_writer(struct request *, struct record_input *, void (*then)(struct request *));

/* ---- record_body.c ---- */

/* The form of this request's body, by Content-Type and Content-Encoding, for a type with this schema. */
MUST_USE enum rc record_negotiate(const struct request *, const struct schema *, const struct encoding **out,
                                  struct err *);
/* Check and encode the body. Then go on with `then`, which gets the Avro binary: borrowed for the call if the
 * body is JSON, else it is in the body; where the body is kept as it is, only what goes before it. Written by
 * another version than the latest, it is such that the latest reads it (OTHER_VERSION). At once, or, where
 * that would take too long, after a helper has done it. On failure it answers, and `then` does not run. Uses
 * the request's operation and leaves req->state alone. */
void record_encode(struct request *, const struct record_input *,
                   void (*then)(struct request *, struct slice avro));
/* How long the record is whose body `then` has got. */
uint64_t record_bytes(const struct request *, struct slice avro);

/* ---- record_dry.c ---- */

/* ?dry_run=1: a put is to say what it would do, and to do nothing. To be asked before the body is there.
 * BAD_PARAMETER. */
MUST_USE enum rc record_dry_asked(struct request *, struct record_input *, struct err *);
/* Read the record in place of writing it, and go on with `found` (NULL: there is none) if the condition of
 * the input in req->state holds; else it is answered. The record is borrowed for the call. */
void record_dry_read(struct request *, void (*found)(struct request *, const struct record *));
/* Answer what a put would, without a tag. */
void record_dry_answer(struct request *, unsigned status);
/* RECORD_TOO_LARGE: a body of so many bytes is more than the store takes, or than all records of the type may have. */
MUST_USE enum rc record_check_size(const struct request *, const struct type *, uint64_t bytes, struct err *);

/* ---- record_conflict.c ---- */

/* 412 with the record as it is now in `current`. */
void record_conflict(struct request *);

#endif
