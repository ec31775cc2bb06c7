"""Collections: named, ordered groups of items."""

from media import Rest, unknown

NOTE = "\U0001d160"  # three characters of four bytes each, when it is sorted


class Collections(Rest):
    def test_are_created_described_and_deleted(self):
        library = self.ann.library()
        made = self.expect(self.ann("POST", f"{library}/collections", {"Name": "Foo", "Description": "All foo"}), 201).json
        path = f"{library}/collections/{made['CollectionId']}"
        self.assertEqual((made["Name"], made["Description"], made["ItemCount"]), ("Foo", "All foo", 0))
        self.expect(self.ann("PATCH", path, {"Description": None}), 200)
        self.assertNotIn("Description", self.ann("GET", path).json)
        self.expect(self.ann("DELETE", path), 204)
        self.expect(self.ann("GET", path), 404)
        self.expect(self.ann("POST", f"/libraries/{unknown()}/collections", {"Name": "Foo"}), 404)

    def test_limits(self):
        library = self.ann.library()
        self.ann.collection(library, "é" * 100, Description="é" * 500)
        problems = self.expect(self.ann("POST", f"{library}/collections", {"Name": "x" * 101, "Description": "x" * 501, "ItemCount": 1}), 400).problems()
        self.assertEqual(set(problems), {"Name", "Description", "ItemCount"})
        self.expect(self.ann("POST", f"{library}/collections", {"Name": ""}), 400)

    def test_a_name_or_title_that_folding_makes_too_long_is_refused(self):
        library = self.ann.library()
        for name in ("漢" * 100, "😀" * 100, "x " * 49 + "xx", "#" * 100, NOTE * 40):
            path = f"{library}/collections/{self.ann.collection(library, name)}"
            self.ann.book(library, name, CollectionId=path.rsplit("/", 1)[1])
        for method, where, body in (("POST", f"{library}/collections", {}), ("PATCH", path, {})):
            self.assertEqual(set(self.expect(self.ann(method, where, {**body, "Name": NOTE * 45}), 400).problems()), {"Name"})
        for kind in ("books", "videos"):
            self.assertEqual(set(self.expect(self.ann("POST", f"{library}/{kind}", {"Title": NOTE * 45}), 400).problems()), {"Title"})

    def test_a_name_is_unique_in_its_library_without_regard_to_case(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Été")
        self.expect(self.ann("POST", f"{library}/collections", {"Name": "ETE"}), 409, "Duplicate")
        self.ann.collection(self.ann.library("Other"), "Été")
        other = self.ann.collection(library, "Bar")
        self.expect(self.ann("PATCH", f"{library}/collections/{other}", {"Name": "été"}), 409, "Duplicate")
        self.ann.done("PATCH", f"{library}/collections/{foo}", {"Name": "ÉTÉ"})
        self.ann.done("DELETE", f"{library}/collections/{foo}")
        self.ann.done("PATCH", f"{library}/collections/{other}", {"Name": "été"})

    def test_are_listed_alone(self):
        library = self.ann.library()
        made = {self.ann.collection(library, name) for name in ("b", "a", "c")}
        self.ann.book(library)
        self.assertEqual({one["CollectionId"] for one in self.ann.items(f"{library}/collections?limit=2")}, made)

    def test_list_their_items_in_order(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Foo")
        self.ann.collection(library, "Foo Bar")
        for order in (10, 2, 1):
            self.ann.book(library, f"t{order}", CollectionId=foo, Order=order)
        self.ann.book(library, "Foo#00001#X")
        items = self.ann.items(f"{library}/collections/{foo}/items?limit=2")
        self.assertEqual([one["Title"] for one in items], ["t1", "t2", "t10"])
        self.expect(self.ann("GET", f"{library}/collections/{unknown()}/items"), 404)

    def test_item_count_is_exact(self):
        library = self.ann.library()
        foo, bar = self.ann.collection(library, "Foo"), self.ann.collection(library, "Bar")
        books = [self.ann.book(library, f"b{n}", CollectionId=foo) for n in range(3)]
        video = self.ann.video(library, CollectionId=foo)

        def counts():
            return [self.ann("GET", f"{library}/collections/{one}").json["ItemCount"] for one in (foo, bar)]

        self.assertEqual(counts(), [4, 0])
        self.ann.done("PATCH", books[0], {"CollectionId": bar})
        self.ann.done("PATCH", books[1], {"CollectionId": None})
        self.ann.done("DELETE", video)
        self.assertEqual(counts(), [1, 1])

    def test_a_new_name_reaches_the_items_and_their_place(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Foo")
        book = self.ann.book(library, "x", CollectionId=foo, Order=1)
        self.ann.book(library, "Middle")
        self.ann.done("PATCH", f"{library}/collections/{foo}", {"Name": "Zoo"})
        self.wait_until(lambda: self.ann("GET", book).json["CollectionName"] == "Zoo")
        found = self.ann.items(f"{library}/items")
        self.assertEqual([one.get("Title") or one["Name"] for one in found], ["Middle", "Zoo"])
        self.assertEqual([one["Title"] for one in found[1]["items"]], ["x"])

    def test_deleting_one_leaves_its_items_standing_alone(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Foo")
        items = [self.ann.book(library, "b", CollectionId=foo, Order=1), self.ann.video(library, "v", CollectionId=foo)]
        self.ann.done("DELETE", f"{library}/collections/{foo}")
        for path in items:
            self.wait_until(lambda: not {"CollectionId", "CollectionName", "Order"} & set(self.ann("GET", path).json))
        self.assertEqual([one["Title"] for one in self.ann.items(f"{library}/items")], ["b", "v"])
        self.assertEqual(self.ann("GET", library).json["TotalItems"], 2)


class Order(Rest):
    """The place of an item in its collection."""


    def orders(self, library, collection):
        return [one["Order"] for one in self.ann.items(f"{library}/collections/{collection}/items")]

    def test_omitted_is_behind_the_last(self):
        library = self.ann.library()
        foo = self.ann.collection(library)
        self.ann.book(library, CollectionId=foo)
        self.ann.book(library, CollectionId=foo, Order=7)
        self.ann.video(library, CollectionId=foo)
        self.assertEqual(self.orders(library, foo), [1, 7, 8])

    def test_goes_on_from_the_last_while_a_rename_travels(self):
        library = self.ann.library()
        foo = self.ann.collection(library, "Foo")
        lines = "".join(f"Item {i},Foo\n" for i in range(300))
        self.expect(self.ann("POST", f"{library}/import", "Title,Collection\n" + lines, Content_Type="text/csv"), 200)
        for turn in range(3):
            self.expect(self.ann("PATCH", f"{library}/collections/{foo}", {"Name": f"Bar {turn}"}), 200)
            self.ann.book(library, CollectionId=foo)
            self.assertEqual(self.orders(library, foo), list(range(1, 302 + turn)))
        self.wait_until(lambda: {one["CollectionName"] for one in self.ann.items(f"{library}/collections/{foo}/items")} == {"Bar 2"})
        nested = [one for one in self.ann.items(f"{library}/items?limit=100")]
        self.assertEqual([one["Order"] for collection in nested for one in collection["items"]], list(range(1, 304)))

    def test_who_moves_in_goes_to_the_end(self):
        library = self.ann.library()
        foo = self.ann.collection(library)
        self.ann.book(library, CollectionId=foo, Order=3)
        book = self.ann.book(library)
        self.assertEqual(self.expect(self.ann("PATCH", book, {"CollectionId": foo}), 200).json["Order"], 4)

    def test_who_moves_on_goes_to_the_end_there_unless_told_where(self):
        library = self.ann.library()
        foo, bar = self.ann.collection(library, "Foo"), self.ann.collection(library, "Bar")
        self.ann.book(library, CollectionId=bar, Order=7)
        book, video = self.ann.book(library, CollectionId=foo, Order=3), self.ann.video(library, CollectionId=foo, Order=3)
        move = lambda path, **change: self.expect(self.ann("PATCH", path, change), 200).json["Order"]  # noqa: E731
        self.assertEqual(move(book, CollectionId=bar), 8)
        self.assertEqual(move(book, CollectionId=bar, Title="again"), 8, "it is there already")
        self.assertEqual(move(video, CollectionId=bar, Order=3), 3)
        self.assertEqual(self.orders(library, bar), [3, 7, 8])
        self.ann.book(library, CollectionId=foo, Order=1000)
        self.expect(self.ann("PATCH", book, {"CollectionId": foo}), 409, "Full")
        self.assertEqual(self.orders(library, bar), [3, 7, 8])

    def test_behind_the_last_place_is_409(self):
        library = self.ann.library()
        foo = self.ann.collection(library)
        self.ann.book(library, CollectionId=foo, Order=1000)
        self.expect(self.ann("POST", f"{library}/books", {"Title": "x", "CollectionId": foo}), 409, "Full")
        self.ann.book(library, CollectionId=foo, Order=999)

    def test_is_for_members_only(self):
        library = self.ann.library()
        self.assertIn("Order", self.expect(self.ann("POST", f"{library}/books", {"Title": "x", "Order": 1}), 400).problems())
        foo = self.ann.collection(library)
        book = self.ann.book(library, CollectionId=foo, Order=1)
        alone = self.expect(self.ann("PATCH", book, {"CollectionId": None}), 200).json
        self.assertFalse({"CollectionId", "CollectionName", "Order"} & set(alone))
        self.expect(self.ann("PATCH", book, {"CollectionId": foo, "Order": 5}), 200)
        self.assertIn("Order", self.expect(self.ann("PATCH", book, {"CollectionId": None, "Order": 5}), 400).problems())
        self.assertNotIn("Order", self.expect(self.ann("PATCH", book, {"CollectionId": None, "Order": None}), 200).json)
