"""The profile, the yearly goal, and what reading adds up to."""

import datetime
import itertools

from bookshelf import TABLE, Shelf, ShelfAndTable

NUMBERS = itertools.count()


class Profile(Shelf):
    def test_a_profile_is_put_read_and_changed(self):
        self.expect(self.ann("GET", "/profile"), 404)
        self.expect(self.ann("PUT", "/profile", {"displayName": "Ann", "yearlyGoal": 24}), 201)
        self.expect(self.ann("PUT", "/profile", {"yearlyGoal": 30}), 200)
        self.assertEqual(self.expect(self.ann("PATCH", "/profile", {"displayName": "Anna"}), 200).json["displayName"], "Anna")
        self.assertEqual(self.expect(self.ann("GET", "/profile"), 200).json["yearlyGoal"], 30)
        self.expect(self.bob("GET", "/profile"), 404)

    def test_a_profile_has_limits(self):
        for body in ({"yearlyGoal": -1}, {"yearlyGoal": 1.5}, {"yearlyGoal": 10001}, {"displayName": "é" * 101}, {"userId": "x"}):
            with self.subTest(body=body):
                self.expect(self.ann("PUT", "/profile", body), 400)


class Statistics(ShelfAndTable):
    def setUp(self):
        super().setUp()
        self.today = datetime.datetime.now(datetime.timezone.utc).date()
        self.subject = f"ann-{self.name}"

    def day(self, ago):
        return str(self.today - datetime.timedelta(days=ago))

    def read_ago(self, book, ago, from_page, page):
        """An event of an earlier day, as the service would have written it then."""
        at, id = f"{self.day(ago)}T10:00:00.000Z", f"{next(NUMBERS):026}"
        row = {"pk": f"USER#{self.subject}", "sk": f"EVENT#{book['id']}#{at}#{id}", "gsi3pk": f"USER#{self.subject}#EVENTS",
               "gsi3sk": f"{at}#{id}", "entityType": "EVENT", "userId": self.subject, "bookId": book["id"], "id": id, "occurredAt": at}  # fmt: skip
        item = {name: {"S": text} for name, text in row.items()} | {"page": {"N": str(page)}, "fromPage": {"N": str(from_page)}}
        self.database.ok("PutItem", TableName=TABLE, Item=item)

    def statistics(self, query=""):
        return self.expect(self.ann("GET", f"/statistics{query}"), 200).json

    def test_who_has_read_nothing_has_read_nothing(self):
        nothing = self.statistics()
        self.assertEqual((nothing["pages"], nothing["pagesPerDay"], nothing["currentStreak"], nothing["longestStreak"]), (0, [], 0, 0))
        self.assertEqual(nothing["finishedPerYear"], [])
        self.assertNotIn("goal", nothing)
        self.assertEqual((nothing["from"], nothing["to"]), (self.day(364), self.day(0)))

    def test_pages_are_counted_per_day_over_all_books(self):
        one, other = self.ann.book("One"), self.ann.book("Other", currentPage=100)
        self.read_ago(one, 3, 0, 20)
        self.read_ago(other, 3, 100, 110)
        self.read_ago(one, 1, 20, 15)
        self.read_ago(one, 1, 15, 25)
        self.read_ago(one, 400, 0, 500)
        self.ann.read(other, 130)
        per_day = {entry["day"]: entry["pages"] for entry in self.statistics()["pagesPerDay"]}
        self.assertEqual(per_day, {self.day(3): 30, self.day(1): 10, self.day(0): 30})
        self.assertEqual(self.statistics(f"?from={self.day(400)}&to={self.day(3)}")["pages"], 530, "both days are part of the range")

    def test_streaks_end_today_or_yesterday_and_begin_before_any_range(self):
        book = self.ann.book()
        for ago in range(1, 9):
            self.read_ago(book, ago, 0, 5)
        for ago in range(20, 31):
            self.read_ago(book, ago, 0, 5)
        statistics = self.statistics()
        self.assertEqual((statistics["currentStreak"], statistics["longestStreak"]), (8, 11))
        self.assertEqual(self.statistics(f"?from={self.day(2)}")["currentStreak"], 8)

    def test_more_events_than_a_page_of_the_store_are_all_counted(self):
        book = self.ann.book()
        for page in range(1, 1203):
            self.read_ago(book, page % 300, page - 1, page)
        self.assertEqual(self.statistics()["pages"], 1202)

    def test_finished_books_count_towards_the_goal(self):
        self.expect(self.ann("PUT", "/profile", {"yearlyGoal": 4}), 201)
        for title in ("One", "Two", "Three"):
            self.ann.book(title, status="READ")
        self.ann.book("Four", status="DNF")
        statistics = self.statistics()
        self.assertEqual(statistics["finishedPerYear"], [{"year": self.today.year, "books": 3}])
        self.assertEqual(statistics["goal"], {"year": self.today.year, "books": 4, "finished": 3, "remaining": 1, "percent": 75})

    def test_ranges_that_make_no_sense_are_refused(self):
        for query in ("from=2026-02-01&to=2026-01-01", "from=1990-01-01", "from=x", "to=2026-02-30", "days=3"):
            with self.subTest(query=query):
                self.expect(self.ann("GET", f"/statistics?{query}"), 400)
        self.expect(self.nobody("GET", "/statistics"), 401)

    def test_the_reading_of_others_is_theirs(self):
        self.ann.read(self.ann.book(), 50)
        self.assertEqual(self.expect(self.bob("GET", "/statistics"), 200).json["pages"], 0)
