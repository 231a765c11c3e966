/* client/lib/exchange.h - one request and its answer, tried once. */
#ifndef CLIENT_LIB_EXCHANGE_H
#define CLIENT_LIB_EXCHANGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "client/lib/client.h"

struct exchange;

/* Takes a piece of a good answer's body. False ends the exchange; `stopped` of it then says why. */
typedef bool (*exchange_sink)(struct exchange *, const char *bytes, size_t len);

/* Called about once a second until the head of the answer is there. False ends the exchange likewise. */
typedef bool (*exchange_wait)(struct exchange *);

/* Zero-initialised but for the first group; exchange_release. */
struct exchange {
    avrod_client *client;
    const struct avrod_request *request;
    int64_t deadline_ms; /* on clock_mono_ms; 0: none */
    bool once;           /* not to be begun twice, not even by libcurl where a connection proves dead */
    exchange_sink sink;  /* NULL: the body is gathered */
    exchange_wait
        waits; /* where an answer may take as long as it takes: no time of silence is too long for its head. NULL: it is */
    void *sink_user;

    /* What came of it. */
    CURLcode result;
    unsigned begun; /* how many times a request left on a connection */
    int64_t moved;  /* bytes that have gone either way, and when the last of them did */
    int64_t moved_ms;
    int status;      /* 0: none came */
    bool head_whole; /* all of the head has come */
    bool has_retry_after;
    unsigned retry_after_s;
    struct buf head;         /* as struct avrod_answer has it */
    struct buf body;         /* of an error, whatever the sink */
    enum avrod_code stopped; /* why a callback ended it; AVROD_OK: none did */
    char message[CURL_ERROR_SIZE];
};

/* Try. Afterwards `result` and the rest say how it went. AVROD_MEMORY and AVROD_ARGUMENT: it was not begun. */
MUST_USE enum avrod_code exchange_run(struct exchange *);

/* Forget what came of it, to try again. */
void exchange_again(struct exchange *);
void exchange_release(struct exchange *);

/* A value of the head, as avrod_answer_header. */
const char *head_find(const char *head, size_t head_bytes, const char *name, unsigned nth);

#endif
