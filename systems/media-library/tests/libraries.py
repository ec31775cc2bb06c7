"""Libraries: several of one user, by name."""

from media import Rest, unknown


class Libraries(Rest):
    def names(self, user):
        return [one["LibraryName"] for one in user.items("/libraries?limit=2")]

    def test_are_created_renamed_described_and_deleted(self):
        created = self.expect(self.ann("POST", "/libraries", {"LibraryName": "Home", "Description": "All of it"}), 201)
        library = f"/libraries/{created.json['LibraryId']}"
        self.assertTrue(created.headers["Location"].endswith(library))
        self.assertEqual(created.json["TotalItems"], 0)
        renamed = self.expect(self.ann("PATCH", library, {"LibraryName": "House", "Description": None}), 200).json
        self.assertEqual(renamed["LibraryName"], "House")
        self.assertNotIn("Description", renamed)
        self.expect(self.ann("DELETE", library), 204)
        self.expect(self.ann("GET", library), 404)
        self.expect(self.ann("DELETE", library), 404)
        self.expect(self.ann("PATCH", library, {"LibraryName": "X"}), 404)

    def test_are_listed_by_name_without_regard_to_case(self):
        for name in ("zoo", "Été", "Alpha", "beta"):
            self.ann.library(name)
        self.assertEqual(self.names(self.ann), ["Alpha", "beta", "Été", "zoo"])
        self.assertEqual(self.names(self.bob), [])

    def test_nothing_below_a_library_is_in_the_list(self):
        library = self.ann.library()
        self.ann.collection(library)
        book = self.ann.book(library)
        self.ann.done("POST", book.replace("/books/", "/items/") + "/lend", {"borrower": "Eve"})
        self.assertEqual(self.names(self.ann), ["Home"])

    def test_limits(self):
        self.expect(self.ann("POST", "/libraries", {"LibraryName": "é" * 20, "Description": "é" * 100}), 201)
        problems = self.expect(self.ann("POST", "/libraries", {"LibraryName": "é" * 21, "Description": "é" * 101, "Colour": 1}), 400).problems()
        self.assertEqual(set(problems), {"LibraryName", "Description", "Colour"})
        self.assertIn("LibraryName", self.expect(self.ann("POST", "/libraries", {"LibraryName": ""}), 400).problems())
        self.assertIn("LibraryName", self.expect(self.ann("POST", "/libraries", {}), 400).problems())

    def test_names_can_be_seen(self):
        self.expect_visible(lambda body: self.ann("POST", "/libraries", body), {"LibraryName": "x"}, ("LibraryName",), ("Description",))
        library = self.ann.library()
        self.expect_visible(lambda body: self.ann("PATCH", library, body), {}, ("LibraryName",))
        names = iter(range(1000))
        self.expect_visible(lambda body: self.ann("POST", f"{library}/collections", {"Name": f"n{next(names)}", **body}), {}, ("Name",), ("Description",))
        for kind in ("books", "videos"):
            self.expect_visible(lambda body: self.ann("POST", f"{library}/{kind}", body), {"Title": "x"}, ("Title",), ("Summary",))
        self.assertEqual(set(self.expect(self.ann("POST", f"{library}/books", {"Title": "x", "Authors": ["x", " ", "a\0"]}), 400).problems()), {"Authors[1]", "Authors[2]"})
        item = self.ann.book(library).replace("/books/", "/items/")
        self.expect_visible(lambda body: self.ann("POST", f"{item}/lend", body), {"borrower": "Eve"}, ("borrower",))
        self.expect_visible(lambda body: self.ann("PUT", "/me", body), {"Name": "Ann", "Email": self.address("ann")}, ("Name",))

    def test_no_body_sets_what_the_service_keeps(self):
        kept = {"LibraryId": unknown(), "TotalItems": 7, "SharedTo": ["x@example.org"], "SharedToIds": ["x"], "OwnerName": "x",
                "PK": "x", "GSI1SK": "x", "Version": 7, "UpdatedAt": "2026-01-01T00:00:00Z", "EntityType": "USER"}  # fmt: skip
        self.assertEqual(set(self.expect(self.ann("POST", "/libraries", {"LibraryName": "x", **kept}), 400).problems()), set(kept))
        self.assertIn("OwnerId", self.expect(self.ann("POST", "/libraries", {"LibraryName": "x", "OwnerId": "x"}), 400).problems())
        library = self.ann.library()
        kept["OwnerId"] = "x"
        self.assertEqual(set(self.expect(self.ann("PATCH", library, kept), 400).problems()), set(kept))

    def test_an_edit_that_has_been_overtaken_is_412(self):
        library = self.ann.library()
        etag = self.ann("GET", library).headers["ETag"]
        self.ann.book(library)
        self.expect(self.ann("PATCH", library, {"LibraryName": "A"}, If_Match=etag), 200)
        self.expect(self.ann("PATCH", library, {"LibraryName": "B"}, If_Match=etag), 412)

    def test_total_items_is_exact(self):
        library = self.ann.library()
        books = [self.ann.book(library, f"Book {n}") for n in range(3)]
        video = self.ann.video(library)
        self.ann.collection(library)
        self.assertEqual(self.ann("GET", library).json["TotalItems"], 4)
        self.ann.done("DELETE", books[0])
        self.ann.done("DELETE", video)
        self.expect(self.ann("DELETE", books[0]), 404)
        self.assertEqual(self.ann("GET", library).json["TotalItems"], 2)

    def test_deleting_one_removes_all_that_is_in_it(self):
        bob = self.joined("bob")
        library, other = self.ann.library(), self.ann.library("Other")
        collection = self.ann.collection(library)
        book = self.ann.book(library, CollectionId=collection, Order=1)
        kept = self.ann.book(other)
        item = book.replace("/books/", "/items/")
        self.ann.done("POST", f"{item}/lend", {"borrower": "Eve"})
        self.ann.done("POST", f"{library}/share", {"email": self.address("bob")})
        self.ann.done("DELETE", library)
        gone = [library, book, f"{library}/collections/{collection}", f"{item}/events", f"{library}/items", f"{library}/collections", f"{library}/export"]
        self.wait_until(lambda: all(self.ann("GET", path).status == 404 for path in gone))
        self.wait_until(lambda: bob.items("/libraries") == [] and bob.items("/shared-libraries") == [])
        self.wait_until(lambda: self.ann.items("/lent") == [])
        self.expect(self.ann("GET", kept), 200)
        self.wait_until(lambda: [one["ItemId"] for one in self.ann.items("/items")] == [kept.rsplit("/", 1)[1]])

    def test_a_new_name_reaches_every_copy(self):
        bob = self.joined("bob")
        ann = self.joined("ann")
        library = ann.library("Old")
        book = ann.book(library)
        ann.done("POST", f"{library}/share", {"email": self.address("bob")})
        ann.done("PATCH", library, {"LibraryName": "New"})
        ann.register("Anna", self.address("ann"))
        self.wait_until(lambda: (ann("GET", book).json["LibraryName"], ann("GET", book).json["OwnerName"]) == ("New", "Anna"))
        self.wait_until(lambda: (bob.items("/libraries")[0]["LibraryName"], bob.items("/libraries")[0]["SharedFromName"]) == ("New", "Anna"))
        self.assertEqual(ann("GET", library).json["OwnerName"], "Anna")

    def test_who_registers_late_gives_his_name_to_what_he_has(self):
        book = self.ann.book(self.ann.library())
        self.assertNotIn("OwnerName", self.ann("GET", book).json)
        self.joined("ann")
        self.wait_until(lambda: self.ann("GET", book).json.get("OwnerName") == "Ann")


class Strangers(Rest):
    def test_find_nothing_on_any_route(self):
        library = self.ann.library()
        collection = f"{library}/collections/{self.ann.collection(library)}"
        book = self.ann.book(library)
        video = self.ann.video(library)
        item = book.replace("/books/", "/items/")
        routes = [("GET", library), ("PATCH", library), ("DELETE", library), ("GET", f"{library}/items"), ("GET", f"{library}/collections"),
                  ("POST", f"{library}/collections"), ("GET", collection), ("PATCH", collection), ("DELETE", collection), ("GET", f"{collection}/items"),
                  ("POST", f"{library}/books"), ("GET", book), ("PATCH", book), ("DELETE", book), ("POST", f"{library}/videos"), ("GET", video),
                  ("PATCH", video), ("DELETE", video), ("POST", f"{item}/lend"), ("POST", f"{item}/return"), ("GET", f"{item}/events"),
                  ("DELETE", f"{item}/events"), ("POST", f"{library}/share"), ("POST", f"{library}/unshare"), ("GET", f"{library}/recipients"),
                  ("GET", f"{library}/export"), ("POST", f"{library}/import")]  # fmt: skip
        bodies = {library: {"LibraryName": "x"}, f"{library}/collections": {"Name": "x"}, collection: {"Name": "x"}, f"{library}/books": {"Title": "x"},
                  book: {"Title": "x"}, f"{library}/videos": {"Title": "x"}, video: {"Title": "x"}, f"{item}/lend": {"borrower": "x"}, f"{item}/return": {},
                  f"{library}/share": {"email": "x@example.org"}, f"{library}/unshare": {"email": "x@example.org"}}  # fmt: skip
        for method, path in routes:
            with self.subTest(f"{method} {path}"):
                body = bodies.get(path) if method in ("POST", "PATCH") else None
                headers = {}
                if path.endswith("/import"):
                    body, headers = "Title\nx\n", {"Content_Type": "text/csv"}
                self.expect(self.bob(method, path, body, **headers), 404)
                self.expect(self.nobody(method, path, body, **headers), 401)
        for path in ("/libraries", "/shared-libraries", "/items", "/lent", "/overdue", "/search?q=dune"):
            self.assertEqual(self.bob.items(path), [])
            self.expect(self.nobody("GET", path), 401)
