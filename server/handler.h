/* server/handler.h - what a handler sees of a request and how it answers. The edge (server/http/) fills
 * requests in and sends answers; the router (server/router.c) finds the route; handlers (server/handlers/) do
 * the work.
 *
 *   head complete   router_begin(req)   route, parameters, the route's own checks; may answer (404, 413 ...)
 *   body complete   router_handle(req)  the route's handler
 *   answer sent, or connection gone     router_end(req)
 *
 * A handler answers exactly once, with answer() or one of its short forms: before it returns, or later from a
 * callback on the same worker (a store_get, a finished store_write, a job). An answer that is too long for one
 * piece of memory is a stream, below. Nothing a handler does may block. All of a request belongs to one worker
 * thread, but for what is lent to the writer or to a helper until their `done`. */
#ifndef SERVER_HANDLER_H
#define SERVER_HANDLER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "schema/schema.h"
#include "server/coding.h"
#include "storage/storage.h"

struct server; /* server/server.h: what all workers share */
struct request;
struct conn; /* the edge's own, both */
struct input;
struct route; /* the router's own */
struct type;  /* the catalog's, both */
struct catalog_hold;
struct type_version;
struct own_reading;
struct worker;       /* below */
struct counts;       /* server/counts.h */
struct timing;       /* server/timing.h */
struct principal;    /* server/access/rights.h */
struct idem_looking; /* server/handlers/idem/idem_look.c */
struct coded;        /* server/http/coded.c */

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_DELETE,
    METHOD_PATCH,
    METHOD_OPTIONS,
    METHOD_TRACE,
    METHOD_PURGE,
    METHODS
};
const char *method_name(enum method);

/* The header fields that are kept; all others are checked and dropped. A field that may be a list and comes
 * more than once is joined with ", " (in the request's arena); twice for one that may not is 400. */
enum header {
#define HEADER(name, text, list) HEADER_##name,
#include "server/http/headers.def"
#undef HEADER
    HEADERS
};

/* Work that would hold a worker for more than a millisecond: run on a helper thread,
 * then done on the worker. */
struct job {
    struct job *next; /* the pool's own, both */
    struct worker *worker;
    struct store_worker *store; /* the helper's, while it runs: to read from */
    bool is_bulk;               /* of what takes long: others need not wait for it */
    void (*run)(struct job *);
    void (*done)(struct job *);
};
/* RC_PENDING: done runs once, later, on this worker. RC_ERR (HELPERS_BUSY): it never does, too many jobs wait. */
MUST_USE enum rc worker_offload(struct worker *, struct job *, struct err *);
/* The same however many wait, for who has no way back. */
void worker_offload_always(struct worker *, struct job *);
/* Have `done` run on the job's worker; for a job that no helper runs. Any thread; once it is called the job may be gone. */
void worker_job_done(struct job *);

/* A body that is made piece by piece, while the client takes it (docs/decisions/0006-answers-in-pieces.md), or lent piece
 * by piece, if it stands in memory as it is and its length is known. Its functions are called on the request's worker,
 * from answer() on. */
struct stream {
    /* Append about `room` bytes to `out`; fewer are fine, more if it cannot be helped. RC_PENDING: there is more.
     * RC_OK: that was the end. RC_AGAIN: there is more, but not now; stream_resume follows. RC_ERR: it cannot go
     * on: the connection is cut, so that the client sees that the body is not whole. */
    enum rc (*more)(struct request *, struct buf *out, size_t room);
    /* In place of more: up to *n slices of what comes next, borrowed until the call of `took`, which is the next one and
     * says how many of their bytes have left; *n is set to how many slices. RC_OK: the last of them ends the body;
     * RC_PENDING, RC_ERR: as above. */
    enum rc (*lend)(struct request *, struct slice *parts, unsigned *n);
    void (*took)(struct request *, size_t bytes);
    /* Give back what the stream owns. Exactly once, as the last call: behind the end, or when the client is gone,
     * but not between RC_AGAIN and stream_resume. NULL: it owns nothing. */
    void (*end)(struct request *);
};
#define STREAM_BYTES_UNKNOWN UINT64_MAX

struct response {
    uint16_t status;
    const char *content_type; /* static, or in the arena; NULL: no body, no Content-Type */
    bool body_lent;           /* body and body_rest live until the worker's snapshot is given up */
    struct slice body;        /* static, in the arena, in the worker's scratch, or lent: answer() copies it */
    struct slice body_rest;   /* behind it; of a lent body only */
    uint64_t etag_revision;   /* 0: no ETag; else "REV-V" */
    uint32_t etag_version;    /* the schema version it is shown in */
    struct slice etag_suffix; /* behind both: of a form other than the plain one; static, or in the arena */
    struct slice headers;     /* further lines, "Name: value\r\n" each, arena or static */
    enum coding coding;       /* of the body: the edge's own. Of a 304: which one the client has */
    const struct stream
        *stream; /* static; NULL: the body is `body`; else it is this, and `body` is not looked at */
    uint64_t stream_bytes; /* how long it is, exactly, or STREAM_BYTES_UNKNOWN */
};

struct param {
    struct slice name, value; /* decoded: %XX, and + is a space; arena */
};

enum { PARAMS_MAX = 24 };

struct request {
    struct request *next; /* the edge's own, all four: next on this connection ... */
    struct conn *conn;
    struct worker *worker;
    struct {                   /* ... what the edge keeps for itself */
        struct input *head;    /* the block that the head stands in, and the body if it fits there too */
        struct input *body;    /* a block of its own for a long one, or NULL */
        int64_t head_ns;       /* clock_mono_ns: when its head had been read */
        uint64_t number;       /* no other request of this process has it: request_id.h */
        uint32_t headers_room; /* of headers_made, which is response.headers, if response_header made it */
        const uint8_t *headers_made;
        uint8_t flags;
        uint64_t stream_made; /* bytes of it, so far */
        struct coded *coded;  /* of a body that is compressed as it leaves */
    } edge;

    /* What was asked. Slices are borrowed until answer() has returned and the last lent operation is done. */
    enum method method;               /* HEAD: handlers treat it as GET, the edge drops the body */
    uint8_t http_minor;               /* HTTP/1.0 or 1.1 */
    uint32_t headers;                 /* bits 1 << HEADER_x: those that came; all others are empty */
    struct slice method_sent, target; /* as sent; empty: the request line is broken */
    struct slice path, query;         /* raw; query without its '?' */
    struct slice body;                /* whole, de-chunked; empty until router_handle */
    uint64_t body_declared;           /* Content-Length, UINT64_MAX for chunked; known in router_begin */
    uint64_t body_max;                /* router_begin may lower it; more is 413 */
    struct timing *timing;            /* NULL: not asked for; arena */
    int64_t begun_ns;                 /* clock_mono_ns: when its head, and later its body, had been read */
    enum coding coding;               /* of the answer, if that pays: what Accept-Encoding likes best ... */
    bool identity_refused;            /* ... or in any case */
    bool is_registry;                 /* errors are told as the registry's API tells them */
    bool is_away; /* on its way to the store it was held up: none of its connection overtakes it */

    /* Who asks: server/access/. NULL and empty where nobody is asked; a user that is empty is anonymous. */
    const struct principal *principal;
    struct slice user;
    void *access; /* access_identify's own, until router_end */

    /* What the router found. */
    const struct route *route;
    const struct type *type;   /* held until router_end ... */
    struct catalog_hold *hold; /* ... by this */
    /* In which version the client wants to see records; NULL: the latest. Both are server/reading.h's. */
    const struct type_version *reader;
    struct own_reading *own_reading;
    /* Segments of the path, percent-decoded. */
    struct slice type_name, id, field, arg;
    unsigned nparams;
    uint64_t params_given; /* bits 1 << PARAM_x */
    uint32_t operation;    /* of a transaction, from 1: type and id are its record's; 0: there is none */
    uint8_t form_asked, form_mask; /* json_form.h: what of the form is asked for, and which of it at all */
    struct response response;
    void *state;  /* the handler's own, in the arena */
    uint8_t look; /* enum idem_look_state: what becomes of a refusal; and what is kept of it, then */
    struct idem_looking *looking;

    /* From here on nothing is cleared from one request to the next, of `header` what had come. */
    struct slice header[HEADERS];
    struct param param[PARAMS_MAX];
    struct arena arena; /* reset when the request is over */

    /* One operation at a time, lent to storage or to the helpers until its done. Left as it was by the
     * request before: who uses one sets all of it that matters. */
    union {
        struct store_get get;
        struct store_write write;
        struct store_scan scan;
        struct job job;
    };
};

/* One a thread. Fields below are for handlers; the edge's own part is struct edge_worker,
 * which embeds this. */
struct worker {
    struct server *server;
    unsigned index;
    struct store_worker *store;
    struct codec *codec;
    struct buf scratch;  /* for a body that is answered in the same callback; emptied by whoever uses it */
    struct buf resolved; /* likewise, for a record's bytes in the version in which they are shown */
    uint64_t random;     /* xorshift state, for drawing ids; seeded */
    struct counts *counts;
    void *catalog; /* the catalog reader of this worker (server/catalog.h) */
};

/* store_get of req->get; done runs before the return, or later in this turn of the worker, with those of other
 * connections. */
void request_get(struct request *);

/* Send req->response: now, if it is this connection's turn, else once what is before it has been sent. */
void answer(struct request *);
/* Short forms: fill in the response and answer. The body is static or in the arena or in the scratch. */
void answer_text(struct request *, unsigned status, struct slice body); /* text/plain; charset=utf-8 */
void answer_json(struct request *, struct slice body);                  /* 200 application/json */
/* application/problem+json (RFC 9457) from *err. Keeps response.headers and the ETag that were set. */
void answer_err(struct request *, const struct err *);
/* The same, with one more member, raw JSON: `"current": {...}`; empty: none. */
void answer_err_with(struct request *, const struct err *, struct slice member);

/* Append the text of such an answer to `out`, but for the brace that closes it: for who adds a long member. False:
 * memory is out. */
MUST_USE bool err_print_open(struct buf *out, const struct err *);

/* Forget what was set of the response. */
void response_reset(struct request *);
/* Add one header line to the response; value is copied, and must be free of control characters (asserted).
 * False: memory is out. */
MUST_USE bool response_header(struct request *, const char *name, struct slice value);

/* Take memory for lines of so many bytes in all, now: response_header does not fail for them afterwards, unless
 * response.headers is set or reset in between. For what is told of a write: behind a commit nothing may fail. False: memory
 * is out. */
MUST_USE bool response_reserve(struct request *, size_t bytes);

/* Does nobody wait for the answer any more: the connection is closed, broken, or the client has ended its side of it? For
 * work that goes on for long and may end at any point. A client that ends its side and reads on is rare, and cannot be told
 * from one that is gone: what there is so far is to be answered. On the request's worker. */
bool request_is_abandoned(const struct request *);

/* After `more` has said RC_AGAIN: it is to be called again. On the request's worker, at once or later. */
void stream_resume(struct request *);

/* The budget of waiting answers: memory that a stream keeps between its pieces is counted. take: false: so much is
 * not left of it, and nothing is taken; while half of it is left, one of any length is. Any thread. */
MUST_USE bool answer_memory_take(struct worker *, uint64_t bytes);
/* The same, whatever is left. */
void answer_memory_take_always(struct worker *, uint64_t bytes);
void answer_memory_give(struct worker *, uint64_t bytes);

/* ---- what the edge calls (server/router.c) ---- */

/* Find the route; on failure it has answered. Returns true if router_handle is due once the body is there. */
bool router_begin(struct request *);
void router_handle(struct request *);
/* Answer `OPTIONS *`, which asks about the server as a whole (RFC 9110, 9.3.7), in place of both. */
void router_options(struct request *);
/* Exactly once for each router_begin. */
void router_end(struct request *);

#endif
