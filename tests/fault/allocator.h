/* tests/fault/allocator.h - an allocator in front of the real one that fails when it is told to. It is linked
 * into the program under test, so the calls of every library come here too. Any thread. */
#ifndef TESTS_FAULT_ALLOCATOR_H
#define TESTS_FAULT_ALLOCATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What is to fail; all zero: nothing. May stand in memory that another process shares. */
struct allocator_fault {
    _Atomic int64_t countdown; /* the call that makes it 0 fails; never above 0: none does */
    _Atomic uint32_t forever;  /* 1: so do all behind that one */
    _Atomic uint32_t failed;   /* how many have */
};

/* In force from now on; NULL: none. */
void allocator_use(struct allocator_fault *);

/* Blocks given and not given back. */
int64_t allocator_blocks(void);

#endif
