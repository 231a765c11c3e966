/* bench/load_opts.c - the command line of the load generator. */
#include "bench/load_opts.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/cli.h"

enum { CONNECTIONS_MAX = 20000, DEPTH_MAX = 1024, BODY_FILE_MAX = 64 << 20 };

static void usage(void)
{
    die("load [options] http://HOST:PORT/TARGET\n"
        "  -c N     connections (100)             -d N     requests in a pipelined batch (1)\n"
        "  -n N     requests in all, or           -t SEC   seconds (2)\n"
        "  -w SEC   seconds of warm-up, not counted (only with -t)\n"
        "  -m NAME  method (GET; POST with a body) -H TEXT  a header field\n"
        "  -b FILE  body from a file              -B TEXT  body\n"
        "  -r N     {id} in target and body is a random number from 1 to N (1)\n"
        "           {key} is sixteen hexadecimal digits that stand for the same number\n"
        "  -s       the number counts 1, 2, 3 ... N and over again\n"
        "  -S N     seed of the random numbers (1)\n"
        "  -l N     every answer's body must have N bytes\n"
        "  -p PID   report the CPU time of this process too (may be repeated)\n"
        "The exit code is 1 if any answer was not 2xx, of wrong length, or missing.");
}

static void parse_url(struct load_opts *o, char *url)
{
    static const char scheme[] = "http://";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        usage();
    char *host = url + sizeof scheme - 1, *slash = strchr(host, '/');
    o->plan.target = slash ? strdup(slash) : "/";
    if (slash)
        *slash = 0;
    o->plan.host = strdup(host);
    char *colon = strrchr(host, ':');
    const char *port = colon ? colon + 1 : "80";
    if (colon)
        *colon = 0;
    if (*host == '[' && host[strlen(host) - 1] == ']') { /* IPv6 */
        host[strlen(host) - 1] = 0;
        host++;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int fault = getaddrinfo(host, port, &hints, &o->address);
    if (fault)
        die("%s port %s: %s", host, port, gai_strerror(fault));
}

static void read_body(struct load_opts *o, const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) || st.st_size > BODY_FILE_MAX)
        die("%s: %s", path, f ? "not a file of at most 64 MiB" : strerror(errno));
    char *body = malloc((size_t)st.st_size + 1);
    if (!body || fread(body, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
        die("%s cannot be read", path);
    fclose(f);
    o->plan.body = body;
    o->plan.body_bytes = (size_t)st.st_size;
}

static void parse_option(struct load_opts *o, int option, const char *arg)
{
    struct plan_opts *p = &o->plan;
    switch (option) {
    case 'c': o->connections = (unsigned)cli_number("-c", arg, 1, CONNECTIONS_MAX); break;
    case 'd': p->depth = (unsigned)cli_number("-d", arg, 1, DEPTH_MAX); break;
    case 'n': o->requests = cli_number("-n", arg, 1, UINT64_MAX); break;
    case 't': o->timed_ns = cli_seconds_ns("-t", arg); break;
    case 'w': o->warm_ns = cli_seconds_ns("-w", arg); break;
    case 'm': p->method = arg; break;
    case 'b': read_body(o, arg); break;
    case 'B':
        p->body = arg;
        p->body_bytes = strlen(arg);
        break;
    case 'r': p->ids_max = cli_number("-r", arg, 1, UINT64_MAX); break;
    case 's': p->sequential = true; break;
    case 'S': p->seed = cli_number("-S", arg, 0, UINT64_MAX); break;
    case 'l': o->body_wanted = (int64_t)cli_number("-l", arg, 0, INT64_MAX); break;
    case 'H':
        if (p->nheaders == PLAN_HEADERS_MAX)
            die("more than %d header fields", PLAN_HEADERS_MAX);
        p->headers[p->nheaders++] = arg;
        break;
    case 'p':
        if (o->npids == LOAD_PIDS_MAX)
            die("more than %d processes", LOAD_PIDS_MAX);
        o->pids[o->npids++] = (pid_t)cli_number("-p", arg, 1, INT32_MAX);
        break;
    default: usage();
    }
}

void load_opts_parse(struct load_opts *o, int argc, char **argv)
{
    *o = (struct load_opts){
        .plan = {.depth = 1, .ids_max = 1, .seed = 1}, .connections = 100, .body_wanted = -1};
    for (int option; (option = getopt(argc, argv, "c:d:n:t:w:m:b:B:r:sS:l:H:p:")) != -1;)
        parse_option(o, option, optarg);
    if (optind != argc - 1 || (o->requests && (o->timed_ns || o->warm_ns)))
        usage();
    if (!o->requests && !o->timed_ns)
        o->timed_ns = 2 * INT64_C(1000000000);
    if (!o->plan.method)
        o->plan.method = o->plan.body ? "POST" : "GET";
    parse_url(o, argv[optind]);
}
