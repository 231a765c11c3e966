/* server/registry/settings.c - levels of compatibility and modes, of a subject or for all. The level of a subject that is
 * a type is the type's option; any other stands in the rows of server/subject_settings.h. */
#include "server/registry/ask.h"
#include "server/registry/handlers.h"
#include "server/registry/registry.h"
#include "server/type_options.h"
#include "server/words.h"

/* ---- words ---- */

enum { LEVEL_TEXT_MAX = 32 };

/* As the registry spells it: in capitals. */
static struct slice level_text(enum compat_mode mode, char text[LEVEL_TEXT_MAX])
{
    const char *name = compat_mode_name(mode);
    size_t n = 0;
    for (; name[n] && n < LEVEL_TEXT_MAX; n++)
        text[n] = (char)(name[n] >= 'a' && name[n] <= 'z' ? name[n] - 'a' + 'A' : name[n]);
    return slice_of(text, n);
}

static enum rc level_parse(struct slice text, uint8_t *level, struct err *err)
{
    struct words words;
    *level = 0;
    for (unsigned i = 0; i < COMPAT_MODES; i++) {
        if (slice_eq_nocase(text, slice_str(compat_mode_name((enum compat_mode)i)))) {
            *level = (uint8_t)(i + 1);
            return RC_OK;
        }
    }
    return err_set(
        err, ERR_BAD_LEVEL,
        "'%s' is no level of compatibility: these are NONE, BACKWARD, FORWARD, FULL, and the last three "
        "with _TRANSITIVE.",
        words_of(text, &words));
}

static enum rc print_level(struct call *c, const char *name, uint8_t level, struct err *err)
{
    char text[LEVEL_TEXT_MAX];
    enum compat_mode mode = level ? (enum compat_mode)(level - 1) : COMPAT_BACKWARD;
    return print_word(c, name, level_text(mode, text)) ? RC_OK : err_oom(err);
}

static enum rc print_mode(struct call *c, enum subject_mode mode, struct err *err)
{
    if (mode == SUBJECT_MODE_UNSET)
        mode = SUBJECT_MODE_READWRITE;
    return print_word(c, "mode", slice_str(subject_mode_name(mode))) ? RC_OK : err_oom(err);
}

/* ---- looking ---- */

static uint8_t own_level(const struct type_options *o)
{
    return o->follows_level ? 0 : (uint8_t)(o->compatibility + 1);
}

/* 0: the subject has none of its own. */
static enum rc level_of(struct call *c, const struct settings_pair *s, uint8_t *level, struct err *err)
{
    struct type_row row;
    *level = s->own.level;
    if (c->space != SPACE_TYPE)
        return RC_OK;
    enum rc rc = lineage_read(c, c->subject, &row, err);
    if (rc == RC_OK)
        *level = own_level(&row.options);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

static enum rc config(struct call *c, struct err *err)
{
    struct settings_pair s;
    uint8_t level;
    struct words words;
    if (rows_settings(c, c->subject, &s, err) != RC_OK)
        return RC_ERR;
    if (!c->subject.len)
        return print_level(c, "compatibilityLevel", s.global.level, err);
    if (level_of(c, &s, &level, err) != RC_OK)
        return RC_ERR;
    if (!level && !call_flag(c, PARAM_defaultToGlobal))
        return err_set(err, ERR_NO_LEVEL, "Subject '%s' does not have subject-level compatibility configured",
                       words_of(c->subject, &words));
    return print_level(c, "compatibilityLevel", level ? level : s.global.level, err);
}

void registry_config_handle(struct request *req)
{
    call_run(req, config);
}

static enum rc mode(struct call *c, struct err *err)
{
    struct settings_pair s;
    struct words words;
    if (rows_settings(c, c->subject, &s, err) != RC_OK)
        return RC_ERR;
    if (!c->subject.len)
        return print_mode(c, s.global.mode, err);
    if (call_flag(c, PARAM_defaultToGlobal))
        return print_mode(c, settings_mode(&s), err);
    if (s.own.mode)
        return print_mode(c, s.own.mode, err);
    return err_set(err, ERR_NO_MODE, "Subject '%s' does not have subject-level mode configured",
                   words_of(c->subject, &words));
}

void registry_mode_handle(struct request *req)
{
    call_run(req, mode);
}

/* ---- changing ---- */

/* What is to be; 0 takes it away. */
struct setting {
    uint8_t level, mode;
};

static enum rc get_both(struct call *c, struct store_txn *txn, struct settings_pair *s, struct err *err)
{
    *s = (struct settings_pair){0};
    if (c->subject.len && settings_txn_get(txn, c->subject, &s->own, err) != RC_OK)
        return RC_ERR;
    return settings_txn_get(txn, (struct slice){0}, &s->global, err);
}

/* The row of the subject, or that for all; a row that sets nothing is no row. */
static enum rc settings_put(struct call *c, struct store_txn *txn, const struct subject_settings *s,
                            struct err *err)
{
    const struct store_key key = {.space = SPACE_SUBJECT, .id = settings_key(c->subject, c->key)};
    const struct record row = {.body = settings_encode(s, c->bytes)};
    enum rc rc = txn_put(txn, &key, s->level || s->mode ? &row : NULL, err);
    return rc == RC_NOTFOUND ? RC_OK : rc;
}

/* The type's option becomes this (0: it goes by the level for all); *before what it was. RC_NOTFOUND: there is no such
 * type. */
static enum rc type_level_put(struct call *c, struct store_txn *txn, uint8_t level, uint8_t *before,
                              struct err *err)
{
    const struct store_key key = {.space = SPACE_TYPE, .id = c->subject};
    struct record rec;
    struct type_row row;
    struct slice copy;
    if (c->space != SPACE_TYPE || !c->subject.len)
        return RC_NOTFOUND;
    enum rc rc = txn_get(txn, &key, &rec, err);
    if (rc != RC_OK)
        return rc;
    if (!arena_copy(call_arena(c), rec.body, &copy))
        return err_oom(err);
    if (type_row_decode(copy, &row, err) != RC_OK)
        return RC_ERR;
    *before = own_level(&row.options);
    if (*before == level)
        return RC_OK;
    if (level)
        type_options_set_level(&row.options, level - 1);
    else
        type_options_unset_level(&row.options);
    row.revision = txn_revision(txn);
    if (type_row_encode(&row, NULL, call_arena(c), &c->row, err) != RC_OK)
        return RC_ERR;
    const struct record fresh = {.body = c->row};
    return txn_put(txn, &key, &fresh, err);
}

static struct subject_settings *settings_at(const struct call *c, struct settings_pair *s)
{
    return c->subject.len ? &s->own : &s->global;
}

/* Of a subject that is no type, or for all, which the catalog has to know, too. */
static enum rc level_put(struct call *c, struct store_txn *txn, struct settings_pair *s, uint8_t level,
                         struct err *err)
{
    settings_at(c, s)->level = level;
    c->sets_level = !c->subject.len;
    c->level = settings_level(s);
    return settings_put(c, txn, settings_at(c, s), err);
}

static enum rc decide_level(struct call *c, struct store_txn *txn, struct err *err)
{
    const struct setting *set = c->state;
    struct settings_pair s;
    uint8_t before;
    if (get_both(c, txn, &s, err) != RC_OK || settings_writable(&s, c->subject, err) != RC_OK)
        return RC_ERR;
    enum rc rc = type_level_put(c, txn, set->level, &before, err);
    if (rc == RC_NOTFOUND)
        rc = level_put(c, txn, &s, set->level, err);
    return rc == RC_OK ? print_level(c, "compatibility", set->level, err) : rc;
}

static enum rc decide_level_away(struct call *c, struct store_txn *txn, struct err *err)
{
    struct settings_pair s;
    if (get_both(c, txn, &s, err) != RC_OK || settings_writable(&s, c->subject, err) != RC_OK)
        return RC_ERR;
    uint8_t before = settings_at(c, &s)->level;
    enum rc rc = type_level_put(c, txn, 0, &before, err);
    if (rc != RC_ERR && c->subject.len && !before)
        return no_subject(c->subject, err);
    if (rc == RC_NOTFOUND)
        rc = level_put(c, txn, &s, 0, err);
    return rc == RC_OK ? print_level(c, "compatibilityLevel", before, err) : rc;
}

static enum rc decide_mode(struct call *c, struct store_txn *txn, struct err *err)
{
    const struct setting *set = c->state;
    struct settings_pair s;
    if (get_both(c, txn, &s, err) != RC_OK)
        return RC_ERR;
    uint8_t before = settings_at(c, &s)->mode;
    if (c->subject.len && !set->mode && !before)
        return no_subject(c->subject, err);
    settings_at(c, &s)->mode = set->mode;
    if (settings_put(c, txn, settings_at(c, &s), err) != RC_OK)
        return RC_ERR;
    return print_mode(c, set->mode ? set->mode : before, err);
}

/* ---- the calls ---- */

static enum rc change(struct call *c, enum rc (*decide)(struct call *, struct store_txn *, struct err *),
                      uint8_t level, uint8_t to_mode, struct err *err)
{
    struct setting *set = arena_alloc(call_arena(c), sizeof *set);
    if (!set)
        return err_oom(err);
    *set = (struct setting){.level = level, .mode = to_mode};
    c->state = set;
    c->decide = decide;
    return RC_PENDING;
}

static enum rc config_put(struct call *c, struct err *err)
{
    struct slice word;
    uint8_t level;
    if (ask_level_read(c->req->body, call_arena(c), &word, err) != RC_OK ||
        level_parse(word, &level, err) != RC_OK)
        return RC_ERR;
    return change(c, decide_level, level, 0, err);
}

void registry_config_put_handle(struct request *req)
{
    call_run(req, config_put);
}

static enum rc config_delete(struct call *c, struct err *err)
{
    return change(c, decide_level_away, 0, 0, err);
}

void registry_config_delete_handle(struct request *req)
{
    call_run(req, config_delete);
}

static enum rc mode_put(struct call *c, struct err *err)
{
    struct slice word;
    enum subject_mode to;
    struct words words;
    if (ask_mode_read(c->req->body, call_arena(c), &word, err) != RC_OK)
        return RC_ERR;
    if (!subject_mode_parse(word, &to))
        return err_set(err, ERR_BAD_MODE,
                       "'%s' is no mode that is offered: READWRITE, READONLY and READONLY_OVERRIDE are.",
                       words_of(word, &words));
    return change(c, decide_mode, 0, (uint8_t)to, err);
}

void registry_mode_put_handle(struct request *req)
{
    call_run(req, mode_put);
}

static enum rc mode_delete(struct call *c, struct err *err)
{
    return change(c, decide_mode, 0, 0, err);
}

void registry_mode_delete_handle(struct request *req)
{
    call_run(req, mode_delete);
}
