/* tests/fault/disk.h - the calls by which a program and its libraries reach the disk, in front of the real ones; one
 * of them fails when it is told to, by the program itself or by another process. Any thread. */
#ifndef TESTS_FAULT_DISK_H
#define TESTS_FAULT_DISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum call {
    CALL_NONE,
    CALL_MKDIR,
    CALL_OPEN,
    CALL_FLOCK,
    CALL_FCNTL,
    CALL_MMAP,
    CALL_PREAD,
    CALL_PWRITE,
    CALL_WRITEV,
    CALL_LSEEK,
    CALL_FTRUNCATE,
    CALL_FALLOCATE,
    CALL_FSYNC,
    CALL_FDATASYNC,
};

/* What is to fail; all zero: nothing. May stand in memory that another process shares. */
struct disk_fault {
    _Atomic int32_t call, error, countdown; /* the call of this kind that makes it 0 fails */
    _Atomic uint32_t failed, meta;          /* 1: it did; it was about to write a meta page of LMDB's */
};

/* In force from now on. */
void disk_use(struct disk_fault *);

/* From now on the n-th call of this kind fails with that errno; and no other. */
void disk_arm(enum call, int error, int nth);
/* None does any more. Did one? */
bool disk_disarm(void);
/* Was it about to write a meta page of LMDB's? */
bool disk_failed_at_meta(void);

/* Count the flushes of a directory; 0: of none. */
void disk_watch(ino_t directory);
unsigned disk_flushes(void);

#endif
