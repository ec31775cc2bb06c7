"""Copies of long lists take several transactions: nobody meets half of one, and one that is cut off goes away by itself."""

import re
import time
import unittest

import dynamo
import rest
import watch_rest

TABLE = "WorthWatch"
ITEMS = 1000


class CutOff(watch_rest.WatchRest):
    command = "up"

    def setUp(self):
        super().setUp()
        self.connect()
        self.original = self.list_of(self.ann)
        movie, at = self.movie(), "2026-01-15T10:00:00.000Z"
        # As rows that the service would have written: the subject is how they are copied.
        key = {"PK": {"S": f"WATCHLIST#{self.original}"}, "SK": {"S": "METADATA"}}
        self.add(self.ann, self.original, movie)
        (item,) = [row for row in self.rows_of(self.original) if row["SK"]["S"].startswith("ITEM#")]
        title = self.database.ok("GetItem", TableName=TABLE, Key={"PK": {"S": f"MOVIE#{movie}"}, "SK": {"S": "METADATA"}})["Item"]
        rows = []
        for i in range(1, ITEMS):
            name, position = f"m{i:06}{movie}", f"{(i + 1) * 1000000:015}"
            rows.append(title | {"PK": {"S": f"MOVIE#{name}"}, "movieId": {"S": name}, "createdAt": {"S": at}})
            rows.append(item | {"SK": {"S": f"ITEM#MOVIE#{name}"}, "contentId": {"S": name}, "position": {"N": str(int(position))},
                                "positionSK": {"S": f"{position}#MOVIE#{name}"}})  # fmt: skip
        for begin in range(0, len(rows), 25):
            self.database.ok("BatchWriteItem", RequestItems={TABLE: [{"PutRequest": {"Item": row}} for row in rows[begin : begin + 25]]})
        self.database.ok("UpdateItem", TableName=TABLE, Key=key, UpdateExpression="SET itemCount = :n", ExpressionAttributeValues={":n": {"N": str(ITEMS)}})

    def connect(self):
        self.database = dynamo.Connection(re.search(r"API +(http://\S+)", self.app.welcome)[1])
        self.addCleanup(self.database.close)

    def rows_of(self, listed):
        return self.database.items("Query", TableName=TABLE, KeyConditionExpression="PK = :pk",
                                   ExpressionAttributeValues={":pk": {"S": f"WATCHLIST#{listed}"}})  # fmt: skip

    def copies(self):
        """The rows of lists that are copies of the original, and whether each has all items."""
        rows = self.database.items("Scan", TableName=TABLE, FilterExpression="clonedFrom = :original",
                                   ExpressionAttributeValues={":original": {"S": self.original}})  # fmt: skip
        return [(row, len(self.rows_of(row["watchlistId"]["S"])) == ITEMS + 1) for row in rows]

    def listed(self):
        """All lists of bob's that anybody can come across."""
        lists = self.all_pages(self.bob, "/me/watchlists") + self.all_pages(self.nobody, f"/users/{self.ids[self.bob]}/watchlists")
        return lists + [one for one in self.all_pages(self.nobody, "/watchlists") if one["curatorId"] == self.ids[self.bob]]

    @unittest.skipIf(rest.stator.in_memory_only(), "what is in memory does not survive")
    def test_of_a_copy_that_is_cut_off_nothing_stays(self):
        def clone(client, enough):
            if client > 0:
                self.bob("POST", f"/watchlists/{self.original}/clone", {"isPublic": True})
            self.wait_until(self.copies)
            enough()

        self.kill_amid(clone)
        self.app.start()
        self.connect()
        cut_off = [row for row, whole in self.copies() if not whole]
        self.assertGreater(len(cut_off), 0)
        self.assertLessEqual({one["itemCount"] for one in self.listed()}, {ITEMS})
        for row in cut_off:
            self.assertLess(int(row["expiresAt"]["N"]), time.time() + 3700)
            key = {name: row[name] for name in ("PK", "SK")}
            self.database.ok("UpdateItem", TableName=TABLE, Key=key, UpdateExpression="SET expiresAt = :past",
                             ExpressionAttributeValues={":past": {"N": str(int(time.time()) - 5)}})  # fmt: skip
        self.wait_until(lambda: not any(self.rows_of(row["watchlistId"]["S"]) for row in cut_off))

    def test_a_whole_copy_is_there_to_stay(self):
        copy = self.expect(self.bob("POST", f"/watchlists/{self.original}/clone", {"isPublic": True}), 201).json
        self.assertEqual((copy["itemCount"], copy["isPublic"]), (ITEMS, True))
        self.assertEqual(copy["version"], 1)
        self.assertNotIn("unfinishedUntil", copy)
        self.assertEqual([one["watchlistId"] for one in self.all_pages(self.bob, "/me/watchlists")], [copy["watchlistId"]])
        self.assertIn(copy["watchlistId"], [one["watchlistId"] for one in self.all_pages(self.nobody, "/watchlists")])
        (row,) = [row for row in self.rows_of(copy["watchlistId"]) if row["SK"]["S"] == "METADATA"]
        self.assertNotIn("expiresAt", row)
