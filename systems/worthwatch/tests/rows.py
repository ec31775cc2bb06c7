"""The rows in the table: the keys of the design document, and nothing left half-done by a crash."""

import dynamo
import rest
import waiting
import watch_rest


class Rows(rest.AtStator, watch_rest.WatchRest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = dynamo.Connection(cls.arguments[-1])

    def row(self, partition, sort):
        return self.database.ok("GetItem", TableName="WorthWatch", Key={"PK": {"S": partition}, "SK": {"S": sort}}).get("Item", {})

    def query(self, index, condition, **values):
        return self.database.items("Query", TableName="WorthWatch", IndexName=index, KeyConditionExpression=condition,
                                   ExpressionAttributeValues={f":{name}": {"S": value} for name, value in values.items()})  # fmt: skip

    def test_keys_are_the_documents(self):
        me, other = self.ids[self.ann], self.ids[self.bob]
        movie, show = self.movie(movieId="tt1375666"), self.show()
        listed = self.list_of(self.ann, movie)
        self.add(self.ann, listed, show, "SHOW")
        self.expect(self.bob("POST", "/me/saved", {"watchlistId": listed}), 201)
        self.expect(self.bob("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": 7.5}), 201)
        comment = self.expect(self.bob("POST", f"/watchlists/{listed}/comments", {"text": "!"}), 201).json
        for partition, sort, kind in (
            (f"USER#{me}", "PROFILE", "USER"), (f"WATCHLIST#{listed}", "METADATA", "WATCHLIST"),
            (f"WATCHLIST#{listed}", "ITEM#MOVIE#tt1375666", "WATCHLIST_ITEM"), (f"WATCHLIST#{listed}", f"ITEM#SHOW#{show}", "WATCHLIST_ITEM"),
            ("MOVIE#tt1375666", "METADATA", "MOVIE"), (f"SHOW#{show}", "METADATA", "SHOW"),
            (f"USER#{other}", f"SAVED#WATCHLIST#{listed}", "SAVED"), (f"USER#{other}", "RATING#MOVIE#tt1375666", "RATING"),
            (f"WATCHLIST#{listed}", f"COMMENT#{comment['postedAt']}#{other}#{comment['commentId']}", "COMMENT"),
        ):  # fmt: skip
            self.assertEqual(self.row(partition, sort).get("entityType"), {"S": kind}, (partition, sort))
        self.assertEqual(self.row(f"USER#{other}", "RATING#MOVIE#tt1375666")["rating"], {"N": "7.5"})

    def test_the_documents_indexes_answer_its_queries(self):
        me = self.ids[self.ann]
        public = self.list_of(self.ann)
        waiting.until_next_millisecond()  # the index sorts no finer
        private = self.list_of(self.ann, isPublic=False)
        self.assertEqual([row["userId"]["S"] for row in self.query("GSI1", "email = :e", e=self.email(me))], [me])
        self.assertEqual([row["watchlistId"]["S"] for row in self.query("GSI2", "curatorId = :c", c=me)], [public, private])
        shards = [row["watchlistId"]["S"] for shard in range(8) for row in self.query("GSI3", "isPublicStr = :p", p=f"true#{shard}")]
        self.assertIn(public, shards)
        self.assertNotIn("isPublicStr", self.row(f"WATCHLIST#{private}", "METADATA"))
        movie = self.movie()
        self.assertIn(movie, [row["movieId"]["S"] for row in self.query("GSI4", "entityType = :t", t="MOVIE")])


class Crash(watch_rest.WatchRest):
    def test_a_crash_leaves_nothing_that_does_not_fit(self):
        if rest.stator.in_memory_only():
            self.skipTest("nothing outlives the process in memory")
        movies = [self.movie() for _ in range(8)]
        lists = [self.list_of(self.ann) for _ in range(4)]

        def work(worker, enough):
            caller = (self.ann, self.bob)[worker % 2]
            for turn in range(10000):
                movie, listed = movies[(worker + turn) % 8], lists[turn % 4]
                self.ann("POST", f"/watchlists/{listed}/items", {"contentType": "MOVIE", "contentId": movie})
                caller("PUT", f"/me/ratings/MOVIE/{movie}", {"rating": 1 + turn % 9})
                caller("POST", f"/watchlists/{listed}/comments", {"text": "!"})
                self.ann("DELETE", f"/watchlists/{listed}/items/MOVIE/{movie}")
                self.bob("POST", f"/watchlists/{listed}/clone", {})
                if turn > 3:
                    enough()

        self.kill_amid(work)
        self.assertIn(" 0 findings", self.app.verify())
