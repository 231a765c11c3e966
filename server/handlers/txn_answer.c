/* server/handlers/txn_answer.c - what a transaction has done: {"revision":7,"results":[...]}. Its memory is taken before
 * anything is stored: behind a commit nothing may fail. */
#include <assert.h>

#include "base/base64.h"
#include "base/json_quote.h"
#include "base/num.h"
#include "base/utf8.h"
#include "server/handlers/record.h"
#include "server/handlers/reply.h"
#include "server/handlers/txn.h"

/* Of a result and of the frame around all of them, besides names and ids; a byte of those takes six characters at most. */
enum { ESCAPED_BYTES = 6, FRAME_BYTES = 64, RESULT_BYTES = 96 + ESCAPED_BYTES * TAG_MAX };

bool txn_answer_reserve(struct txn *t)
{
    size_t bytes = FRAME_BYTES;
    for (unsigned i = 0; i < t->nops; i++)
        bytes += RESULT_BYTES + ESCAPED_BYTES * (t->ops[i].type_name.len + t->ops[i].id.len);
    t->text = (struct buf){.ptr = arena_alloc(&t->req->arena, bytes), .cap = bytes};
    return t->text.ptr;
}

/* ---- within what is reserved ---- */

static void put(struct txn *t, struct slice text)
{
    bool fits = t->text.cap - t->text.len >= text.len && buf_append(&t->text, text);
    assert(fits);
}

static void put_number(struct txn *t, uint64_t n)
{
    uint8_t digits[NUM_U64_MAX_CHARS];
    put(t, slice_of(digits, num_print_u64(n, digits)));
}

static void put_string(struct txn *t, struct slice text)
{
    assert(t->text.cap - t->text.len >= ESCAPED_BYTES * text.len + 2);
    bool ok = json_quote_any(text, &t->text);
    assert(ok);
}

static void put_id(struct txn *t, struct slice id)
{
    if (utf8_valid_len(id) == id.len) {
        put(t, SLICE(",\"id\":"));
        put_string(t, id);
        return;
    }
    put(t, SLICE(",\"id_base64\":\""));
    assert(t->text.cap - t->text.len >= base64_chars(id.len));
    bool ok = base64_print(id, &t->text);
    assert(ok);
    put(t, SLICE("\""));
}

/* Of what it has put, or left as it was. */
static void put_tag(struct txn *t, const struct txn_op *op, uint64_t revision)
{
    uint8_t tag[TAG_MAX];
    bool unchanged = op->verb == TXN_PATCH && op->kept && op->kept != UINT64_MAX;
    if ((op->verb != TXN_PUT && op->verb != TXN_PATCH) || t->dry_run)
        return;
    put(t, SLICE(",\"etag\":"));
    put_string(t, tag_print(unchanged ? op->kept : revision, op->type->latest->number,
                            record_tag_suffix(op->type->latest, op->opts.form), tag));
}

static void put_result(struct txn *t, const struct txn_op *op, uint64_t revision)
{
    put(t, SLICE("{\"op\":"));
    put_string(t, txn_verbs[op->verb]);
    put(t, SLICE(",\"type\":"));
    put_string(t, op->type_name);
    put_id(t, op->id);
    put(t, SLICE(",\"status\":"));
    put_number(t, op->created ? 201 : 200);
    put_tag(t, op, revision);
    put(t, SLICE("}"));
}

void txn_answer(struct txn *t, uint64_t revision)
{
    struct request *req = t->req;
    arena_release(&t->arena);
    if (t->dry_run && !response_header(req, "Dry-Run", SLICE("1"))) {
        reply_no_memory(req);
        return;
    }
    put(t, SLICE("{\"revision\":"));
    if (revision)
        put_number(t, revision);
    else
        put(t, SLICE("null"));
    put(t, SLICE(",\"results\":["));
    for (unsigned i = 0; i < t->nops; i++) {
        if (i)
            put(t, SLICE(","));
        put_result(t, &t->ops[i], revision);
    }
    put(t, SLICE("]}"));
    answer_json(req, buf_slice(&t->text));
}
