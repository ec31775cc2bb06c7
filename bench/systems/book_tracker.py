#!/usr/bin/env python3
"""bench/systems/book_tracker.py: deleting a book with 10,000 reading events, and what everybody else notices of it.

  bench/systems/book_tracker.py                  10,000 events, in memory and on disk
  bench/systems/book_tracker.py --events 1000

The events go with their book, in batches, while another reader logs pages and lists books.  Shown: how long the answer to the deletion
took, how long it was until nothing was left, and that reader's latencies before and meanwhile.  On disk the server is killed half way
(kill -9) and started again.  Checked: that no row with the book's id is left, and that the rest is still there.
"""

import argparse
import concurrent.futures
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import up  # noqa: E402  (knows where dynamo is)
import dynamo  # noqa: E402

TABLE = "BookTrackerTable"
WRITERS = 16


def fill(user, running, book, events):
    """Some through the service, the rest as rows that it would have written: the subject is how they go, not how they come."""
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda i: user.another_connection()("POST", f"/books/{book}/notes", {"content": f"note {i}"}), range(20)))
    user("POST", f"/books/{book}/page", {"page": 1})
    database = dynamo.Connection(running.endpoint)
    (one,) = [row for row in database.items("Scan", TableName=TABLE) if row["sk"]["S"].startswith(f"EVENT#{book}#")]
    at = one["occurredAt"]["S"]
    for begin in range(1, events, 25):
        batch = []
        for i in range(begin, min(begin + 25, events)):
            id = f"{i:026}"
            batch.append({"PutRequest": {"Item": one | {"id": {"S": id}, "sk": {"S": f"EVENT#{book}#{at}#{id}"}, "gsi3sk": {"S": f"{at}#{id}"}}}})
        left = database.ok("BatchWriteItem", RequestItems={TABLE: batch}).get("UnprocessedItems")
        up.check(not left, "the database did not take all events")
    database.close()


def rows_of(running, book):
    """How many rows there are with that book in their key, and how many others."""
    database = dynamo.Connection(running.endpoint)
    keys = [row["sk"]["S"] for row in database.items("Scan", TableName=TABLE, ProjectionExpression="sk")]
    database.close()
    mine = sum(book in key for key in keys)
    return mine, len(keys) - mine


class Bystander:
    """Logs pages and lists books, one after another, until it is told to stop."""

    def __init__(self, user):
        self.user, self.latencies, self.on = user, [], True
        self.book = user("POST", "/books", {"title": "Other"})["id"]
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        turn = 0
        while self.on:
            began = time.perf_counter()
            if turn % 4:
                self.user("GET", f"/books/{self.book}")
            else:
                self.user("POST", f"/books/{self.book}/page", {"page": turn})
            self.latencies.append(time.perf_counter() - began)
            turn += 1

    def stop(self):
        self.on = False
        self.thread.join()
        ordered = sorted(self.latencies)
        return {"requests": len(ordered), "p50": statistics.median(ordered) * 1e3, "p99": ordered[int(len(ordered) * 0.99)] * 1e3}


def wait_until_gone(running, book, patience=300):
    deadline = time.monotonic() + patience
    while rows_of(running, book)[0] > 0:
        up.check(time.monotonic() < deadline, "rows of the book are left")
        time.sleep(0.5)


def run(name, arguments, events):
    with up.Up("book-tracker", arguments) as running:
        user, other = running.user("deleter"), running.user("bystander")
        book = user("POST", "/books", {"title": "Long"})["id"]
        kept = user("POST", "/books", {"title": "Kept"})["id"]
        user("POST", f"/books/{kept}/page", {"page": 7})
        fill(user, running, book, events)
        calm = Bystander(other)
        time.sleep(5)
        before = calm.stop()

        busy = Bystander(other)
        began = time.perf_counter()
        user("DELETE", f"/books/{book}")
        answered = time.perf_counter() - began
        database = dynamo.Connection(running.endpoint)
        query = {"TableName": TABLE, "Select": "COUNT", "Limit": 1, "KeyConditionExpression": "pk = :pk AND begins_with(sk, :sk)",
                 "ExpressionAttributeValues": {":pk": {"S": "USER#deleter"}, ":sk": {"S": f"EVENT#{book}#"}}}  # fmt: skip
        while database.ok("Query", **query)["Count"] > 0:
            time.sleep(0.05)
        took = time.perf_counter() - began
        meanwhile = busy.stop()
        database.close()
        wait_until_gone(running, book)
        up.check(user("GET", f"/books/{kept}/events")["items"][0]["page"] == 7, "another book's events have changed")
    for when, what in (("before", before), ("meanwhile", meanwhile)):
        print(f"{name:8} {when:10} {what['requests']:9} {what['p50']:9.2f} {what['p99']:9.2f}")
    ratio = meanwhile["p99"] / before["p99"]
    print(f"{name:8} answered after {answered * 1e3:.1f} ms, all {events} events gone after {took:.1f} s "
          f"({events / took:.0f} a second), p99 meanwhile {ratio:.1f} times that before")  # fmt: skip
    return ratio


def run_with_kill(events):
    with up.Up("book-tracker") as running:
        user = running.user("deleter")
        book = user("POST", "/books", {"title": "Long"})["id"]
        fill(user, running, book, events)
        user("DELETE", f"/books/{book}")
        while rows_of(running, book)[0] > events * 2 // 3:
            time.sleep(0.02)
        running.kill()
        running.start()
        left = rows_of(running, book)[0]
        began = time.perf_counter()
        wait_until_gone(running, book)
        print(f"disk     killed with {left} rows left; none {time.perf_counter() - began:.1f} s after the start")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000, help="of the book that is deleted")
    parser.add_argument("--most", type=float, default=2.0, help="how many times the p99 of others may grow before the run counts as failed")
    options = parser.parse_args()
    print(f"deleting a book with {options.events} events\n\n{'store':8} {'reader':10} {'requests':>9} {'p50 ms':>9} {'p99 ms':>9}")
    ratios = [run(name, arguments, options.events) for name, arguments in (("memory", ["--in-memory"]), ("disk", []))]
    run_with_kill(options.events)
    up.check(max(ratios) <= options.most, f"others waited {max(ratios):.1f} times as long")


main()
