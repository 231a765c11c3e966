/* tests/fault/from_environment.c - hands the allocator of a whole program to another process:
 * $ALLOCATOR_FAULT is a file that holds a struct allocator_fault, which both map. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fault/allocator.h"

__attribute__((constructor)) static void share_fault(void)
{
    const char *path = getenv("ALLOCATOR_FAULT");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = mmap(NULL, sizeof(struct allocator_fault), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED)
        allocator_use(p);
}
