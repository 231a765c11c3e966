"""tests/lib/linear.py - is what clients saw of one register something that one copy of it, changed by one write after the
other, could have shown? A search for an order of all operations that keeps to real time (what had ended before another began
comes first) and explains every answer; after Wing and Gong, with a memory of what was tried."""


class Op:
    """One operation: when it was called and when it was answered (None: never, it may have happened or not), and
    step(state) -> the state behind it, or None if it cannot have been answered so from this state. States are hashable.
    order: a number that operations with one happen in the order of (a revision); None: it has none."""

    def __init__(self, step, called, returned, order=None, told=""):
        self.step, self.called, self.returned, self.order, self.told = step, called, returned, order, told

    def __repr__(self):
        return f"{self.told} [{self.called:.6f}..{self.returned and f'{self.returned:.6f}'}]"


def candidates(ops, done, first):
    """What may come next: it was called before any of those that are left had been answered."""
    ends, lowest, found = float("inf"), float("inf"), []
    for i in range(first, len(ops)):
        if done >> (i - first) & 1:
            continue
        op = ops[i]
        if op.called > ends:
            break
        found.append(i)
        if op.returned is not None:
            ends = min(ends, op.returned)
            if op.order is not None:
                lowest = min(lowest, op.order)
    return [i for i in found if ops[i].called <= ends and (ops[i].order is None or ops[i].order <= lowest)]


def trim(ops, done, first):
    """`done` without the operations at its beginning that are."""
    while done & 1:
        done >>= 1
        first += 1
    return done, first


def explain(ops, state, final=None):
    """None if there is such an order, that ends in a state for which final(state) holds; else the longest beginning of one
    that was found, and what could not follow."""
    ops = sorted(ops, key=lambda op: op.called)
    seen, best = set(), (0, state, [])
    stack = [(0, 0, state, 0)]
    while stack:
        done, first, state, n = stack.pop()
        left = [i for i in range(first, len(ops)) if not done >> (i - first) & 1 and ops[i].returned is not None]
        if not left and (final is None or final(state)):
            return None
        if n >= best[0]:
            best = n, state, [ops[i] for i in candidates(ops, done, first)]
        for i in reversed(candidates(ops, done, first)):
            after = ops[i].step(state)
            if after is None:
                continue
            now = *trim(ops, done | 1 << (i - first), first), after
            if now not in seen:
                seen.add(now)
                stack.append((*now, n + 1))
    return f"{best[0]} of {len(ops)} operations are explained, up to {best[1]}; then none of {best[2]}"
