/* server/access/rights_file.c - the file of --access: its sections and keys, by the table rights_keys.def. */
#include "server/access/rights_file.h"

#include <stddef.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/num.h"
#include "base/utf8.h"
#include "server/ini_file.h"
#include "server/words.h"

/* ---- tables ---- */

#define TEXT(s)                                                                                              \
    {                                                                                                        \
        (const uint8_t *)(s), sizeof(s) - 1                                                                  \
    }

static const struct {
    struct slice word;
    bool is_named;
} headings[] = {
    [SECTION_ANONYMOUS] = {TEXT("anonymous"), false},
    [SECTION_AUTHENTICATED] = {TEXT("authenticated"), false},
    [SECTION_USER] = {TEXT("user"), true},
    [SECTION_GROUP] = {TEXT("group"), true},
    [SECTION_ADDRESS] = {TEXT("address"), false},
};

enum key_kind { KIND_GRANT, KIND_MEMBERS, KIND_FLAG, KIND_NUMBER, KIND_BYTES };

#define S(kind)           (1u << SECTION_##kind)
#define GRANTEES          (S(ANONYMOUS) | S(AUTHENTICATED) | S(USER) | S(GROUP))
#define ARGUMENT_GRANT(a) .role = (a)
#define ARGUMENT_FIELD(a) .offset = offsetof(struct section, a)
#define ARGUMENT_MEMBERS  ARGUMENT_FIELD
#define ARGUMENT_FLAG     ARGUMENT_FIELD
#define ARGUMENT_NUMBER   ARGUMENT_FIELD
#define ARGUMENT_BYTES    ARGUMENT_FIELD
static const struct key {
    struct slice name;
    enum key_kind kind;
    uint8_t role;
    size_t offset;
    unsigned sections;
} keys[] = {
#define KEY(name, kind_, argument, sections_)                                                                \
    {TEXT(#name), KIND_##kind_, ARGUMENT_##kind_(argument), .sections = (sections_)},
#include "server/access/rights_keys.def"
#undef KEY
};

/* ---- the file, being read ---- */

struct file {
    struct arena *arena;
    struct section *first, *last;
    const struct key *key; /* of the line, or of the one that it goes on with */
    unsigned line;
    struct name_map names[SECTION_ADDRESS + 1]; /* of the sections */
    struct name_map members;                    /* of the last group */
};

static enum rc keep(struct file *f, struct slice text, struct slice *out, struct err *err)
{
    return arena_copy(f->arena, text, out) ? RC_OK : err_oom(err);
}

/* ---- headings ---- */

/* `word` or `word NAME`. */
static bool heading_fits(struct slice heading, enum section_kind kind, struct slice *name)
{
    struct slice word = headings[kind].word;
    *name = (struct slice){0};
    if (!headings[kind].is_named)
        return slice_eq(heading, word);
    if (!slice_starts(heading, word) || heading.len == word.len || heading.ptr[word.len] != ' ')
        return false;
    *name = slice_of(heading.ptr + word.len, heading.len - word.len);
    while (name->len && name->ptr[0] == ' ')
        *name = slice_of(name->ptr + 1, name->len - 1);
    return true;
}

/* A name that could not be written in a list could not be in a group. */
static const char *user_name_fault(struct slice name)
{
    if (!name.len)
        return "is empty";
    if (name.len > LIMIT_USER_NAME_MAX)
        return "is too long";
    if (!utf8_valid(name))
        return "is no UTF-8";
    return memchr(name.ptr, ',', name.len) || memchr(name.ptr, ';', name.len) ? "has a comma or a semicolon"
                                                                              : NULL;
}

static enum rc open_section(struct file *f, enum section_kind kind, struct slice name, struct err *err)
{
    struct words words;
    void **known = name_map_at(&f->names[kind], name, f->arena);
    struct section *s = arena_calloc(f->arena, 1, sizeof *s);
    if (!known || !s)
        return err_oom(err);
    if (*known)
        return err_set(err, ERR_CONFIG, "[%s%s%s] stands on line %u already.",
                       (const char *)headings[kind].word.ptr, name.len ? " " : "", words_of(name, &words),
                       ((struct section *)*known)->line);
    *known = s;
    *s = (struct section){.kind = kind, .name = name, .line = f->line, .grants_end = &s->grants};
    f->members = (struct name_map){0};
    if (f->last)
        f->last->next = s;
    else
        f->first = s;
    f->last = s;
    return RC_OK;
}

static enum rc take_section(void *arg, const struct ini_line *line, struct err *err)
{
    struct file *f = arg;
    struct slice heading = slice_str(line->section), name;
    struct words words;
    f->line = line->number;
    f->key = NULL;
    for (unsigned kind = 0; kind < ARRAY_LEN(headings); kind++) {
        if (!heading_fits(heading, (enum section_kind)kind, &name))
            continue;
        const char *fault = headings[kind].is_named ? user_name_fault(name) : NULL;
        if (fault)
            return err_set(err, ERR_CONFIG, "The name '%s' %s.", words_of(name, &words), fault);
        if (keep(f, name, &name, err) != RC_OK)
            return RC_ERR;
        return open_section(f, (enum section_kind)kind, name, err);
    }
    return err_set(
        err, ERR_CONFIG,
        "There is no section [%s]; these are: [anonymous], [authenticated], [user NAME], [group NAME], "
        "[address].",
        words_of(heading, &words));
}

/* ---- lists ---- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next of a list with commas between, without blanks around it. False: that was all. */
static bool take_item(struct slice *list, struct slice *item)
{
    if (!list->ptr)
        return false;
    const uint8_t *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    *item = slice_of(list->ptr, len);
    *list = comma ? slice_of(comma + 1, list->len - len - 1) : (struct slice){0};
    while (item->len && is_blank(item->ptr[0]))
        *item = slice_of(item->ptr + 1, item->len - 1);
    while (item->len && is_blank(item->ptr[item->len - 1]))
        item->len--;
    return true;
}

static enum rc add_grant(struct file *f, struct slice pattern, struct err *err)
{
    struct words words;
    const char *fault = grants_pattern_fault(pattern);
    if (fault)
        return err_set(err, ERR_CONFIG, "The pattern '%s' %s.", words_of(pattern, &words), fault);
    struct grant *g = arena_alloc(f->arena, sizeof *g);
    if (!g)
        return err_oom(err);
    *g = (struct grant){.roles = f->key->role, .line = f->line};
    *f->last->grants_end = g;
    f->last->grants_end = &g->next;
    return keep(f, pattern, &g->pattern, err);
}

static enum rc add_member(struct file *f, struct slice name, struct err *err)
{
    struct words words;
    const char *fault = user_name_fault(name);
    if (fault)
        return err_set(err, ERR_CONFIG, "The name '%s' %s.", words_of(name, &words), fault);
    struct member *m = arena_alloc(f->arena, sizeof *m);
    if (!m || !arena_copy(f->arena, name, &name))
        return err_oom(err);
    *m = (struct member){.next = f->last->members, .name = name, .line = f->line};
    void **known = name_map_at(&f->members, name, f->arena);
    if (!known)
        return err_oom(err);
    if (*known)
        return err_set(err, ERR_CONFIG, "'%s' is a member twice.", words_of(name, &words));
    *known = f->last->members = m;
    return RC_OK;
}

static enum rc take_list(struct file *f, struct slice list,
                         enum rc (*add)(struct file *, struct slice, struct err *), struct err *err)
{
    struct slice item;
    while (take_item(&list, &item)) {
        bool is_end = !item.len &&
                      !list.ptr; /* behind the comma at the end of a line that goes on, or no list at all */
        if (!is_end && add(f, item, err) != RC_OK)
            return RC_ERR;
    }
    return RC_OK;
}

/* ---- values ---- */

static const struct {
    struct slice name;
    uint64_t factor;
} byte_units[] = {{TEXT("GiB"), 1 << 30}, {TEXT("MiB"), 1 << 20}, {TEXT("KiB"), 1 << 10}, {TEXT(""), 1}};

static bool parse_bytes(struct slice text, uint64_t *out)
{
    for (size_t i = 0; i < ARRAY_LEN(byte_units); i++) {
        struct slice unit = byte_units[i].name;
        if (text.len < unit.len || !slice_eq(slice_of(text.ptr + text.len - unit.len, unit.len), unit))
            continue;
        struct slice digits = slice_of(text.ptr, text.len - unit.len);
        if (!num_parse_decimal(digits, LIMIT_QUOTA_MAX / byte_units[i].factor, out))
            return false;
        *out *= byte_units[i].factor;
        return true;
    }
    return false;
}

static bool parse_flag(struct slice text, uint64_t *out)
{
    *out = slice_eq(text, SLICE("yes"));
    return *out || slice_eq(text, SLICE("no"));
}

static bool parse_number(struct slice text, uint64_t *out)
{
    return num_parse_decimal(text, LIMIT_QUOTA_MAX, out);
}

static const struct {
    bool (*parse)(struct slice, uint64_t *);
    const char *takes;
} scalars[] = {
    [KIND_FLAG] = {parse_flag, "yes or no"},
    [KIND_NUMBER] = {parse_number, "a number"},
    [KIND_BYTES] = {parse_bytes, "a number of bytes, such as 4MiB"},
};

static bool is_list(const struct key *key)
{
    return key->kind == KIND_GRANT || key->kind == KIND_MEMBERS;
}

static enum rc take_scalar(struct file *f, struct slice text, struct err *err)
{
    struct words words;
    uint64_t value;
    if (!scalars[f->key->kind].parse(text, &value))
        return err_set(err, ERR_CONFIG, "%s is %s, not '%s'.", (const char *)f->key->name.ptr,
                       scalars[f->key->kind].takes, words_of(text, &words));
    memcpy((char *)f->last + f->key->offset, &value, sizeof value);
    return RC_OK;
}

static enum rc take_value(struct file *f, struct slice value, struct err *err)
{
    if (!is_list(f->key))
        return take_scalar(f, value, err);
    return take_list(f, value, f->key->kind == KIND_GRANT ? add_grant : add_member, err);
}

/* ---- keys ---- */

static const struct key *key_find(struct slice name)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (slice_eq(name, keys[i].name))
            return &keys[i];
    return NULL;
}

static enum rc take_key(struct file *f, struct slice name, struct err *err)
{
    struct words words;
    const struct key *key = key_find(name);
    if (!key)
        return err_set(err, ERR_CONFIG, "There is no key '%s'.", words_of(name, &words));
    if (!f->last)
        return err_set(err, ERR_CONFIG, "A section stands before the first key.");
    if (!(key->sections >> f->last->kind & 1))
        return err_set(err, ERR_CONFIG, "[%s] has no key %s.", (const char *)headings[f->last->kind].word.ptr,
                       (const char *)key->name.ptr);
    uint32_t bit = 1u << (key - keys);
    if (f->last->given & bit)
        return err_set(err, ERR_CONFIG, "%s stands twice in this section.", (const char *)key->name.ptr);
    f->last->given |= bit;
    f->key = key;
    return RC_OK;
}

static enum rc take_line(void *arg, const struct ini_line *line, struct err *err)
{
    struct file *f = arg;
    f->line = line->number;
    if (!line->is_more && take_key(f, slice_str(line->name), err) != RC_OK)
        return RC_ERR;
    if (line->is_more && !is_list(f->key))
        return err_set(err, ERR_CONFIG, "The line is indented, and %s is no list.",
                       (const char *)f->key->name.ptr);
    return take_value(f, slice_str(line->value), err);
}

/* ---- the file ---- */

enum rc rights_file_read(const char *path, struct arena *arena, struct section **out, struct err *err)
{
    struct file f = {.arena = arena};
    enum rc rc = ini_file_read_lists(path, take_section, take_line, &f, err);
    *out = f.first;
    return rc;
}

enum rc rights_stream_read(FILE *stream, const char *path, struct arena *arena, struct section **out,
                           struct err *err)
{
    struct file f = {.arena = arena};
    enum rc rc = ini_stream_read_lists(stream, path, take_section, take_line, &f, err);
    *out = f.first;
    return rc;
}
