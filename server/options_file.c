/* server/options_file.c - see options_file.h. */
#include "server/options_file.h"

#include "server/options_value.h"
#include "server/words.h"

static enum rc unknown(const char *name, struct err *err)
{
    struct words words;
    words_of(slice_str(name), &words);
    if (option_find(slice_str(name), FROM_COMMAND_LINE) != OPTION_IDS)
        return err_set(err, ERR_CONFIG, "Here it is written without dashes: %s.", words.text + 2);
    return err_set(err, ERR_CONFIG, "Unknown option '%s'; avrod --help lists all.", words.text);
}

/* Also of a section in which nothing stands. */
static enum rc refuse_section(void *options, const struct ini_line *line, struct err *err)
{
    (void)options;
    (void)line;
    return err_set(err, ERR_CONFIG, "This file has no sections.");
}

static enum rc take_line(void *options, const struct ini_line *line, struct err *err)
{
    struct options *out = options;
    struct slice text;
    enum option_id id = option_find(slice_str(line->name), FROM_FILE);
    if (line->is_more)
        return err_set(err, ERR_CONFIG, "The line begins with a space; a value ends with its line.");
    if (id == OPTION_IDS)
        return unknown(line->name, err);
    if (out->source[id].from == FROM_FILE)
        return err_set(err, ERR_CONFIG, "%s stands on line %u already.", line->name, out->source[id].line);
    if (!arena_copy(&out->texts, slice_str(line->value), &text))
        return err_oom(err);
    const struct option_source source = {.from = FROM_FILE, .line = line->number};
    return option_set(out, id, source, (const char *)text.ptr, err);
}

enum rc options_file_take(struct options *out, const char *path, struct err *err)
{
    return ini_file_read_lists(path, refuse_section, take_line, out, err);
}

enum rc options_stream_take(struct options *out, FILE *stream, const char *path, struct err *err)
{
    return ini_stream_read_lists(stream, path, refuse_section, take_line, out, err);
}
