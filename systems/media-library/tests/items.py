"""Books and videos, and the list of a library."""

from media import Rest, unknown


class Items(Rest):
    def test_books_are_created_changed_and_deleted(self):
        library = self.ann.library()
        given = {"Title": "Dune", "Authors": ["Frank Herbert"], "Summary": "Sand", "Isbn": "978-0-441-17271-9", "PictureUrl": "https://example.org/dune.jpg"}
        book = self.expect(self.ann("POST", f"{library}/books", given), 201).json
        self.assertEqual({name: book[name] for name in given}, {**given, "Isbn": "9780441172719"})
        self.assertEqual((book["Type"], book["EntityType"], book["LibraryName"]), (0, "BOOK", "Home"))
        path = f"{library}/books/{book['ItemId']}"
        changed = self.expect(self.ann("PATCH", path, {"Title": "Dune Messiah", "Summary": None}), 200).json
        self.assertEqual((changed["Title"], changed.get("Summary"), changed["Authors"]), ("Dune Messiah", None, ["Frank Herbert"]))
        self.assertEqual(self.ann("GET", path).json, changed)
        self.expect(self.ann("DELETE", path), 204)
        self.expect(self.ann("GET", path), 404)
        self.expect(self.ann("PATCH", path, {"Title": "x"}), 404)

    def test_videos_are_created_changed_and_deleted(self):
        library = self.ann.library()
        given = {"Title": "Stalker", "Directors": ["Andrei Tarkovsky"], "Cast": ["Alexander Kaidanovsky"], "ReleaseYear": 1979, "Duration": 162, "TmdbId": "1398"}
        video = self.expect(self.ann("POST", f"{library}/videos", given), 201).json
        self.assertEqual({name: video[name] for name in given}, given)
        self.assertEqual((video["Type"], video["EntityType"]), (1, "VIDEO"))
        path = f"{library}/videos/{video['ItemId']}"
        self.assertEqual(self.expect(self.ann("PATCH", path, {"Duration": 163}), 200).json["Duration"], 163)
        self.expect(self.ann("DELETE", path), 204)
        self.expect(self.ann("GET", path), 404)

    def test_a_video_is_not_found_under_books_nor_a_book_under_videos(self):
        library = self.ann.library()
        book, video = self.ann.book(library), self.ann.video(library)
        for path in (book.replace("books", "videos"), video.replace("videos", "books")):
            self.expect(self.ann("GET", path), 404)
            self.expect(self.ann("PATCH", path, {"Title": "x"}), 404)
            self.expect(self.ann("DELETE", path), 404)
        self.expect(self.ann("GET", book), 200)
        self.expect(self.ann("GET", video), 200)

    def test_limits_of_books(self):
        library = self.ann.library()
        collection = self.ann.collection(library)
        self.ann.book(library, "é" * 100, Summary="é" * 4000, CollectionId=collection, Order=1000)
        wrong = {"Title": "é" * 101, "Summary": "é" * 4001, "Order": 1001, "Isbn": "9780441172718", "PictureUrl": "dune.jpg", "Authors": [""], "ReleaseYear": 2000}
        self.assertEqual(set(self.expect(self.ann("POST", f"{library}/books", wrong), 400).problems()) - {"Authors[0]", "Authors"},
                         set(wrong) - {"Authors"})  # fmt: skip
        for wrong in ({"Title": ""}, {"Title": None}, {}, {"Title": "x", "Order": 0, "CollectionId": collection}, {"Title": "x", "Order": 1.5, "CollectionId": collection}):
            self.expect(self.ann("POST", f"{library}/books", wrong), 400)

    def test_limits_of_videos(self):
        library = self.ann.library()
        self.ann.video(library, ReleaseYear=1800, Duration=0)
        self.ann.video(library, ReleaseYear=2100, Duration=1000)
        for wrong in ({"ReleaseYear": 1799}, {"ReleaseYear": 2101}, {"Duration": -1}, {"Duration": 1001}, {"Isbn": "9780441172719"}, {"Authors": []}):
            self.assertEqual(set(self.expect(self.ann("POST", f"{library}/videos", {"Title": "x", **wrong}), 400).problems()), set(wrong))

    def test_isbn_checksums(self):
        library = self.ann.library()
        for right in ("0-306-40615-2", "080442957X", "978 0 306 40615 7"):
            self.ann.book(library, Isbn=right)
        for wrong in ("0306406153", "0804429570", "9780306406158", "12", "isbn"):
            self.assertIn("Isbn", self.expect(self.ann("POST", f"{library}/books", {"Title": "x", "Isbn": wrong}), 400).problems())

    def test_no_body_sets_what_the_service_keeps(self):
        library = self.ann.library()
        kept = {"ItemId": unknown(), "Type": 1, "CollectionName": "x", "LentTo": "x", "LentAt": "2026-01-01T00:00:00Z", "DueOn": "2026-01-01",
                "LibraryName": "x", "OwnerName": "x", "GSI1SK": "item#x", "LibraryId": unknown()}  # fmt: skip
        self.assertEqual(set(self.expect(self.ann("POST", f"{library}/books", {"Title": "x", **kept}), 400).problems()), set(kept))

    def test_an_item_needs_a_library_and_a_collection_of_it(self):
        library, other = self.ann.library(), self.ann.library("Other")
        self.expect(self.ann("POST", f"/libraries/{unknown()}/books", {"Title": "x"}), 404)
        for collection in (unknown(), self.ann.collection(other), self.bob.collection(self.bob.library())):
            answer = self.expect(self.ann("POST", f"{library}/books", {"Title": "x", "CollectionId": collection}), 400)
            self.assertEqual(answer.problems(), {"CollectionId": "names no COLLECTION"})
        book = self.ann.book(library)
        self.expect(self.ann("PATCH", book, {"CollectionId": unknown()}), 400)
        self.ann.done("DELETE", book)
        self.assertEqual(self.ann("GET", library).json["TotalItems"], 0)

    def test_letters_of_their_own_are_listed_where_people_look_for_them(self):
        library = self.ann.library()
        titles = ["Adam", "Æsop", "Afrika", "Łódź", "Lyon", "Œuvre", "Straße", "Strasse 2", "Zèbre"]
        for title in reversed(titles):
            self.ann.book(library, title)
        self.assertEqual([one["Title"] for one in self.ann.items(f"{library}/items")], titles)
        self.ann.collection(library, "Œdipe")
        self.expect(self.ann("POST", f"{library}/collections", {"Name": "OEDIPE"}), 409, "Duplicate")

    def test_are_listed_by_title_across_libraries(self):
        home, office = self.ann.library(), self.ann.library("Office")
        self.ann.book(home, "beta")
        self.ann.video(office, "Alpha")
        self.ann.book(office, "Été")
        self.assertEqual([one["Title"] for one in self.ann.items("/items?limit=1")], ["Alpha", "beta", "Été"])


class Contents(Rest):
    """GET /libraries/{LibraryId}/items: collections with their items nested under them."""


    def shown(self, found):
        """Every entry of a list as text: `Foo(1 A, 2 B)` is a collection, `...Foo` one that continues from the page before."""
        lines = []
        for one in found:
            if one["EntityType"] == "COLLECTION":
                items = ", ".join(f"{item['Order']} {item['Title']}" for item in one["items"])
                lines.append(("..." if one.get("continued") else "") + f"{one['Name']}({items})")
            else:
                lines.append(one["Title"])
        return lines

    def pages(self, library, limit):
        token = ""
        while token is not None:
            page = self.ann.done("GET", f"{library}/items?limit={limit}" + (f"&nextToken={token}" if token else ""))
            token = page.get("nextToken")
            yield self.shown(page["items"])

    def test_the_order_of_the_document(self):
        library = self.ann.library()
        amber = self.ann.collection(library, "Cycle des princes d'Ambre")
        dragons = self.ann.collection(library, "Chroniques de Dragonlance")
        self.ann.book(library, "Effondrement")
        self.ann.book(library, "Prince du Chaos", CollectionId=amber, Order=10)
        self.ann.book(library, "Les 9 princes d'ambre", CollectionId=amber, Order=1)
        self.ann.book(library, "Dragons d'une nuit d'hiver", CollectionId=dragons, Order=2)
        self.ann.book(library, "Dragons d'un crépuscule d'automne", CollectionId=dragons, Order=1)
        self.ann.book(library, "Angelo")
        whole = ["Angelo",
                 "Chroniques de Dragonlance(1 Dragons d'un crépuscule d'automne, 2 Dragons d'une nuit d'hiver)",
                 "Cycle des princes d'Ambre(1 Les 9 princes d'ambre, 10 Prince du Chaos)",
                 "Effondrement"]  # fmt: skip
        self.assertEqual(self.shown(self.ann.items(f"{library}/items")), whole)
        self.assertEqual(list(self.pages(library, 3)), [
            ["Angelo", "Chroniques de Dragonlance(1 Dragons d'un crépuscule d'automne)"],
            ["...Chroniques de Dragonlance(2 Dragons d'une nuit d'hiver)", "Cycle des princes d'Ambre(1 Les 9 princes d'ambre)"],
            ["...Cycle des princes d'Ambre(10 Prince du Chaos)", "Effondrement"]])  # fmt: skip

    def test_no_title_comes_between_a_collection_and_its_items(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Foo")
        for title in ("Foo Bar", "Foo!", "Foo#00001#X", 'Foo"Bar', "Fo"):
            self.ann.book(library, title)
        for order, title in ((1, "zz"), (2, "aa")):
            self.ann.book(library, title, CollectionId=foo, Order=order)
        for limit in (1, 2, 3, 100):
            with self.subTest(limit=limit):
                lines = [line for page in self.pages(library, limit) for line in page]
                at = [n for n, line in enumerate(lines) if "Foo(" in line]
                self.assertEqual(at, list(range(at[0], at[-1] + 1)), lines)
        whole = self.shown(self.ann.items(f"{library}/items?limit=100"))
        self.assertIn("Foo(1 zz, 2 aa)", whole)
        self.assertEqual(len(whole), 6)

    def test_an_item_with_the_name_of_a_collection_does_not_join_it(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Foo")
        self.ann.book(library, "Foo")
        self.ann.book(library, "member", CollectionId=foo, Order=1)
        self.assertEqual(list(self.pages(library, 100)), [["Foo(1 member)", "Foo"]])
        self.assertEqual(list(self.pages(library, 1)), [["Foo()"], ["Foo"], ["...Foo(1 member)"]])

    def test_books_and_videos_share_a_collection(self):
        library = self.ann.library()
        both = self.ann.collection(library, "Dune")
        self.ann.video(library, "The film", CollectionId=both, Order=2)
        self.ann.book(library, "The book", CollectionId=both, Order=1)
        self.assertEqual(self.shown(self.ann.items(f"{library}/items")), ["Dune(1 The book, 2 The film)"])

    def test_a_list_is_stable_while_rows_are_added(self):
        library = self.ann.library()
        for n in range(6):
            self.ann.book(library, f"m{n}")
        seen, token = [], ""
        while token is not None:
            page = self.ann.done("GET", f"{library}/items?limit=2" + (f"&nextToken={token}" if token else ""))
            seen += [one["Title"] for one in page["items"] if one["Title"].startswith("m")]
            token = page.get("nextToken")
            self.ann.book(library, f"a{len(seen)}")
        self.assertEqual(seen, [f"m{n}" for n in range(6)])

    def test_limits_and_tokens_of_others_are_400(self):
        library, other = self.ann.library(), self.ann.library("Other")
        for title in "ab":
            self.ann.book(library, title)
        for limit in ("0", "101", "x", "-1", ""):
            self.expect(self.ann("GET", f"{library}/items?limit={limit}"), 400)
        token = self.ann.done("GET", f"{library}/items?limit=1")["nextToken"]
        self.expect(self.ann("GET", f"{other}/items?limit=1&nextToken={token}"), 400)
        self.expect(self.ann("GET", f"{library}/items?limit=1&nextToken=x{token}"), 400)
