"""Checks whether the history of one register is linearizable.

The search is that of Wing and Gong with Lowe's cache, as in Porcupine.  Calls and returns are a linked list in the
order of time.  The search takes an operation whose call is before the first return in the list, applies it to the
register, and removes its call and its return.  It goes back when nothing can be taken.  The cache has the pairs of
the set of operations taken and the value of the register, since the rest of the search depends on nothing else.

The value of each write and each cas is expected to be unique in the history, but for None, which deletes.  Values
that are not unique are checked correctly too, but can take long.
"""

import collections
import dataclasses
import math

MAX_CONFIGURATIONS = 500_000  # bounds the memory of the cache; histories of our tests need some thousands

_FRESH = object()  # stands in the cache for every value that nobody looks at


@dataclasses.dataclass
class Operation:
    """One call of one client.

    kind      'write', 'read' or 'cas'
    value     the value to write; None deletes.  Unused by a read.
    expected  the value that a cas replaces.  Unused by others.
    result    write: 'ok' or 'unknown'.  cas: True, False or 'unknown'.  read: the value seen, None where there was
    none. start     when the client sent the request, by a monotonic clock end       when the client had the answer.
    None or infinity if it had none: then the outcome is unknown.
    """

    client: object
    kind: str
    value: object = None
    expected: object = None
    result: object = None
    start: float = 0.0
    end: float | None = None

    def __str__(self):
        what = {"write": f"({self.value!r})", "read": "()", "cas": f"({self.expected!r} -> {self.value!r})"}[self.kind]
        end = "never" if self.end is None or self.end == math.inf else f"{self.end:.6f}"
        return f"client {self.client}: {self.kind}{what} = {self.result!r} from {self.start:.6f} to {end}"


def by_key(operations_with_key):
    """The histories of the keys: {key: [operation...]} of pairs (key, operation)."""
    histories = collections.defaultdict(list)
    for key, operation in operations_with_key:
        histories[key].append(operation)
    return dict(histories)


def check(operations):
    """None if the history of one key is linearizable, else a message that explains why not.  The key starts as None."""
    history = _History(operations)
    return history.fault() or _Search(history).run()


class _Op:
    """An operation as the search sees it: with its number, its end after inference, and what it needs and does."""

    def __init__(self, number, operation):
        self.operation, self.bit = operation, 1 << number
        self.start, self.end = operation.start, math.inf if operation.end is None else operation.end
        self.value, self.expected = operation.value, operation.expected
        self.unknown = operation.kind != "read" and (operation.result == "unknown" or self.end == math.inf)
        if self.unknown:
            self.end = math.inf
        self.is_cas = operation.kind == "cas"
        self.refused = self.is_cas and not self.unknown and operation.result is False
        self.is_write = operation.kind == "write"
        self.changes = not self.refused and operation.kind != "read"  # whether it sets the register
        # Whether it needs the register to be `seen`.
        self.needs = operation.kind == "read" or self.is_cas and not self.refused
        self.seen = operation.result if operation.kind == "read" else operation.expected
        self.must = not self.unknown  # whether a linearization must have it
        self.fresh = False

    def fits(self, state):
        return self.is_write or (state == self.seen) is not self.refused


class _History:
    """Sorts the operations: those that a linearization must have, those that it can have, and spares.

    An operation with an unknown outcome has taken effect if somebody has seen its value, since no other operation
    writes this value.  Then it must be there, and before the end of the first operation that has seen it.

    Where nobody has seen the value, a plain search would try the operation at every later moment.  But it can be left
    out of a linearization, since values are unique and so no read and no successful cas depends on it, with one
    exception: a cas can have failed because of it.  So it is a spare.  The search uses a spare only directly before
    an operation that is impossible without one.  This loses nothing: a spare has no end, so it can be moved later up
    to that operation. Deletions with an unknown outcome are spares for the same reason; reads of None and cas from
    None can need them too.
    """

    def __init__(self, operations):
        ops = [_Op(number, operation) for number, operation in enumerate(sorted(operations, key=lambda o: o.start))]
        self.ops = [op for op in ops if op.end < math.inf or op.unknown]  # a read without an answer says nothing
        self.writers = collections.defaultdict(list)
        for op in self.ops:
            if op.changes:
                self.writers[op.value].append(op)
        self._require_what_was_seen()

        read = {op.seen for op in self.ops if op.operation.kind == "read"}
        compared = {op.expected for op in self.ops if op.is_cas}
        for op in self.ops:
            op.fresh = op.changes and op.value is not None and op.value not in read and op.value not in compared
        # Values that can come back after they were overwritten.  Another value must stay until nothing needs it any
        # more.
        self.recurring = {value for value, ops in self.writers.items() if len(ops) > (value is not None)}
        self.needed = collections.Counter(op.seen for op in self.ops if op.must and op.needs)

        optional = [op for op in self.ops if not op.must]
        self.fresh_writes = [op for op in optional if op.is_write and op.fresh]
        self.deletions = [op for op in optional if op.is_write and op.value is None]
        self.fresh_cas = collections.defaultdict(list)  # by the value that they replace
        for op in optional:
            if op.is_cas and op.fresh:
                self.fresh_cas[op.expected].append(op)
        self.spares = sum(op.bit for op in optional if op.fresh or op.is_write and op.value is None)
        self.searched = [op for op in self.ops if not op.bit & self.spares]
        self.fresh_values = {op.value for op in self.ops if op.fresh}

    def _require_what_was_seen(self):
        todo = [op for op in self.ops if op.must and op.needs]
        while todo:
            observer = todo.pop()
            writers = self.writers.get(observer.seen, [])
            if observer.seen is None or len(writers) != 1 or not writers[0].unknown or writers[0].end <= observer.end:
                continue
            writers[0].must, writers[0].end = True, observer.end
            if writers[0].needs:
                todo.append(writers[0])

    def fault(self):
        """The faults that need no search.  Their messages are clearer than that of the search."""
        replaced = {}
        for op in self.ops:
            if not op.must or not op.needs or op.seen is None:
                continue
            writers = self.writers.get(op.seen, [])
            if not writers:
                return f"{op.operation} saw {op.seen!r}, which nobody wrote"
            if all(writer.start > op.end for writer in writers):
                return f"{op.operation} saw {op.seen!r} before it was written by {writers[0].operation}"
            if op.is_cas and len(writers) == 1:
                other = replaced.setdefault(op.seen, op)
                if other is not op:
                    return f"{op.seen!r} was replaced twice: by {other.operation} and by {op.operation}"
        return None


class _Event:
    """The call or the return of an operation in the linked list.  `match`: the return of a call, None for a return."""

    __slots__ = ("op", "time", "match", "before", "after")

    def __init__(self, op, time):
        self.op, self.time, self.match, self.before, self.after = op, time, None, None, None

    def remove(self):
        for event in (self, self.match):
            event.before.after, event.after.before = event.after, event.before

    def restore(self):
        for event in (self.match, self):
            event.before.after = event.after.before = event


class _Search:
    def __init__(self, history):
        self.history = history
        self.needed = history.needed.copy()  # how many operations that must be there still need a value
        self.left = sum(op.must for op in history.ops)
        self.taken = 0  # bits of the operations
        self.state = None
        self.head = _Event(None, -math.inf)
        events = []
        for op in history.searched:
            call, answer = _Event(op, op.start), _Event(op, op.end)
            call.match = answer
            events += [call, answer]
        # Calls come first: a call and a return at the same time are concurrent.
        events.sort(key=lambda event: (event.time, event.match is None))
        events.append(_Event(None, math.inf))
        last = self.head
        for event in events:
            last.after, event.before = event, last
            last = event

    def run(self):
        seen = collections.defaultdict(list)
        stack = []  # (calls of operations that changed nothing, moves left, the move made and the state before it)
        best = None
        while True:
            lifted = self._take_what_changes_nothing()
            if not self.left:
                return None
            moves = []
            if self._is_new(seen):
                if len(seen) > MAX_CONFIGURATIONS:
                    raise RuntimeError(f"undecided after {MAX_CONFIGURATIONS} configurations")
                if best is None or self.left < best[0]:
                    best = self.left, self.taken, self.state, self._first_return().op
                moves = self._moves()
            stack.append([lifted, moves, None])
            while not stack[-1][1]:
                self._undo(stack.pop()[0])
                if not stack:
                    return self._explain(*best)
                (call, spare), self.state = stack[-1][2]
                self._undo([call])
                self.taken &= ~(spare.bit if spare else 0)
            move = stack[-1][1].pop()
            stack[-1][2] = move, self.state
            call, spare = move
            if spare:
                self.taken |= spare.bit
                self.state = spare.value
            self._take(call)
            if call.op.changes:
                self.state = call.op.value

    def _is_new(self, seen):
        """Whether the search has not been here before with the same spares left or more.  Remembers it in `seen`.

        All values that nobody looks at are the same state.
        """
        state = _FRESH if self.state in self.history.fresh_values else self.state
        before = seen[self.taken & ~self.history.spares, state]
        used = self.taken & self.history.spares
        if any(earlier & used == earlier for earlier in before):
            return False
        before.append(used)
        return True

    def _take(self, call):
        call.remove()
        self.taken |= call.op.bit
        self.left -= call.op.must
        if call.op.must and call.op.needs:
            self.needed[call.op.seen] -= 1

    def _undo(self, calls):
        for call in reversed(calls):
            call.restore()
            self.taken &= ~call.op.bit
            self.left += call.op.must
            if call.op.must and call.op.needs:
                self.needed[call.op.seen] += 1

    def _take_what_changes_nothing(self):
        """Takes reads and refused cas that fit.  There is no other choice to try: to take them now hinders nothing."""
        lifted = []
        event = self.head.after
        while event.match:
            if not event.op.changes and event.op.fits(self.state):
                self._take(event)
                lifted.append(event)
                event = event.before
            event = event.after
        return lifted

    def _first_return(self):
        event = self.head.after
        while event.match:
            event = event.after
        return event

    def _moves(self):
        """The moves (call, spare before it or None), the best one last."""
        needed = 0 if self.state in self.history.recurring else self.needed[self.state]
        deadline = self._first_return().time
        fresh = None
        moves = []
        spared = []
        event = self.head.after
        while event.match:
            op = event.op
            if op.changes and op.fits(self.state):
                if needed - (op.must and op.needs) <= 0:
                    if op.is_write and op.fresh:  # nobody looks at their values: only the one with the earliest end
                        fresh = event if fresh is None or op.end < fresh.op.end else fresh
                    else:
                        moves.append(event)
            elif needed <= 0:
                spared += ((event, spare) for spare in self._spares_for(op, deadline))
            event = event.after
        if fresh:
            moves.append(fresh)
        moves.sort(key=lambda call: -call.op.end)
        return spared + [(call, None) for call in moves]

    def _spares_for(self, op, deadline):
        """The spares that make `op` possible in a state in which it is not.  The first of several that do the same."""
        if op.refused:  # any other value will do; a cas is used first, since a write can be used in more states
            fresh = self._unused(self.history.fresh_cas.get(self.state, ()), deadline)
            if fresh := fresh or self._unused(self.history.fresh_writes, deadline):
                yield fresh
        if self.state is not None and (op.refused or op.seen is None):
            if deletion := self._unused(self.history.deletions, deadline):
                yield deletion

    def _unused(self, spares, deadline):
        for spare in spares:
            if spare.start > deadline:
                return None
            if not self.taken & spare.bit:
                return spare
        return None

    def _explain(self, left, taken, state, blocked):
        done = sum(op.must for op in self.history.ops) - left
        message = f"no order explains the results: after {done} operations the value is {state!r}, "
        message += f"and then this is impossible: {blocked.operation}"
        waiting = [op for op in self.history.ops if op.must and op.needs and op.seen == state and not op.bit & taken]
        if waiting:
            message += f"; this still needs {state!r}: {waiting[0].operation}"
        return message
