"""Sharing: other users read a library, and write nothing."""

from media import Rest, as_item


class Sharing(Rest):

    def setUp(self):
        super().setUp()
        self.ann, self.bob = self.joined("ann"), self.joined("bob")
        self.library = self.ann.library("Shared")

    def share(self, who="bob", status=200, code=None):
        return self.expect(self.ann("POST", f"{self.library}/share", {"email": self.address(who)}), status, code)

    def unshare(self, who="bob", status=200, code=None):
        return self.expect(self.ann("POST", f"{self.library}/unshare", {"email": self.address(who)}), status, code)

    def test_a_recipient_sees_the_library_among_his_own(self):
        self.bob.library("Alone")
        self.assertEqual(self.share().json["SharedTo"], [self.address("bob")])
        listed = self.bob.items("/libraries")
        self.assertEqual([(one["LibraryName"], one["EntityType"]) for one in listed], [("Alone", "LIBRARY"), ("Shared", "SHARED_LIBRARY")])
        self.assertEqual((listed[1]["SharedFromName"], listed[1]["SharedFromId"]), ("Ann", f"ann-{self.name}"))
        self.assertEqual(self.bob.items("/shared-libraries"), listed[1:])
        self.assertEqual([one["SharedToEmail"] for one in self.ann.items(f"{self.library}/recipients")], [self.address("bob")])
        shared = self.bob.done("GET", self.library)
        self.assertEqual(shared["LibraryName"], "Shared")
        self.assertNotIn("SharedToIds", shared)

    def test_a_recipient_reads_everything_and_writes_nothing(self):
        collection = f"{self.library}/collections/{self.ann.collection(self.library)}"
        book = self.ann.book(self.library, CollectionId=collection.rsplit("/", 1)[1])
        video = self.ann.video(self.library)
        item = as_item(book)
        self.ann.done("POST", f"{item}/lend", {"borrower": "Eve"})
        self.share()
        for path in (self.library, f"{self.library}/items", f"{self.library}/collections", collection, f"{collection}/items", book, video,
                     f"{item}/events", f"{self.library}/export"):  # fmt: skip
            with self.subTest(path):
                self.expect(self.bob("GET", path), 200)
        self.assertEqual([one["Event"] for one in self.bob.items(f"{item}/events")], ["Eve"])
        writes = [("PATCH", self.library, {"LibraryName": "x"}), ("DELETE", self.library, None), ("POST", f"{self.library}/collections", {"Name": "x"}),
                  ("PATCH", collection, {"Name": "x"}), ("DELETE", collection, None), ("POST", f"{self.library}/books", {"Title": "x"}),
                  ("PATCH", book, {"Title": "x"}), ("DELETE", book, None), ("POST", f"{self.library}/videos", {"Title": "x"}), ("PATCH", video, {"Title": "x"}),
                  ("DELETE", video, None), ("POST", f"{item}/lend", {"borrower": "x"}), ("POST", f"{item}/return", {}), ("DELETE", f"{item}/events", None),
                  ("POST", f"{self.library}/share", {"email": self.address("ann")}), ("POST", f"{self.library}/unshare", {"email": self.address("bob")})]  # fmt: skip
        for method, path, body in writes:
            with self.subTest(f"{method} {path}"):
                self.expect(self.bob(method, path, body), 403, "Forbidden")
        self.expect(self.bob("POST", f"{self.library}/import", "Title\nx\n", Content_Type="text/csv"), 403)
        self.assertEqual(self.ann("GET", self.library).json["TotalItems"], 2)

    def test_whom_it_is_shared_with_is_for_the_owner_to_see(self):
        eve = self.joined("eve")
        self.share()
        self.share("eve")
        self.assertEqual(self.ann("GET", self.library).json["SharedTo"], [self.address("bob"), self.address("eve")])
        self.assertEqual(len(self.ann.items(f"{self.library}/recipients")), 2)
        for recipient in (self.bob, eve):
            shared = recipient.done("GET", self.library)
            self.assertEqual(shared["OwnerName"], "Ann")
            self.assertNotIn("SharedTo", shared)
            self.expect(recipient("GET", f"{self.library}/recipients"), 403, "Forbidden")
        self.expect(self.user(f"zoe-{self.name}")("GET", f"{self.library}/recipients"), 404)
        self.expect(self.nobody("GET", f"{self.library}/recipients"), 401)

    def test_what_is_lent_is_overdue_for_its_owner_alone(self):
        item = as_item(self.ann.book(self.library))
        self.ann.done("POST", f"{item}/lend", {"borrower": "Eve", "due": "2020-01-01"})
        self.share()
        self.assertEqual(len(self.ann.items("/overdue")), 1)
        self.assertEqual(self.bob.items("/overdue"), [])

    def test_only_one_library_is_shared(self):
        other = self.ann.library("Other")
        book = self.ann.book(other)
        self.share()
        self.expect(self.bob("GET", other), 404)
        self.expect(self.bob("GET", book), 404)
        self.expect(self.user(f"eve-{self.name}")("GET", self.library), 404)

    def test_an_unknown_address_is_404_and_ones_own_400(self):
        self.share("nobody", 404, "UnknownUser")
        self.assertIn("email", self.share("ann", 400).problems())
        for wrong in ({}, {"email": "x"}, {"email": self.address("bob"), "role": "x"}):
            self.expect(self.ann("POST", f"{self.library}/share", wrong), 400)
        self.assertNotIn("SharedTo", self.ann("GET", self.library).json)

    def test_twice_is_409_also_in_capitals(self):
        self.share()
        self.share(status=409, code="AlreadyShared")
        self.expect(self.ann("POST", f"{self.library}/share", {"email": self.address("bob").upper()}), 409, "AlreadyShared")
        self.assertEqual(self.ann("GET", self.library).json["SharedTo"], [self.address("bob")])

    def test_unsharing_takes_it_back(self):
        eve = self.joined("eve")
        self.share()
        self.share("eve")
        self.assertEqual(self.unshare().json["SharedTo"], [self.address("eve")])
        self.expect(self.bob("GET", self.library), 404)
        self.assertEqual(self.bob.items("/libraries"), [])
        self.expect(eve("GET", self.library), 200)
        self.unshare(status=404, code="NotShared")
        self.assertNotIn("SharedTo", self.unshare("eve").json)
        self.share()
        self.expect(self.bob("GET", self.library), 200)

    def test_a_recipient_who_is_gone_blocks_nothing(self):
        self.share()
        self.bob.done("DELETE", "/me")
        self.wait_until(lambda: self.bob.items("/libraries") == [])
        self.unshare()
        self.assertNotIn("SharedTo", self.ann("GET", self.library).json)

    def test_a_recipient_who_is_gone_does_not_keep_a_library_from_being_deleted(self):
        self.share()
        self.bob.done("DELETE", "/me")
        self.expect(self.ann("DELETE", self.library), 204)
        self.wait_until(lambda: self.bob.items("/shared-libraries") == [])

    def test_who_comes_back_can_be_shared_with_again(self):
        self.share()
        self.bob.done("DELETE", "/me")
        self.wait_until(lambda: self.bob.items("/shared-libraries") == [])
        self.joined("bob")
        self.assertEqual(self.share().json["SharedTo"], [self.address("bob")])
        self.expect(self.bob("GET", self.library), 200)

    def test_an_address_that_was_given_up_can_still_be_unshared(self):
        self.share()
        self.bob.register("Bob", self.address("robert"))
        self.expect(self.bob("GET", self.library), 200)
        self.share("robert", 409, "AlreadyShared")
        self.unshare("bob")
        self.expect(self.bob("GET", self.library), 404)
        self.share("robert")
        self.bob.register("Bob", self.address("bobby"))
        self.unshare("bobby")
        self.expect(self.bob("GET", self.library), 404)


class Many(Rest):
    def test_a_library_is_shared_with_at_most_a_hundred(self):
        library = self.ann.library()

        def change(what, who, status):
            self.expect(self.ann("POST", f"{library}/{what}", {"email": self.address(who)}), status)

        for n in range(101):
            self.joined(f"u{n}")
            change("share", f"u{n}", 200 if n < 100 else 409)
        change("unshare", "u50", 200)
        change("share", "u100", 200)
        self.assertEqual(len(self.ann.items(f"{library}/recipients?limit=30")), 100)


class Crowd(Rest):
    def test_those_who_are_gone_take_no_place(self):
        ann = self.joined("ann")
        library = ann.library()

        def share(who, status, code=None):
            return self.expect(ann("POST", f"{library}/share", {"email": self.address(who)}), status, code)

        guests = [self.joined(f"guest{n}") for n in range(100)]
        for n in range(100):
            share(f"guest{n}", 200)
        self.joined("late")
        share("late", 409, "Full")
        for guest in guests[1:]:
            guest.done("DELETE", "/me")
        self.assertEqual(share("late", 200).json["SharedTo"], [self.address("guest0"), self.address("late")])
        self.expect(guests[0]("GET", library), 200)
