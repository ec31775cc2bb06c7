"""Search: every word, with typos, in what one owns and in what is shared."""

import urllib.parse

from media import Rest


class Search(Rest):

    def find(self, text, user=None, limit=20):
        user = user or self.ann
        return [one["Title"] for one in user.items(f"/search?q={urllib.parse.quote(text)}&limit={limit}")]

    def eventually(self, expected, text, user=None):
        """A stream that is elsewhere may be a moment behind."""
        self.wait_until(lambda: self.find(text, user) == expected)

    def setUp(self):
        super().setUp()
        self.library = self.ann.library()
        dragons = self.ann.collection(self.library, "Chroniques de Dragonlance")
        self.autumn = self.ann.book(self.library, "Dragons d'un crépuscule d'automne", Authors=["Margaret Weis", "Tracy Hickman"], CollectionId=dragons, Order=1)
        self.ann.book(self.library, "Dragons d'une nuit d'hiver", Authors=["Margaret Weis"], CollectionId=dragons, Order=2)
        self.ann.book(self.library, "Effondrement", Authors=["Jared Diamond"], Summary="Dragons")
        self.ann.video(self.library, "Stalker", Directors=["Andrei Tarkovsky"], Cast=["Alexander Kaidanovsky"])
        self.dragons = dragons

    def test_finds_titles_authors_directors_cast_and_collections(self):
        self.eventually(["Effondrement"], "effondrement")
        for text, title in (("hickman", "Dragons d'un crépuscule d'automne"), ("tarkovsky", "Stalker"), ("kaidanovsky", "Stalker")):
            self.assertEqual(self.find(text), [title])
        self.assertEqual(len(self.find("dragonlance")), 2)
        self.assertEqual(self.find("summary sand"), [])

    def test_without_regard_to_case_and_diacritics_by_beginnings_and_with_typos(self):
        for text in ("CRÉPUSCULE", "crepuscule", "crepus", "crepsucule", "automne", "D’AUTOMNE", "weis autom"):
            self.eventually(["Dragons d'un crépuscule d'automne"], text)
        self.assertEqual(self.find("stlaker"), ["Stalker"])
        self.assertEqual(self.find("xyzzy"), [])

    def test_every_term_must_match(self):
        self.eventually(["Dragons d'une nuit d'hiver"], "dragons nuit weis")
        self.assertEqual(self.find("dragons tarkovsky"), [])

    def test_titles_come_first(self):
        self.ann.book(self.library, "Weis, a life")
        self.wait_until(lambda: len(self.find("weis")) == 3)
        self.assertEqual(self.find("weis")[0], "Weis, a life")

    def test_what_changes_is_found_as_it_is(self):
        self.eventually(["Effondrement"], "effondrement")
        self.ann.done("PATCH", self.autumn, {"Title": "Dragons of Autumn Twilight"})
        self.eventually(["Dragons of Autumn Twilight"], "twilight")
        self.assertEqual(self.find("crepuscule"), [])
        self.ann.done("PATCH", f"{self.library}/collections/{self.dragons}", {"Name": "Krynn"})
        self.wait_until(lambda: len(self.find("krynn")) == 2 and self.find("dragonlance") == [])
        self.ann.done("DELETE", self.autumn)
        self.eventually([], "twilight")
        self.ann.done("DELETE", self.library)
        self.eventually([], "stalker")

    def test_answers_have_whole_items_page_by_page(self):
        self.wait_until(lambda: len(self.find("dragons")) == 2)
        found = self.ann.done("GET", "/search?q=automne")["items"][0]
        self.assertEqual(found, self.ann.done("GET", self.autumn))
        self.assertEqual(self.find("d", limit=1), self.find("d"))
        self.assertEqual(len(self.find("d")), 3)
        token = self.ann.done("GET", "/search?q=d&limit=1")["nextToken"]
        self.expect(self.ann("GET", f"/search?q=e&limit=1&nextToken={token}"), 400)
        self.expect(self.bob("GET", f"/search?q=d&limit=1&nextToken={token}"), 400)

    def test_questions_are_checked(self):
        for path in ("/search", "/search?q=", "/search?q=x&limit=0", "/search?q=x&limit=101", "/search?q=x&z=1", "/search?q=" + 201 * "x"):
            self.expect(self.ann("GET", path), 400)
        self.assertEqual(self.find("- ' …"), [])

    def test_up_to_sixteen_words_are_looked_for_and_more_are_refused(self):
        words = [f"w{n}" for n in range(17)]
        self.ann.book(self.ann.library("Words"), " ".join(words[:16]))
        self.eventually([" ".join(words[:16])], " ".join(words[:16]))
        answer = self.expect(self.ann("GET", f"/search?q={urllib.parse.quote(' '.join(words))}"), 400, "Invalid")
        self.assertEqual(answer.problems(), {"q": "must have at most 16 words"})

    def test_typos_are_counted_in_letters(self):
        self.ann.book(self.ann.library("Books"), "Война и мир")
        self.eventually(["Война и мир"], "войма")
        self.assertEqual(self.find("воцма"), [])

    def test_words_are_found_however_they_are_joined_and_numbers_only_as_they_are(self):
        library = self.ann.library("Films")
        for title, people in (("Pulp Fiction", ["Quentin Tarantino"]), ("Catch-22", ["Mike Nichols"]), ("1984", ["Michael Radford"]), ("The Matrix", []),
                              ("千と千尋の神隠し", ["宮崎駿"])):  # fmt: skip
            self.ann.video(library, title, Directors=people)
        self.ann.book(library, "The Casual Vacancy", Authors=["J. K. Rowling"])
        self.eventually(["Pulp Fiction"], "pulpfiction")
        for text, title in (("catch22", "Catch-22"), ("jk rowling", "The Casual Vacancy"), ("神隠し", "千と千尋の神隠し"), ("teh matrix", "The Matrix")):
            self.assertEqual(self.find(text), [title], text)
        self.assertEqual(self.find("1948"), [])

    def test_shared_libraries_are_searched_as_long_as_they_are_shared(self):
        bob = self.joined("bob")
        self.ann.book(self.ann.library("Secret"), "Dragons of my own")
        self.assertEqual(self.find("dragons", bob), [])
        self.ann.done("POST", f"{self.library}/share", {"email": self.address("bob")})
        bob.book(bob.library(), "Dragons of Bob")
        self.wait_until(lambda: len(self.find("dragons", bob)) == 3)
        self.assertNotIn("Dragons of my own", self.find("dragons", bob))
        self.assertEqual(self.find("dragons", bob, limit=1), self.find("dragons", bob))
        self.assertEqual(len(self.find("dragons")), 3)
        self.ann.done("POST", f"{self.library}/unshare", {"email": self.address("bob")})
        self.assertEqual(self.find("dragons", bob), ["Dragons of Bob"])


class AtOnce(Rest):
    """With the database in the same process, a write that was answered is found."""

    def test_what_was_written_is_found_at_once(self):
        library = self.ann.library()
        self.assertEqual(self.ann.items("/search?q=word"), [])
        for n in range(50):
            book = self.ann.book(library, f"word{n}")
            self.assertEqual([one["Title"] for one in self.ann.items(f"/search?q=word{n}")][0], f"word{n}")
            if n % 2:
                self.ann.done("DELETE", book)
        self.assertEqual(len(self.ann.items("/search?q=word")), 25)
