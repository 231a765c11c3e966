/* server/process.c - see process.h. */
#include "server/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

enum { FILE_MAX = 2048 };

/* The beginning of a file, with a NUL. */
static size_t read_file(const char *path, char text[FILE_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, FILE_MAX - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* The decimal number that stands behind so many spaces; 0: there is none. */
static uint64_t word_at(const char *text, unsigned spaces)
{
    uint64_t value;
    for (; spaces && text; spaces--)
        text = (text = strchr(text, ' ')) ? text + 1 : NULL;
    if (!text || !num_parse_decimal(slice_of(text, strspn(text, "0123456789")), UINT64_MAX, &value))
        return 0;
    return value;
}

static void read_memory(struct process_stats *p)
{
    char text[FILE_MAX];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    read_file("/proc/self/statm", text);
    p->virtual_bytes = word_at(text, 0) * page;
    p->resident_bytes = word_at(text, 1) * page;
}

/* Ticks since the machine was started; the command before them, in parentheses, may hold anything. */
static void read_start(struct process_stats *p)
{
    char text[FILE_MAX];
    struct timespec up, now;
    uint64_t ticks = 0, per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    const char *behind = read_file("/proc/self/stat", text) ? strrchr(text, ')') : NULL;
    if (behind)
        ticks = word_at(behind, 20); /* field 22; the parenthesis closes field 2 */
    if (!ticks || clock_gettime(CLOCK_BOOTTIME, &up) || clock_gettime(CLOCK_REALTIME, &now))
        return;
    uint64_t booted_ms = (uint64_t)(now.tv_sec - up.tv_sec) * 1000 + (uint64_t)(now.tv_nsec / 1000000) -
                         (uint64_t)(up.tv_nsec / 1000000);
    p->start_ms = booted_ms + ticks * 1000 / per_second;
}

static void read_descriptors(struct process_stats *p)
{
    struct rlimit limit;
    DIR *dir = opendir("/proc/self/fd");
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        p->fds_max = limit.rlim_cur;
    if (!dir)
        return;
    const struct dirent *entry;
    while ((entry = readdir(dir)))
        p->fds += entry->d_name[0] != '.';
    p->fds -= p->fds > 0; /* the directory's own */
    closedir(dir);
}

static uint64_t ms_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000;
}

void process_stats(struct process_stats *p)
{
    struct rusage usage;
    *p = (struct process_stats){0};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        p->cpu_ms = ms_of(usage.ru_utime) + ms_of(usage.ru_stime);
        p->minor_faults = (uint64_t)usage.ru_minflt;
        p->major_faults = (uint64_t)usage.ru_majflt;
    }
    read_memory(p);
    read_start(p);
    read_descriptors(p);
}
