"""CSV: a library to and from a file."""

import csv
import io
import unittest

import server as stator
from media import Rest, unknown

HEADER = "Type,Title,Authors,Isbn,Directors,Cast,ReleaseYear,Duration,TmdbId,Collection,Order,PictureUrl,Summary"


class Transfer(Rest):
    def setUp(self):
        super().setUp()
        self.library = self.ann.library()

    def send(self, text, library=None, **headers):
        return self.ann("POST", f"{library or self.library}/import", text.encode(), **{"Content_Type": "text/csv", **headers})

    def load(self, text, library=None):
        return self.expect(self.send(text, library), 200).json

    def export(self, library=None):
        answer = self.expect(self.ann("GET", f"{library or self.library}/export"), 200)
        self.assertEqual(answer.headers["Content-Type"], "text/csv; charset=utf-8")
        self.assertIsNone(answer.headers["Next-Token"])
        return answer.body.decode()

    def test_lines_become_books_and_videos(self):
        report = self.load("Type,Title,Authors,Isbn,Directors,ReleaseYear\n"
                           'BOOK,"Dune, first",Frank Herbert,978-0-441-17271-9,,\n'
                           ",Good Omens,Terry Pratchett; Neil Gaiman,,,\n"
                           "VIDEO,Stalker,,,Andrei Tarkovsky,1979\n")  # fmt: skip
        self.assertEqual({**report, "ImportId": ""}, {"ImportId": "", "state": "DONE", "rows": 3, "done": 3, "created": 3, "complete": True,
                                                      "duplicates": [], "errors": []})  # fmt: skip
        dune, omens, stalker = self.ann.items(f"{self.library}/items")
        self.assertEqual((dune["Title"], dune["Isbn"], dune["EntityType"]), ("Dune, first", "9780441172719", "BOOK"))
        self.assertEqual(omens["Authors"], ["Terry Pratchett", "Neil Gaiman"])
        self.assertEqual((stalker["EntityType"], stalker["ReleaseYear"], stalker["Directors"]), ("VIDEO", 1979, ["Andrei Tarkovsky"]))
        self.assertEqual(self.ann("GET", self.library).json["TotalItems"], 3)

    def test_collections_are_found_by_name_or_made(self):
        known = self.ann.collection(self.library, "Dragonlance")
        self.load("Title,Collection,Order\nA,DRAGONLANCE,3\nB,Dragonlance,\nC,Ambre,\n")
        named = {one["Name"]: one for one in self.ann.items(f"{self.library}/items")}
        self.assertEqual(named["Dragonlance"]["CollectionId"], known)
        self.assertEqual([(one["Order"], one["Title"]) for one in named["Dragonlance"]["items"]], [(3, "A"), (4, "B")])
        self.assertEqual([(one["Order"], one["Title"]) for one in named["Ambre"]["items"]], [(1, "C")])

    def test_an_isbn_that_is_there_already_is_not_added_again(self):
        book = self.ann.book(self.library, Isbn="0-306-40615-2")
        report = self.load("Title,Isbn\nsame,978-0-306-40615-7\nnew,9780441172719\nagain,0441172717\nwithout,\nwithout,\n")
        self.assertEqual((report["rows"], report["created"], report["errors"]), (5, 3, []))
        self.assertEqual([one["line"] for one in report["duplicates"]], [2, 4])
        self.assertEqual(report["duplicates"][0], {"line": 2, "Isbn": "9780306406157", "ItemId": book.rsplit("/", 1)[1]})
        self.assertEqual(self.load("Title,Isbn\nsame,9780306406157\n", self.ann.library("Other"))["created"], 1)

    def test_a_line_that_is_wrong_is_reported_and_the_others_are_added(self):
        report = self.load("Type,Title,Isbn,ReleaseYear,Order,Collection\n"
                           "BOOK,good 1,,,,\n"
                           "BOOK,,123,,,\n"  # no title, no ISBN
                           "CD,x,,,,\n"
                           "VIDEO,x,,MCMLXXIX,,\n"
                           "VIDEO,x,,1799,,New\n"
                           "BOOK,x,,,5,\n"  # an order without a collection
                           'BOOK,"x"y,,,,\n'
                           "BOOK,x,,,,,,too,many\n"
                           'BOOK,"two\nlines",,,,\n'  # a title is one line
                           "VIDEO,x,9780441172719,,,\n"
                           f"BOOK,x,,,,{'c' * 101}\n"
                           "BOOK,good 2,,,,\n")  # fmt: skip
        self.assertEqual((report["rows"], report["created"], report["complete"]), (12, 2, True))
        wrong = {one["line"]: sorted(detail["attribute"] for detail in one["details"]) for one in report["errors"]}
        self.assertEqual(wrong, {3: ["Isbn", "Title"], 4: ["Type"], 5: ["ReleaseYear"], 6: ["ReleaseYear"], 7: ["Order"], 8: [], 9: [""], 10: ["Title"], 12: ["Isbn"],
                                 13: ["Collection"]})  # fmt: skip
        self.assertEqual({one["Title"] for one in self.ann.items("/items")}, {"good 1", "good 2"})
        self.assertEqual(self.ann.items(f"{self.library}/collections"), [])

    def test_a_line_that_is_refused_leaves_no_collection(self):
        full = self.ann.collection(self.library, "Full")
        self.ann.book(self.library, CollectionId=full, Order=1000)
        report = self.load(f"Title,Collection,Order\nx,FULL,\nx,New,1001\nx,{'c' * 101},\n{'t' * 101},Other,1\n")
        self.assertEqual((report["created"], [one["line"] for one in report["errors"]]), (0, [2, 3, 4, 5]))
        self.assertEqual([one["Name"] for one in self.ann.items(f"{self.library}/collections")], ["Full"])

    def test_a_file_that_is_not_utf_8_is_refused_as_a_whole(self):
        answer = self.ann("POST", f"{self.library}/import", b"Title,Collection\ngood,New\nbad \xff,Other\n", Content_Type="text/csv")
        self.expect(answer, 400, "InvalidText")
        self.assertEqual((self.ann.items(f"{self.library}/items"), self.ann.items(f"{self.library}/collections")), ([], []))

    def test_the_first_line_must_name_the_columns(self):
        for text in ("", "\n\n", "Authors\nx\n", "Title,Title\nx,y\n", "Title,Colour\nx,y\n", "Title,LentTo\nx,y\n", '"Title\nx\n'):
            self.expect(self.send(text), 400, "Invalid")
        self.assertEqual(set(self.send("Colour,Isbn,Isbn\n").problems()), {"Colour", "Isbn", "Title"})
        self.expect(self.send("Title\nx\n", Content_Type="application/json"), 415)
        self.expect(self.send("Title\n" + "x\n" * 5001), 400, "Invalid")
        self.assertEqual(self.ann("GET", self.library).json["TotalItems"], 0)

    def test_what_is_exported_can_be_imported(self):
        foo = self.ann.collection(self.library, "Foo, \"the\" bar")
        self.ann.book(self.library, "=1+1", Authors=["Me; and \\ you", "You"], Isbn="9780441172719", CollectionId=foo, Order=7, Summary="two\r\nlines")
        self.ann.book(self.library, "'=quoted", PictureUrl="https://example.org/x.jpg")
        self.ann.video(self.library, "Été, 2001", Directors=["D"], Cast=["A", "B"], ReleaseYear=2001, Duration=90, TmdbId="7")
        text = self.export()
        self.assertEqual(text.splitlines()[0], HEADER)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual([row["Title"] for row in rows], ["''=quoted", "Été, 2001", "'=1+1"])
        self.assertEqual(rows[2]["Authors"], "Me\\; and \\\\ you; You")
        copy = self.ann.library("Copy")
        self.assertEqual(self.load(text, copy)["created"], 3)
        self.assertEqual(self.export(copy), text)
        self.assertEqual(self.load("\ufeff" + text, copy)["duplicates"][0]["Isbn"], "9780441172719")

    def test_semicolons_and_tabs_separate_too_and_case_makes_no_difference(self):
        report = self.load('type;TITLE;authors;release year\nbook;"Dune; first";"Frank Herbert; Somebody";\nVideo;Stalker;;1979\n')
        self.assertEqual((report["created"], report["errors"]), (2, []))
        dune, stalker = self.ann.items(f"{self.library}/items")
        self.assertEqual((dune["Title"], dune["Authors"]), ("Dune; first", ["Frank Herbert", "Somebody"]))
        self.assertEqual((stalker["EntityType"], stalker["ReleaseYear"]), ("VIDEO", 1979))
        self.assertEqual(self.load("sep=;\ntitle;isbn\nAnother;9780441172719\n")["created"], 1)
        self.assertEqual(self.load("title\tauthors\nWith tabs\tA, B; C\n")["created"], 1)
        declared = self.expect(self.ann("POST", f"{self.library}/import?separator=comma", b"title\na;b;c\n", Content_Type="text/csv"), 200).json
        self.assertEqual((declared["created"], "a;b;c" in [one.get("Title") for one in self.ann.items("/items")]), (1, True))
        self.expect(self.ann("POST", f"{self.library}/import?separator=dash", b"title\na\n", Content_Type="text/csv"), 400)

    def test_the_reasons_of_refused_lines_are_right(self):
        report = self.load("Type;Title;Isbn;Duration;Collection;Order\n"
                           "CD;x;;137;;\n"  # whatever a CD may have
                           "BOOK;x;;137;;\n"
                           'BOOK;"x"y;;;;\n'
                           "VIDEO;x;;long;;\n"
                           "BOOK;;;;;\n"
                           f"BOOK;x;;;{chr(0x1D160) * 99};\n")  # fmt: skip
        told = {one["line"]: {detail["attribute"]: detail["problem"] for detail in one["details"]} for one in report["errors"]}
        self.assertEqual(told[2], {"Type": "must be BOOK or VIDEO"})
        self.assertEqual(told[3], {"Duration": "is not for a BOOK"})
        self.assertEqual(report["errors"][2]["message"], "the line has something other than a semicolon behind a closing quote")
        self.assertEqual(told[5], {"Duration": "must be a number"})
        self.assertEqual(told[6], {"Title": "is required"})
        self.assertEqual(set(told[7]), {"Collection"})

    def test_an_import_is_told_with_its_progress_to_its_owner(self):
        report = self.load("Title,Isbn\na,9780441172719\nb,0441172717\n,\n")
        job = f"{self.library}/imports/{report['ImportId']}"
        self.assertEqual(self.expect(self.ann("GET", job), 200).json, report)
        self.assertEqual([one["line"] for one in report["duplicates"]], [3])
        self.assertEqual([one["line"] for one in report["errors"]], [4])
        listed = self.ann.items(f"{self.library}/imports")
        self.assertEqual([(one["ImportId"], one["Done"], one["Errors"]) for one in listed], [(report["ImportId"], 3, 1)])
        bob = self.joined("bob")
        self.ann.done("POST", f"{self.library}/share", {"email": self.address("bob")})
        self.expect(bob("GET", job), 403)
        self.expect(bob("GET", f"{self.library}/imports"), 403)
        self.expect(self.ann("GET", f"{self.library}/imports/{unknown()}"), 404)

    def test_the_errors_that_are_told_are_bounded(self):
        report = self.load("Title,Order\n" + "x,y\n" * 130 + "good,\n")
        self.assertEqual((len(report["errors"]), report["moreErrors"], report["created"], report["done"]), (100, 30, 1, 131))
        self.assertEqual(self.ann("GET", f"{self.library}/imports/{report['ImportId']}").json, report)

    def test_a_key_imports_a_file_once(self):
        text = "Title,Isbn\na,9780441172719\nb,\n,\n"
        first = self.expect(self.send(text, Idempotency_Key="k"), 200)
        again = self.expect(self.send(text, Idempotency_Key="k"), 200)
        self.assertEqual((again.json, again.headers["Idempotency-Replayed"]), (first.json, "true"))
        self.assertEqual(self.ann("GET", self.library).json["TotalItems"], 2)
        self.expect(self.send(text + "c,\n", Idempotency_Key="k"), 409, "IdempotencyKeyReused")
        other = self.ann.library("Other")
        self.assertEqual(self.expect(self.send(text, other, Idempotency_Key="k"), 200).json["created"], 2)
        self.expect(self.send(text, Idempotency_Key="k k"), 400, "InvalidIdempotencyKey")
        self.assertEqual(self.load(text)["created"], 1)  # without a key it is another import
        continued = self.ann("POST", f"{self.library}/import?continue={first.json['ImportId']}", text.encode(), Content_Type="text/csv")
        self.assertEqual(self.expect(continued, 200).json, first.json)
        self.expect(self.ann("POST", f"{self.library}/import?continue={unknown()}", text.encode(), Content_Type="text/csv"), 404)

    def test_an_export_has_pages(self):
        for n in range(5):
            self.ann.book(self.library, f"t{n}")
        lines, token = [], ""
        while token is not None:
            answer = self.expect(self.ann("GET", f"{self.library}/export?limit=2" + (f"&nextToken={token}" if token else "")), 200)
            lines += answer.body.decode().splitlines()[1:]
            token = answer.headers["Next-Token"]
        self.assertEqual([line.split(",")[1] for line in lines], [f"t{n}" for n in range(5)])
        self.expect(self.ann("GET", f"{self.library}/export?limit=10001"), 400)
        self.expect(self.ann("GET", f"{self.library}/export?nextToken=x"), 400)


class CutOff(Rest):
    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_an_import_that_is_cut_off_continues_and_adds_every_row_once(self):
        libraries = [self.ann.library(f"Library {n}") for n in range(2)]
        rows = [f"row {n}" for n in range(200)]
        # Some add nothing.
        text = "Title,Order,Collection\n" + "".join(f"{row},,Some\n" if n % 7 else f"{row},x,\n" for n, row in enumerate(rows))
        wrong = [n + 2 for n in range(len(rows)) if n % 7 == 0]

        def send(library):
            return self.ann("POST", f"{library}/import", text, Content_Type="text/csv", Idempotency_Key="mine")

        def work(client, enough):
            if client < len(libraries):
                send(libraries[client])
            else:
                self.wait_until(lambda: sum(self.ann("GET", library).json["TotalItems"] for library in libraries) >= 50)
                enough()

        self.kill_amid(work, clients=len(libraries) + 1)
        self.app.start()
        counts = [self.ann("GET", library).json["TotalItems"] for library in libraries]
        self.assertLess(sum(counts), len(libraries) * (len(rows) - len(wrong)), "it was not cut off")
        for library, count in zip(libraries, counts):
            for job in self.ann.items(f"{library}/imports"):
                self.assertEqual((job["Created"], job["Complete"]), (count, False))
                self.assertIn(self.ann("GET", f"{library}/imports/{job['ImportId']}").json["state"], ("RUNNING", "STOPPED"))
            report = self.expect(send(library), 200).json
            self.assertEqual((report["complete"], report["done"], report["created"]), (True, len(rows), len(rows) - len(wrong)))
            self.assertEqual([one["line"] for one in report["errors"]], wrong)
            some = next(one for one in self.ann.items(f"{library}/items?limit=100") if one["EntityType"] == "COLLECTION")
            listed = self.ann.items(f"{library}/collections/{some['CollectionId']}/items?limit=100")
            self.assertEqual([one["Title"] for one in listed], [row for n, row in enumerate(rows) if n % 7])

    @unittest.skipIf(stator.in_memory_only(), "what is in memory does not survive")
    def test_an_import_that_is_cut_off_leaves_no_collection_without_an_item(self):
        libraries = [self.ann.library(f"Library {n}") for n in range(8)]

        def work(client, enough):
            for turn in range(1000):
                lines = "".join(f"x,Collection {turn} {line}\n" for line in range(50))
                self.ann("POST", f"{libraries[client]}/import", f"Title,Collection\n{lines}", Content_Type="text/csv")
                if turn > 0:
                    enough()

        self.kill_amid(work)
        self.assertIn(" 0 findings", self.app.verify())
        self.app.start()
        for library in libraries:
            collections = self.ann.items(f"{library}/collections")
            self.assertGreater(len(collections), 0)
            self.assertEqual({one["ItemCount"] for one in collections}, {1})
