"""Does the checker of linearizability accept what is right, and report what is not?"""

import dataclasses
import heapq
import math
import random
import unittest

import linearizable
from linearizable import Operation


def write(value, start, end, client=1):
    return Operation(client, "write", value, None, "ok" if end else "unknown", start, end)


def read(value, start, end, client=2):
    return Operation(client, "read", None, None, value, start, end)


def cas(expected, value, result, start, end, client=3):
    return Operation(client, "cas", value, expected, result, start, end)


VALID = {
    "nothing": [],
    "a read of a key that was never written": [read(None, 0, 1)],
    "one after the other": [
        write(1, 0, 1), read(1, 2, 3), cas(1, 2, True, 4, 5), read(2, 6, 7), write(None, 8, 9), read(None, 10, 11)],
    "a concurrent write seen early": [write(1, 0, 9), read(1, 1, 2)],
    "a concurrent write seen late": [write(1, 0, 9), read(None, 1, 2), read(1, 3, 4)],
    "concurrent writes in the other order": [write(1, 0, 9), write(2, 0, 9, 4), read(2, 1, 2), read(1, 3, 4)],
    "calls and returns at the same time are concurrent": [write(1, 0, 1), read(None, 1, 2)],
    "a refused cas": [write(1, 0, 1), cas(2, 3, False, 2, 3), read(1, 4, 5)],
    "a cas refused because of a concurrent write": [
        write(1, 0, 1), write(2, 2, 9), cas(1, 3, False, 3, 4), read(2, 5, 6)],
    "an unknown write that took effect": [write(1, 0, None), read(1, 5, 6)],
    "an unknown write that did not": [write(1, 0, None), read(None, 5, 6)],
    "an unknown write that took effect late": [write(1, 0, None), read(None, 5, 6), read(1, 7, 8)],
    "an unknown write with an end": [Operation(1, "write", 1, None, "unknown", 0, 1), read(None, 5, 6), read(1, 7, 8)],
    "an unknown cas that took effect": [write(1, 0, 1), cas(1, 2, "unknown", 2, None), read(2, 5, 6)],
    "an unknown cas that did not": [write(1, 0, 1), cas(1, 2, "unknown", 2, None), read(1, 5, 6)],
    "unknown cas in a row, of which the last was seen": [
        write(1, 0, None), cas(1, 2, "unknown", 2, None), cas(2, 3, "unknown", 2, None), read(3, 5, 6)],
    "an unknown deletion that took effect": [write(1, 0, 1), write(None, 2, None), read(None, 5, 6)],
    "an unknown deletion that took effect late": [
        write(1, 0, 1), write(None, 2, None), read(1, 5, 6), read(None, 7, 8), cas(None, 4, True, 9, 10)],
    "a cas refused because of an unknown write that nobody saw": [
        write(1, 0, 1), write(2, 2, None), cas(1, 3, False, 4, 5), write(4, 6, 7)],
    "a cas refused because of an unknown cas that nobody saw": [
        write(1, 0, 1), cas(1, 2, "unknown", 2, None), cas(1, 3, False, 4, 5), write(4, 6, 7), read(4, 8, 9)],
    "a read without an answer": [write(1, 0, 1), Operation(2, "read", None, None, None, 2, None)],
}  # fmt: skip

BROKEN = {
    "a stale read": [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)],
    "a lost write": [write(1, 0, 1), read(None, 2, 3)],
    "a read that goes back": [write(1, 0, 1), write(2, 2, 9), read(2, 3, 4), read(1, 5, 6)],
    "two clients that see two orders": [
        write(1, 0, 9), write(2, 0, 9, 4), read(1, 1, 2), read(2, 3, 4), read(1, 5, 6)],
    "a value never written": [write(1, 0, 1), read(7, 2, 3)],
    "a value of a refused cas": [write(1, 0, 1), cas(5, 7, False, 2, 3), read(7, 4, 5)],
    "a value of the future": [read(1, 0, 1), write(1, 2, 3)],
    "an unknown write of the future": [read(1, 0, 1), write(1, 2, None)],
    "an unknown write that vanished again": [write(1, 0, 1), write(2, 2, None), read(2, 3, 4), read(1, 5, 6)],
    "a cas that succeeded twice": [write(1, 0, 1), cas(1, 2, True, 2, 5), cas(1, 3, True, 2, 5, 4)],
    "a cas that succeeded twice, once unknown but seen": [
        write(1, 0, 1), cas(1, 2, "unknown", 2, None), cas(1, 3, True, 2, 5, 4), read(2, 6, 7)],
    "a lost update": [write(1, 0, 1), cas(1, 2, True, 2, 3), write(3, 4, 5), cas(1, 4, True, 6, 7)],
    "a create that succeeded twice": [cas(None, 1, True, 0, 5), cas(None, 2, True, 0, 5, 4)],
    "a cas refused without a reason": [write(1, 0, 1), cas(1, 2, False, 2, 3)],
    "a cas refused because of a write that had not started": [
        write(1, 0, 1), cas(1, 2, False, 2, 3), write(4, 4, None)],
    "one unknown write cannot refuse twice": [
        write(1, 0, 1), write(2, 2, None), cas(1, 3, False, 4, 5), write(5, 6, 7), cas(5, 6, False, 8, 9)],
    "an unknown cas cannot refuse in another state": [
        write(1, 0, 1), cas(7, 2, "unknown", 2, None), cas(1, 3, False, 4, 5)],
    "a deletion that nobody made": [write(1, 0, 1), read(1, 2, 3), read(None, 4, 5)],
    "a deletion that came back": [write(1, 0, 1), write(None, 2, 3), read(1, 4, 5)],
    "one unknown deletion deletes once": [
        write(1, 0, 1), write(None, 2, None), read(None, 3, 4), write(5, 6, 7), read(5, 8, 9), read(None, 10, 11)],
}  # fmt: skip


def simulate(random_, count, clients, unknown, kinds=("read", "read", "write", "cas", "cas", "delete"), gap=1.0):
    """A history of a correct register.  Each operation takes effect at one moment between its start and its end."""
    operations, state, values = [], None, 0
    last_seen = [None] * clients
    # (time, unique number, operation to apply).  A client that starts an operation has None.
    events = [(random_.random(), client, None) for client in range(clients)]
    heapq.heapify(events)
    while events:
        now, client, operation = heapq.heappop(events)
        if operation is None:
            if len(operations) == count:
                continue
            values += 1
            kind = random_.choice(kinds)
            value = None if kind in ("read", "delete") else values
            expected = last_seen[client] if kind == "cas" else None
            operation = Operation(client, "write" if kind == "delete" else kind, value, expected, None, now, None)
            operations.append(operation)
            applied, end = now + random_.expovariate(1 / gap), None
            if kind != "read" and random_.random() < unknown:
                operation.result, end = "unknown", applied + random_.random()
                applied = random_.choice((applied, applied + 20 * gap, None))
            else:
                end = operation.end = applied + random_.expovariate(1 / gap)
            if applied is not None:
                heapq.heappush(events, (applied, client + len(operations) * clients, operation))
            heapq.heappush(events, (end + random_.expovariate(2 / gap), client, None))
            continue
        known = operation.result != "unknown"
        if operation.kind == "read":
            operation.result = last_seen[operation.client] = state
            continue
        fits = operation.kind == "write" or state == operation.expected
        if known:
            operation.result = "ok" if operation.kind == "write" else fits
            last_seen[operation.client] = operation.value if fits else state
        if fits:
            state = operation.value
    return operations


def is_linearizable(operations, state=None):
    """The definition, without any cleverness: tries all orders."""
    known = [o for o in operations if not (o.kind != "read" and o.result == "unknown")]
    if not known:
        return True
    first_end = min(o.end for o in known)
    for at, o in enumerate(operations):
        if o.start > first_end:
            continue
        rest = operations[:at] + operations[at + 1:]
        if o.kind == "read":
            fits, after = state == o.result, state
        elif o.kind == "write":
            fits, after = True, o.value
        else:
            fits = o.result == "unknown" or (state == o.expected) == o.result
            after = o.value if state == o.expected else state
        if fits and is_linearizable(rest, after):
            return True
    return False


class Linearizable(unittest.TestCase):
    def test_accepts_valid_histories(self):
        for name, history in VALID.items():
            with self.subTest(name):
                self.assertIsNone(linearizable.check(history))
                self.assertIsNone(linearizable.check(history[::-1]), "the order of the list says nothing")
                endless = [dataclasses.replace(o, end=math.inf if o.end is None else o.end) for o in history]
                self.assertIsNone(linearizable.check(endless))

    def test_reports_broken_histories(self):
        for name, history in BROKEN.items():
            with self.subTest(name):
                self.assertTrue(linearizable.check(history))

    def test_names_the_operation_that_does_not_fit(self):
        self.assertEqual(linearizable.check([write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)]),
                         "no order explains the results: after 1 operations the value is 1, "
                         "and then this is impossible: client 1: write(2) = 'ok' from 2.000000 to 3.000000; "
                         "this still needs 1: client 2: read() = 1 from 4.000000 to 5.000000")  # fmt: skip
        self.assertIn("which nobody wrote", linearizable.check(BROKEN["a value never written"]))
        self.assertIn("was replaced twice", linearizable.check(BROKEN["a cas that succeeded twice"]))
        self.assertIn("before it was written", linearizable.check(BROKEN["a value of the future"]))

    def test_keys_have_histories_of_their_own(self):
        one, two, three = write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)
        self.assertEqual(linearizable.by_key([("a", one), ("b", two), ("a", three)]), {"a": [one, three], "b": [two]})

    def test_agrees_with_the_definition(self):
        found = {True: 0, False: 0}
        for seed in range(3000):
            random_ = random.Random(seed)
            history = []
            for number in range(random_.randint(3, 7)):
                start = random_.randint(0, 12)
                end = start + random_.randint(1, 6)
                kind = random_.choice(("read", "write", "cas", "cas"))
                # Mostly unique values, and some deletions.  One history in ten has values that are not unique.
                value = None if random_.random() < 0.15 else random_.randint(1, 3) if seed % 10 == 0 else number
                other = random_.choice((None, *range(number + 1))) if seed % 10 else random_.choice((None, 1, 2, 3))
                unknown = kind != "read" and random_.random() < 0.4
                result = {"read": other, "write": "ok", "cas": random_.random() < 0.5}[kind]
                value, expected = None if kind == "read" else value, other if kind == "cas" else None
                result, end = ("unknown", None) if unknown else (result, end)
                history.append(Operation(number, kind, value, expected, result, start, end))
            expected = is_linearizable(history)
            found[expected] += 1
            message = linearizable.check(history)
            self.assertEqual(message is None, expected, f"seed {seed}: {message}\n" + "\n".join(map(str, history)))
        self.assertGreater(min(found.values()), 300)

    def test_accepts_what_a_correct_register_does(self):
        for seed in range(150):
            random_ = random.Random(seed)
            history = simulate(random_, 60, random_.randint(1, 8), random_.choice((0, 0.05, 0.3)))
            self.assertIsNone(linearizable.check(history), f"seed {seed}")

    def test_reports_most_changes_of_a_result(self):
        reported = {"read": [], "cas": []}
        for seed in range(300):
            random_ = random.Random(seed)
            history = simulate(random_, 80, 4, 0.05)
            changed = random_.choice([o for o in history if o.kind != "write" and o.result != "unknown"])
            if changed.kind == "cas":
                changed.result = not changed.result
            else:
                changed.result = random_.choice([o.value for o in history if o.value not in (None, changed.result)])
            reported[changed.kind].append(linearizable.check(history) is not None)
        self.assertGreater(sum(reported["read"]), 0.9 * len(reported["read"]))
        # Many changed cas are still possible, because of a concurrent write that nobody read.
        self.assertGreater(sum(reported["cas"]), 0.4 * len(reported["cas"]))

    def test_long_histories_take_no_longer_than_a_test_can_wait(self):
        # The limit on configurations makes a search that explodes an error.
        for seed in range(3):
            random_ = random.Random(seed)
            history = simulate(random_, 2000, 16, 0.03)
            self.assertGreater(sum(o.result == "unknown" for o in history), 24)
            self.assertIsNone(linearizable.check(history))
            reads = [o for o in history if o.kind == "read" and o.result is not None]
            reads[-1].result = reads[0].result
            self.assertIsNotNone(linearizable.check(history))


if __name__ == "__main__":
    unittest.main()
