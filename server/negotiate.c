/* server/negotiate.c - see negotiate.h. */
#include "server/negotiate.h"

#include "server/words.h"

static struct slice trim(struct slice s)
{
    while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* What stands before the next `mark` outside of a quoted string; *rest is what stands behind it. */
static struct slice cut(struct slice s, uint8_t mark, struct slice *rest)
{
    bool quoted = false;
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        if (c == '"')
            quoted = !quoted;
        else if (c == '\\' && quoted)
            i++;
        else if (c == mark && !quoted) {
            *rest = slice_of(s.ptr + i + 1, s.len - i - 1);
            return trim(slice_of(s.ptr, i));
        }
    }
    *rest = SLICE("");
    return trim(s);
}

static bool starts_nocase(struct slice s, struct slice prefix)
{
    return s.len >= prefix.len && slice_eq_nocase(slice_of(s.ptr, prefix.len), prefix);
}

struct slice negotiate_essence(struct slice content_type)
{
    struct slice rest;
    return cut(content_type, ';', &rest);
}

/* The value of a parameter of a media type, without quotes; empty: not there. */
static struct slice parameter(struct slice media, struct slice name)
{
    struct slice rest;
    cut(media, ';', &rest);
    while (rest.len) {
        struct slice value, key = cut(cut(rest, ';', &rest), '=', &value);
        if (!slice_eq_nocase(key, name))
            continue;
        value = trim(value);
        if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
            value = slice_of(value.ptr + 1, value.len - 2);
        return value;
    }
    return (struct slice){0};
}

static enum rc check_coding(struct slice content_encoding, struct err *err)
{
    if (!content_encoding.len || slice_eq_nocase(content_encoding, SLICE("identity")))
        return RC_OK;
    struct words words;
    return err_set(err, ERR_UNSUPPORTED_CODING,
                   "Content-Encoding '%s' is not offered; send the body as it is.",
                   words_of(content_encoding, &words));
}

static enum rc check_charset(struct slice content_type, struct err *err)
{
    struct slice charset = parameter(content_type, SLICE("charset"));
    if (!charset.len || slice_eq_nocase(charset, SLICE("utf-8")) || slice_eq_nocase(charset, SLICE("utf8")) ||
        slice_eq_nocase(charset, SLICE("us-ascii")))
        return RC_OK;
    struct words words;
    return err_set(err, ERR_UNSUPPORTED_TYPE, "The charset '%s' is not offered; send UTF-8.",
                   words_of(charset, &words));
}

enum rc negotiate_whole_body(struct slice content_range, struct err *err)
{
    if (likely(!content_range.len))
        return RC_OK;
    return err_set(err, ERR_BAD_REQUEST,
                   "Content-Range says that the body is a part; here all is put at once.");
}

static bool is_one_of(struct slice essence, const struct slice *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slice_eq_nocase(essence, names[i]))
            return true;
    return false;
}

/* What a body is taken for JSON by. */
static bool is_json(struct slice essence)
{
    static const struct slice taken_for_json[] = {
        {(const uint8_t *)"application/json", 16},
        {(const uint8_t *)"application/octet-stream", 24},
        {(const uint8_t *)"text/plain", 10},
        {(const uint8_t *)"application/x-www-form-urlencoded", 33},
    };
    return is_one_of(essence, taken_for_json, ARRAY_LEN(taken_for_json));
}

enum rc negotiate_json_named(struct slice content_type, struct slice content_encoding,
                             const struct slice *names, size_t n, const char *offered, struct err *err)
{
    if (check_coding(content_encoding, err) != RC_OK)
        return RC_ERR;
    if (!content_type.len)
        return RC_OK;
    struct slice essence = negotiate_essence(content_type);
    if (is_json(essence) || is_one_of(essence, names, n))
        return essence.len == content_type.len ? RC_OK : check_charset(content_type, err);
    struct words words;
    return err_set(err, ERR_UNSUPPORTED_TYPE,
                   "Content-Type '%s' is not offered here; %s, and no Content-Type at all.",
                   words_of(essence, &words), offered);
}

enum rc negotiate_json_body(struct slice content_type, struct slice content_encoding, struct err *err)
{
    return negotiate_json_named(content_type, content_encoding, NULL, 0, "application/json is", err);
}

enum rc negotiate_patch_body(struct slice content_type, struct slice content_encoding, enum patch_form *out,
                             struct err *err)
{
    *out = PATCH_MERGE;
    if (check_coding(content_encoding, err) != RC_OK)
        return RC_ERR;
    struct slice essence = negotiate_essence(content_type);
    if (slice_eq_nocase(essence, SLICE("application/json-patch+json")))
        *out = PATCH_OPERATIONS;
    else if (essence.len && !slice_eq_nocase(essence, SLICE("application/merge-patch+json")) &&
             !is_json(essence)) {
        struct words words;
        return err_set(err, ERR_UNSUPPORTED_TYPE, "Content-Type '%s' is no patch; these are: %s.",
                       words_of(essence, &words), PATCH_TYPES);
    }
    return check_charset(content_type, err);
}

static COLD enum rc refuse_form(struct slice essence, enum encoding_set set, const char *besides,
                                struct err *err)
{
    struct words words;
    char list[ENCODING_LIST_BYTES];
    return err_set(err, ERR_UNSUPPORTED_TYPE, "Content-Type '%s' is not offered here; %s are, and %s.",
                   words_of(essence, &words), encoding_list(set, list), besides);
}

/* JSON is text: it has a charset. */
static enum rc take_form(const struct encoding *form, struct slice content_type, struct err *err)
{
    return form->framing ? RC_OK : check_charset(content_type, err);
}

enum rc negotiate_record_body(struct slice content_type, struct slice content_encoding, enum encoding_set set,
                              const struct encoding **out, struct err *err)
{
    *out = &encodings[ENCODING_json];
    if (check_coding(content_encoding, err) != RC_OK)
        return RC_ERR;
    if (!content_type.len)
        return RC_OK;
    struct slice essence = negotiate_essence(content_type);
    if (is_json(essence))
        return essence.len == content_type.len ? RC_OK : check_charset(content_type, err);
    const struct encoding *form = encoding_find(essence);
    if (!form || !encoding_in(form, set))
        return refuse_form(essence, set, "no Content-Type at all", err);
    *out = form;
    return take_form(form, content_type, err);
}

/* Avro's own media types, whether there is such a form or not. */
static bool is_avro(struct slice essence)
{
    return starts_nocase(essence, SLICE("avro/")) ||
           slice_eq_nocase(essence, SLICE("application/vnd.confluent.avro"));
}

enum rc negotiate_raw_body(struct slice content_type, struct slice content_encoding, bool text,
                           const struct encoding **out, struct err *err)
{
    *out = NULL;
    if (check_coding(content_encoding, err) != RC_OK)
        return RC_ERR;
    if (!content_type.len)
        return RC_OK;
    struct slice essence = negotiate_essence(content_type);
    if (unlikely(is_avro(essence))) {
        *out = encoding_find(essence);
        return *out ? take_form(*out, content_type, err)
                    : refuse_form(essence, FORMS_AVRO, "whatever is not Avro's own", err);
    }
    if (content_type.len > CONTENT_TYPE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "The Content-Type has %zu bytes; at most %d are kept.",
                       content_type.len, CONTENT_TYPE_MAX);
    return text ? check_charset(content_type, err) : RC_OK;
}

/* ---- Accept ---- */

/* "0.5" as 500. What is no weight counts as 1000, as if it were not there. */
static unsigned weight(struct slice q)
{
    if (!q.len || q.len > 5 || (q.ptr[0] != '0' && q.ptr[0] != '1') || (q.len > 1 && q.ptr[1] != '.'))
        return 1000;
    unsigned value = q.ptr[0] == '1' ? 1000 : 0, unit = 100;
    for (size_t i = 2; i < q.len; i++, unit /= 10) {
        if (q.ptr[i] < '0' || q.ptr[i] > '9')
            return 1000;
        value += (unsigned)(q.ptr[i] - '0') * unit;
    }
    return value < 1000 ? value : 1000;
}

/* 0: the range does not take this type; 1: it takes all; 2: all of its kind; 3: it alone. */
static unsigned range_fits(struct slice range, struct slice media_type)
{
    if (slice_eq_nocase(range, media_type))
        return 3;
    if (slice_eq(range, SLICE("*/*")))
        return 1;
    if (range.len < 3 || range.ptr[range.len - 1] != '*' || range.ptr[range.len - 2] != '/')
        return 0;
    return starts_nocase(media_type, slice_of(range.ptr, range.len - 1)) ? 2 : 0;
}

unsigned negotiate_quality(struct slice accept, struct slice media_type)
{
    if (!accept.len || slice_eq(accept, SLICE("*/*")))
        return 1000;
    unsigned quality = 0, best_fit = 0;
    bool is_empty = true;
    while (accept.len) {
        struct slice item = cut(accept, ',', &accept);
        if (!item.len)
            continue;
        is_empty = false;
        unsigned fit = range_fits(negotiate_essence(item), media_type);
        if (!fit || fit < best_fit)
            continue;
        unsigned q = weight(parameter(item, SLICE("q")));
        quality = fit > best_fit || q > quality ? q : quality;
        best_fit = fit;
    }
    return is_empty ? 1000 : quality;
}

/* The one that is liked better than *quality, and best. NULL: there is none. */
static const struct encoding *best(struct slice accept, enum encoding_set set, unsigned *quality)
{
    const struct encoding *found = NULL;
    for (unsigned i = 0; i < ENCODINGS && *quality < 1000; i++) {
        const struct encoding *form = &encodings[i];
        unsigned q = encoding_in(form, set) ? negotiate_quality(accept, form->media_type) : 0;
        if (q <= *quality)
            continue;
        *quality = q;
        found = form;
    }
    return found;
}

enum rc negotiate_record_answer(struct slice accept, enum encoding_set set, const struct encoding **out,
                                struct err *err)
{
    unsigned quality = 0;
    *out = &encodings[ENCODING_json];
    if (likely(!accept.len) || slice_eq(accept, SLICE("*/*")))
        return RC_OK;
    *out = best(accept, set, &quality);
    if (likely(*out != NULL))
        return RC_OK;
    char list[ENCODING_LIST_BYTES];
    return err_set(err, ERR_NOT_ACCEPTABLE, "The Accept of this request leaves nothing; offered are %s.",
                   encoding_list(set, list));
}

enum rc negotiate_raw_answer(struct slice accept, struct slice own, const struct encoding **out,
                             struct err *err)
{
    unsigned quality = negotiate_quality(accept, negotiate_essence(own));
    bool as_it_is = quality > 0;
    *out = best(accept, FORMS_AVRO, &quality);
    if (as_it_is || *out)
        return RC_OK;
    struct words words;
    char list[ENCODING_LIST_BYTES];
    return err_set(err, ERR_NOT_ACCEPTABLE, "The Accept of this request leaves nothing; offered are %s, %s.",
                   words_of(negotiate_essence(own), &words), encoding_list(FORMS_AVRO, list));
}
