/* server/process.h - what the kernel says of this process: getrusage(2), getrlimit(2), proc(5). */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include <stdint.h>

/* What cannot be had is 0. */
struct process_stats {
    uint64_t cpu_ms, minor_faults, major_faults;
    uint64_t resident_bytes, virtual_bytes;
    uint64_t fds, fds_max;
    uint64_t start_ms; /* Unix time */
};

/* Any thread; takes as long as there are file descriptors. */
void process_stats(struct process_stats *);

#endif
