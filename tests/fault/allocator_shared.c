/* tests/fault/allocator_shared.c - hands the allocator of a whole program to another process: $ALLOCATOR_FAULT is a
 * file that holds a struct allocator_fault. */
#include "tests/fault/allocator.h"
#include "tests/fault/from_environment.h"

__attribute__((constructor)) static void share_fault(void)
{
    struct allocator_fault *f = from_environment("ALLOCATOR_FAULT", sizeof *f);
    if (f)
        allocator_use(f);
}
