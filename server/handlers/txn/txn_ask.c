/* server/handlers/txn/txn_ask.c - what a transaction's body says: {"operations":[{"op":"put","type":"t","id":"a","record":{}}]}. */
#include <stddef.h>

#include "base/base64.h"
#include "base/limits.h"
#include "base/num.h"
#include "schema/json.h"
#include "schema/json_members.h"
#include "server/handlers/txn/txn.h"
#include "server/words.h"

/* Data may nest, tags of unions and all, within the operation, its record or patch, and an operation of that. */
enum { NEST_MAX = 2 * LIMIT_DATA_DEPTH_MAX + 8 };

enum rc txn_fault(struct err *err, unsigned at)
{
    err->operation = at + 1;
    return RC_ERR;
}

/* ---- members ---- */

enum member {
    MEMBER_op,
    MEMBER_type,
    MEMBER_id,
    MEMBER_id_base64,
    MEMBER_record,
    MEMBER_ttl,
    MEMBER_if_match,
    MEMBER_if_none_match,
    MEMBER_merge,
    MEMBER_patch,
    MEMBER_revision,
    MEMBER_pointer,
    MEMBER_is,
    MEMBER_value,
    MEMBERS
};

#define TEXT(s)                                                                                              \
    {                                                                                                        \
        (const uint8_t *)(s), sizeof(s) - 1                                                                  \
    }
#define MEMBER(name) [MEMBER_##name] = TEXT(#name)
static const struct slice member_names[MEMBERS] = {
    MEMBER(op),       MEMBER(type),     MEMBER(id),    MEMBER(id_base64), MEMBER(record),
    MEMBER(ttl),      MEMBER(if_match), MEMBER(merge), MEMBER(patch),     MEMBER(if_none_match),
    MEMBER(revision), MEMBER(pointer),  MEMBER(is),    MEMBER(value),
};
#define BIT(name)  (1u << MEMBER_##name)
#define ALWAYS     (BIT(op) | BIT(type) | BIT(id) | BIT(id_base64))
#define CONDITIONS (BIT(if_match) | BIT(if_none_match))

const struct slice txn_verbs[] = {TEXT("put"), TEXT("patch"), TEXT("delete"), TEXT("check")};

/* An operation has all of one of its kind's sets, and perhaps some that it may have besides. */
static const struct {
    unsigned may, sets[2];
    const char *words;
} kinds[] = {
    [TXN_PUT] = {CONDITIONS | BIT(ttl), {BIT(record), BIT(record)}, "`record`, and perhaps `ttl`"},
    [TXN_PATCH] = {CONDITIONS, {BIT(merge), BIT(patch)}, "`merge`, or `patch`"},
    [TXN_DELETE] = {CONDITIONS, {0, 0}, "nothing more"},
    [TXN_CHECK] = {0,
                   {BIT(revision), BIT(pointer) | BIT(is) | BIT(value)},
                   "`revision`, or `pointer`, `is` and `value`"},
};

/* One operation, being read. */
struct asking {
    struct arena *arena;
    struct buf *scratch;
    unsigned at;
    unsigned given;              /* bits 1 << MEMBER_x */
    struct slice value[MEMBERS]; /* spans of the body */
};

#define FAULT(a, ...) (err_set(err, ERR_BAD_TRANSACTION, __VA_ARGS__), txn_fault(err, (a)->at))

static int find_member(struct slice token)
{
    for (int i = 0; i < MEMBERS; i++)
        if (json_token_is(token, member_names[i]))
            return i;
    return -1;
}

static enum rc read_members(struct asking *a, struct slice object, struct err *err)
{
    struct words words;
    if (json_kind(object) != JSON_IS_OBJECT)
        return FAULT(a, "An operation is an object.");
    struct json_walk w = json_walk_of(object);
    while (json_walk_next(&w)) {
        int m = find_member(w.name);
        if (m < 0)
            return FAULT(a, "An operation has no member %s.", words_of(w.name, &words));
        a->given |= 1u << m;
        a->value[m] = json_trim(json_walk_value(&w));
    }
    return RC_OK;
}

static enum rc read_text(struct asking *a, enum member m, struct slice *out, struct err *err)
{
    struct slice text;
    if (json_kind(a->value[m]) != JSON_IS_STRING)
        return FAULT(a, "`%s` is a string.", (const char *)member_names[m].ptr);
    if (!json_token_text(a->value[m], a->scratch, &text) || !arena_copy(a->arena, text, out))
        return err_oom(err);
    return RC_OK;
}

static enum rc read_number(struct asking *a, enum member m, int64_t least, int64_t most, int64_t *out,
                           struct err *err)
{
    if (json_kind(a->value[m]) == JSON_IS_NUMBER && num_parse_i64(a->value[m], out) == NUM_INTEGER &&
        *out >= least && *out <= most)
        return RC_OK;
    return FAULT(a, "`%s` is an integer from %lld to %lld.", (const char *)member_names[m].ptr,
                 (long long)least, (long long)most);
}

/* ---- an operation ---- */

static enum rc read_verb(struct asking *a, struct txn_op *op, struct err *err)
{
    struct slice name;
    struct words words;
    if (!(a->given & BIT(op)))
        return FAULT(a, "An operation has a member `op`: put, patch, delete or check.");
    if (read_text(a, MEMBER_op, &name, err) != RC_OK)
        return RC_ERR;
    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
        if (slice_eq(name, txn_verbs[i])) {
            op->verb = (enum txn_verb)i;
            return RC_OK;
        }
    return FAULT(a, "There is no operation '%s'; these are: put, patch, delete, check.",
                 words_of(name, &words));
}

static enum rc check_members(struct asking *a, const struct txn_op *op, struct err *err)
{
    unsigned given = a->given & ~ALWAYS, own = given & ~kinds[op->verb].may;
    const unsigned *sets = kinds[op->verb].sets;
    if (own == sets[0] || own == sets[1])
        return RC_OK;
    return FAULT(a, "Besides `op`, `type`, `id`%s an operation '%s' has %s.",
                 kinds[op->verb].may & CONDITIONS ? ", `if_match` and `if_none_match`" : "",
                 (const char *)txn_verbs[op->verb].ptr, kinds[op->verb].words);
}

static enum rc read_base64(struct asking *a, struct slice *id, struct err *err)
{
    struct slice text;
    size_t n;
    if (read_text(a, MEMBER_id_base64, &text, err) != RC_OK)
        return RC_ERR;
    uint8_t *bytes = arena_alloc(a->arena, text.len + 3);
    if (!bytes)
        return err_oom(err);
    if (!base64_parse(text, bytes, &n))
        return FAULT(a, "`id_base64` is no base64 (RFC 4648, section 4).");
    *id = slice_of(bytes, n);
    return RC_OK;
}

static enum rc read_place(struct asking *a, struct txn_op *op, struct err *err)
{
    unsigned ids = a->given & (BIT(id) | BIT(id_base64));
    if (!(a->given & BIT(type)) || (ids != BIT(id) && ids != BIT(id_base64)))
        return FAULT(a, "An operation has a `type`, and an `id` or an `id_base64`.");
    if (read_text(a, MEMBER_type, &op->type_name, err) != RC_OK)
        return RC_ERR;
    enum rc rc = ids == BIT(id) ? read_text(a, MEMBER_id, &op->id, err) : read_base64(a, &op->id, err);
    if (rc != RC_OK)
        return rc;
    if (!op->id.len)
        return FAULT(a, "The id is empty.");
    if (op->id.len <= LIMIT_ID_MAX)
        return RC_OK;
    err_set(err, ERR_ID_TOO_LONG, "The id has %zu bytes; the limit is %d.", op->id.len, LIMIT_ID_MAX);
    return txn_fault(err, a->at);
}

/* As the header fields of their names, which say what is wrong with them. */
static enum rc read_condition(struct asking *a, struct txn_op *op, struct err *err)
{
    struct slice match = {0}, none_match = {0};
    if (!(a->given & CONDITIONS))
        return RC_OK;
    if ((a->given & BIT(if_match) && read_text(a, MEMBER_if_match, &match, err) != RC_OK) ||
        (a->given & BIT(if_none_match) && read_text(a, MEMBER_if_none_match, &none_match, err) != RC_OK))
        return RC_ERR;
    if (condition_of_write(match, none_match, a->arena, &op->condition, err) != RC_OK)
        return txn_fault(err, a->at);
    return RC_OK;
}

static enum rc read_check(struct asking *a, struct txn_op *op, struct err *err)
{
    struct slice is;
    int64_t n;
    op->has_revision = a->given & BIT(revision);
    if (op->has_revision) {
        enum rc rc = read_number(a, MEMBER_revision, 0, INT64_MAX, &n, err);
        op->revision = (uint64_t)n;
        return rc;
    }
    op->value = a->value[MEMBER_value];
    if (read_text(a, MEMBER_pointer, &op->pointer, err) != RC_OK ||
        read_text(a, MEMBER_is, &is, err) != RC_OK)
        return RC_ERR;
    return comparison_find(is, &op->is) ? RC_OK : FAULT(a, "`is` is one of = != < <= > >=.");
}

static enum rc read_rest(struct asking *a, struct txn_op *op, struct err *err)
{
    int64_t ttl = 0;
    op->record = a->value[MEMBER_record];
    op->merge = a->value[MEMBER_merge];
    op->patch = a->value[MEMBER_patch];
    if (op->verb == TXN_CHECK)
        return read_check(a, op, err);
    if (a->given & BIT(ttl) && read_number(a, MEMBER_ttl, 1, LIMIT_TTL_MAX, &ttl, err) != RC_OK)
        return RC_ERR;
    op->ttl_s = (uint32_t)ttl;
    return read_condition(a, op, err);
}

static enum rc read_operation(struct asking *a, struct slice object, struct txn_op *op, struct err *err)
{
    if (read_members(a, object, err) != RC_OK || read_verb(a, op, err) != RC_OK ||
        check_members(a, op, err) != RC_OK || read_place(a, op, err) != RC_OK)
        return RC_ERR;
    return read_rest(a, op, err);
}

/* ---- the body ---- */

static enum rc read_operations(struct txn *t, struct slice array, struct buf *scratch, struct err *err)
{
    struct json_walk w = json_walk_of(array);
    while (json_walk_next(&w))
        t->nops++;
    if (t->nops > LIMIT_TRANSACTION_OPERATIONS_MAX)
        return err_set(err, ERR_BAD_TRANSACTION, "A transaction has at most %d operations; this one has %u.",
                       LIMIT_TRANSACTION_OPERATIONS_MAX, t->nops);
    t->ops = arena_calloc(&t->req->arena, t->nops + 1, sizeof *t->ops);
    if (!t->ops)
        return err_oom(err);
    w = json_walk_of(array);
    for (unsigned i = 0; json_walk_next(&w); i++) {
        struct asking a = {.arena = &t->req->arena, .scratch = scratch, .at = i};
        if (read_operation(&a, json_walk_value(&w), &t->ops[i], err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

enum rc txn_ask(struct txn *t, struct err *err)
{
    static const char is[] = "A transaction is {\"operations\":[...]}.";
    struct slice body = t->req->body;
    struct buf scratch = {0};
    *err = (struct err){0};
    if (json_check(body, NEST_MAX, &t->req->arena, err) != RC_OK)
        return RC_ERR;
    if (json_kind(body) != JSON_IS_OBJECT)
        return err_set(err, ERR_BAD_TRANSACTION, "%s", is);
    struct json_walk w = json_walk_of(body);
    if (!json_walk_next(&w) || !json_token_is(w.name, SLICE("operations")) ||
        json_walk_kind(&w) != JSON_IS_ARRAY)
        return err_set(err, ERR_BAD_TRANSACTION, "%s", is);
    struct slice operations = json_walk_value(&w);
    if (json_walk_next(&w))
        return err_set(err, ERR_BAD_TRANSACTION, "%s It has no other member.", is);
    enum rc rc = read_operations(t, operations, &scratch, err);
    buf_release(&scratch);
    return rc;
}
