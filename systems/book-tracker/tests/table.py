"""The rows: keys as the data model has them, and nothing left of what was deleted."""

import concurrent.futures
import json
import re
import subprocess
import tempfile
import threading
import unittest

import dynamo
import server as stator
from bookshelf import TABLE, Shelf, ShelfAndTable


class Rows(ShelfAndTable):
    def test_keys_are_those_of_the_data_model(self):
        subject = f"ann-{self.name}"
        book = self.ann.book(currentPage=1)
        event, note = self.ann.read(book, 5), self.ann.note(book)
        self.expect(self.ann("PUT", "/profile", {"yearlyGoal": 1}), 201)
        self.assertEqual(self.sort_keys(subject), sorted(["METADATA", f"BOOK#{book['id']}", f"NOTE#{book['id']}#{note['id']}",
                                                          f"EVENT#{book['id']}#{event['occurredAt']}#{event['id']}"]))  # fmt: skip
        rows = {row["entityType"]["S"]: row for row in self.partition(subject)}
        self.assertEqual(set(rows), {"METADATA", "BOOK", "NOTE", "EVENT"})
        row, changed = rows["BOOK"], self.ann("GET", f"/books/{book['id']}").json
        self.assertEqual(row["gsi1pk"]["S"], f"USER#{subject}")
        self.assertEqual(row["gsi1sk"]["S"], f"STATUS#SHELF#{changed['updatedAt']}#{book['id']}")
        self.assertEqual(row["userId"]["S"], subject)
        self.assertNotIn("gsi3pk", row, "it is not finished")
        self.assertNotIn("updatedAt", rows["EVENT"], "events do not change")

    def test_a_change_moves_every_key_that_uses_it(self):
        subject = f"ann-{self.name}"
        book = self.ann.book()
        done = self.expect(self.ann("PATCH", f"/books/{book['id']}", {"status": "READ"}), 200).json
        (row,) = self.partition(subject)
        self.assertEqual(row["gsi1sk"]["S"], f"STATUS#READ#{done['updatedAt']}#{book['id']}")
        self.assertEqual(row["gsi2sk"]["S"], f"UPDATED#{done['updatedAt']}#{book['id']}")
        self.assertEqual(row["gsi3sk"]["S"], f"{done['finishedAt']}#{book['id']}")


class Deleting(ShelfAndTable):
    def test_nothing_with_the_book_is_left_and_the_rest_stays(self):
        subject = f"ann-{self.name}"
        kept, gone = self.ann.book("Kept"), self.ann.book("Gone")
        for book in (kept, gone):
            self.ann.note(book)
            for page in range(1, 121):
                self.ann.read(book, page)
        self.expect(self.ann("DELETE", f"/books/{gone['id']}"), 204)
        self.expect(self.ann("GET", f"/books/{gone['id']}/events"), 404)
        self.wait_until(lambda: not any(gone["id"] in key for key in self.sort_keys(subject)))
        self.assertEqual(len(self.sort_keys(subject)), 1 + 1 + 120)
        self.wait_until(lambda: not any(event["bookId"] == gone["id"] for event in self.ann.items("/activity?limit=100")))

    def test_what_is_added_while_the_book_goes_fails_or_goes_with_it(self):
        subject = f"ann-{self.name}"
        book, stop = self.ann.book(), threading.Event()

        def write(number):
            statuses = set()
            while not stop.is_set():
                if number % 2:
                    answer = self.ann("POST", f"/books/{book['id']}/notes", {"content": "x"})
                else:
                    answer = self.ann("POST", f"/books/{book['id']}/page", {"page": number})
                if answer.status != 409 or answer.json["code"] != "Contention":  # eight readers of one book may get in each other's way
                    statuses.add(answer.status)
                if 404 in statuses:
                    return statuses
            return statuses

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            writers = [pool.submit(write, number) for number in range(16)]
            self.wait_until(lambda: len(self.sort_keys(subject)) > 40)
            deleted = self.ann("DELETE", f"/books/{book['id']}")
            while deleted.status == 409:
                deleted = self.ann("DELETE", f"/books/{book['id']}")
            self.expect(deleted, 204)
            for writer in writers:
                self.assertLessEqual(writer.result(), {201, 404})
            stop.set()
        self.wait_until(lambda: self.sort_keys(subject) == [])


class DeletingAmidReading(Shelf):
    def test_a_page_of_a_book_that_goes_is_404(self):
        def read(book):
            statuses = []
            while 404 not in statuses and len(statuses) < 1000:
                statuses.append(self.ann("POST", f"/books/{book['id']}/page", {"page": len(statuses)}).status)
            return set(statuses)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for _ in range(20):
                book = self.ann.book()
                reader = pool.submit(read, book)
                self.expect(self.ann("DELETE", f"/books/{book['id']}"), 204)
                self.assertLessEqual(reader.result(), {201, 404})


class Kill(Shelf):
    command = "up"

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_a_deletion_that_is_cut_off_is_finished_after_the_start(self):
        book = self.ann.book()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda page: self.ann("POST", f"/books/{book['id']}/notes", {"content": f"{page}"}), range(300)))
        self.expect(self.ann("DELETE", f"/books/{book['id']}"), 204)
        self.app.kill()
        self.app.start()
        self.expect(self.ann("GET", f"/books/{book['id']}"), 404)
        database = dynamo.Connection(re.search(r"API +(http://\S+)", self.app.welcome)[1])
        rows = lambda: database.items("Scan", TableName=TABLE)  # noqa: E731
        self.wait_until(lambda: rows() == [])
        database.close()
        self.app.stop()
        self.assertEqual(self.app.verify(), "0 rows, 0 findings, 0 repaired")
        self.app.start()


class Sample(Shelf):
    def test_the_sample_data_is_a_shelf_with_a_history(self):
        # A folder of its own: the sample goes into a table that holds nothing.
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([stator.binary(), "demo", "book-tracker", "--data", folder], env=self.app.environment, check=True, capture_output=True)
            verified = subprocess.run([stator.binary(), "model", "verify", "book-tracker", "--data", folder], text=True, env=self.app.environment,
                                      capture_output=True)  # fmt: skip
            self.assertIn(" 0 findings", verified.stdout)

    def test_openapi_names_every_route(self):
        document = json.loads(self.app.raw("GET", f"{self.prefix}/openapi.json").body)
        self.assertLessEqual({"/books", "/books/{id}", "/books/{bookId}/page", "/books/{id}/events", "/statistics", "/profile"},
                             set(document["paths"]))  # fmt: skip
