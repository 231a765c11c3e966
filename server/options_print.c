/* server/options_print.c - see options_print.h. */
#include "server/options_print.h"

#include "server/ini_file.h"
#include "server/options_value.h"
#include "server/words.h"

static void print_default(enum option_id id, FILE *out)
{
    char number[OPTION_NUMBER_BYTES];
    if (option_is_action(id))
        return;
    fprintf(out, "  (default: %s)",
            option_is_none(&options_defaults, id) ? "none" : option_text(&options_defaults, id, number));
}

void options_print_help(FILE *out)
{
    fprintf(out, "avrod - a store for typed records over HTTP\n\n"
                 "usage: avrod --data DIR [options]\n"
                 "       avrod --restore FILE DIR\n"
                 "       avrod --compact DIR\n"
                 "       avrod --fsck DIR [--json] [--mark-clean]\n\n"
                 "An option may also be a variable (AVROD_HEAD_MAX for --head-max) or a line of the file "
                 "that --config\n"
                 "names (head-max = 16KiB). The command line goes before the environment, and that before "
                 "the file.\n\n");
    for (enum option_id id = 0; id < OPTION_IDS; id++) {
        const struct option *o = &options_table[id];
        fprintf(out, "  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        print_default(id, out);
        fprintf(out, "\n");
        for (const char *line = o->help; *line;) {
            size_t len = strcspn(line, "\n");
            fprintf(out, "        %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
        option_print_range(o, out);
    }
}

static void print_source(const struct options *options, enum option_id id, FILE *out)
{
    const struct option_source *source = &options->source[id];
    struct option_name name;
    struct ini_place place;
    switch (source->from) {
    case FROM_DEFAULT: fprintf(out, "# default\n"); break;
    case FROM_FILE: fprintf(out, "# %s\n", ini_place_of(options->config, source->line, &place)); break;
    case FROM_ENVIRONMENT:
    case FROM_COMMAND_LINE: fprintf(out, "# %s\n", option_name(id, source->from, &name)); break;
    }
}

void options_print_config(const struct options *options, FILE *out)
{
    for (enum option_id id = 0; id < OPTION_IDS; id++) {
        struct option_name name;
        char number[OPTION_NUMBER_BYTES];
        const char *text = option_text(options, id, number);
        struct words words;
        bool can_stand = ini_can_hold(text);
        if (option_is_action(id) || id == OPTION_ID_config)
            continue;
        print_source(options, id, out);
        /* What cannot be in a file is a comment there, as is what has no value. */
        fprintf(out, "%s%s = %s\n", can_stand && !option_is_none(options, id) ? "" : "#",
                option_name(id, FROM_FILE, &name), can_stand ? text : words_of(slice_str(text), &words));
    }
}
