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
        self.wait_until(lambda: self.ann("GET", library).status == 404 and self.ann("GET", book).status == 404)
        self.assertEqual(self.ann.items("/libraries"), [])
        self.bob.register("Bob", self.address("ann"))

    def comes_back(self, user, who):
        """What went with the former user goes first."""
        body = {"Name": who.capitalize(), "Email": self.address(who)}
        self.wait_until(lambda: self.expect_one_of(user("PUT", "/me", body), 201, 409).status == 201)

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
        self.wait_until(lambda: ann("GET", book).status == 404 and ann.items("/items") == [])
        self.wait_until(lambda: bob.items("/libraries") == [])

    def test_who_comes_back_is_refused_until_the_last_row_is_gone_and_begins_empty(self):
        ann = self.joined("ann")
        library, other = ann.library("Large"), ann.library("Gone")
        for path in (library, other):
            lines = "".join(f"title {n},Collection {n % 3}\n" for n in range(50))
            self.expect(ann("POST", f"{path}/import", f"Title,Collection\n{lines}", Content_Type="text/csv"), 200)
        ann.done("DELETE", other)  # what is in it goes a moment later, too
        ann.done("DELETE", "/me")
        body = {"Name": "Ann", "Email": self.address("ann")}

        def is_back():
            answer = ann("PUT", "/me", body)
            if answer.status != 201:
                self.assertEqual(self.expect(answer, 409, "StillGoing").headers["Retry-After"], "1")
            return answer.status == 201

        self.wait_until(is_back)
        for path in ("/items", "/libraries", "/search?q=title"):
            self.assertEqual(ann.items(path), [], path)

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
        self.wait_until(lambda: self.ann("GET", library).json.get("OwnerName") == "Ann")
        self.expect(self.ann("DELETE", "/me"), 204)
        self.comes_back(self.ann, "ann")
        self.assertEqual(self.ann.items("/libraries"), [])
        self.wait_until(lambda: self.ann("GET", book).status == 404)

    def test_a_library_that_is_made_after_leaving_stays(self):
        self.ann.register("Ann", self.address("ann"))
        old = self.ann.library("Old")
        self.expect(self.ann("DELETE", "/me"), 204)
        new = self.ann.library("New")
        self.wait_until(lambda: self.ann("GET", old).status == 404)
        self.comes_back(self.ann, "ann")
        self.wait_until(lambda: self.ann("GET", new).json.get("OwnerName") == "Ann")


class SignIn(Rest):
    """Who signs in with a token that says who they are."""

    def setUp(self):
        super().setUp()
        self.mal = self.signed_in("mal", "--name", "Mal", "--email", self.address("mal"))

    def test_registers_with_the_first_request_whatever_that_is(self):
        self.expect(self.mal("GET", "/libraries"), 200)
        library = self.ann.library()
        self.expect(self.ann("POST", f"{library}/share", {"email": self.address("mal")}), 200)
        self.expect(self.mal("GET", library), 200)
        me = self.expect(self.mal("GET", "/me"), 200).json
        self.assertEqual((me["Name"], me["Email"], me["UserId"]), ("Mal", self.address("mal"), f"mal-{self.name}"))

    def test_sees_themselves_at_once(self):
        self.assertEqual(self.expect(self.mal("GET", "/me"), 200).json["Name"], "Mal")

    def test_cannot_take_another_address(self):
        body = {"Name": "M", "Email": self.address("vic")}
        self.assertEqual(set(self.expect(self.mal("PUT", "/me", body), 400).problems()), {"Email"})
        self.assertEqual(set(self.expect(self.mal("PUT", "/me", {**body, "Name": "", "Age": 7}), 400).problems()), {"Name", "Email", "Age"})
        self.expect(self.mal("PUT", "/me", {"Name": "M", "Email": self.address("mal").upper()}), 201)
        self.expect(self.mal("PUT", "/me", body), 400)
        self.assertEqual(self.mal("GET", "/me").json["Email"], self.address("mal"))

    def test_keeps_a_name_of_their_own_choice(self):
        self.expect(self.mal("PUT", "/me", {"Name": "Malva", "Email": self.address("mal")}), 201)
        self.expect(self.mal("GET", "/libraries"), 200)
        self.expect(self.mal("PUT", "/me", {"Name": "Malve"}), 200)
        self.assertEqual(self.mal("GET", "/me").json["Name"], "Malve")

    def test_does_not_get_an_address_that_somebody_has_and_can_work_all_the_same(self):
        self.ann.register("Ann", self.address("mal"))
        self.expect(self.mal("GET", "/me"), 404)
        self.mal.library()
        self.expect(self.mal("PUT", "/me", {"Name": "Mal", "Email": self.address("mal")}), 409, "Duplicate")

    def test_is_not_registered_by_leaving_but_is_by_coming_back(self):
        self.expect(self.mal("DELETE", "/me"), 404)
        library = self.mal.library()
        self.expect(self.mal("DELETE", "/me"), 204)
        self.wait_until(lambda: self.mal("GET", "/me").status == 200)
        self.expect(self.mal("GET", library), 404)

    def test_gives_an_address_if_the_token_has_none_and_a_name_if_it_has_no_name(self):
        eve = self.signed_in("eve", "--name", "Eve")
        self.expect(eve("GET", "/me"), 404)
        self.expect(eve("PUT", "/me", {"Name": "Eve", "Email": self.address("other")}), 201)
        zoe = self.signed_in("zoe", "--email", self.address("zoe"))
        self.expect(zoe("GET", "/me"), 404)
        self.expect(zoe("PUT", "/me", {"Name": "Zoe", "Email": self.address("other")}), 400)
        self.expect(zoe("PUT", "/me", {"Name": "Zoe", "Email": self.address("zoe")}), 201)

    def test_claims_that_are_no_name_or_address_here_register_nobody(self):
        odd = self.signed_in("odd", "--name", "x" * 101, "--email", "nobody")
        self.expect(odd("GET", "/me"), 404)
        odd.library()
