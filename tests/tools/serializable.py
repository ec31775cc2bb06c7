"""Checks whether transactions that read lists and append to lists are strictly serializable, as Elle does.

Every appended value is unique, so a list that was read tells the order of the appends to it, and who made them.  From
that come the dependencies between transactions:

  ww  appended the value directly before the value of the other
  wr  appended the last value that the other has read
  rw  has read the list up to the value directly before the value of the other
  rt  had its answer before the other started

A cycle of dependencies means that no order of the transactions explains the results.  Without rt the history is not
serializable; with rt it is not strictly serializable.
"""

import collections
import dataclasses
import math

MAX_STARTS = 100  # how many transactions of a component are tried as the start of a short cycle


@dataclasses.dataclass
class Transaction:
    """One transaction of one client.

    appends  {key: value}; a value is used once in the whole history
    reads    {key: [value...]}: the lists that it saw
    outcome  'ok', 'failed' (it had no effect) or 'unknown'
    start    when the client sent the request, by a monotonic clock
    end      when the client had the answer; None where it had none
    """

    client: object
    appends: dict
    reads: dict
    outcome: str = "ok"
    start: float = 0.0
    end: float | None = None

    def __str__(self):
        reads = ", ".join(f"{key}: {_short(values)}" for key, values in self.reads.items())
        appends = ", ".join(f"{key}: {value!r}" for key, value in self.appends.items())
        end = "never" if self.end is None or self.end == math.inf else f"{self.end:.6f}"
        when = f"from {self.start:.6f} to {end}"
        return f"client {self.client}, {self.outcome}, {when}, reads {{{reads}}}, appends {{{appends}}}"


def check(transactions, final):
    """None if the transactions are strictly serializable, else a message that explains why not.

    final  {key: [value...]}: the lists read after all transactions ended.  A key that is not there has no values.

    Each list is checked on its own first: those of failed transactions too, since even they must not see what was not
    committed.  Then the transactions that took effect are checked together.  A transaction with an unknown outcome
    took effect if one of its appends is in `final`.
    """
    transactions = list(transactions)
    return _Lists(transactions, final).fault() or _cycle_fault(transactions, final)


def _short(values):
    return repr(values) if len(values) <= 4 else f"[{len(values)} values, the last {values[-1]!r}]"


def _seen(transaction, key):
    """The values of others that the transaction read: without the value that it had itself appended before."""
    values = transaction.reads[key]
    return values[:-1] if key in transaction.appends and values and values[-1] == transaction.appends[key] else values


class _Lists:
    """The checks of single lists and single transactions."""

    def __init__(self, transactions, final):
        self.transactions, self.final = transactions, final
        self.final_sets = {key: set(values) for key, values in final.items()}
        self.writers = {}  # value: (number of the transaction, key)

    def fault(self):
        for number, transaction in enumerate(self.transactions):
            for key, value in transaction.appends.items():
                if value in self.writers:
                    other = self.writers[value][0]
                    return f"the history itself is wrong: {value!r} is appended by T{other} and by T{number}"
                self.writers[value] = number, key
        for key, values in self.final.items():
            if fault := self._values_fault(f"the final list of {key}", key, values):
                return fault
        for number in range(len(self.transactions)):
            if fault := self._transaction_fault(number):
                return fault
        return None

    def _values_fault(self, what, key, values):
        """The errors of a list that no order of the appends explains."""
        if len(set(values)) != len(values):
            twice = [value for value, count in collections.Counter(values).items() if count > 1]
            return f"{what} has {twice[0]!r} twice"
        for value in values:
            number, written_to = self.writers.get(value, (None, None))
            if written_to != key:
                return f"{what} has {value!r}, which nobody appended to {key}"
            if self.transactions[number].outcome == "failed":
                return f"{what} has {value!r} of T{number}, which failed ({self.transactions[number]})"
        return None

    def _transaction_fault(self, number):
        transaction = self.transactions[number]
        there = [key for key, value in transaction.appends.items() if value in self.final_sets.get(key, ())]
        for key, value in transaction.appends.items():
            if key not in there and transaction.outcome == "ok":
                return f"T{number} was acknowledged, but {value!r} is not in the final list of {key} ({transaction})"
            if key not in there and there:
                return f"T{number} took effect in part: in {there[0]} but not in {key} ({transaction})"
        for key in transaction.reads:
            values = _seen(transaction, key)
            final = self.final.get(key, [])
            if values == final[:len(values)]:
                continue  # so its values are as good as those of the final list
            what = f"the list of {key} that T{number} read"
            if fault := self._values_fault(what, key, values):
                return f"{fault} ({transaction})"
            at = next((at for at, (a, b) in enumerate(zip(values, final)) if a != b), len(final))
            found = repr(final[at]) if at < len(final) else "nothing"
            return f"{what} has {values[at]!r} at {at}, where the final list has {found} ({transaction})"
        return None


def _cycle_fault(transactions, final):
    graph = _data_edges(transactions, final)
    if cycle := _short_cycle(graph):
        return _explain("not serializable", transactions, graph, cycle)
    for number, successors in graph.items():  # most violations of real time are as simple as this
        for successor in successors:
            if _precedes(transactions[successor], transactions[number]):
                return _explain("not strictly serializable", transactions, graph, [number, successor])
    _add_real_time(graph, transactions)
    if cycle := _short_cycle(graph):
        return _explain("not strictly serializable", transactions, graph, _shortened(cycle, transactions))
    return None


def _precedes(first, second):
    """Whether the first had its answer before the second started."""
    return first.outcome == "ok" and first.end is not None and first.end < second.start


def _shortened(cycle, transactions):
    """The shortest part of a cycle that an rt edge closes, also one that the graph leaves out.  Else the cycle."""
    for length in range(2, len(cycle)):
        for at in range(len(cycle)):
            if _precedes(transactions[cycle[(at + length - 1) % len(cycle)]], transactions[cycle[at]]):
                return (cycle + cycle)[at:at + length]
    return cycle


def _data_edges(transactions, final):
    """{transaction: {successor: kind and key}} for the transactions that took effect, by number."""
    writers = {value: number for number, writer in enumerate(transactions) for value in writer.appends.values()}
    final_values = {value for values in final.values() for value in values}
    graph = {number: {} for number, transaction in enumerate(transactions)
             if transaction.outcome == "ok" or not final_values.isdisjoint(transaction.appends.values())}  # fmt: skip

    def add(start, end, kind):
        if start != end:
            graph[start].setdefault(end, kind)

    for key, values in final.items():
        for first, second in zip(values, values[1:]):
            add(writers[first], writers[second], f"ww {key}")
    for number in graph:
        for key in transactions[number].reads:
            length, values = len(_seen(transactions[number], key)), final.get(key, [])
            if length:
                add(writers[values[length - 1]], number, f"wr {key}")
            if length < len(values):
                add(number, writers[values[length]], f"rw {key}")
    return graph


def _add_real_time(graph, transactions):
    """Adds the edges of which all others in real time follow.

    The sweep keeps the transactions that have ended and that no ended transaction follows.  There are at most as many
    as clients.  Those that ended earlier precede one of these, so a new transaction needs edges from these alone.
    """
    events = []
    for number in graph:
        transaction = transactions[number]
        events.append((transaction.start, 0, number))  # 0 and 1: a start and an end at the same time are concurrent
        if transaction.outcome == "ok" and transaction.end is not None and transaction.end < math.inf:
            events.append((transaction.end, 1, number))
    frontier = set()
    before = {}
    for _, is_end, number in sorted(events):
        if is_end:
            frontier = frontier - before[number] | {number}
        else:
            before[number] = frontier
            for earlier in frontier:
                graph[earlier].setdefault(number, "rt")


def _components(graph):
    """The strongly connected components of more than one transaction: Tarjan's algorithm, without recursion."""
    index, low, on_path, path, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    path.append(successor)
                    on_path.add(successor)
                    work.append((successor, iter(graph[successor])))
                    break
                if successor in on_path:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(path.pop())
                    on_path -= component
                    if len(component) > 1:
                        found.append(component)
    return found


def _short_cycle(graph):
    """A short cycle as a list of transactions, or None if the graph has none.  The shortest one tried."""
    best = None
    for component in sorted(_components(graph), key=len)[:MAX_STARTS]:
        for start in sorted(component)[:MAX_STARTS]:
            cycle = _cycle_through(graph, component, start, len(best) if best else math.inf)
            best = cycle or best
            if best and len(best) == 2:
                return best
    return best


def _cycle_through(graph, component, start, bound):
    """The shortest cycle through `start` if it has fewer than `bound` transactions, else None."""
    came_from = {start: None}
    level, length = [start], 1
    while level and length < bound:
        following = []
        for node in level:
            for successor in graph[node]:
                if successor == start:
                    cycle = []
                    while node is not None:
                        cycle.append(node)
                        node = came_from[node]
                    return cycle[::-1]
                if successor in component and successor not in came_from:
                    came_from[successor] = node
                    following.append(successor)
        level, length = following, length + 1
    return None


def _explain(what, transactions, graph, cycle):
    path = f"T{cycle[0]}"
    for number, following in zip(cycle, cycle[1:] + cycle[:1]):
        path += f" -{graph[number].get(following, 'rt')}-> T{following}"
    lines = [f"  T{number}: {transactions[number]}" for number in cycle]
    return "\n".join([f"{what}: {path}", *lines])
