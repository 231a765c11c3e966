/* server/coding.c - see coding.h. */
#include "server/coding.h"

#include <assert.h>

#include "base/compiler.h"

static const struct {
    struct slice name, suffix;
} codings[CODINGS] = {
#define CODING(id, name_, suffix_)                                                                           \
    [CODING_##id] = {{(const uint8_t *)(name_), sizeof(name_) - 1},                                          \
                     {(const uint8_t *)(suffix_), sizeof(suffix_) - 1}},
#include "server/codings.def"
#undef CODING
};

struct slice coding_name(enum coding coding)
{
    assert(coding < CODINGS);
    return codings[coding].name;
}

struct slice coding_suffix(enum coding coding)
{
    assert(coding < CODINGS);
    return codings[coding].suffix;
}

/* ---- Accept-Encoding ---- */

static struct slice trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* What stands before `mark`, and, in *rest, behind it. No quoted strings here. */
static struct slice cut(struct slice s, uint8_t mark, struct slice *rest)
{
    const uint8_t *at = s.len ? memchr(s.ptr, mark, s.len) : NULL;
    size_t n = at ? (size_t)(at - s.ptr) : s.len;
    *rest = at ? slice_of(at + 1, s.len - n - 1) : SLICE("");
    return trim(slice_of(s.ptr, n));
}

/* A qvalue (section 12.4.2), in thousandths: "0.5" is 500. -1: it is none. */
static int qvalue(struct slice s)
{
    if (!s.len || s.len > 5 || (s.ptr[0] != '0' && s.ptr[0] != '1') || (s.len > 1 && s.ptr[1] != '.'))
        return -1;
    int value = s.ptr[0] == '1' ? 1000 : 0, unit = 100;
    for (size_t i = 2; i < s.len; i++, unit /= 10) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return -1;
        value += (s.ptr[i] - '0') * unit;
    }
    return value <= 1000 ? value : -1;
}

/* "q=0.5", or nothing. -1: something else. */
static int weight(struct slice s)
{
    if (!s.len)
        return 1000;
    return s.len > 2 && (s.ptr[0] | 0x20) == 'q' && s.ptr[1] == '=' ? qvalue(slice_of(s.ptr + 2, s.len - 2))
                                                                    : -1;
}

enum { STAR = CODINGS, WEIGHTS, UNKNOWN = WEIGHTS };

/* Names compare without regard to case; x-gzip is gzip (section 8.4.1.3). */
static unsigned name_find(struct slice name)
{
    if (slice_eq(name, SLICE("*")))
        return STAR;
    if (slice_eq_nocase(name, SLICE("identity")))
        return CODING_identity;
    if (slice_eq_nocase(name, SLICE("x-gzip")))
        return CODING_gzip;
    for (unsigned i = 1; i < CODINGS; i++)
        if (slice_eq_nocase(name, codings[i].name))
            return i;
    return UNKNOWN;
}

/* -1: it is not named. Named twice: the better one counts. */
static void weights_read(struct slice list, int q[WEIGHTS])
{
    for (unsigned i = 0; i < WEIGHTS; i++)
        q[i] = -1;
    while (list.len) {
        struct slice rest, name = cut(cut(list, ',', &list), ';', &rest);
        unsigned which = name_find(name);
        if (which == UNKNOWN)
            continue;
        int value = weight(trim(rest));
        if (value > q[which])
            q[which] = value;
    }
}

struct coding_wish coding_wish(struct slice accept_encoding)
{
    int q[WEIGHTS];
    weights_read(accept_encoding, q);
    int identity = q[CODING_identity] >= 0 ? q[CODING_identity] : q[STAR];
    /* Not named, it will do, but is not what was asked for. */
    struct coding_wish wish = {.coding = CODING_identity, .identity_refused = identity == 0};
    int best = q[CODING_identity] > 0 ? q[CODING_identity] - 1 : 0;
    for (unsigned i = 1; i < CODINGS; i++) {
        int value = q[i] >= 0 ? q[i] : q[STAR];
        if (value <= best)
            continue;
        best = value;
        wish.coding = (enum coding)i;
    }
    return wish;
}

/* ---- what pays ---- */

static bool ends_nocase(struct slice s, struct slice end)
{
    return s.len >= end.len && slice_eq_nocase(slice_of(s.ptr + s.len - end.len, end.len), end);
}

static bool starts_nocase(struct slice s, struct slice start)
{
    return s.len >= start.len && slice_eq_nocase(slice_of(s.ptr, start.len), start);
}

/* Texts, and Avro's own, which are full of texts. */
bool coding_pays(struct slice content_type)
{
#define TEXT(s)                                                                                              \
    {                                                                                                        \
        (const uint8_t *)(s), sizeof(s) - 1                                                                  \
    }
    static const struct slice starts[] = {TEXT("text/"), TEXT("avro/")};
    static const struct slice ends[] = {TEXT("+json"), TEXT("+xml")};
    static const struct slice whole[] = {
        TEXT("application/json"),       TEXT("application/x-ndjson"),           TEXT("application/xml"),
        TEXT("application/javascript"), TEXT("application/vnd.confluent.avro"),
    };
#undef TEXT
    struct slice rest, essence = cut(content_type, ';', &rest);
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        if (slice_eq_nocase(essence, whole[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (starts_nocase(essence, starts[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (ends_nocase(essence, ends[i]))
            return true;
    return false;
}
