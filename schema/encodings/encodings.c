/* schema/encodings/encodings.c - the table of forms, and finding one in it. */
#include "schema/encoding.h"

#include <assert.h>

#define LITERAL(text)                                                                                        \
    {                                                                                                        \
        (const uint8_t *)(text), sizeof(text) - 1                                                            \
    }
#define TEXT(form)  .json = (form)
#define BINARY(how) .framing = &(how)
const struct encoding encodings[ENCODINGS] = {
#define ENCODING(name, type, content, suffix)                                                                \
    [ENCODING_##name] = {.media_type = LITERAL(type), .tag_suffix = LITERAL(suffix), content},
#include "schema/encodings/encodings.def"
#undef ENCODING
};

const struct encoding *encoding_find(struct slice media_type)
{
    for (size_t i = 0; i < ENCODINGS; i++)
        if (slice_eq_nocase(media_type, encodings[i].media_type))
            return &encodings[i];
    return NULL;
}

bool encoding_in(const struct encoding *form, enum encoding_set set)
{
    switch (set) {
    case FORMS_ALL: return true;
    case FORMS_TEXT: return !form->framing;
    case FORMS_AVRO: return form != &encodings[ENCODING_json];
    }
    assert(!"no set");
    return false;
}

const char *encoding_list(enum encoding_set set, char out[ENCODING_LIST_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < ENCODINGS; i++) {
        struct slice type = encodings[i].media_type;
        if (!encoding_in(&encodings[i], set))
            continue;
        assert(n + type.len + sizeof ", " <= ENCODING_LIST_BYTES);
        memcpy(out + n, ", ", n ? 2 : 0);
        n += n ? 2 : 0;
        memcpy(out + n, type.ptr, type.len);
        n += type.len;
    }
    out[n] = '\0';
    return out;
}
