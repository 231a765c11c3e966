/* server/handlers/bench.c - see bench.h. */
#include "server/handlers/bench.h"

#include "base/hash.h"
#include "base/num.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/params.h"
#include "server/server.h"
#include "server/words.h"

enum rc bench_asked(const struct request *req, uint64_t *n, struct err *err)
{
    const struct slice *value = params_find(req, PARAM_benchmark_only);
    if (likely(!value))
        return RC_NOTFOUND;
    if (num_parse_decimal(*value, UINT64_MAX, n) && *n)
        return RC_OK;
    struct words words;
    return err_set(err, ERR_BAD_PARAMETER, "benchmark_only is an integer from 1, not '%s'.",
                   words_of(*value, &words));
}

/* xorshift64* (Marsaglia 2003; Vigna 2016): quick, and good enough to draw ids. */
static uint64_t draw(struct worker *worker)
{
    uint64_t x = worker->random;
    if (unlikely(!x) && (!random_bytes(&x, sizeof x) || !x))
        x = 1;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    worker->random = x;
    return x * 0x2545f4914f6cdd1du;
}

/* The request goes on as one for this id, as a real one would. */
static bool draw_id(struct request *req, uint64_t n)
{
    uint8_t *digits = arena_alloc(&req->arena, NUM_U64_MAX_CHARS);
    if (!digits)
        return false;
    uint64_t id = 1 + (uint64_t)((unsigned __int128)draw(req->worker) * n >> 64);
    req->id = slice_of(digits, num_print_u64(id, digits));
    return true;
}

void bench_get(struct request *req, uint64_t n)
{
    if (draw_id(req, n))
        record_initial(req);
    else
        reply_no_memory(req);
}

/* What the store would refuse is refused here too. */
static void drop(struct request *req, struct slice avro)
{
    struct err err;
    const struct record_input *in = req->state;
    if (likely(record_check_size(req, req->type, record_bytes(req, avro), &err) == RC_OK)) {
        if (unlikely(in->dry_run))
            record_dry_answer(req, 200);
        else
            reply_ok(req);
    } else
        answer_err(req, &err);
}

void bench_put(struct request *req, uint64_t n)
{
    if (draw_id(req, n))
        record_encode(req, req->state, drop);
    else
        reply_no_memory(req);
}
