"""bench/lib/report.py - tables for people: columns as wide as they must be; a goal and whether it holds."""

BUSY_OTHERS_MAX = 0.1


class Goal:
    """One line of the table of goals. `value` is a spread; `most` or `least` what its median may be. `proven`: False if the
    rounds do not count, so that nothing is said. `timed`: a machine that is busy with something else falsifies it."""

    def __init__(self, path, measure, value, most=None, least=None, unit="", proven=True, timed=True):
        self.timed = timed
        self.path, self.measure, self.value, self.unit, self.proven = path, measure, value, unit, proven
        self.most, self.least = most, least

    def holds(self):
        if not self.proven:
            return None
        median = self.value["median"]
        return (self.most is None or median <= self.most) and (self.least is None or median >= self.least)

    def goal(self):
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"

    def line(self):
        return [self.path, self.measure, cell(self.value) + self.unit, self.goal() + self.unit,
                {True: "holds", False: "MISSED", None: "unproven"}[self.holds()]]

    def described(self):
        return {"path": self.path, "measure": self.measure, "value": self.value, "goal": self.goal(),
                "unit": self.unit.strip(), "holds": self.holds()}


class Part:
    """What a part of the table has found: rows for the JSON, tables as (title, head, lines), goals."""

    def __init__(self):
        self.rows, self.tables, self.goals, self.notes = [], [], [], []
        self.busy = 0.0  # what part of the machine others used

    def disturbed(self, busy):
        """Others have used that part of the machine: what is timed proves nothing."""
        self.busy = busy
        for goal in self.goals:
            goal.proven = goal.proven and not (goal.timed and busy > BUSY_OTHERS_MAX)


def cell(spread):
    def number(n):
        return f"{n:.0f}" if abs(n) >= 1000 else f"{n:.2f}"
    return f"{number(spread['median'])} ({number(spread['min'])}..{number(spread['max'])})"


def table_by_place(title, head, rows, total, least, first=lambda place: False):
    """A table with a line for each place (a file, a library, a system call) that takes `least` or more in any of the rows, which are
    columns: those that go `first`, then the greatest. rows: {"name": "part-row", total: all of it, "places": {place: how much}}."""
    most = {}
    for found in rows:
        for place, n in found["places"].items():
            most[place] = max(n, most.get(place, 0))
    shown = sorted((place for place in most if most[place] >= least), key=lambda place: (not first(place), -most[place]))
    lines = [["all"] + [f"{found[total]:.0f}" for found in rows]]
    lines += [[place] + [f"{found['places'].get(place, 0):.0f}" for found in rows] for place in shown]
    small = [sum(n for place, n in found["places"].items() if place not in shown) for found in rows]
    lines.append(["what takes less"] + [f"{n:.0f}" for n in small])
    return title, [head] + [found["name"].split("-", 1)[1] for found in rows], lines


def print_table(title, head, lines, markdown=False):
    print(f"\n{title}\n" if markdown else f"\n{title}")
    if markdown:
        for line in [head, ["---"] * len(head)] + lines:
            print("| " + " | ".join(line) + " |")
        return
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    for line in [head] + lines:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip())


def print_parts(parts, markdown=False):
    for part in parts:
        for title, head, lines in part.tables:
            print_table(title, head, lines, markdown)
        for note in part.notes:
            print("\n" + note if markdown else note)
    goals = [goal.line() for part in parts for goal in part.goals]
    if goals:
        busy = max(part.busy for part in parts)
        if busy > BUSY_OTHERS_MAX:
            print(f"\nOthers have used {busy:.0%} of the machine: no figure that has to do with time proves anything.")
        print_table("Goals", ["path", "measure", "median (least..greatest)", "goal", "verdict"], goals, markdown)
