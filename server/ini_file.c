/* server/ini_file.c - see ini_file.h. libinih splits the lines; each is looked at before it gets it. */
#include "server/ini_file.h"

#include <assert.h>
#include <errno.h>
#include <ini.h>

#include "base/limits.h"

/* Of a section's name libinih keeps so much (MAX_SECTION, which its header does not tell). */
enum { SECTION_BYTES_MAX = 49, PATH_SHOWN_MAX = 72 };

struct reader {
    FILE *stream;
    const char *path;
    unsigned line;     /* the one that libinih has, or is about to get */
    ini_take *heading; /* not NULL: the values are lists */
    ini_take *take;
    void *user;
    struct err *err;
    bool failed;   /* *err says why */
    bool has_name; /* since the last heading: a list may go on */
    bool is_more;  /* the line goes on with it */
};

const char *ini_place_of(const char *path, unsigned line, struct ini_place *out)
{
    size_t len = strlen(path);
    bool cut = len > PATH_SHOWN_MAX;
    snprintf(out->text, sizeof out->text, "%s%s:%u", cut ? "..." : "",
             cut ? path + len - PATH_SHOWN_MAX : path, line);
    for (char *c = out->text; *c; c++)
        if ((uint8_t)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return out->text;
}

/* ---- what libinih does not get to see ---- */

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct slice without_end(struct slice s)
{
    while (s.len && (is_space(s.ptr[s.len - 1]) || s.ptr[s.len - 1] == '\r'))
        s.len--;
    return s;
}

static struct slice without_start(struct slice s)
{
    while (s.len && is_space(s.ptr[0]))
        s = slice_of(s.ptr + 1, s.len - 1);
    return s;
}

static bool has_control(struct slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((s.ptr[i] < 0x20 && s.ptr[i] != '\t') || s.ptr[i] == 0x7f)
            return true;
    return false;
}

/* What libinih cuts at a semicolon, and what reads like a comment at the other sign. */
static bool has_comment_inside(struct slice s)
{
    for (size_t i = 1; i < s.len; i++)
        if ((s.ptr[i] == ';' || s.ptr[i] == '#') && is_space(s.ptr[i - 1]))
            return true;
    return false;
}

/* libinih would take a colon too. */
static bool is_pair(struct slice s)
{
    const uint8_t *equals = memchr(s.ptr, '=', s.len);
    return equals && equals != s.ptr && !memchr(s.ptr, ':', (size_t)(equals - s.ptr));
}

static const char *fault_of_section(const struct reader *r, struct slice s)
{
    const uint8_t *end = memchr(s.ptr, ']', s.len);
    if (!end || end != s.ptr + s.len - 1)
        return "A section is a name in brackets, with nothing behind them.";
    return !r->heading && s.len - 2 > SECTION_BYTES_MAX ? "A section's name has 49 bytes at most." : NULL;
}

static const char *fault_of_more(const struct reader *r)
{
    if (!r->heading)
        return "The line begins with a space; a value ends with its line, and cannot go on in the next.";
    return r->has_name ? NULL : "The line begins with a space; there is no list before it that could go on.";
}

/* NULL: it may pass. */
static const char *fault_of(struct reader *r, struct slice line)
{
    if (r->line == 1 && slice_starts(line, SLICE("\xef\xbb\xbf")))
        return "The file begins with a byte order mark; plain UTF-8 has none.";
    struct slice s = without_end(line);
    if (has_control(s))
        return "There is a control character in it.";
    if (s.len == 0)
        return NULL;
    r->is_more = is_space(s.ptr[0]);
    s = without_start(s);
    bool is_comment = s.ptr[0] == '#' || s.ptr[0] == ';';
    const char *fault = r->is_more && !(is_comment && r->heading) ? fault_of_more(r) : NULL;
    if (fault || is_comment)
        return fault;
    if (has_comment_inside(s))
        return "A comment stands on a line of its own: # or ; behind a space would be one here.";
    if (r->is_more)
        return NULL;
    if (s.ptr[0] == '[')
        return fault_of_section(r, s);
    return is_pair(s) ? NULL : "The line is no name = value.";
}

bool ini_can_hold(const char *value)
{
    struct slice s = slice_str(value);
    return s.len == 0 ||
           (without_end(s).len == s.len && s.len < LIMIT_INI_LINE_MAX / 2 && !is_space(s.ptr[0]) &&
            s.ptr[0] != '#' && s.ptr[0] != ';' && !has_control(s) && !has_comment_inside(s));
}

/* ---- between libinih and the caller ---- */

static enum rc fail(struct reader *r, const char *why)
{
    struct ini_place place;
    r->failed = true;
    return err_set(r->err, ERR_CONFIG, "%s: %s", ini_place_of(r->path, r->line, &place), why);
}

static enum rc fail_to_read(struct err *err, const char *path)
{
    int number = errno;
    if (number == ENOMEM)
        return err_oom(err);
    return err_set(err, ERR_CONFIG, "%.120s cannot be read: %s.", path, strerror(number));
}

/* The next line with its line break, in `size` bytes. RC_NOTFOUND: there is none. */
static enum rc read_line(struct reader *r, char *line, size_t size, size_t *len)
{
    size_t n = 0;
    int c;
    while ((c = getc(r->stream)) != EOF && c != '\n') {
        if (n + 2 >= size) {
            r->line++;
            return fail(r, "The line is too long.");
        }
        line[n++] = (char)c;
    }
    if (c == EOF && ferror(r->stream)) {
        r->failed = true;
        return fail_to_read(r->err, r->path);
    }
    if (c == EOF && n == 0)
        return RC_NOTFOUND;
    r->line++;
    line[n] = '\n';
    line[n + 1] = 0;
    *len = n;
    return RC_OK;
}

/* What the caller says is told with the place. */
static bool tell(struct reader *r, ini_take *who, const struct ini_line *line)
{
    if (who(r->user, line, r->err) == RC_OK)
        return true;
    struct err why = *r->err;
    if (why.code == ERR_CONFIG)
        (void)fail(r, why.message);
    r->failed = true;
    return false;
}

/* `line` is a section's, and libinih gets one that it does not cut. */
static bool take_heading(struct reader *r, char *line, size_t len)
{
    struct slice name = without_end(slice_of(line, len));
    name = without_start(without_end(slice_of(name.ptr + 1, name.len - 2)));
    line[(const char *)name.ptr - line + (ptrdiff_t)name.len] = 0;
    const struct ini_line heading = {.section = (const char *)name.ptr, .number = r->line};
    r->has_name = false;
    if (!tell(r, r->heading, &heading))
        return false;
    memcpy(line, "[]\n", 4);
    return true;
}

/* As fgets, for libinih. */
static char *next_line(char *line, int size, void *reader)
{
    struct reader *r = reader;
    size_t len = 0;
    if (r->failed || read_line(r, line, (size_t)size, &len) != RC_OK)
        return NULL;
    r->is_more = false;
    const char *fault = fault_of(r, slice_of(line, len));
    if (fault)
        (void)fail(r, fault);
    else if (r->heading && line[0] == '[' && !take_heading(r, line, len))
        return NULL;
    return fault ? NULL : line;
}

static int take_line(void *reader, const char *section, const char *name, const char *value)
{
    struct reader *r = reader;
    const struct ini_line line = {
        .section = section, .name = name, .value = value, .number = r->line, .is_more = r->is_more};
    r->has_name = true;
    return tell(r, r->take, &line);
}

enum rc ini_stream_read_lists(FILE *stream, const char *path, ini_take *heading, ini_take *take, void *user,
                              struct err *err)
{
    struct reader r = {
        .stream = stream, .path = path, .heading = heading, .take = take, .user = user, .err = err};
#ifdef HAVE_INI_MAX_LINE
    ini_max_line = LIMIT_INI_LINE_MAX;
#endif
    int rc = ini_parse_stream(next_line, &r, take_line, &r);
    if (r.failed)
        return RC_ERR;
    if (rc < 0)
        return err_oom(err);
    assert(rc == 0); /* it finds no fault in what fault_of lets pass */
    return RC_OK;
}

enum rc ini_stream_read(FILE *stream, const char *path, ini_take *take, void *user, struct err *err)
{
    return ini_stream_read_lists(stream, path, NULL, take, user, err);
}

enum rc ini_file_read_lists(const char *path, ini_take *heading, ini_take *take, void *user, struct err *err)
{
    FILE *stream = fopen(path, "re");
    if (!stream)
        return fail_to_read(err, path);
    enum rc rc = ini_stream_read_lists(stream, path, heading, take, user, err);
    fclose(stream);
    return rc;
}

enum rc ini_file_read(const char *path, ini_take *take, void *user, struct err *err)
{
    return ini_file_read_lists(path, NULL, take, user, err);
}
