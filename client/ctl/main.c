/* client/ctl/main.c - avroctl: the command line, the client, the command. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "client/ctl/ctl.h"

/* "NAME:PASSWORD" is cut in a copy, *user, which the caller frees. */
static bool set_user(const struct args *a, struct avrod_options *o, char **user)
{
    *user = a->user ? strdup(a->user) : NULL;
    if (!a->user)
        return true;
    char *colon = *user ? strchr(*user, ':') : NULL;
    if (colon)
        *colon = 0;
    o->user = *user;
    o->password = colon ? colon + 1 : getenv("AVROD_PASSWORD");
    return *user;
}

static bool set_retries(const struct args *a, struct avrod_options *o)
{
    uint64_t n;
    if (!a->retries)
        return true;
    if (!num_parse_decimal(slice_str(a->retries), 1000, &n))
        return false;
    o->retries_max = (uint32_t)n;
    o->no_retries = n == 0;
    return true;
}

static int open_client(struct ctl *ctl)
{
    const struct args *a = ctl->args;
    struct avrod_options o = {.url = a->url,
                              .token = a->token,
                              .ca_file = a->ca_file,
                              .cert_file = a->cert_file,
                              .key_file = a->key_file,
                              .connect_timeout_ms = a->connect_timeout_ms,
                              .timeout_ms = a->timeout_ms,
                              .stall_timeout_ms = a->timeout_ms,
                              .user_agent = "avroctl/" AVROD_VERSION};
    struct avrod_error error = {0};
    char *user;
    int code = 0;
    if (!set_user(a, &o, &user))
        code = fail_memory(ctl);
    else if (!set_retries(a, &o))
        code = fail(ctl, EXIT_USAGE, "--retries is a number to 1000, not '%s'.", a->retries);
    else if (avrod_open(&o, &ctl->client, &error) != AVROD_OK)
        code = fail_call(ctl, &error);
    free(user);
    return code;
}

/* What was printed has to arrive. */
static int finish(const struct args *a, int code)
{
    if ((fflush(stdout) || ferror(stdout)) && code == 0)
        return fail(&(struct ctl){.args = a}, EXIT_HERE, "Standard output takes no more.");
    return code;
}

static int run(const struct args *a)
{
    struct ctl ctl = {.args = a};
    int code = open_client(&ctl);
    if (code == 0)
        code = a->command->run(&ctl);
    avrod_close(ctl.client);
    return finish(a, code);
}

/* avroctl --words [COMMAND...]: for client/completion/avroctl.bash. */
static int print_words(int argc, char **argv)
{
    struct args a;
    char fault[256], help[] = "--help", *with_help[8] = {argv[0], help};
    int n = 2;
    for (int i = 2; i < argc && n < 8; i++)
        with_help[n++] = argv[i];
    if (!args_parse(&a, n, with_help, fault, sizeof fault))
        return EXIT_USAGE;
    args_print_words(a.command);
    return finish(&a, 0);
}

int main(int argc, char **argv)
{
    struct args a;
    char fault[512];
    signal(SIGPIPE, SIG_IGN);
    if (argc > 1 && strcmp(argv[1], "--words") == 0)
        return print_words(argc, argv);
    if (!args_parse(&a, argc, argv, fault, sizeof fault))
        return fail(&(struct ctl){.args = &a}, EXIT_USAGE, "%s", fault);
    if (a.version) {
        printf("avroctl %s\n", avrod_version());
        return finish(&a, 0);
    }
    if (a.help) {
        args_print_help(a.command);
        return finish(&a, 0);
    }
    if (!a.command)
        return fail(&(struct ctl){.args = &a}, EXIT_USAGE, "A command is missing; avroctl --help lists all.");
    return run(&a);
}
