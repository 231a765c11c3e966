/* server/sandbox.c - the filter of system calls, by libseccomp. What is refused fails with EPERM rather than end the process: a C
 * library that has learnt a new call falls back or reports an error, and no record is lost over it. */
#include "server/sandbox.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static const int calls[] = {
#define SYSCALL(name) SCMP_SYS(name),
#include "server/syscalls.def"
#undef SYSCALL
};

/* The functions below answer as libseccomp does: 0, or an error number below 0. */

static int allow_calls(scmp_filter_ctx filter)
{
    int fault = 0;
    for (size_t i = 0; i < ARRAY_LEN(calls) && !fault; i++)
        if (calls[i] >= 0) /* this machine's kernel has it */
            fault = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    return fault;
}

/* Memory may be executable if it was when the program was loaded, and not become so. */
static int allow_memory(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    int fault = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_exec);
    return fault ? fault : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_exec);
}

/* Threads, no processes. The flags of clone3 lie in memory, where a filter cannot look: as if the kernel had none, so that the C
 * library goes back to clone. */
static int allow_threads(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
    int fault = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, thread);
    return fault ? fault : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* A datagram to the service manager, which connects to nothing. */
static int allow_notifying(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
}

static int load(scmp_filter_ctx filter)
{
    int fault = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!fault)
        fault = allow_calls(filter);
    if (!fault)
        fault = allow_memory(filter);
    if (!fault)
        fault = allow_threads(filter);
    if (!fault)
        fault = allow_notifying(filter);
    if (fault)
        return fault;
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1); /* older kernels cannot, and filter all the same */
    return seccomp_load(filter);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

enum rc sandbox_enter(struct err *err)
{
#ifdef WATCHED
    (void)load, (void)err;
    return RC_OK;
#else
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return err_oom(err);
    int fault = load(filter);
    seccomp_release(filter);
    if (fault)
        return err_set(err, ERR_CONFIG, "The kernel takes no filter of system calls: %s.", strerror(-fault));
    return RC_OK;
#endif
}
