/* client/ctl/fail.c - how avroctl tells that something went wrong. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "client/ctl/ctl.h"
#include "client/ctl/json_text.h"
#include "client/ctl/problems.h"

static int exit_code_of(enum avrod_code code)
{
    switch (code) {
    case AVROD_OK: return 0;
    case AVROD_REFUSED: return EXIT_REFUSED;
    case AVROD_ARGUMENT: return EXIT_USAGE;
    case AVROD_UNREACHABLE: return EXIT_NO_CONNECTION;
    case AVROD_TIMEOUT:
    case AVROD_BROKEN: return EXIT_NO_ANSWER;
    case AVROD_TOO_LARGE:
    case AVROD_STOPPED:
    case AVROD_MEMORY: break;
    }
    return EXIT_HERE;
}

static bool is_json(const struct avrod_error *e)
{
    json_error_t at;
    json_t *tree = e->body ? json_loadb(e->body, e->body_bytes, JSON_REJECT_DUPLICATES, &at) : NULL;
    json_decref(tree);
    return tree;
}

/* An object on one line of standard error; the server's document goes in as it is. */
static void print_json(const char *code, const struct avrod_error *e)
{
    struct json_text t = {0};
    json_text_begin(&t);
    json_text_string(&t, "error", code);
    json_text_string(&t, "message", e->message);
    if (e->status)
        json_text_u64(&t, "status", (uint64_t)e->status);
    if (*e->slug)
        json_text_string(&t, "code", e->slug);
    if (e->attempts)
        json_text_u64(&t, "attempts", e->attempts);
    if (e->retry_after_s)
        json_text_u64(&t, "retry_after_s", e->retry_after_s);
    if (e->maybe_done)
        json_text_raw(&t, "maybe_done", SLICE("true"));
    if (is_json(e))
        json_text_raw(&t, "problem", slice_of(e->body, e->body_bytes));
    json_text_end(&t);
    if (!t.no_memory)
        fprintf(stderr, "%.*s\n", (int)t.text.len, (const char *)t.text.ptr);
    json_text_release(&t);
}

static void print_sentence(const struct avrod_error *e)
{
    fprintf(stderr, "avroctl: %s", e->message);
    if (e->status)
        fprintf(stderr, " (%d%s%s)", e->status, *e->slug ? " " : "", e->slug);
    if (e->attempts > 1)
        fprintf(stderr, " (%u attempts)", e->attempts);
    if (e->retry_after_s)
        fprintf(stderr, " (not before %u s)", e->retry_after_s);
    fputc('\n', stderr);
    if (e->maybe_done)
        fprintf(stderr, "avroctl: It is not known whether it was done.\n");
    if (e->body)
        problems_print(e->body, e->body_bytes, stderr);
}

int fail_call(const struct ctl *ctl, struct avrod_error *e)
{
    int code = exit_code_of(e->code);
    if (ctl->args->json)
        print_json(avrod_code_name(e->code), e);
    else
        print_sentence(e);
    avrod_error_release(e);
    return code;
}

int fail(const struct ctl *ctl, int code, const char *format, ...)
{
    struct avrod_error e = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(e.message, sizeof e.message, format, args);
    va_end(args);
    if (ctl->args->json)
        print_json(code == EXIT_USAGE ? "usage" : code == EXIT_REFUSED ? "refused" : "here", &e);
    else
        print_sentence(&e);
    return code;
}

int fail_memory(const struct ctl *ctl)
{
    return fail(ctl, EXIT_HERE, "Memory is out.");
}
