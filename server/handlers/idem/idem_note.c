/* server/handlers/idem/idem_note.c - what is remembered of an answer, in at most STORE_NOTE_MAX bytes, and the answer made of that. A note of
 * records says what cannot be told from the outcome; any other is the answer as a whole. */
#include "base/bytes.h"
#include "base/num.h"
#include "server/catalog.h"
#include "server/handlers/idem/idem.h"
#include "server/handlers/records/record.h"
#include "server/handlers/reply.h"
#include "server/registry/media.h"
#include "server/target.h"

/* Both kinds: u8 kind, u8 tells or body form, u16, u32 version. */
enum { AT_KIND = 0, AT_TELLS = 1, AT_VERSION = 4 };
/* Of records: how many values were changed; the tag's suffix. */
enum { AT_CHANGED = 8, AT_SUFFIX = 16 };
/* As a whole: u16 length of the lines; u64 revision; lines; body. */
enum { AT_LINES_LEN = 2, AT_REVISION = 8, AT_TEXT = 16 };

enum body_form { BODY_TEXT, BODY_RUNS };

/* ---- notes of records ---- */

enum rc idem_note_record(struct request *req, struct store_idem *idem, enum idem_tells tells, struct err *err)
{
    const struct response before = req->response;
    record_tag(req, 0, req->type->latest);
    struct slice suffix = tells == IDEM_TELLS_DELETED ? (struct slice){0} : req->response.etag_suffix;
    req->response = before;
    uint8_t *note = arena_calloc(&req->arena, 1, AT_SUFFIX + suffix.len);
    if (!note)
        return err_oom(err);
    note[AT_KIND] = IDEM_NOTE_RECORD;
    note[AT_TELLS] = (uint8_t)tells;
    put_le32(note + AT_VERSION, req->type->latest->number);
    if (suffix.len)
        memcpy(note + AT_SUFFIX, suffix.ptr, suffix.len);
    idem->note = slice_of(note, AT_SUFFIX + suffix.len);
    return RC_OK;
}

void idem_note_changed(struct store_idem *idem, uint64_t changed)
{
    uint8_t *note = (uint8_t *)(uintptr_t)idem->note.ptr; /* the arena's, see above */
    put_le64(note + AT_CHANGED, changed);
}

/* ---- notes as a whole ---- */

/* A list of numbers that is too long for a note: [1,2,3,7] as its runs 1 to 3, 7 to 7, two u32 each. The length, or 0: it does not
 * fit all the same, or is no such list. */
static size_t runs_encode(struct slice body, uint8_t *out, size_t room)
{
    size_t n = 0, at = 1;
    uint64_t number;
    if (!body.len || body.ptr[0] != '[')
        return 0;
    while (at < body.len) {
        const uint8_t *end = memchr(body.ptr + at, ',', body.len - at);
        size_t len = end ? (size_t)(end - body.ptr) - at : body.len - at - 1;
        if (!num_parse_decimal(slice_of(body.ptr + at, len), UINT32_MAX, &number))
            return 0;
        if (n && get_le32(out + n - 4) + UINT64_C(1) == number) {
            put_le32(out + n - 4, (uint32_t)number);
        } else {
            if (n + 8 > room)
                return 0;
            put_le32(out + n, (uint32_t)number);
            put_le32(out + n + 4, (uint32_t)number);
            n += 8;
        }
        at += len + 1;
    }
    return n;
}

static bool runs_print(struct slice runs, struct buf *out)
{
    bool ok = buf_append_byte(out, '[');
    for (size_t at = 0; at + 8 <= runs.len; at += 8)
        for (uint64_t i = get_le32(runs.ptr + at); ok && i <= get_le32(runs.ptr + at + 4); i++)
            ok = buf_printf(out, "%s%llu", out->len > 1 ? "," : "", (unsigned long long)i);
    return ok && buf_append_byte(out, ']');
}

/* Whole lines only. */
static struct slice lines_that_fit(struct slice lines, size_t room)
{
    size_t len = lines.len < room ? lines.len : room;
    while (len && lines.ptr[len - 1] != '\n')
        len--;
    return slice_of(lines.ptr, len);
}

enum rc idem_note_whole(struct request *req, struct store_idem *idem, const struct idem_whole *a,
                        struct err *err)
{
    enum { ROOM = STORE_NOTE_MAX - AT_TEXT };
    uint8_t runs[ROOM];
    bool is_long = a->body.len > ROOM;
    struct slice body = is_long ? slice_of(runs, runs_encode(a->body, runs, ROOM)) : a->body;
    struct slice lines = lines_that_fit(a->lines, ROOM - body.len);
    uint8_t *note = arena_calloc(&req->arena, 1, AT_TEXT + lines.len + body.len);
    if (!note)
        return err_oom(err);
    note[AT_TELLS] = is_long ? BODY_RUNS : BODY_TEXT;
    note[AT_KIND] = IDEM_NOTE_WHOLE;
    put_le16(note + AT_LINES_LEN, (uint16_t)lines.len);
    put_le32(note + AT_VERSION, a->version);
    put_le64(note + AT_REVISION, a->revision);
    uint8_t *at = note + AT_TEXT;
    if (lines.len)
        memcpy(at, lines.ptr, lines.len);
    at += lines.len;
    if (body.len)
        memcpy(at, body.ptr, body.len);
    idem->note = slice_of(note, AT_TEXT + lines.len + body.len);
    return RC_OK;
}

bool idem_warnings(const struct schema *schema, struct buf *lines)
{
    bool ok = true;
    for (size_t i = 0; ok && i < schema_warnings(schema); i++)
        ok = buf_append(lines, SLICE("Schema-Warning: ")) && buf_append(lines, schema_warning(schema, i)) &&
             buf_append(lines, SLICE("\r\n"));
    return ok;
}

/* ---- answers ---- */

COLD bool idem_tell_replayed(struct request *req)
{
    return response_header(req, "Idempotency-Replayed", SLICE("true"));
}

static bool tell_location(struct request *req)
{
    size_t most = 2 + req->type_name.len + 3 * req->id.len;
    uint8_t *text = arena_alloc(&req->arena, most), *at = text;
    if (!text)
        return false;
    *at++ = '/';
    memcpy(at, req->type_name.ptr, req->type_name.len);
    at += req->type_name.len;
    *at++ = '/';
    at += target_encode(req->id, at);
    return response_header(req, "Location", slice_of(text, (size_t)(at - text)));
}

static bool answer_record(struct request *req, const struct store_write *w, struct slice note)
{
    enum idem_tells tells = note.ptr[AT_TELLS];
    bool created = tells == IDEM_TELLS_CREATED && w->created;
    if ((created && !tell_location(req)) ||
        (tells == IDEM_TELLS_CHANGED && !reply_header_u64(req, "Changed", get_le64(note.ptr + AT_CHANGED))) ||
        (tells == IDEM_TELLS_DELETED && !reply_header_u64(req, "Deleted", w->count)) ||
        !idem_tell_replayed(req))
        return false;
    req->response.etag_revision = w->revision;
    req->response.etag_version = get_le32(note.ptr + AT_VERSION);
    req->response.etag_suffix = slice_of(note.ptr + AT_SUFFIX, note.len - AT_SUFFIX);
    answer_text(req, created ? 201 : 200, SLICE("OK"));
    return true;
}

static bool add_lines(struct request *req, struct slice lines)
{
    struct slice own;
    if (!lines.len)
        return true;
    if (!arena_copy(&req->arena, lines, &own)) /* behind its memory response_header finds room of its own */
        return false;
    req->response.headers = own;
    return true;
}

static const char *media_of(const struct request *req)
{
    if (!req->is_registry)
        return "text/plain; charset=utf-8";
    const char *media = media_answer(req->header[HEADER_ACCEPT]);
    return media ? media : "application/json";
}

static bool answer_whole(struct request *req, struct slice note)
{
    size_t lines_len = get_le16(note.ptr + AT_LINES_LEN);
    bool is_runs = note.ptr[AT_TELLS] == BODY_RUNS;
    struct buf *text = &req->worker->scratch;
    struct slice body = slice_of(note.ptr + AT_TEXT + lines_len, note.len - AT_TEXT - lines_len);
    text->len = 0;
    if (!add_lines(req, slice_of(note.ptr + AT_TEXT, lines_len)) || !idem_tell_replayed(req) ||
        (is_runs && !runs_print(body, text)))
        return false;
    req->response.etag_revision = get_le64(note.ptr + AT_REVISION);
    req->response.etag_version = get_le32(note.ptr + AT_VERSION);
    req->response.status = 200;
    req->response.content_type = media_of(req);
    req->response.body = is_runs ? buf_slice(text) : body;
    struct worker *worker = req->worker; /* behind answer() the request may be over */
    answer(req);
    reply_scratch_done(worker);
    return true;
}

static bool answer_text_of_txn(struct request *req, struct slice note)
{
    if (!idem_tell_replayed(req))
        return false;
    answer_json(req, note);
    return true;
}

static bool is_sound(struct slice note)
{
    switch (note.len ? note.ptr[AT_KIND] : 0) {
    case IDEM_NOTE_RECORD: return note.len >= AT_SUFFIX;
    case IDEM_NOTE_WHOLE:
        return note.len >= AT_TEXT && note.len - AT_TEXT >= get_le16(note.ptr + AT_LINES_LEN);
    case IDEM_NOTE_JSON: return true;
    default: return false;
    }
}

static bool answer_note(struct request *req, const struct store_write *w, struct slice note)
{
    switch (note.ptr[AT_KIND]) {
    case IDEM_NOTE_RECORD: return answer_record(req, w, note);
    case IDEM_NOTE_WHOLE: return answer_whole(req, note);
    default: return answer_text_of_txn(req, note);
    }
}

COLD void idem_answer(struct request *req, const struct store_write *w)
{
    struct slice note = slice_of(w->idem->first, w->idem->first_len);
    struct err err;
    req->look = LOOK_DONE; /* what is refused from here on is answered */
    response_reset(req);
    if (!is_sound(note)) {
        err_set(&err, ERR_IO, "What is remembered under an idempotency key is damaged.");
        answer_err(req, &err);
    } else if (!answer_note(req, w, note)) {
        response_reset(req);
        reply_no_memory(req);
    }
}
