/* tests/fault/test_access.c - who is asking, when the n-th allocation fails: the tables are read or the old ones stay, and a request
 * is somebody's, or refused, and never somebody else's. The edge is played by the test. */
#include "tests/fault/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/access/access.h"
#include "server/counts.h"
#include "server/http/edge.h"
#include "server/server.h"

#define AL "al:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n"
#define CI "ci:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n" /* abc */

/* With buckets of each kind. */
#define RIGHTS                                                                                               \
    "[authenticated]\nreader = *\nrequests_per_second = 1000000\n[user al]\nbytes_per_second = 1GiB\n"       \
    "[group g]\nmembers = al, ci\nrequests_per_second = 1000000\n[address]\nrequests_per_second = 1000000\n"

static char passwords[64], tokens[64], rights[64];
static struct options options;
static struct server server = {.options = &options};
static struct counts counts;
static struct worker worker = {.server = &server};

/* ---- the edge, as far as it is needed ---- */

static struct job *offloaded;

enum rc worker_offload(struct worker *w, struct job *job, struct err *err)
{
    (void)w, (void)err;
    offloaded = job;
    return RC_PENDING;
}

void worker_offload_always(struct worker *w, struct job *job)
{
    (void)w, (void)job;
    fail_msg("nothing waits here");
}

void worker_job_done(struct job *job)
{
    (void)job;
    fail_msg("nobody has joined here");
}

bool response_header(struct request *req, const char *name, struct slice value)
{
    (void)name, (void)value;
    return arena_alloc(&req->arena, 8);
}

unsigned edge_threads(const struct options *o)
{
    return o->threads;
}

/* ---- requests ---- */

static struct {
    unsigned calls;
    enum rc rc;
    struct err err;
} heard;

static void next(struct request *req, const struct err *why_not)
{
    (void)req;
    heard.calls++;
    heard.rc = why_not ? RC_ERR : RC_OK;
    if (why_not)
        heard.err = *why_not;
}

static enum rc identify(const char *field, const char *user, struct err *err)
{
    static uint64_t address;
    struct request req = {.worker = &worker, .method = METHOD_GET, .headers = 1u << HEADER_AUTHORIZATION};
    const struct caller caller = {.address = ++address};
    req.header[HEADER_AUTHORIZATION] = slice_str(field);
    heard.calls = 0;
    fault_begin();
    enum rc rc = access_identify(&req, &caller, next, err);
    if (rc == RC_PENDING) {
        offloaded->run(offloaded);
        offloaded->done(offloaded);
        assert_int_equal(heard.calls, 1);
        rc = heard.rc;
        *err = heard.err;
    }
    assert_int_equal(access_verifying(server.access), 0);
    if (rc == RC_OK)
        assert_true(slice_eq(req.user, slice_str(user)) && req.principal);
    else
        assert_true(!req.user.len && !req.principal);
    if (req.access)
        access_end(&req);
    arena_release(&req.arena);
    fault_end();
    return rc;
}

/* Each run with access control of its own: nothing is remembered of the one before. */
static enum rc identify_anew(const char *field, const char *user, struct err *err)
{
    struct err open_err;
    assert_int_equal(access_open(&server.access, &options, &open_err), RC_OK);
    enum rc rc = identify(field, user, err);
    access_free(server.access);
    return rc;
}

static enum rc right(void *arg, struct err *err)
{
    (void)arg;
    return identify_anew("Basic YWw6c2VjcmV0", "al", err); /* al:secret */
}

static enum rc token(void *arg, struct err *err)
{
    (void)arg;
    return identify_anew("Bearer abc", "ci", err);
}

static enum rc wrong(void *arg, struct err *err)
{
    (void)arg;
    return identify_anew("Basic YWw6U2VjcmV0", "al", err); /* al:Secret */
}

static enum rc nobody(void *arg, struct err *err)
{
    (void)arg;
    return identify_anew("Basic Ym9iOnNlY3JldA==", "bob", err); /* bob:secret */
}

static enum rc wrong_token(void *arg, struct err *err)
{
    (void)arg;
    return identify_anew("Bearer abd", "ci", err);
}

TEST(access_identify__is_right_or_no_memory)
{
    assert_true(fault_each(right, NULL, RC_OK, ERR_NONE) > 0);
    assert_true(fault_each(token, NULL, RC_OK, ERR_NONE) > 0);
}

TEST(access_identify__is_wrong_or_no_memory)
{
    assert_true(fault_each(wrong, NULL, RC_ERR, ERR_UNAUTHORIZED) > 0);
    assert_true(fault_each(nobody, NULL, RC_ERR, ERR_UNAUTHORIZED) > 0);
    assert_true(fault_each(wrong_token, NULL, RC_ERR, ERR_UNAUTHORIZED) > 0);
}

/* ---- tables ---- */

static enum rc open_and_close(void *arg, struct err *err)
{
    (void)arg;
    fault_begin();
    enum rc rc = access_open(&server.access, &options, err);
    if (rc == RC_OK)
        access_free(server.access);
    fault_end();
    return rc;
}

TEST(access_open__opens_or_no_memory)
{
    assert_true(fault_each(open_and_close, NULL, RC_OK, ERR_NONE) > 0);
}

static enum rc read_again(void *arg, struct err *err)
{
    (void)arg;
    fault_begin();
    enum rc rc = access_reload(server.access, err);
    fault_end();
    return rc;
}

TEST(access_reload__reads_or_leaves_all_as_it_was)
{
    struct err err;
    assert_int_equal(access_open(&server.access, &options, &err), RC_OK);
    assert_true(fault_each(read_again, NULL, RC_OK, ERR_NONE) > 0);
    assert_int_equal(identify("Bearer abc", "ci", &err), RC_OK);
    access_free(server.access);
}

/* ---- */

static void write_file(char *path, const char *name, const char *text)
{
    snprintf(path, sizeof passwords, "/tmp/avrod-test-%s-XXXXXX", name);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

TEST(access__files_are_removed) /* the last of them */
{
    unlink(passwords);
    unlink(tokens);
    unlink(rights);
}

__attribute__((constructor)) static void set_up(void)
{
    options = options_defaults;
    options.threads = 1;
    write_file(passwords, "passwords", AL);
    write_file(tokens, "tokens", CI);
    options.passwords = passwords;
    options.tokens = tokens;
    write_file(rights, "access", RIGHTS);
    options.access = rights;
    worker.counts = &counts;
}

TEST_MAIN()
