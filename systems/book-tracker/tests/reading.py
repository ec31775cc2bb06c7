"""Reading: events that stay as they are, notes, and the timeline."""

import concurrent.futures

from bookshelf import NOWHERE, Shelf


class Pages(Shelf):

    def test_a_page_is_an_event_and_moves_the_book(self):
        book = self.ann.book(totalPages=100)
        event = self.expect(self.ann("POST", f"/books/{book['id']}/page", {"page": 40}), 201).json
        self.assertEqual((event["bookId"], event["page"], event["fromPage"], event["entityType"]), (book["id"], 40, 0, "EVENT"))
        self.assertEqual(self.ann("GET", f"/books/{book['id']}").json["currentPage"], 40)
        self.assertEqual(self.ann.items(f"/books/{book['id']}/events"), [event])

    def test_an_edit_of_the_current_page_is_an_event_too(self):
        book = self.ann.book(currentPage=10)
        path = f"/books/{book['id']}"
        self.expect(self.ann("PATCH", path, {"currentPage": 25}), 200)
        self.expect(self.ann("PATCH", path, {"currentPage": 25, "rating": 4}), 200)
        self.expect(self.ann("PATCH", path, {"rating": 5}), 200)
        self.expect(self.ann("PATCH", path, {"currentPage": None}), 200)
        self.expect(self.ann("PATCH", path, {"currentPage": 3}), 200)
        pages = [(event["fromPage"], event["page"]) for event in self.ann.items(f"{path}/events")]
        self.assertEqual(pages, [(10, 25), (25, 3)], "only what changes it to a page")

    def test_clearing_the_current_page_does_not_count_pages_again(self):
        book = self.ann.book(currentPage=10)
        path = f"/books/{book['id']}"
        clear = lambda: self.assertNotIn("currentPage", self.expect(self.ann("PATCH", path, {"currentPage": None}), 200).json)
        self.ann.read(book, 40)
        clear()
        self.ann.read(book, 45)
        clear()
        self.expect(self.ann("PATCH", path, {"currentPage": 50}), 200)
        clear()
        self.expect(self.ann("PATCH", path, {"rating": 4}), 200)
        self.ann.read(book, 0)
        self.ann.read(book, 5)
        pages = [(event["fromPage"], event["page"]) for event in self.ann.items(f"{path}/events")]
        self.assertEqual(pages, [(10, 40), (40, 45), (45, 50), (50, 0), (0, 5)])
        self.assertEqual(self.ann("GET", "/statistics").json["pages"], 45)

    def test_bad_pages_write_nothing(self):
        book = self.ann.book(totalPages=100)
        for body in ({"page": -1}, {"page": 101}, {"page": 1.5}, {"page": "7"}, {"page": None}, {}, {"page": 1, "day": "x"}):
            with self.subTest(body=body):
                refused = self.expect(self.ann("POST", f"/books/{book['id']}/page", body), 400)
                self.assertEqual(set(refused.problems()), {"day"} if "day" in body else {"page"})
        self.expect(self.ann("POST", f"/books/{NOWHERE}/page", {"page": 1}), 404)
        self.assertEqual(self.ann.items(f"/books/{book['id']}/events"), [])
        self.assertNotIn("currentPage", self.ann("GET", f"/books/{book['id']}").json)

    def test_the_timeline_goes_both_ways_page_by_page(self):
        book = self.ann.book()
        for page in range(1, 8):
            self.ann.read(book, page)
        path = f"/books/{book['id']}/events"
        pages = lambda query: [event["page"] for event in self.ann.items(path + query)]  # noqa: E731
        self.assertEqual(pages(""), [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual(pages("?order=desc&limit=3"), [7, 6, 5, 4, 3, 2, 1])
        for query in ("limit=0", "limit=101", "order=down"):
            self.expect(self.ann("GET", f"{path}?{query}"), 400)

    def test_fifty_events_are_a_page_unless_asked_otherwise(self):
        book = self.ann.book()
        for page in range(60):
            self.ann.read(book, page)
        path = f"/books/{book['id']}/events"
        self.assertEqual(len(self.ann("GET", path).json["items"]), 50)
        self.assertEqual(len(self.ann("GET", f"{path}?limit=100").json["items"]), 60)

    def test_events_have_no_route_that_changes_them(self):
        book = self.ann.book()
        event = self.ann.read(book, 3)
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            self.expect(self.ann(method, f"/books/{book['id']}/events/{event['id']}", None if method in ("GET", "DELETE") else {"page": 1}), 404)
        for method in ("POST", "DELETE"):
            self.expect(self.ann(method, f"/books/{book['id']}/events"), 405)

    def test_all_that_was_read_is_one_list_over_all_books(self):
        one, other = self.ann.book("One"), self.ann.book("Other")
        for book, page in ((one, 1), (other, 2), (one, 3)):
            self.ann.read(book, page)
        self.assertEqual([event["page"] for event in self.ann.items("/activity?limit=2")], [3, 2, 1])

    def test_sixteen_readers_of_one_book_lose_no_event(self):
        book = self.ann.book()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda page: self.ann("POST", f"/books/{book['id']}/page", {"page": page}).status, range(1, 49)))
        self.assertLessEqual(set(answers), {201, 409})
        events = self.ann.items(f"/books/{book['id']}/events?limit=100")
        self.assertEqual(len(events), answers.count(201))
        self.assertEqual(self.ann("GET", f"/books/{book['id']}").json["version"], 1 + len(events))
        # Each starts where the one before ended, in whatever order the readers came.
        chain = {event["fromPage"]: event["page"] for event in events}
        page, steps = 0, 0
        while page in chain:
            page, steps = chain[page], steps + 1
        self.assertEqual((steps, page), (len(events), self.ann("GET", f"/books/{book['id']}").json["currentPage"]))


class Corrections(Shelf):
    def correct(self, event, page, **more):
        body = {"corrects": event["id"], "occurredAt": event["occurredAt"], "page": page} | more
        return self.ann("POST", f"/books/{event['bookId']}/corrections", body)

    def pages(self):
        return self.ann("GET", "/statistics").json["pages"]

    def timeline(self, book, query=""):
        return [(row["entityType"], row["fromPage"], row["page"]) for row in self.ann.items(f"/books/{book['id']}/events{query}")]

    def test_a_correction_is_a_new_row_that_statistics_count_instead_of_the_event(self):
        book = self.ann.book(totalPages=600)
        event = self.ann.read(book, 500)
        self.assertEqual(self.pages(), 500)
        correction = self.expect(self.correct(event, 50), 201).json
        self.assertEqual((correction["corrects"], correction["occurredAt"], correction["number"]), (event["id"], event["occurredAt"], 1))
        self.assertEqual(self.pages(), 50)
        self.assertEqual(self.ann("GET", f"/books/{book['id']}").json["currentPage"], 50)
        self.assertEqual(self.timeline(book), [("EVENT", 0, 500), ("CORRECTION", 0, 50)])
        self.assertEqual(self.ann.items("/activity"), [correction, event])
        self.assertEqual(self.ann.read(book, 60)["fromPage"], 50)

    def test_the_next_event_begins_where_the_corrected_one_ends(self):
        book = self.ann.book()
        typo, back, last = (self.ann.read(book, page) for page in (500, 60, 70))
        self.assertEqual(self.pages(), 510)
        self.expect(self.correct(typo, 50), 201)
        self.assertEqual(self.timeline(book), [("EVENT", 0, 500), ("CORRECTION", 0, 50), ("EVENT", 500, 60), ("CORRECTION", 50, 60), ("EVENT", 60, 70)])
        self.assertEqual(self.pages(), 70)
        self.expect(self.correct(back, 65), 201)
        self.expect(self.correct(last, 80), 201)
        self.assertEqual(self.pages(), 80)
        self.assertEqual(self.ann("GET", f"/books/{book['id']}").json["currentPage"], 80)

    def test_the_last_correction_of_an_event_counts(self):
        book = self.ann.book()
        event = self.ann.read(book, 500)
        for page in range(1, 13):
            self.assertEqual(self.expect(self.correct(event, page), 201).json["number"], page)
        self.assertEqual(self.pages(), 12)
        self.expect(self.correct(event, 0), 201)
        self.assertEqual((self.pages(), self.ann("GET", "/statistics").json["currentStreak"]), (0, 0), "nothing was read")
        self.assertEqual(len(self.timeline(book, "?limit=5")), 14)

    def test_a_correction_while_the_page_is_cleared_is_where_the_next_event_begins(self):
        book = self.ann.book()
        event = self.ann.read(book, 500)
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"currentPage": None}), 200)
        self.expect(self.correct(event, 50), 201)
        self.assertNotIn("currentPage", self.ann("GET", f"/books/{book['id']}").json)
        self.assertEqual(self.ann.read(book, 60)["fromPage"], 50)
        self.assertEqual(self.pages(), 60)

    def test_bad_corrections_are_refused(self):
        book, other = self.ann.book(totalPages=100), self.ann.book("Other")
        event = self.ann.read(book, 10)
        correction = self.expect(self.correct(event, 11), 201).json
        for page in (101, -1, 1.5, None):
            self.assertEqual(set(self.expect(self.correct(event, page), 400).problems()), {"page"})
        for wrong, name in (({"corrects": "x"}, "corrects"), ({"fromPage": 1}, "fromPage"), ({"occurredAt": "2026-01-01T00:00:00Z"}, "corrects")):
            self.assertEqual(set(self.expect(self.correct(event, 20, **wrong), 400).problems()), {name})
        self.expect(self.correct({**event, "bookId": other["id"]}, 20), 400, "Invalid")
        self.expect(self.correct({**event, "bookId": NOWHERE}, 20), 404, "NotFound")
        self.expect(self.bob("POST", f"/books/{book['id']}/corrections", {"corrects": event["id"], "occurredAt": event["occurredAt"], "page": 1}), 404)
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            self.expect(self.ann(method, f"/books/{book['id']}/corrections", {} if method in ("PUT", "PATCH") else None), 405)
        self.assertEqual(self.ann.items(f"/books/{book['id']}/events"), [event, correction])

    def test_readers_and_correctors_at_the_same_time_leave_one_chain(self):
        book = self.ann.book()
        event = self.ann.read(book, 500)
        work = lambda i: self.correct(event, i) if i % 2 else self.ann("POST", f"/books/{book['id']}/page", {"page": 100 + i})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertLessEqual({answer.status for answer in pool.map(work, range(24))}, {201, 409})
        rows, valid = self.ann.items(f"/books/{book['id']}/events?limit=100"), {}
        for row in rows:
            valid[row.get("corrects") or row["id"]] = (row["fromPage"], row["page"])
        # Each event starts where the one before ended, as their last corrections say it.
        chain, page, steps = dict(valid.values()), 0, 0
        while page in chain and steps < len(valid):
            page, steps = chain[page], steps + 1
        self.assertEqual((steps, page), (len(valid), self.ann("GET", f"/books/{book['id']}").json["currentPage"]))


class Finishing(Shelf):
    def test_a_book_that_becomes_read_was_finished_now(self):
        book = self.ann.book()
        path = f"/books/{book['id']}"
        self.assertNotIn("finishedAt", book)
        done = self.expect(self.ann("PATCH", path, {"status": "READ"}), 200).json
        self.assertRegex(done["finishedAt"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        rated = self.expect(self.ann("PATCH", path, {"rating": 5}), 200).json
        self.assertEqual(rated["finishedAt"], done["finishedAt"], "a later edit is not a later end")
        again = self.expect(self.ann("PATCH", path, {"status": "READING"}), 200).json
        self.assertNotIn("finishedAt", again)

    def test_one_that_is_entered_as_read_was_finished_when_it_was_entered(self):
        self.assertIn("finishedAt", self.ann.book(status="READ"))
        self.assertNotIn("finishedAt", self.ann.book(status="DNF"))


class Notes(Shelf):
    def test_notes_come_by_creation_whatever_is_edited_later(self):
        book = self.ann.book()
        notes = [self.ann.note(book, f"Thought {i}") for i in range(5)]
        path = f"/books/{book['id']}/notes"
        edited = self.expect(self.ann("PATCH", f"{path}/{notes[0]['id']}", {"content": "Second thought"}), 200).json
        self.assertEqual(edited["createdAt"], notes[0]["createdAt"])
        contents = ["Second thought", "Thought 1", "Thought 2", "Thought 3", "Thought 4"]
        self.assertEqual([note["content"] for note in self.ann.items(f"{path}?limit=2")], contents)
        self.assertEqual([note["content"] for note in self.ann.items(f"{path}?order=desc&limit=2")], contents[::-1])

    def test_a_note_is_read_edited_and_deleted(self):
        book = self.ann.book()
        path = f"/books/{book['id']}/notes/{self.ann.note(book)['id']}"
        self.assertEqual(self.expect(self.ann("GET", path), 200).json["content"], "A thought.")
        self.expect(self.ann("PATCH", path, {"content": "Another."}, If_Match='"7"'), 412)
        self.expect(self.ann("PATCH", path, {"content": "Another."}, If_Match='"1"'), 200)
        self.expect(self.ann("DELETE", path), 204)
        self.expect(self.ann("GET", path), 404)
        self.expect(self.ann("DELETE", path), 404)

    def test_a_note_needs_content_and_a_book(self):
        book = self.ann.book()
        path = f"/books/{book['id']}/notes"
        self.expect(self.ann("POST", path, {"content": "𝄞" * 10000}), 201)
        for body in ({}, {"content": ""}, {"content": "𝄞" * 10001}, {"content": 7}):
            self.expect(self.ann("POST", path, body), 400)
        self.expect(self.ann("POST", f"/books/{NOWHERE}/notes", {"content": "x"}), 404)
        other = self.ann.book("Other")
        note = self.ann.note(book)
        self.expect(self.ann("GET", f"/books/{other['id']}/notes/{note['id']}"), 404)
