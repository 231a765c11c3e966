/* tests/fuzz/client.c - what the client reads of a server. The first byte chooses what the rest is:
 *   0  a problem document, or a line of a scan: members are what Jansson finds
 *   1  metrics: samples lie in the text
 *   2  an answer: it is read alike in one piece and in two, and right only if it is byte for byte
 *   3  a JSON string: it says what Jansson says */
#include <jansson.h>

#include "client/avrod.h"
#include "client/ctl/reply_check.h"
#include "client/ctl/samples.h"
#include "client/lib/json_member.h"
#include "tests/fuzz/fuzz.h"

/* ---- members ---- */

static void check_member(struct slice text, const json_t *tree, const char *name)
{
    const json_t *wanted = json_object_get(tree, name);
    struct slice value;
    struct buf out = {0};
    bool found = json_member(text, name, &value);
    CHECK(found == (wanted != NULL), "%s in %.*s", name, SHOW(text));
    if (!found)
        return;
    CHECK(value.ptr >= text.ptr && value.ptr + value.len <= text.ptr + text.len, "a value outside the text");
    bool is_text = json_member_text(value, &out);
    CHECK(is_text == json_is_string(wanted), "%.*s", SHOW(value));
    if (is_text)
        CHECK(slice_eq(buf_slice(&out), slice_of(json_string_value(wanted), json_string_length(wanted))),
              "%.*s is %.*s", SHOW(value), SHOW(out));
    buf_release(&out);
}

/* Escapes in names are not undone: the server writes none in those that are looked for. */
static bool has_plain_names(const json_t *tree)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)tree, key, value)
    {
        if (strpbrk(key, "\"\\/") || strlen(key) == 0)
            return false;
        for (const char *c = key; *c; c++)
            if (*c < ' ')
                return false;
    }
    return true;
}

static void fuzz_members(struct slice text)
{
    static const char *const names[] = {"code", "detail", "id", "id_base64", "status"};
    char id[AVROD_ID_MAX];
    json_error_t at;
    json_t *tree = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &at);
    bool compares = json_is_object(tree) && !memmem(text.ptr, text.len, "\\u", 2) && has_plain_names(tree);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct slice value;
        if (compares)
            check_member(text, tree, names[i]);
        else if (json_member(text, names[i], &value))
            CHECK(value.ptr >= text.ptr && value.ptr + value.len <= text.ptr + text.len,
                  "a value outside the text");
    }
    CHECK(avrod_line_id((const char *)text.ptr, text.len, id) <= AVROD_ID_MAX, "an id that is too long");
    json_decref(tree);
}

/* A string alone, with all its escapes. */
static void fuzz_string(struct slice text)
{
    json_error_t at;
    struct buf out = {0};
    json_t *tree = json_loadb((const char *)text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &at);
    bool plain = json_is_string(tree) && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    bool good = json_member_text(text, &out);
    CHECK(out.len <= text.len, "longer than what says it");
    if (plain)
        CHECK(good && slice_eq(buf_slice(&out), slice_of(json_string_value(tree), json_string_length(tree))),
              "%.*s", SHOW(text));
    buf_release(&out);
    json_decref(tree);
}

/* ---- metrics ---- */

static void fuzz_samples(struct slice text)
{
    struct slice rest = text;
    struct sample s;
    size_t lines = 1, samples = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    while (sample_next(&rest, &s)) {
        struct slice le = sample_label(&s, "le");
        CHECK(s.name.ptr >= text.ptr && s.labels.len <= text.len, "a sample outside the text");
        CHECK(!le.len || (le.ptr >= s.labels.ptr && le.ptr + le.len <= s.labels.ptr + s.labels.len),
              "a label outside the labels");
        samples++;
    }
    CHECK(samples <= lines, "more samples than lines");
    (void)samples_quantile(text, text, "a", NULL, NULL, 0.5);
}

/* ---- answers ---- */

static enum reply_state read_in(struct slice text, size_t cut, const struct reply_want *want, size_t *taken,
                                bool *right)
{
    struct reply *r = calloc(1, sizeof *r);
    size_t first, second = 0;
    CHECK(r, "memory is out");
    enum reply_state state = reply_take(r, want, slice_of(text.ptr, cut), &first);
    CHECK(first <= cut && (state != REPLY_MORE || first == cut), "took %zu of %zu", first, cut);
    if (state == REPLY_MORE) {
        state = reply_take(r, want, slice_of(text.ptr + cut, text.len - cut), &second);
        CHECK(second <= text.len - cut, "took %zu of %zu", second, text.len - cut);
    }
    *taken = first + second;
    *right = state == REPLY_WHOLE && reply_is_right(r, want);
    free(r);
    return state;
}

static void fuzz_reply(struct slice text)
{
    size_t cut = fuzz_byte(&text), taken[2];
    struct reply_want want = {.status = 200, .body = SLICE("00000000pong"), .number = SLICE("00000042")};
    bool right[2];
    cut = cut < text.len ? cut : text.len;
    enum reply_state whole = read_in(text, text.len, &want, &taken[0], &right[0]);
    enum reply_state pieces = read_in(text, cut, &want, &taken[1], &right[1]);
    CHECK(whole == pieces && right[0] == right[1], "in pieces %d, at once %d", pieces, whole);
    if (whole == REPLY_WHOLE)
        CHECK(taken[0] == taken[1], "in pieces %zu bytes, at once %zu", taken[1], taken[0]);
    if (right[0])
        CHECK(taken[0] >= 12 && !memcmp(text.ptr + taken[0] - 12, "00000042pong", 12),
              "a wrong body is right");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = fuzz_copy(slice_of(data, size)), rest = in;
    static void (*const parts[])(struct slice) = {fuzz_members, fuzz_samples, fuzz_reply, fuzz_string};
    size_t part = fuzz_byte(&rest) % ARRAY_LEN(parts);
    if (rest.len)
        parts[part](rest);
    fuzz_free(in);
    return 0;
}
