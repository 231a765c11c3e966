/* tests/fuzz/target.c - request targets: paths are split and decoded as a plain reading of the rules does it,
 * what is encoded decodes to itself, and queries give each known parameter once. The input: a byte of
 * options, then path and query, '?' between them. */
#include "server/target.h"
#include "base/buf.h"
#include "server/params.h"
#include "tests/fuzz/fuzz.h"

static int digit(uint8_t c)
{
    const char *found = c ? strchr("0123456789abcdef0123456789ABCDEF", c) : NULL;
    return found ? (int)(found - "0123456789abcdef0123456789ABCDEF") & 15 : -1;
}

/* The rules, plainly. False: a percent sign that stands before no two digits. */
static bool decode_plainly(struct slice raw, bool plus_is_space, struct buf *out)
{
    out->len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        uint8_t c = raw.ptr[i];
        if (c == '%') {
            if (raw.len - i < 3 || digit(raw.ptr[i + 1]) < 0 || digit(raw.ptr[i + 2]) < 0)
                return false;
            c = (uint8_t)(digit(raw.ptr[i + 1]) * 16 + digit(raw.ptr[i + 2]));
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        CHECK(buf_append_byte(out, c), "memory is out");
    }
    return true;
}

static void check_decode(struct slice raw, bool plus_is_space, struct arena *arena)
{
    struct buf plain = {0};
    struct slice got;
    struct err err = {0};
    bool ok = decode_plainly(raw, plus_is_space, &plain);
    enum rc rc = target_decode(raw, plus_is_space, arena, &got, &err);
    CHECK(ok == (rc == RC_OK), "%.*s: rc %d", SHOW(raw), rc);
    CHECK(!ok || slice_eq(got, buf_slice(&plain)), "%.*s: %.*s", SHOW(raw), SHOW(got));
    CHECK(ok || err.code == ERR_BAD_TARGET, "%.*s: code %d", SHOW(raw), err.code);
    buf_release(&plain);
}

static void check_encode(struct slice s, struct arena *arena)
{
    uint8_t *text = malloc(3 * s.len + 1);
    struct slice back;
    struct err err;
    CHECK(text, "memory is out");
    size_t n = target_encode(s, text);
    CHECK(n <= 3 * s.len, "%zu bytes became %zu", s.len, n);
    for (size_t i = 0; i < n; i++)
        CHECK(text[i] > 0x20 && text[i] < 0x7f && !strchr("/?#&+", text[i]), "byte %02x", text[i]);
    CHECK(target_decode(slice_of(text, n), true, arena, &back, &err) == RC_OK && slice_eq(back, s), "%.*s",
          SHOW(s));
    free(text);
}

/* The i-th segment of the path, plainly: between slashes, one at the end ignored. False: there is none. */
static bool segment_of(struct slice path, unsigned i, struct slice *out)
{
    size_t at = 1;
    for (;; i--) {
        if (at >= path.len)
            return false;
        size_t to = at;
        while (to < path.len && path.ptr[to] != '/')
            to++;
        *out = slice_of(path.ptr + at, to - at);
        if (i == 0)
            return true;
        at = to + 1;
    }
}

static void check_split(struct slice path, struct arena *arena)
{
    struct target t;
    struct err err = {0};
    struct slice raw;
    struct buf plain = {0};
    enum rc rc = target_split(path, arena, &t, &err);
    unsigned n = 0;
    bool ok = true, empty = false;
    while (n < TARGET_SEGMENTS_MAX && segment_of(path, n, &raw) &&
           (ok = decode_plainly(raw, false, &plain))) {
        CHECK(rc != RC_OK || slice_eq(t.segment[n], buf_slice(&plain)), "segment %u of %.*s", n, SHOW(path));
        empty |= raw.len == 0;
        n++;
    }
    CHECK(ok == (rc == RC_OK), "%.*s: rc %d", SHOW(path), rc);
    if (ok) {
        bool more = n == TARGET_SEGMENTS_MAX && segment_of(path, n, &raw);
        CHECK(t.n == n + more, "%.*s: %u segments", SHOW(path), t.n);
        CHECK(t.empty_segment == empty, "%.*s: empty %d", SHOW(path), t.empty_segment);
        CHECK(more || t.trailing_slash == (path.len > 1 && path.ptr[path.len - 1] == '/'), "%.*s",
              SHOW(path));
        for (unsigned i = 0; i < n; i++)
            check_encode(t.segment[i], arena);
    }
    buf_release(&plain);
}

static void check_query(struct slice query, uint64_t known, bool ignore_unknown)
{
    struct request req = {.query = query};
    struct err err = {0};
    enum rc rc = params_parse(&req, known, ignore_unknown, &err);
    CHECK(req.nparams <= PARAM_IDS, "%u parameters", req.nparams);
    if (rc == RC_OK) {
        unsigned found = 0;
        for (unsigned id = 0; id < PARAM_IDS; id++) {
            bool is_there = params_find(&req, (enum param_id)id) != NULL;
            CHECK(!is_there || known >> id & 1, "a parameter that is not known");
            found += is_there;
        }
        CHECK(found == req.nparams, "%u of %u are found", found, req.nparams);
    } else {
        CHECK(err.code == ERR_BAD_TARGET || err.code == ERR_BAD_PARAMETER ||
                  (err.code == ERR_UNKNOWN_PARAMETER && !ignore_unknown),
              "code %d", err.code);
    }
    arena_release(&req.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of(data, size);
    uint8_t options = fuzz_byte(&in);
    struct slice target = fuzz_copy(in);
    const uint8_t *mark = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    struct slice path = slice_of(target.ptr, mark ? (size_t)(mark - target.ptr) : target.len);
    struct slice query = mark ? slice_of(mark + 1, target.len - path.len - 1) : slice_of(NULL, 0);
    struct arena arena = {0};
    if (path.len && path.ptr[0] == '/')
        check_split(path, &arena);
    check_decode(path, options & 1, &arena);
    check_query(query, (uint32_t)options >> 1, options & 1);
    arena_release(&arena);
    fuzz_free(target);
    return 0;
}
