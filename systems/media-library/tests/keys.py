"""The rows in the table, beside the document's examples."""

import server as stator
from media import Rest, as_item, unknown


class Keys(Rest):
    """User text in a key is folded and escaped, so that it sorts as people expect and forges no separator: keys of user text are the
    document's in their order, all others to the letter."""

    @classmethod
    def setUpClass(cls):
        cls.server = stator.Server().start()
        cls.addClassCleanup(cls.server.__exit__, None)
        cls.arguments = ("--endpoint", cls.server.endpoint)
        cls.table = cls.server.connect()
        super().setUpClass()

    def row(self, **attributes):
        """The only row with these attributes; its values without their types."""
        def plain(value):
            return next(iter(value.values()))

        rows = [{name: plain(value) for name, value in row.items()} for row in self.table.items("Scan", TableName="MediaLibrary", ConsistentRead=True)]
        found = [row for row in rows if attributes.items() <= row.items()]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def keys(self, **attributes):
        return {name: value for name, value in self.row(**attributes).items() if name in ("PK", "SK") or name.startswith("GSI")}

    def test_every_entity_has_the_documents_keys(self):
        self.ann, bob = self.joined("ann"), self.joined("bob")
        me, him = f"ann-{self.name}", f"bob-{self.name}"
        library = self.ann.library("Maison")
        collection = self.ann.collection(library, "Foo")
        book = self.ann.book(library, "Title", CollectionId=collection, Order=12)
        video = self.ann.video(library, "Alone")
        self.ann.done("POST", f"{library}/share", {"email": self.address("bob")})
        L, B, V = library.split("/")[2], book.split("/")[4], video.split("/")[4]
        self.assertEqual(self.keys(EntityType="LIBRARY", LibraryId=L),
                         {"PK": f"owner#{me}", "SK": f"library#{L}", "GSI1PK": f"owner#{me}", "GSI1SK": "library#maison"})  # fmt: skip
        self.assertEqual(self.keys(EntityType="COLLECTION", CollectionId=collection),
                         {"PK": f"owner#{me}", "SK": f"library#{L}#collection#{collection}", "GSI1PK": f"owner#{me}#library#{L}",
                          "GSI1SK": "item#foo"})  # fmt: skip
        self.assertEqual(self.keys(EntityType="BOOK", ItemId=B),
                         {"PK": f"owner#{me}", "SK": f"library#{L}#item#{B}", "GSI1PK": f"owner#{me}#library#{L}",
                          "GSI1SK": "item#foo#00012#title", "GSI2PK": f"owner#{me}", "GSI2SK": "item#title",
                          "GSI4PK": f"owner#{me}#library#{L}#collection#{collection}", "GSI4SK": "00012#title"})  # fmt: skip
        self.assertEqual(self.keys(EntityType="VIDEO", ItemId=V),
                         {"PK": f"owner#{me}", "SK": f"library#{L}#item#{V}", "GSI1PK": f"owner#{me}#library#{L}", "GSI1SK": "item#alone",
                          "GSI2PK": f"owner#{me}", "GSI2SK": "item#alone"})  # fmt: skip
        self.assertEqual(self.keys(EntityType="SHARED_LIBRARY", LibraryId=L),
                         {"PK": f"owner#{him}", "SK": f"shared-library#{L}", "GSI1PK": f"owner#{him}", "GSI1SK": "library#maison",
                          "GSI2PK": f"shared#{me}#library#{L}", "GSI2SK": f"to#{him}"})  # fmt: skip
        event = self.ann.done("POST", f"{as_item(book)}/lend", {"borrower": "Eve", "due": "2027-01-31"})
        at = f"event#{event['UpdatedAt']}#{event['EventId']}"
        self.assertEqual(self.keys(EntityType="EVENT", ItemId=B),
                         {"PK": f"owner#{me}", "SK": f"library#{L}#item#{B}#{at}", "GSI1PK": f"owner#{me}#library#{L}#item#{B}",
                          "GSI1SK": at})  # fmt: skip
        lent = self.keys(EntityType="BOOK", ItemId=B)
        self.assertEqual((lent["GSI3PK"], lent["GSI3SK"]), (f"lent#{me}", f"due#2027-01-31#{B}"))
        self.ann.done("POST", f"{as_item(book)}/return", {})
        self.assertNotIn("GSI3PK", self.keys(EntityType="BOOK", ItemId=B))
        self.assertEqual(bob.items("/libraries")[0]["LibraryId"], L)

    def test_attributes_are_the_documents(self):
        library = self.ann.library("Maison")
        book = self.ann.book(library, "Crépuscule", Authors=["Weis"])
        row = self.row(EntityType="BOOK", ItemId=book.split("/")[4])
        self.assertEqual((row["Title"], row["Type"], row["LibraryName"], row["GSI1SK"]), ("Crépuscule", "0", "Maison", "item#crepuscule"))
        self.assertEqual(row["Authors"], [{"S": "Weis"}])
        for absent in ("CollectionId", "CollectionName", "Order", "LentTo"):
            self.assertNotIn(absent, row)

    def test_the_examples_come_in_the_documents_order(self):
        library = self.ann.library()
        examples = ["Angelo", ("Chroniques de Dragonlance", {1: "Dragons d'un crépuscule d'automne", 2: "Dragons d'une nuit d'hiver"}),
                    ("Cycle des princes d'Ambre", {1: "Les 9 princes d'ambre", 10: "Prince du Chaos"}), "Effondrement"]  # fmt: skip
        expected = []
        for example in reversed(examples):
            if isinstance(example, str):
                self.ann.book(library, example)
                expected.insert(0, example)
                continue
            name, members = example
            collection = self.ann.collection(library, name)
            for order in sorted(members, reverse=True):
                self.ann.book(library, members[order], CollectionId=collection, Order=order)
            expected = [name, *(members[order] for order in sorted(members)), *expected]
        rows = self.table.items("Query", TableName="MediaLibrary", IndexName="GSI1", KeyConditionExpression="GSI1PK = :p",
                                ExpressionAttributeValues={":p": {"S": f"owner#ann-{self.name}#library#{library.split('/')[2]}"}})  # fmt: skip
        self.assertEqual([(row.get("Title") or row["Name"])["S"] for row in rows], expected)

    def test_text_forges_no_separator(self):
        library = self.ann.library()
        book = self.ann.book(library, "Foo#00001#X")
        self.assertEqual(self.row(EntityType="BOOK", ItemId=book.split("/")[4])["GSI1SK"], "item#foo%2300001%23x")

    def test_a_library_that_goes_leaves_no_row(self):
        library = self.ann.library()
        collection = self.ann.collection(library)
        for n in range(3):
            item = as_item(self.ann.book(library, f"b{n}", CollectionId=collection))
            self.ann.done("POST", f"{item}/lend", {"borrower": "Eve"})
        self.joined("bob")
        self.ann.done("POST", f"{library}/share", {"email": self.address("bob")})
        self.ann.done("DELETE", library)
        name = library.split("/")[2]

        def left():
            rows = self.table.items("Scan", TableName="MediaLibrary", ConsistentRead=True)
            return [row for row in rows if any(name in str(value) for value in row.values())]

        self.wait_until(lambda: left() == [])

    def test_an_import_keeps_others_away_for_a_while_and_not_for_good(self):
        library = self.ann.library()
        key = {"PK": {"S": f"owner#ann-{self.name}"}, "SK": {"S": library[1:].replace("libraries/", "library#")}}

        def under_way_until(moment):
            self.table.ok("UpdateItem", TableName="MediaLibrary", Key=key, UpdateExpression="SET ImportId = :i, ImportUntil = :u",
                          ExpressionAttributeValues={":i": {"S": unknown()}, ":u": {"S": moment}})  # fmt: skip

        def load():
            return self.ann("POST", f"{library}/import", "Title\nx\n", Content_Type="text/csv")

        version = self.ann("GET", library).headers["ETag"]
        under_way_until("2999-01-01T00:00:00.000Z")
        self.expect(load(), 409, "ImportRunning")
        under_way_until("2020-01-01T00:00:00.000Z")  # whoever did that has died
        self.expect(load(), 200)
        row = self.row(EntityType="LIBRARY", LibraryId=library.split("/")[2])
        self.assertEqual([name for name in row if name.startswith("Import")], [])
        self.assertEqual(self.ann("GET", library).headers["ETag"], version)
