"""Does the checker of strict serializability accept what is right, and report what is not?"""

import heapq
import random
import unittest

import serializable
from serializable import Transaction


def done(start, end, reads=None, appends=None, outcome="ok"):
    return Transaction(1, appends or {}, reads or {}, outcome, start, end)


def unknown(start, reads=None, appends=None):
    return done(start, None, reads, appends, "unknown")


def failed(start, end, reads=None, appends=None):
    return done(start, end, reads, appends, "failed")


VALID = {
    "nothing": ([], {}),
    "a read of nothing": ([done(0, 1, {"x": []})], {}),
    "one after the other": (
        [done(0, 1, {"x": []}, {"x": 1}), done(2, 3, {"x": [1]}, {"x": 2, "y": 3}),
         done(4, 5, {"x": [1, 2], "y": [3]})],
        {"x": [1, 2], "y": [3]}),
    "concurrent transactions in either order": (
        [done(0, 9, {"x": []}, {"y": 1}), done(0, 9, {"y": [1]}, {"x": 2})], {"x": [2], "y": [1]}),
    "a read that sees its own append": (
        [done(0, 1, {"x": [1]}, {"x": 1}), done(2, 3, {"x": [1, 2]}, {"x": 2})], {"x": [1, 2]}),
    "appends without reads": ([done(0, 9, {}, {"x": 1}), done(0, 9, {}, {"x": 2})], {"x": [2, 1]}),
    "an unknown transaction that took effect": (
        [unknown(0, {"x": []}, {"x": 1, "y": 2}), done(5, 6, {"x": [1]})], {"x": [1], "y": [2]}),
    "an unknown transaction that did not": ([unknown(0, {"x": []}, {"x": 1}), done(5, 6, {"x": []})], {"x": []}),
    "an unknown transaction that took effect late": (
        [unknown(0, {}, {"x": 1}), done(5, 6, {"x": []}), done(7, 8, {"x": [1]})], {"x": [1]}),
    "an unknown transaction with an end": (
        [done(0, 1, {}, {"x": 1}, "unknown"), done(5, 6, {"x": []}), done(7, 8, {"x": [1]})], {"x": [1]}),
    "unknown reads of a transaction that had no effect": (
        [done(0, 1, {}, {"x": 1}), done(2, 3, {}, {"y": 2}), unknown(0, {"x": [], "y": [2]}, {"z": 3})],
        {"x": [1], "y": [2]}),
    "a failed transaction": (
        [done(0, 1, {}, {"x": 1}), failed(2, 3, {"x": [1]}, {"x": 2}), done(4, 5, {"x": [1]}, {"x": 3})],
        {"x": [1, 3]}),
    "an end and a start at the same time": ([done(0, 1, {}, {"x": 1}), done(1, 2, {"x": []})], {"x": [1]}),
}  # fmt: skip

BROKEN = {
    "a stale read": (
        [done(0, 1, {}, {"x": 1}), done(2, 3, {"x": []})],
        {"x": [1]}, "not strictly serializable: T1 -rw x-> T0 -rt-> T1"),
    "a read of half a transaction": (
        [done(0, 9, {}, {"x": 1, "y": 2}), done(0, 9, {"x": [1], "y": []})],
        {"x": [1], "y": [2]}, "not serializable: "),
    "write skew": (
        [done(0, 9, {"x": [], "y": []}, {"x": 1}), done(0, 9, {"x": [], "y": []}, {"y": 2})], {"x": [1], "y": [2]},
        "not serializable: T0 -rw y-> T1 -rw x-> T0"),
    "a lost update": (
        [done(0, 9, {"x": []}, {"x": 1}), done(0, 9, {"x": []}, {"x": 2})],
        {"x": [1, 2]}, "not serializable: T0 -ww x-> T1 -rw x-> T0"),
    "appends against the real time": (
        [done(0, 1, {}, {"x": 1}), done(2, 3, {}, {"x": 2})], {"x": [2, 1]}, "not strictly serializable: "),
    "a real time violation over others": (
        [done(0, 1, {}, {"x": 1}), done(2, 3, {}, {"y": 2}), done(4, 5, {}, {"z": 3}), done(6, 7, {"x": []})],
        {"x": [1], "y": [2], "z": [3]}, "not strictly serializable: T3 -rw x-> T0 -rt-> T3"),
    "a real time violation through two dependencies": (
        [done(4, 5, {"x": []}), unknown(0, {}, {"x": 1, "y": 2}), done(0, 1, {"y": [2]})], {"x": [1], "y": [2]},
        "not strictly serializable: T0 -rw x-> T1 -wr y-> T2 -rt-> T0"),
    "an unknown transaction that took effect before its start": (
        [done(0, 1, {"x": [1]}), unknown(2, {}, {"x": 1})], {"x": [1]}, "not strictly serializable: "),
    "write skew with an unknown transaction": (
        [done(0, 9, {"x": [], "y": []}, {"x": 1}), unknown(0, {"x": [], "y": []}, {"y": 2})], {"x": [1], "y": [2]},
        "not serializable: "),
    "a cycle of three": (
        [done(0, 9, {"x": []}, {"y": 1}), done(0, 9, {"y": []}, {"z": 2}), done(0, 9, {"z": []}, {"x": 3})],
        {"x": [3], "y": [1], "z": [2]}, "not serializable: "),
    "two orders seen": (
        [done(0, 9, {}, {"x": 1}), done(0, 9, {}, {"x": 2}), done(0, 9, {"x": [2]})], {"x": [1, 2]},
        "has 2 at 0, where the final list has 1"),
    "a value read that is gone": (
        [unknown(0, {}, {"x": 1}), done(2, 3, {"x": [1]})], {"x": []}, "where the final list has nothing"),
    "a lost acknowledged append": (
        [done(0, 1, {}, {"x": 1})], {}, "T0 was acknowledged, but 1 is not in the final list of x"),
    "an append twice": ([done(0, 1, {}, {"x": 1})], {"x": [1, 1]}, "has 1 twice"),
    "an append to another key": ([done(0, 1, {}, {"x": 1})], {"x": [1], "y": [1]}, "nobody appended to y"),
    "a value never appended": ([done(0, 1, {"x": [7]})], {"x": []}, "nobody appended to x"),
    "a value never appended at the end": ([], {"x": [7]}, "nobody appended to x"),
    "an append of a failed transaction seen": (
        [failed(0, 1, {}, {"x": 1}), done(2, 3, {"x": [1]})], {}, "of T0, which failed"),
    "an append of a failed transaction at the end": ([failed(0, 1, {}, {"x": 1})], {"x": [1]}, "of T0, which failed"),
    "an append of a failed transaction seen by a failed one": (
        [failed(0, 1, {}, {"x": 1}), failed(2, 3, {"x": [1]}, {"x": 2})], {}, "of T0, which failed"),
    "an unknown transaction that took effect in part": (
        [unknown(0, {}, {"x": 1, "y": 2})], {"y": [2]}, "T0 took effect in part"),
    "a value appended twice": (
        [done(0, 1, {}, {"x": 1}), done(0, 1, {}, {"y": 1})], {"x": [1]}, "the history itself is wrong"),
}  # fmt: skip


def simulate(random_, count, clients, keys, at_once=3, loose=0.0):
    """Transactions of a correct store, and the final lists.

    Each transaction reads and appends at one moment between its start and its end.

    loose  how often a store that is not correct takes the reads at the start of the transaction instead
    """
    transactions, lists = [], {f"k{number}": [] for number in range(keys)}
    # (time, unique number, transaction to apply, its keys).  A client that starts a transaction has None.
    events = [(random_.random(), client, None, None) for client in range(clients)]
    heapq.heapify(events)
    value = 0
    while events:
        now, client, transaction, effect = heapq.heappop(events)
        if transaction:
            if not transaction.reads:
                transaction.reads = {key: list(lists[key]) for key in effect}
            if transaction.outcome != "failed":
                for key, appended in transaction.appends.items():
                    lists[key].append(appended)
            continue
        if len(transactions) == count:
            continue
        chosen = random_.sample(sorted(lists), min(at_once, keys))
        appends = {}
        for key in chosen[:random_.randint(0, len(chosen))]:
            value += 1
            appends[key] = value
        outcome = random_.choices(("ok", "failed", "unknown"), (90, 5, 5))[0]
        transaction = Transaction(client, appends, {}, outcome, now, None)
        if random_.random() < loose:
            transaction.reads = {key: list(lists[key]) for key in chosen}
        applied = now + random_.expovariate(1)
        end = applied + random_.expovariate(1)
        transactions.append(transaction)
        if outcome == "unknown":
            applied = random_.choice((applied, applied + 20, None))
        else:
            transaction.end = end
        if applied is not None:
            heapq.heappush(events, (applied, client + clients * len(transactions), transaction, chosen))
        heapq.heappush(events, (end + random_.expovariate(1), client, None, None))
    return transactions, lists


class Serializable(unittest.TestCase):
    def test_accepts_valid_histories(self):
        for name, (transactions, final) in VALID.items():
            with self.subTest(name):
                self.assertIsNone(serializable.check(transactions, final))

    def test_reports_broken_histories(self):
        for name, (transactions, final, message) in BROKEN.items():
            with self.subTest(name):
                self.assertIn(message, serializable.check(transactions, final) or "nothing found")

    def test_names_the_transactions_of_a_cycle(self):
        transactions, final, _ = BROKEN["write skew"]
        self.assertEqual(serializable.check(transactions, final).splitlines(), [
            "not serializable: T0 -rw y-> T1 -rw x-> T0",
            "  T0: client 1, ok, from 0.000000 to 9.000000, reads {x: [], y: []}, appends {x: 1}",
            "  T1: client 1, ok, from 0.000000 to 9.000000, reads {x: [], y: []}, appends {y: 2}"])  # fmt: skip

    def test_real_time_edges_reach_what_all_edges_reach(self):
        for seed in range(20):
            transactions, _ = simulate(random.Random(seed), 40, 4, 5)
            graph = {number: {} for number in range(len(transactions))}
            serializable._add_real_time(graph, transactions)
            for number, transaction in enumerate(transactions):
                reached, todo = set(), [number]
                while todo:
                    new = graph[todo.pop()].keys() - reached
                    reached |= new
                    todo += new
                after = {n for n, other in enumerate(transactions)
                         if transaction.outcome == "ok" and transaction.end < other.start}  # fmt: skip
                self.assertEqual(reached, after, f"seed {seed}, T{number}")

    def test_accepts_what_a_correct_store_does(self):
        for seed in range(100):
            random_ = random.Random(seed)
            transactions, final = simulate(random_, 100, random_.randint(1, 8), random_.randint(1, 6))
            self.assertIsNone(serializable.check(transactions, final), f"seed {seed}")

    def test_reports_most_changes_of_a_result(self):
        reported = {"shorter read": 0, "lost append": 0, "not failed": 0, "swapped": 0}
        count = 50
        for change in reported:
            for seed in range(count):
                random_ = random.Random(seed)
                transactions, final = simulate(random_, 200, 4, 5)
                acknowledged = [t for t in transactions if t.outcome == "ok" and t.appends]
                key = random_.choice(sorted(final))
                if change == "shorter read":  # without the last values
                    reads = random_.choice([t for t in acknowledged if t.reads.get(key)]).reads
                    reads[key] = reads[key][:random_.randrange(len(reads[key]))]
                elif change == "lost append":
                    lost = random_.choice([value for t in acknowledged for value in t.appends.values()])
                    final = {key: [value for value in values if value != lost] for key, values in final.items()}
                elif change == "not failed":
                    random_.choice(acknowledged).outcome = "failed"
                else:
                    at = random_.randrange(len(final[key]) - 1)
                    final[key][at:at + 2] = final[key][at:at + 2][::-1]
                reported[change] += serializable.check(transactions, final) is not None
        self.assertEqual((reported["lost append"], reported["not failed"]), (count, count))
        self.assertGreaterEqual(min(reported.values()), 0.9 * count, reported)

    def test_reports_a_store_that_reads_before_its_commit(self):
        for seed in range(20):
            transactions, final = simulate(random.Random(seed), 200, 4, 5, loose=0.5)
            message = serializable.check(transactions, final)
            self.assertIn("not serializable", message or "nothing found", f"seed {seed}")

    def test_long_histories(self):
        transactions, final = simulate(random.Random(1), 5000, 16, 20)
        self.assertIsNone(serializable.check(transactions, final))
        for loose in (0.001, 1):
            transactions, final = simulate(random.Random(1), 5000, 16, 20, loose=loose)
            self.assertIn("serializable: ", serializable.check(transactions, final) or "nothing found")


if __name__ == "__main__":
    unittest.main()
