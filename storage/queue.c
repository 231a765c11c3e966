/* storage/queue.c - the stack by compare-and-swap, the bell by futex. */
#include "storage/queue.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool write_stack_push(struct write_stack *s, struct store_write *first, struct store_write *last)
{
    struct store_write *old = atomic_load_explicit(&s->head, memory_order_relaxed);
    do {
        last->next = old;
    } while (!atomic_compare_exchange_weak(&s->head, &old, first));
    return old == NULL;
}

struct store_write *write_stack_take(struct write_stack *s)
{
    if (!atomic_load_explicit(&s->head, memory_order_relaxed))
        return NULL;
    struct store_write *w = atomic_exchange_explicit(&s->head, NULL, memory_order_acquire), *oldest = NULL;
    while (w) {
        struct store_write *next = w->next;
        w->next = oldest;
        oldest = w;
        w = next;
    }
    return oldest;
}

static void wake(struct write_queue *q)
{
    if (atomic_exchange(&q->asleep, 0))
        syscall(SYS_futex, &q->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void write_queue_push(struct write_queue *q, struct store_write *w)
{
    /* The taker announces its sleep, then looks at the stack; a pusher pushes, then looks for a sleeper: all
     * four in one order (seq_cst), so one of the two sees the other. Whoever pushes on a stack that is not
     * empty has somebody before it who looks. */
    if (write_stack_push(&q->stack, w, w) && unlikely(atomic_load(&q->asleep)))
        wake(q);
}

void write_queue_ring(struct write_queue *q)
{
    atomic_store(&q->rung, true);
    wake(q);
}

void write_queue_wait(struct write_queue *q, unsigned timeout_ms)
{
    struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    atomic_store(&q->asleep, 1);
    if (!atomic_load(&q->stack.head) && !atomic_load(&q->rung))
        syscall(SYS_futex, &q->asleep, FUTEX_WAIT_PRIVATE, 1, &timeout, NULL, 0);
    atomic_store(&q->asleep, 0);
}
