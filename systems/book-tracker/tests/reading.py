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
        self.assertEqual(pages, [(10, 25), (0, 3)], "only what changes it to a page")

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
