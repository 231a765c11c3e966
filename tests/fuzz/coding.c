/* tests/fuzz/coding.c - content codings: a byte of options, an Accept-Encoding, a NUL, a body. A plain reading of RFC 9110,
 * 12.5.3 (copies in lower case, strtod, every coding looked for) comes to the same wish; a body that goes in by pieces comes
 * out of zlib's inflate as it was, and behind a flush all that went in before it. */
#include <ctype.h>
#include <stdbool.h>
#include <zlib.h>

#include "base/zstd.h"
#include "server/coding.h"
#include "server/http/deflater.h"
#include "tests/fuzz/fuzz.h"

enum { ITEM_BYTES = 64 };

/* ---- the plain reading ---- */

/* Without the blanks at both ends, in lower case. False: longer than anything that means something. */
static bool plain_item(struct slice s, char out[ITEM_BYTES])
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    if (s.len >= ITEM_BYTES || (s.len && memchr(s.ptr, 0, s.len)))
        return false;
    for (size_t i = 0; i < s.len; i++)
        out[i] = (char)tolower(s.ptr[i]);
    out[s.len] = 0;
    return true;
}

/* 0(.0-3 digits) or 1(.0-3 zeros); -1: it is none. */
static double plain_weight(const char *text)
{
    size_t n = strlen(text), digits = n < 2 ? 0 : strspn(text + 2, text[0] == '1' ? "0" : "0123456789");
    bool fits = (n == 1 || (n >= 2 && n <= 5 && text[1] == '.' && digits == n - 2)) &&
                (text[0] == '0' || text[0] == '1');
    return fits ? strtod(text, NULL) : -1;
}

/* The weight of a name in the list, the highest; -1: it is not there. */
static double plain_find(struct slice list, const char *name, const char *or_name)
{
    double best = -1;
    for (bool more = true; more;) {
        const uint8_t *comma = list.len ? memchr(list.ptr, ',', list.len) : NULL;
        struct slice item = slice_of(list.ptr, comma ? (size_t)(comma - list.ptr) : list.len);
        more = comma != NULL;
        list = more ? slice_of(comma + 1, list.len - item.len - 1) : list;
        const uint8_t *semicolon = item.len ? memchr(item.ptr, ';', item.len) : NULL;
        size_t len = semicolon ? (size_t)(semicolon - item.ptr) : item.len;
        char word[ITEM_BYTES], q[ITEM_BYTES] = "";
        if (!plain_item(slice_of(item.ptr, len), word) ||
            (strcmp(word, name) != 0 && strcmp(word, or_name) != 0))
            continue;
        if (semicolon && !plain_item(slice_of(semicolon + 1, item.len - len - 1), q))
            continue;
        double weight = !q[0] ? 1 : strncmp(q, "q=", 2) == 0 ? plain_weight(q + 2) : -1;
        best = weight > best ? weight : best;
    }
    return best;
}

static void check_wish(struct slice list)
{
    struct coding_wish wish = coding_wish(list);
    double star = plain_find(list, "*", "*"), identity = plain_find(list, "identity", "identity");
    double gzip = plain_find(list, "gzip", "x-gzip"), deflate = plain_find(list, "deflate", "deflate");
    gzip = gzip < 0 ? star : gzip;
    deflate = deflate < 0 ? star : deflate;
    enum coding want = CODING_identity;
    if (gzip > 0 && gzip >= deflate && gzip >= identity)
        want = CODING_gzip;
    else if (deflate > 0 && deflate > gzip && deflate >= identity)
        want = CODING_deflate;
    bool refused = identity == 0 || (identity < 0 && star == 0);
    CHECK(wish.coding == want, "coding %d, not %d, of %.*s", wish.coding, want, SHOW(list));
    CHECK(wish.identity_refused == refused, "identity of %.*s", SHOW(list));
}

/* ---- bodies ---- */

/* All that `coded` holds so far, behind what came of it before. */
static int undo(z_stream *z, struct buf *coded, size_t *read, struct buf *plain, size_t room)
{
    CHECK(buf_reserve(plain, room + 1), "memory is out");
    z->next_in = coded->ptr + *read;
    z->avail_in = (uInt)(coded->len - *read);
    z->next_out = plain->ptr + plain->len;
    z->avail_out = (uInt)room + 1;
    int rc = inflate(z, Z_SYNC_FLUSH);
    plain->len += room + 1 - z->avail_out;
    *read = coded->len - z->avail_in;
    return rc;
}

static void check_body(uint8_t options, struct slice body)
{
    struct deflater *d = deflater_new(options & 1 ? CODING_gzip : CODING_deflate);
    struct buf coded = {0}, plain = {0};
    z_stream z = {0};
    size_t put = 0, read = 0, piece = 1 + (options >> 2) * (size_t)37;
    bool flushes = options & 2;
    CHECK(d && inflateInit2(&z, options & 1 ? 31 : 15) == Z_OK, "memory is out");
    for (bool last = false; !last;) {
        size_t n = body.len - put < piece ? body.len - put : piece;
        last = put + n == body.len;
        enum deflater_then then = last ? DEFLATER_END : flushes ? DEFLATER_FLUSH : DEFLATER_GOES_ON;
        CHECK(deflater_put(d, slice_of(body.ptr + put, n), then, &coded), "memory is out");
        put += n;
        int rc = undo(&z, &coded, &read, &plain, body.len - plain.len);
        CHECK(last ? rc == Z_STREAM_END : rc == Z_OK || rc == Z_BUF_ERROR, "inflate says %d", rc);
        CHECK(!flushes || plain.len == put, "%zu bytes of %zu", plain.len, put);
    }
    CHECK(read == coded.len && slice_eq(buf_slice(&plain), body), "another body");
    inflateEnd(&z);
    deflater_free(d);
    buf_release(&coded);
    buf_release(&plain);
}

/* Any bytes as what the store holds of a packed body: they are undone to just so many bytes, or refused. Packed here, they
 * come back. */
static void check_packed(uint8_t options, struct slice body)
{
    struct err err;
    size_t bytes = (size_t)options * 5, room = body.len + 512;
    uint8_t *out = malloc(bytes ? bytes : 1), *packed = malloc(room), *back = malloc(body.len ? body.len : 1);
    CHECK(out && packed && back, "memory is out");
    enum rc rc = zstd_unpack(body, out, bytes, &err);
    CHECK(rc == RC_OK || (rc == RC_ERR && err.code == ERR_IO), "code %d", err.code);
    size_t n = zstd_pack(&body, 1, packed, room);
    CHECK(n && zstd_unpack(slice_of(packed, n), back, body.len, &err) == RC_OK, "what was packed is refused");
    CHECK(body.len == 0 || memcmp(back, body.ptr, body.len) == 0, "another body");
    free(out);
    free(packed);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    uint8_t options = fuzz_byte(&in);
    struct slice list = fuzz_copy(fuzz_text(&in));
    check_wish(list);
    coding_pays(list);
    check_body(options, in);
    check_packed(options, in);
    fuzz_free(list);
    return 0;
}
