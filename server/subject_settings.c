/* server/subject_settings.c - see subject_settings.h. */
#include "server/subject_settings.h"

#include <assert.h>
#include <string.h>

#include "server/words.h"

enum { FORMAT = 1 };

static const struct {
    const char *name;
    bool read_only, overrides;
} modes[] = {
    [SUBJECT_MODE_UNSET] = {"", false, false},
#define SUBJECT_MODE(name, read_only, overrides) [SUBJECT_MODE_##name] = {#name, read_only, overrides},
#include "server/subject_modes.def"
#undef SUBJECT_MODE
};

/* ---- bytes ---- */

struct slice settings_key(struct slice subject, uint8_t *key)
{
    assert(subject.len <= LIMIT_SUBJECT_NAME_MAX);
    key[0] = 0;
    key[1] = SUBJECT_ROW_SETTINGS;
    if (subject.len)
        memcpy(key + SUBJECT_ROW_PREFIX, subject.ptr, subject.len);
    return slice_of(key, SUBJECT_ROW_PREFIX + subject.len);
}

struct slice settings_encode(const struct subject_settings *s, uint8_t *bytes)
{
    bytes[0] = FORMAT;
    bytes[1] = s->level;
    bytes[2] = s->mode;
    bytes[3] = 0;
    return slice_of(bytes, SETTINGS_BYTES);
}

enum rc settings_decode(struct slice bytes, struct subject_settings *out, struct err *err)
{
    if (bytes.len < SETTINGS_BYTES || bytes.ptr[0] != FORMAT || bytes.ptr[1] > COMPAT_MODES ||
        bytes.ptr[2] >= SUBJECT_MODES)
        return err_set(err, ERR_STORE_FORMAT,
                       "A subject's settings are of a form that this version does not know.");
    *out = (struct subject_settings){.level = bytes.ptr[1], .mode = bytes.ptr[2]};
    return RC_OK;
}

enum rc settings_txn_get(struct store_txn *txn, struct slice subject, struct subject_settings *out,
                         struct err *err)
{
    uint8_t key[LIMIT_ID_MAX];
    const struct store_key at = {.space = SPACE_SUBJECT, .id = settings_key(subject, key)};
    struct record rec;
    *out = (struct subject_settings){0};
    enum rc rc = txn_get(txn, &at, &rec, err);
    if (rc == RC_OK)
        return settings_decode(rec.body, out, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* ---- what holds ---- */

enum compat_mode settings_level(const struct settings_pair *s)
{
    uint8_t level = s->own.level ? s->own.level : s->global.level;
    return level ? (enum compat_mode)(level - 1) : COMPAT_BACKWARD;
}

enum subject_mode settings_mode(const struct settings_pair *s)
{
    if (modes[s->global.mode].overrides || !s->own.mode)
        return s->global.mode ? s->global.mode : SUBJECT_MODE_READWRITE;
    return s->own.mode;
}

enum rc settings_writable(const struct settings_pair *s, struct slice subject, struct err *err)
{
    enum subject_mode mode = settings_mode(s);
    struct words words;
    if (!modes[mode].read_only)
        return RC_OK;
    return err_set(err, ERR_READ_ONLY, "The schemas of '%s' do not change: its mode in the registry is %s.",
                   words_of(subject, &words), modes[mode].name);
}

const char *subject_mode_name(enum subject_mode mode)
{
    assert(mode < SUBJECT_MODES);
    return modes[mode].name;
}

bool subject_mode_parse(struct slice name, enum subject_mode *out)
{
    for (unsigned i = SUBJECT_MODE_UNSET + 1; i < SUBJECT_MODES; i++) {
        *out = (enum subject_mode)i;
        if (slice_eq_nocase(name, slice_str(modes[i].name)))
            return true;
    }
    return false;
}
