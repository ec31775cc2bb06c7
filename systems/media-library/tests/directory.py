"""The user directory: who has signed in, under which address."""

from media import Rest


class Directory(Rest):
    def test_a_user_registers_on_first_sign_in_and_may_say_so_again(self):
        self.expect(self.ann("GET", "/me"), 404)
        body = {"Name": "Ann", "Email": self.address("ann")}
        me = self.expect(self.ann("PUT", "/me", body), 201).json
        self.assertEqual((me["Name"], me["Email"], me["UserId"]), ("Ann", self.address("ann"), f"ann-{self.name}"))
        self.expect(self.ann("PUT", "/me", body), 200)
        self.assertEqual(self.expect(self.ann("PUT", "/me", {**body, "Name": "Anna"}), 200).json["Name"], "Anna")
        self.assertEqual(self.ann("GET", "/me").json["Name"], "Anna")
        self.expect(self.bob("GET", "/me"), 404)

    def test_what_is_wrong_is_told_at_once(self):
        problems = self.expect(self.ann("PUT", "/me", {"Name": "", "Email": "nobody", "Age": 7}), 400).problems()
        self.assertEqual(set(problems), {"Name", "Email", "Age"})
        self.assertIn("UserId", self.expect(self.ann("PUT", "/me", {"Name": "Ann", "Email": self.address("ann"), "UserId": "x"}), 400).problems())
        self.expect(self.ann("PUT", "/me", {"Name": "n" * 101, "Email": self.address("ann")}), 400)
        self.expect(self.nobody("PUT", "/me", {"Name": "x", "Email": "x@example.org"}), 401)

    def test_an_address_is_of_one_user_without_regard_to_case(self):
        self.ann.register("Ann", self.address("ann"))
        self.expect(self.bob("PUT", "/me", {"Name": "Bob", "Email": self.address("ann").upper()}), 409, "Duplicate")
        self.ann.register("Ann", self.address("anna"))
        self.bob.register("Bob", self.address("ann"))

    def test_an_accent_makes_another_address(self):
        self.ann.register("Ann", self.address("jose"))
        self.bob.register("Bob", self.address("josé"))
        eve = self.user(f"eve-{self.name}")
        eve.register("Eve", self.address("eve"))
        library = eve.library()
        self.expect(eve("POST", f"{library}/share", {"email": self.address("JOSÉ")}), 200)
        self.expect(self.bob("GET", library), 200)
        self.expect(self.ann("GET", library), 404)
        self.expect(eve("POST", f"{library}/unshare", {"email": self.address("José")}), 200)
        self.expect(self.bob("GET", library), 404)

    def test_who_leaves_leaves_nothing_behind(self):
        self.ann.register("Ann", self.address("ann"))
        library = self.ann.library()
        book = self.ann.book(library)
        self.expect(self.ann("DELETE", "/me"), 204)
        self.expect(self.ann("GET", "/me"), 404)
        self.settle(lambda: self.ann("GET", library).status == 404 and self.ann("GET", book).status == 404)
        self.assertEqual(self.ann.items("/libraries"), [])
        self.bob.register("Bob", self.address("ann"))

    def comes_back(self, user, who):
        """What went with the former user goes first."""
        body = {"Name": who.capitalize(), "Email": self.address(who)}
        self.settle(lambda: self.expect_one_of(user("PUT", "/me", body), 201, 409).status == 201)

    def expect_one_of(self, answer, *statuses):
        self.assertIn(answer.status, statuses, answer.body)
        return answer

    def test_who_leaves_and_comes_back_finds_nothing_of_what_they_left(self):
        ann, bob = self.joined("ann"), self.joined("bob")
        library = ann.library()
        book = ann.book(library, CollectionId=ann.collection(library))
        ann.done("POST", f"{library}/share", {"email": self.address("bob")})
        self.expect(ann("DELETE", "/me"), 204)
        self.comes_back(ann, "ann")
        self.assertEqual(ann.items("/libraries"), [])
        self.settle(lambda: ann("GET", book).status == 404 and ann.items("/items") == [])
        self.settle(lambda: bob.items("/libraries") == [])

    def test_who_leaves_and_comes_back_is_not_shared_with_any_more(self):
        ann, bob = self.joined("ann"), self.joined("bob")
        ann.done("POST", f"{ann.library()}/share", {"email": self.address("bob")})
        self.expect(bob("DELETE", "/me"), 204)
        self.comes_back(bob, "bob")
        self.assertEqual(bob.items("/libraries"), [])

    def test_a_library_may_come_before_its_owner_signs_in_and_goes_with_them(self):
        library = self.ann.library()
        book = self.ann.book(library)
        self.ann.register("Ann", self.address("ann"))
        self.settle(lambda: self.ann("GET", library).json.get("OwnerName") == "Ann")
        self.expect(self.ann("DELETE", "/me"), 204)
        self.comes_back(self.ann, "ann")
        self.assertEqual(self.ann.items("/libraries"), [])
        self.settle(lambda: self.ann("GET", book).status == 404)

    def test_a_library_that_is_made_after_leaving_stays(self):
        self.ann.register("Ann", self.address("ann"))
        old = self.ann.library("Old")
        self.expect(self.ann("DELETE", "/me"), 204)
        new = self.ann.library("New")
        self.settle(lambda: self.ann("GET", old).status == 404)
        self.comes_back(self.ann, "ann")
        self.settle(lambda: self.ann("GET", new).json.get("OwnerName") == "Ann")
