/* server/registry/subject_name.c - see subject_name.h. */
#include "server/registry/subject_name.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "server/words.h"

static bool strip(struct slice *s, struct slice prefix)
{
    if (!slice_starts(*s, prefix))
        return false;
    *s = slice_of(s->ptr + prefix.len, s->len - prefix.len);
    return true;
}

/* U+0000 to U+001F, U+007F to U+009F. */
static bool has_control(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
            return true;
        if (s.ptr[i] == 0xc2 && i + 1 < s.len && s.ptr[i + 1] < 0xa0)
            return true;
    }
    return false;
}

static const char *fault_of(struct slice name)
{
    if (!name.len)
        return "It is empty.";
    if (name.len > LIMIT_SUBJECT_NAME_MAX)
        return "It is too long.";
    if (utf8_valid_len(name) != name.len)
        return "It is not UTF-8.";
    if (has_control(name))
        return "It has control characters.";
    if (slice_eq(name, SLICE("__GLOBAL")) || slice_eq(name, SLICE("__EMPTY")))
        return "The registry keeps this name for itself.";
    if (slice_starts(name, SLICE(":.")))
        return "There is no context but the default one.";
    return NULL;
}

enum rc subject_name_check(struct slice name, struct slice *out, struct err *err)
{
    struct words words;
    *out = subject_without_context(name);
    const char *fault = fault_of(*out);
    if (!fault)
        return RC_OK;
    return err_set(err, ERR_BAD_SUBJECT, "'%s' cannot name a subject. %s", words_of(name, &words), fault);
}

struct slice subject_without_context(struct slice name)
{
    strip(&name, SLICE(":.:"));
    return name;
}

enum rc subject_unknown(struct slice name, struct err *err)
{
    struct words words;
    return err_set(err, ERR_NO_SUBJECT, "Subject '%s' not found.", words_of(name, &words));
}

struct slice subject_prefix(struct slice given)
{
    if (!strip(&given, SLICE(":*:")))
        strip(&given, SLICE(":.:"));
    return given;
}
