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

    def test_who_leaves_leaves_nothing_behind(self):
        self.ann.register("Ann", self.address("ann"))
        library = self.ann.library()
        book = self.ann.book(library)
        self.expect(self.ann("DELETE", "/me"), 204)
        self.expect(self.ann("GET", "/me"), 404)
        self.settle(lambda: self.ann("GET", library).status == 404 and self.ann("GET", book).status == 404)
        self.assertEqual(self.ann.items("/libraries"), [])
        self.bob.register("Bob", self.address("ann"))
