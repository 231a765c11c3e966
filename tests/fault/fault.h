/* tests/fault/fault.h - an operation run again and again, each time with a later allocation that fails, until
 * it needs no more. Include once a program. */
#ifndef TESTS_FAULT_FAULT_H
#define TESTS_FAULT_FAULT_H

#include "tests/lib/test.h"

#include <string.h>
#include <time.h>

#include "base/err.h"
#include "tests/fault/allocator.h"

static struct {
    struct allocator_fault allocator;
    int64_t nth;
    bool forever;
    bool hit; /* an allocation failed between fault_begin and fault_end */
} fault;

/* Around the part of an operation in which allocations may fail. */
static inline void fault_begin(void)
{
    fault.allocator.failed = 0;
    fault.allocator.forever = fault.forever;
    fault.allocator.countdown = fault.nth;
    allocator_use(&fault.allocator);
}

/* Something of the test's own comes between. */
static inline void fault_pause(void)
{
    allocator_use(NULL);
}

static inline void fault_resume(void)
{
    allocator_use(&fault.allocator);
}

/* From now on there is memory. */
static inline void fault_recover(void)
{
    fault.allocator.countdown = 0;
}

static inline void fault_end(void)
{
    allocator_use(NULL);
    fault.allocator.countdown = 0;
    fault.hit |= fault.allocator.failed > 0;
}

/* The operation: RC_OK, an expected outcome, or RC_ERR with *err. */
typedef enum rc fault_op(void *arg, struct err *err);

static inline bool fault_run(fault_op *op, void *arg, enum rc want, enum err_code want_code)
{
    struct err err = {0};
    int64_t blocks = allocator_blocks();
    fault.hit = false;
    enum rc rc = op(arg, &err);
    if (allocator_blocks() != blocks && fault.nth > 0)
        fail_msg("allocation %ld: %ld blocks have leaked", (long)fault.nth,
                 (long)(allocator_blocks() - blocks));
    bool as_wanted = rc == want && (rc != RC_ERR || err.code == want_code);
    bool no_memory = rc == RC_ERR && err.code == ERR_NO_MEMORY;
    if (!as_wanted && !(fault.hit && no_memory))
        fail_msg("allocation %ld: outcome %d, %s: %s", (long)fault.nth, rc,
                 rc == RC_ERR ? err_slug(err.code) : "", rc == RC_ERR ? err.message : "");
    return fault.hit;
}

/* For each n the n-th allocation fails; then, in growing steps, it and all behind it. Whatever the operation makes
 * it must give back, and its outcome is the one that is wanted or NO_MEMORY. Returns how many allocations it makes. */
static inline int64_t fault_each(fault_op *op, void *arg, enum rc want, enum err_code want_code)
{
    enum { MOST = 20000 };
    tzset(); /* or the first line that a thread logs leaves the C library's time zone behind */
    fault.nth = 0;
    fault.forever = false;
    fault_run(op, arg, want, want_code); /* what is made once a process is left behind */
    for (fault.nth = 1; fault_run(op, arg, want, want_code); fault.nth++)
        assert_true(fault.nth < MOST);
    int64_t allocations = fault.nth - 1;
    fault.forever = true;
    for (fault.nth = 1; fault_run(op, arg, want, want_code); fault.nth += 1 + fault.nth / 8)
        assert_true(fault.nth < MOST);
    return allocations;
}

#endif
