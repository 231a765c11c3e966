/* client/avrod.h - libavrod: records of avrod from C. The one header that is installed; libavrod(3) and docs/client.md tell more.
 *
 *     avrod_client *client;
 *     struct avrod_error error = {0};
 *     struct avrod_answer answer = {0};
 *     if (avrod_open(&(struct avrod_options){.url = "http://127.0.0.1:8080"}, &client, &error) ||
 *         avrod_get(client, "person", "007", 3, NULL, &answer, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Threads: any number may use one client at once, each with answers and errors of its own; each call in flight has a connection
 * of its own. avrod_close wants all of them to be done. Calls block until their answer is there or their time is up.
 * Memory: texts that are given are borrowed for the call. Every struct that is zero-initialised is ready to use, and 0 or NULL in a
 * struct of options means the default. Answers and errors are the caller's: release them when done; giving them to the next call
 * releases what they hold.
 * Texts end in NUL; those of bodies and ids may hold NUL and have a length besides.
 * The standards: HTTP/1.1 (RFC 9110, RFC 9112), problem documents (RFC 9457). The interface behind: docs/http-api.md. */
#ifndef AVROD_H
#define AVROD_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AVROD_API __attribute__((visibility("default")))
#define AVROD_USE __attribute__((warn_unused_result))
#else
#define AVROD_API
#define AVROD_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ---- */

enum avrod_code {
    AVROD_OK = 0,
    AVROD_REFUSED, /* the server answered with an error: status, slug, message and body tell which. 401: say who you are; 403: you
                        * may not; 429: too much, and retry_after_s later it may do */
    AVROD_UNREACHABLE, /* no connection could be made: no such host, nobody listens, TLS failed */
    AVROD_TIMEOUT,     /* the time of the call was up, or nothing came for the stall time */
    AVROD_BROKEN,      /* the connection ended before the answer did, or that was no HTTP */
    AVROD_TOO_LARGE,   /* the answer is longer than answer_bytes_max */
    AVROD_STOPPED,     /* the callback of a scan or a backup said so */
    AVROD_ARGUMENT,    /* something that was given is wrong: nothing was sent */
    AVROD_MEMORY       /* memory is out */
};

/* Why a call failed. Every call sets it whole: after AVROD_OK it holds the code and attempts alone. */
struct avrod_error {
    enum avrod_code code;
    int status;             /* HTTP status; 0: there was no answer */
    unsigned attempts;      /* how many requests were begun, one more than there were retries */
    unsigned retry_after_s; /* what the answer said; 0: nothing */
    int maybe_done; /* 1: a request that changes something has left, this one or one before it, and it is not known what
                             * became of it */
    int body_cut;      /* 1: the body was longer than answer_bytes_max; this is its beginning */
    char slug[64];     /* the stable name of the server's error, such as "no_record"; empty: none */
    char message[512]; /* a sentence for people: the server's detail, or what went wrong on the way */
    char *body;        /* the whole problem document as it came, owned; NULL: none. A NUL stands behind it */
    size_t body_bytes;
};

/* Free what it holds, and make it zero. */
AVROD_API void avrod_error_release(struct avrod_error *);

/* "refused", "unreachable" ...; static. */
AVROD_API const char *avrod_code_name(enum avrod_code);

/* ---- answers ---- */

struct avrod_answer {
    int status; /* 200, 201, 206, or 304 where a condition of a read says that nothing has changed */
    char *body; /* owned, a NUL behind; never NULL after AVROD_OK */
    size_t body_bytes;
    const char *etag;         /* as it came, quotes included: what if_match takes. In `head`; NULL: none */
    const char *content_type; /* likewise */
    uint32_t schema_version;  /* 0: not said */
    uint32_t schema_id;       /* likewise */
    char *head;               /* owned: the fields of the head, each a name, NUL, value, NUL */
    size_t head_bytes;
};

AVROD_API void avrod_answer_release(struct avrod_answer *);

/* The value of the nth (from 0) header field of this name, whatever its case; NULL: there is none. Lives as long as the answer. */
AVROD_API const char *avrod_answer_header(const struct avrod_answer *, const char *name, unsigned nth);

/* ---- a client ---- */

typedef struct avrod_client avrod_client;

struct avrod_options {
    /* http://HOST:PORT, https://HOST:PORT, either with a path behind, or unix:/PATH/TO/SOCKET;
     * NULL: http://127.0.0.1:8080 */
    const char *url;
    const char *user;            /* HTTP Basic (RFC 7617), with password; NULL: none */
    const char *password;        /* NULL: empty */
    const char *token;           /* a bearer token (RFC 6750), in place of user */
    const char *ca_file;         /* https: certificates to trust, PEM; NULL: those of the system */
    const char *cert_file;       /* https: the client's own certificate, PEM; NULL: none */
    const char *key_file;        /* its key; NULL: in cert_file */
    uint32_t connect_timeout_ms; /* for each connection; default 3000 */
    uint32_t timeout_ms;         /* for a whole call with its retries, but for a scan; default 30000 */
    uint32_t stall_timeout_ms;   /* without a byte either way, also in scans; default 30000 */
    uint32_t retries_max;        /* beyond the first attempt; default 3 */
    int no_retries;              /* 1: none */
    uint32_t backoff_ms;         /* before the first retry, then doubled each time to 2 s; default 50 */
    uint32_t idle_max;           /* connections that are kept between calls; default 16 */
    uint64_t answer_bytes_max;   /* default 256 MiB */
    const char *user_agent;      /* default "libavrod/VERSION" */
};

/* A new client, owned: avrod_close. Nothing is sent. Options are copied; NULL: all defaults.
 * Fails with AVROD_ARGUMENT (a url that is none, both user and token ...), AVROD_MEMORY; then *out is NULL.
 * It starts libcurl (curl_global_init) once in the process. Proxies of the environment are not used. With https a program should
 * ignore SIGPIPE. */
AVROD_API AVROD_USE enum avrod_code avrod_open(const struct avrod_options *, avrod_client **out,
                                               struct avrod_error *);

/* Closes its connections. NULL is allowed. */
AVROD_API void avrod_close(avrod_client *);

/* The library's own version, such as "0.1.0". */
AVROD_API const char *avrod_version(void);

/* What is tried again, after a wait that doubles:
 *   - anything, where no connection could be made, and where the answer was 503 or 429 with Retry-After: then nothing was done;
 *   - what may be done twice (RFC 9110, 9.2.2) also where the connection ended without an answer: reads, puts and deletes without a
 *     condition, and whatever has an idempotency key. A delete that is tried again may so find no record: 404, attempts above 1.
 *   - not: a write with a condition, a patch, a transaction, a new schema. They fail with AVROD_BROKEN and maybe_done.
 * Nothing is tried again when the call's time would be up before. */

/* ---- any request ---- */

struct avrod_request {
    const char *method; /* "GET" ... */
    const char *target; /* "/person/007?version=1": behind the url; percent-encoded by the caller */
    const void *body;   /* NULL: none */
    size_t body_bytes;
    const char *content_type;    /* of the body; NULL: application/json */
    const char *accept;          /* NULL: whatever the server gives */
    const char *if_match;        /* ETags as they came, a list of them, or "*" */
    const char *if_none_match;   /* likewise */
    const char *idempotency_key; /* 1 to 255 visible ASCII characters: see above */
    const char *const *headers;  /* more header fields, "Name: value" each, NULL behind the last */
    int once; /* 1: never tried again once it has left. 0: as the method and conditions say */
    int safe; /* 1: it only reads, whatever its method (RFC 9110, 9.2.1): so it may be tried again */
};

/* Send it. 2xx and 304 are AVROD_OK. `answer` may be NULL. Fails with every code but AVROD_STOPPED. */
AVROD_API AVROD_USE enum avrod_code avrod_send(avrod_client *, const struct avrod_request *,
                                               struct avrod_answer *, struct avrod_error *);

/* Percent-encode bytes so that they may stand as one piece of a path, or as a value of a query. Owned: free(). NULL: memory is out. */
AVROD_API AVROD_USE char *avrod_encode(const void *bytes, size_t len);

/* Is it there? AVROD_OK: it answered pong. */
AVROD_API AVROD_USE enum avrod_code avrod_ping(avrod_client *, struct avrod_error *);

/* ---- types ---- */

/* Options of a type and of the question, all as texts of docs/http-api.md, "putschema"; NULL: not given. */
struct avrod_schema_put {
    const char *missing, *unknown, *compatibility, *ttl, *logical, *bytes, *int64;
    const char *fullname;      /* which entry of a top-level union is meant */
    const char *if_match;      /* see avrod_request */
    const char *if_none_match; /* "*": only if the type is new */
    const char *query;         /* more parameters, encoded: "a=1&b=2" */
};

/* All types, as a JSON array: GET /schemas. */
AVROD_API AVROD_USE enum avrod_code avrod_types(avrod_client *, struct avrod_answer *, struct avrod_error *);

/* Register a schema, which makes the type or its next version. The answer has schema_version, schema_id, etag, and header fields
 * Schema-Warning. Refused: 409 with `reasons`, 422 with `errors`. `put` may be NULL. */
AVROD_API AVROD_USE enum avrod_code avrod_schema_put(avrod_client *, const char *type, const void *schema,
                                                     size_t schema_bytes, const struct avrod_schema_put *put,
                                                     struct avrod_answer *, struct avrod_error *);

/* Would it be taken? Nothing is stored. AVROD_OK: yes; the body says which version it would be. Refused with 409: no; error.body
 * has the reasons. `check_stored`: also read so many stored records with it; 0: none. */
AVROD_API AVROD_USE enum avrod_code avrod_schema_check(avrod_client *, const char *type, const void *schema,
                                                       size_t schema_bytes,
                                                       const struct avrod_schema_put *put,
                                                       uint64_t check_stored, struct avrod_answer *,
                                                       struct avrod_error *);

/* The text of a version; 0: the latest. */
AVROD_API AVROD_USE enum avrod_code avrod_schema_get(avrod_client *, const char *type, uint32_t version,
                                                     struct avrod_answer *, struct avrod_error *);

/* Remove the type and all its records. */
AVROD_API AVROD_USE enum avrod_code avrod_schema_delete(avrod_client *, const char *type,
                                                        struct avrod_answer *, struct avrod_error *);

/* ---- records ----
 * An id has 1 to 480 bytes, any bytes, not encoded. `how` may be NULL, and so may `answer`. */

struct avrod_read {
    /* The form: "application/json", "avro/binary" ...; NULL: JSON, or the content of a raw type. */
    const char *accept;
    uint32_t version;          /* in which version it is shown; 0: the latest */
    const char *field;         /* one top-level field instead of the record */
    const char *fields;        /* parts of the record: "name,address.city" */
    const char *if_none_match; /* the tag that is at hand: answer.status is 304 if it still holds */
    const char *query;         /* more parameters, encoded */
};

struct avrod_write {
    const char *content_type; /* the form, as above; NULL: application/json */
    /* put: the version that has written the body; 0: the frame says so, or the latest. */
    uint32_t schema_version;
    const char *field;           /* put: one top-level field instead of the record */
    const char *if_match;        /* only if the record has this tag; "*": only if it is there */
    const char *if_none_match;   /* "*": only if it is not there */
    const char *idempotency_key; /* see avrod_request */
    uint64_t ttl_s;              /* put: how long it lives; 0: as the type says */
    int dry_run;                 /* 1: answer as it would, and store nothing */
    const char *query;           /* more parameters, encoded */
};

AVROD_API AVROD_USE enum avrod_code avrod_get(avrod_client *, const char *type, const void *id,
                                              size_t id_bytes, const struct avrod_read *how,
                                              struct avrod_answer *answer, struct avrod_error *);

/* status 201: it is new. The answer's etag is the new one. */
AVROD_API AVROD_USE enum avrod_code avrod_put(avrod_client *, const char *type, const void *id,
                                              size_t id_bytes, const void *body, size_t body_bytes,
                                              const struct avrod_write *how, struct avrod_answer *answer,
                                              struct avrod_error *);

/* content_type: "application/merge-patch+json" (RFC 7396), the default, or "application/json-patch+json" (RFC 6902). */
AVROD_API AVROD_USE enum avrod_code avrod_patch(avrod_client *, const char *type, const void *id,
                                                size_t id_bytes, const void *body, size_t body_bytes,
                                                const struct avrod_write *how, struct avrod_answer *answer,
                                                struct avrod_error *);

AVROD_API AVROD_USE enum avrod_code avrod_delete(avrod_client *, const char *type, const void *id,
                                                 size_t id_bytes, const struct avrod_write *how,
                                                 struct avrod_answer *answer, struct avrod_error *);

/* Remove all records whose ids begin with a prefix, of at least a byte. The answer's header field Deleted tells how many are gone. Not
 * one transaction: what has been removed when it fails stays removed. Of `how` dry_run, idempotency_key and query hold. Where there
 * are many, give the client a timeout_ms that is long enough. */
AVROD_API AVROD_USE enum avrod_code avrod_delete_prefix(avrod_client *, const char *type, const void *prefix,
                                                        size_t prefix_bytes, const struct avrod_write *how,
                                                        struct avrod_answer *answer, struct avrod_error *);

/* POST /_txn: operations as JSON, all or none. Of `how` idempotency_key, dry_run and query hold. */
AVROD_API AVROD_USE enum avrod_code avrod_txn(avrod_client *, const void *operations, size_t bytes,
                                              const struct avrod_write *how, struct avrod_answer *answer,
                                              struct avrod_error *);

/* Values inside of a record, found by a path of docs/paths.md; `verb` is one of
 *   select                     the answer's body is a JSON array of them
 *   update, insert, insertall  `value`, JSON, takes their place or goes into them
 *   delete, clear              they go, or what is in them; `value` is NULL
 * Of `how` the conditions, idempotency_key, dry_run and query hold, and for select schema_version: in which version the record is
 * shown. */
AVROD_API AVROD_USE enum avrod_code avrod_path(avrod_client *, const char *type, const void *id,
                                               size_t id_bytes, const char *verb, const char *path,
                                               const void *value, size_t value_bytes,
                                               const struct avrod_write *how, struct avrod_answer *answer,
                                               struct avrod_error *);

/* ---- scans ---- */

/* Ids are bytes with a length; at NULL they are not given. */
struct avrod_scan {
    const void *prefix, *from, *to, *after; /* from inclusive; to and after exclusive */
    size_t prefix_bytes, from_bytes, to_bytes, after_bytes;
    uint64_t limit;     /* 0: all */
    int keys;           /* 1: without the records */
    const char *fields; /* parts of the records: "name,address.city" */
    uint32_t version;   /* in which they are shown; 0: the latest */
    const char *query;  /* more parameters, encoded */
};

/* Called for each line, in the thread of the call: `line` is a JSON object without its line break, borrowed for the call. Anything
 * but 0 ends the scan with AVROD_STOPPED. It may use the client. */
typedef int (*avrod_line_fn)(void *user, const char *line, size_t line_bytes);

/* All records, in the order of their ids, streamed: the server makes more as the callback takes them. When the connection is lost
 * it goes on behind the last line, on a new one: each line comes once, retries_max holds for the time without a line. `count`, if
 * not NULL, is how many records the type had when the scan began (Record-Count), set before the first line, 0 if not said.
 * timeout_ms does not hold here, stall_timeout_ms does. A line longer than answer_bytes_max is AVROD_TOO_LARGE. */
AVROD_API AVROD_USE enum avrod_code avrod_scan(avrod_client *, const char *type, const struct avrod_scan *how,
                                               avrod_line_fn, void *user, uint64_t *count,
                                               struct avrod_error *);

/* The id in a line of a scan, as bytes: to go on behind it later. `id` has room for AVROD_ID_MAX. 0: that is no line of a scan, or
 * its id is longer. It takes no memory. */
enum { AVROD_ID_MAX = 480 };
AVROD_API AVROD_USE size_t avrod_line_id(const char *line, size_t line_bytes, void *id);

/* ---- backups ---- */

enum { AVROD_SHA256_BYTES = 32 };

/* Set before the first piece. */
struct avrod_backup {
    uint64_t bytes;                           /* of all pieces together; 0: not said */
    unsigned char sha256[AVROD_SHA256_BYTES]; /* of all pieces together, as the server says (RFC 9530) */
    char name
        [64]; /* what it calls the file, such as "avrod-38.backup", a plain name for any folder; empty: none */
};

/* Called for each piece, in the thread of the call, borrowed for the call; and about once a second with no bytes while nothing
 * has come yet. Anything but 0 ends the backup with AVROD_STOPPED. */
typedef int (*avrod_piece_fn)(void *user, const void *bytes, size_t len);

/* A backup of the whole store: what avrod --restore takes. The server makes it first, so it may be long until something comes; then
 * stall_timeout_ms holds, timeout_ms does not. It is tried again only as long as nothing has come. AVROD_OK: all bytes of the
 * answer came; the caller compares their SHA-256, writes them to disk, and only then has a backup. Refused: 503 while another one is
 * made, 507 where the server has no room. */
AVROD_API AVROD_USE enum avrod_code avrod_backup(avrod_client *, avrod_piece_fn, void *user,
                                                 struct avrod_backup *about, struct avrod_error *);

#ifdef __cplusplus
}
#endif

#endif
