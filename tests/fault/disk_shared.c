/* tests/fault/disk_shared.c - hands the disk calls of a whole program to another process: $DISK_FAULT is a file that
 * holds a struct disk_fault. */
#include "tests/fault/disk.h"
#include "tests/fault/from_environment.h"

__attribute__((constructor)) static void share_fault(void)
{
    struct disk_fault *f = from_environment("DISK_FAULT", sizeof *f);
    if (f)
        disk_use(f);
}
