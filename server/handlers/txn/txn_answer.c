/* server/handlers/txn/txn_answer.c - what a transaction has done: {"revision":7,"results":[...]}. Its memory is taken before
 * anything is stored: behind a commit nothing may fail. */
#include <assert.h>

#include "base/base64.h"
#include "base/json_quote.h"
#include "base/num.h"
#include "base/utf8.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/handlers/txn/txn.h"

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
    if ((op->verb != TXN_PUT && op->verb != TXN_PATCH) || t->dry_run || op->has_no_tag)
        return;
    put(t, SLICE(",\"etag\":"));
    put_string(t, tag_print(unchanged ? op->kept : revision, op->type->latest->number,
                            record_tag_suffix(op->type->latest, op->opts.form), CODING_identity, tag));
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

static void print_answer(struct txn *t, uint64_t revision)
{
    t->text.len = 0;
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
}

void txn_answer(struct txn *t, uint64_t revision)
{
    struct request *req = t->req;
    txn_run_release(t);
    if (t->dry_run && !response_header(req, "Dry-Run", SLICE("1"))) {
        reply_no_memory(req);
        return;
    }
    print_answer(t, revision);
    answer_json(req, buf_slice(&t->text));
}

/* ---- under an idempotency key ---- */

/* The note is the answer if that is not too long; else which operations created something, and which left a record as it
 * was: the rest can be told again, but for the tags of the latter, as long as the transaction can be read. */
static uint8_t bits_of(const struct txn_op *op)
{
    return (uint8_t)(op->created | (op->verb == TXN_PATCH && op->kept) << 1);
}

static void take_bits(struct txn_op *op, unsigned bits)
{
    op->created = bits & 1;
    op->kept = 0; /* a helper may have run it since, and have found something else */
    op->has_no_tag = bits & 2;
}

void txn_note(struct txn *t, struct store_idem *idem, uint64_t revision)
{
    print_answer(t, revision);
    idem->note = buf_slice(&t->text);
    if (t->text.len <= STORE_NOTE_MAX)
        return;
    memset(t->note, 0, sizeof t->note);
    t->note[0] = IDEM_NOTE_BITS;
    for (unsigned i = 0; i < t->nops; i++)
        t->note[1 + i / 4] |= (uint8_t)(bits_of(&t->ops[i]) << i % 4 * 2);
    idem->note = slice_of(t->note, 1 + (t->nops + 3) / 4);
}

void txn_answer_first(struct txn *t, const struct store_write *w)
{
    struct request *req = t->req;
    struct slice first = slice_of(w->idem->first, w->idem->first_len);
    txn_run_release(t);
    if (first.len && first.ptr[0] == IDEM_NOTE_JSON) {
        idem_answer(req, w);
        return;
    }
    if (!idem_tell_replayed(req)) {
        reply_no_memory(req);
        return;
    }
    for (unsigned i = 0; i < t->nops && 1 + i / 4 < first.len; i++)
        take_bits(&t->ops[i], (unsigned)first.ptr[1 + i / 4] >> i % 4 * 2);
    print_answer(t, w->revision);
    answer_json(req, buf_slice(&t->text));
}
