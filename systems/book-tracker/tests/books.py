"""Books: what they hold, who sees them, and how they are listed."""

import datetime

from bookshelf import NOWHERE, Shelf


class Books(Shelf):
    FULL = {"title": "Middlemarch", "author": "George Eliot", "isbn": "9780141439549", "description": "A study of provincial life.",
            "status": "READING", "rating": 4.5, "currentPage": 40, "totalPages": 880, "price": 12.99, "currency": "GBP",
            "store": "Daunt", "purchaseDate": "2026-01-15", "boughtAt": "London"}  # fmt: skip

    def test_a_book_comes_back_as_it_was_created(self):
        created = self.expect(self.ann("POST", "/books", self.FULL), 201)
        got = self.expect(self.ann("GET", f"/books/{created.json['id']}"), 200)
        self.assertEqual(got.json, created.json)
        self.assertEqual({name: got.json[name] for name in self.FULL}, self.FULL)
        self.assertTrue(created.headers["Location"].endswith(f"/books/{created.json['id']}"))
        self.assertEqual(got.json["entityType"], "BOOK")

    def test_a_title_is_enough(self):
        book = self.ann.book("Dune")
        self.assertEqual(book["status"], "SHELF")
        self.assertNotIn("rating", book)

    def test_patch_keeps_what_is_absent_and_clears_what_is_null(self):
        book = self.ann.book(author="Eliot", store="Daunt")
        changed = self.expect(self.ann("PATCH", f"/books/{book['id']}", {"author": "George Eliot", "store": None}), 200).json
        self.assertEqual((changed["title"], changed["author"], "store" in changed), ("Middlemarch", "George Eliot", False))
        self.assertGreaterEqual(changed["updatedAt"], book["updatedAt"])
        self.assertEqual(changed["createdAt"], book["createdAt"])

    def test_an_edit_of_an_old_version_is_refused(self):
        book = self.ann.book()
        path = f"/books/{book['id']}"
        self.expect(self.ann("PATCH", path, {"rating": 4, "currentPage": 10}, If_Match='"1"'), 200)
        self.expect(self.ann("PATCH", path, {"rating": 5, "currentPage": 20}, If_Match='"1"'), 412)
        got = self.ann("GET", path)
        self.assertEqual((got.json["rating"], got.json["currentPage"], got.headers["ETag"]), (4, 10, '"2"'))
        self.assertEqual([event["page"] for event in self.ann.items(f"{path}/events")], [10], "nothing of the refused edit stays")
        self.expect(self.ann("DELETE", path, If_Match='"1"'), 412)

    def test_what_is_below_a_deleted_book_is_gone_with_it(self):
        book = self.ann.book()
        notes = [self.ann.note(book) for _ in range(60)]
        last = f"/books/{book['id']}/notes/{notes[-1]['id']}"
        self.expect(self.ann("DELETE", f"/books/{book['id']}"), 204)
        for method, body in (("GET", None), ("PATCH", {"content": "x"}), ("DELETE", None)):
            self.expect(self.ann(method, last, body), 404)
        for path in ("notes", "events"):
            self.expect(self.ann("GET", f"/books/{book['id']}/{path}"), 404)

    def test_a_deleted_book_is_gone_and_a_second_delete_is_404(self):
        path = f"/books/{self.ann.book()['id']}"
        self.expect(self.ann("DELETE", path), 204)
        for method, body in (("GET", None), ("PATCH", {"rating": 3}), ("DELETE", None)):
            self.expect(self.ann(method, path, body), 404, "NotFound")

    def test_an_update_never_creates(self):
        self.expect(self.ann("PATCH", f"/books/{NOWHERE}", {"title": "x"}), 404)
        self.expect(self.ann("PATCH", "/books/x", {"title": "x"}), 404)


class Limits(Shelf):
    def test_limits_are_exact_and_count_code_points(self):
        fits = {"title": "é" * 500, "description": "𝄞" * 10000, "store": "é" * 200, "boughtAt": "é" * 200, "rating": 1, "totalPages": 0,
                "currentPage": 0, "price": 0, "currency": "EUR"}  # fmt: skip
        self.expect(self.ann("POST", "/books", fits), 201)
        wrong = {"title": "é" * 501, "description": "𝄞" * 10001, "store": "é" * 201, "boughtAt": "é" * 201, "rating": 5.5,
                 "totalPages": -1, "currentPage": 0.5, "price": -0.01, "currency": "EUR"}  # fmt: skip
        answer = self.expect(self.ann("POST", "/books", wrong), 400, "Invalid")
        self.assertEqual(set(answer.problems()), set(wrong) - {"currency"}, "all that is wrong is told at once")

    def test_names_can_be_seen(self):
        self.expect_visible(lambda body: self.ann("POST", "/books", body), {"title": "x"}, ("title", "author", "store", "boughtAt"), ("description",))
        path = f"/books/{self.ann.book()['id']}"
        self.expect_visible(lambda body: self.ann("PATCH", path, body), {}, ("title",))
        self.expect_visible(lambda body: self.ann("POST", f"{path}/notes", body), {}, (), ("content",))
        self.expect_visible(lambda body: self.ann("PUT", "/profile", body), {}, ("displayName",))

    def test_ratings_go_in_half_steps(self):
        for rating, status in ((1, 201), (1.5, 201), (4.5, 201), (5, 201), (0.5, 400), (4.25, 400), (5.5, 400), ("5", 400)):
            with self.subTest(rating=rating):
                self.expect(self.ann("POST", "/books", {"title": "x", "rating": rating}), status)

    def test_a_price_needs_a_currency_that_exists(self):
        answer = self.expect(self.ann("POST", "/books", {"title": "x", "price": 3}), 400)
        self.assertEqual(answer.problems(), {"currency": "is required with a price"})
        for currency, status in (("EUR", 201), ("JPY", 201), ("eur", 400), ("EURO", 400), ("ABC", 400), ("DEM", 400)):
            with self.subTest(currency=currency):
                self.expect(self.ann("POST", "/books", {"title": "x", "price": 3, "currency": currency}), status)
        book = self.ann.book(price=3, currency="EUR")
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"currency": None}), 400)
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"currency": None, "price": None}), 200)

    def test_nobody_reads_beyond_the_last_page(self):
        self.expect(self.ann("POST", "/books", {"title": "x", "currentPage": 11, "totalPages": 10}), 400)
        book = self.ann.book(currentPage=10, totalPages=10)
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"totalPages": 9}), 400)
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"currentPage": 11}), 400)
        self.expect(self.ann("POST", f"/books/{book['id']}/page", {"page": 11}), 400)
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"currentPage": 12, "totalPages": 12}), 200)

    def test_values_are_of_their_kind(self):
        for body in ({"status": "LENT"}, {"isbn": "9780141439548"}, {"purchaseDate": "2026-02-30"}, {"purchaseDate": "15.1.2026"},
                     {"title": ""}, {"title": None}):  # fmt: skip
            with self.subTest(body=body):
                self.expect(self.ann("POST", "/books", {"title": "x", **body}), 400, "Invalid")

    def test_no_request_sets_what_is_not_its_to_set(self):
        names = {"pk", "sk", "id", "createdAt", "updatedAt", "finishedAt", "version", "entityType", "colour"}
        answer = self.expect(self.ann("POST", "/books", {"title": "x", **dict.fromkeys(names, "y")}), 400)
        self.assertEqual(set(answer.problems()), names)
        self.assertEqual(set(self.expect(self.ann("POST", "/books", {"title": "x", "userId": "y"}), 400).problems()), {"userId"})


class Lists(Shelf):

    def setUp(self):
        super().setUp()
        self.books = [self.book_of_its_own_millisecond(i) for i in range(7)]

    def book_of_its_own_millisecond(self, i):
        """Books that change in the same millisecond have no order by time."""
        book = self.ann.book(f"Book {i}", status=("SHELF", "READING", "READ")[i % 3])
        self.wait_until(lambda: f"{datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='milliseconds')[:23]}Z" > book["updatedAt"])
        return book

    def titles(self, path):
        return [book["title"] for book in self.ann.items(path)]

    def test_all_books_come_page_by_page(self):
        everything = sorted(book["id"] for book in self.books)
        for limit in (1, 3, 7, 100):
            with self.subTest(limit=limit):
                self.assertEqual([book["id"] for book in self.ann.items(f"/books?limit={limit}")], everything)

    def test_books_come_by_the_time_of_their_last_change(self):
        self.expect(self.ann("PATCH", f"/books/{self.books[2]['id']}", {"rating": 5}), 200)
        newest_first = ["Book 2", "Book 6", "Book 5", "Book 4", "Book 3", "Book 1", "Book 0"]
        self.assertEqual(self.titles("/books?sort=updatedAt&limit=3"), newest_first)
        self.assertEqual(self.titles("/books?sort=updatedAt&order=asc&limit=2"), newest_first[::-1])

    def test_books_of_one_status(self):
        self.assertEqual(self.titles("/books?status=READING"), ["Book 4", "Book 1"])
        self.assertEqual(self.titles("/books?status=READING&sort=updatedAt&order=asc"), ["Book 1", "Book 4"])
        self.expect(self.ann("PATCH", f"/books/{self.books[0]['id']}", {"status": "READING"}), 200)
        self.assertEqual(self.titles("/books?status=READING&limit=1"), ["Book 0", "Book 4", "Book 1"])
        self.assertEqual(self.titles("/books?status=SHELF"), ["Book 6", "Book 3"])
        self.assertEqual(self.titles("/books?status=DNF"), [])

    def test_finished_books_come_latest_first(self):
        self.assertEqual(self.titles("/books?finished=true"), ["Book 5", "Book 2"])

    def test_bad_limits_tokens_and_parameters_are_refused(self):
        token = self.ann("GET", "/books?limit=1").json["nextToken"]
        for query in ("limit=0", "limit=101", "limit=x", "nextToken=x", f"nextToken={token}&sort=updatedAt", "status=LENT", "sort=title",
                      "colour=red"):  # fmt: skip
            with self.subTest(query=query):
                self.expect(self.ann("GET", f"/books?{query}"), 400)
        self.expect(self.bob("GET", f"/books?nextToken={token}"), 400)
        self.assertEqual(self.ann("GET", "/books?sort=title").problems(), {"sort": "must be updatedAt"})

    def test_nobody_sees_the_books_of_others(self):
        self.assertEqual(self.bob("GET", "/books").json["items"], [])
        self.expect(self.nobody("GET", "/books"), 401)


class Ownership(Shelf):
    def test_what_belongs_to_somebody_else_is_not_there(self):
        book = self.ann.book()
        self.ann.read(book, 5)
        note = self.ann.note(book)
        path = f"/books/{book['id']}"
        for method, target, body in (("GET", path, None), ("PATCH", path, {"rating": 1}), ("DELETE", path, None),
                                     ("POST", f"{path}/page", {"page": 6}), ("GET", f"{path}/events", None),
                                     ("GET", f"{path}/notes", None), ("POST", f"{path}/notes", {"content": "x"}),
                                     ("GET", f"{path}/notes/{note['id']}", None), ("DELETE", f"{path}/notes/{note['id']}", None),
                                     ("PATCH", f"{path}/notes/{note['id']}", {"content": "x"})):  # fmt: skip
            with self.subTest(method=method, target=target):
                self.expect(self.bob(method, target, body), 404, "NotFound")
                self.expect(self.nobody(method, target, body), 401, "Unauthenticated")
        self.assertEqual(self.ann("GET", path).json["currentPage"], 5)
        self.assertEqual(self.bob("GET", "/activity").json["items"], [])
