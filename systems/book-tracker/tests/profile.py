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
        self.read_at(book, f"{self.day(ago)}T10:00:00.000Z", from_page, page)

    def read_at(self, book, at, from_page, page):
        id = f"{next(NUMBERS):026}"
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

    def test_a_streak_has_the_same_length_in_every_range_that_it_reaches_into(self):
        book = self.ann.book()
        for ago in (*range(1, 9), *range(20, 31)):
            self.read_ago(book, ago, 0, 5)
        streaks = lambda first, last=0: tuple(self.statistics(f"?from={self.day(first)}&to={self.day(last)}")[name] for name in ("currentStreak", "longestStreak"))
        self.assertEqual(streaks(2), (8, 8), "it began before the range")
        self.assertEqual(streaks(0), (8, 8), "today is not over")
        self.assertEqual(streaks(20), (8, 11))
        self.assertEqual(streaks(19), (8, 8))
        self.assertEqual(streaks(22, 21), (10, 10), "as it was on the last day of the range")
        self.assertEqual(streaks(40, 15), (0, 11))
        self.assertEqual(streaks(1, -3), (8, 8))
        self.assertEqual(streaks(-1, -3), (8, 8))

    def test_a_correction_counts_on_the_day_of_its_event(self):
        book = self.ann.book()
        for ago, from_page, page in ((5, 0, 10), (4, 10, 500), (3, 500, 520), (2, 520, 530)):
            self.read_ago(book, ago, from_page, page)
        typo = next(event for event in self.ann.items(f"/books/{book['id']}/events") if event["page"] == 500)
        correct = lambda page: self.expect(self.ann("POST", f"/books/{book['id']}/corrections",
                                                    {"corrects": typo["id"], "occurredAt": typo["occurredAt"], "page": page}), 201)  # fmt: skip
        correct(510)
        per_day = lambda query="": [(entry["day"], entry["pages"]) for entry in self.statistics(query)["pagesPerDay"]]
        self.assertEqual(per_day(), [(self.day(5), 10), (self.day(4), 500), (self.day(3), 10), (self.day(2), 10)])
        correct(10)
        self.assertEqual(per_day(), [(self.day(5), 10), (self.day(3), 510), (self.day(2), 10)])
        self.assertEqual(per_day(f"?from={self.day(4)}&to={self.day(4)}"), [])
        self.assertEqual(self.statistics()["longestStreak"], 2)

    def test_more_events_than_a_page_of_the_store_are_all_counted(self):
        book = self.ann.book()
        for page in range(1, 1203):
            self.read_ago(book, page % 300, page - 1, page)
        self.assertEqual(self.statistics()["pages"], 1202)

    def test_days_are_those_of_utc_to_the_millisecond(self):
        book = self.ann.book()
        for page, at in enumerate(("2023-12-31T23:59:59.999Z", "2024-01-01T00:00:00.000Z", "2024-01-01T23:59:59.999Z", "2024-01-02T00:00:00.000Z")):
            self.read_at(book, at, page, page + 1)
        days = lambda query: [(entry["day"], entry["pages"]) for entry in self.statistics(query)["pagesPerDay"]]  # noqa: E731
        self.assertEqual(days("?from=2023-12-31&to=2024-01-02"), [("2023-12-31", 1), ("2024-01-01", 2), ("2024-01-02", 1)])
        self.assertEqual(days("?from=2024-01-01&to=2024-01-01"), [("2024-01-01", 2)])

    def test_leap_days_and_the_turn_of_the_year_do_not_end_a_streak(self):
        book = self.ann.book()
        for day in ("2023-02-28", "2023-03-01", "2023-12-30", "2023-12-31", "2024-01-01", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"):
            self.read_at(book, f"{day}T12:00:00.000Z", 0, 1)
        streak = lambda query: self.statistics(query)["longestStreak"]  # noqa: E731
        self.assertEqual(streak("?from=2023-02-01&to=2023-03-31"), 2, "2023 has no 29 February")
        self.assertEqual(streak("?from=2023-12-01&to=2024-01-31"), 3)
        self.assertEqual(streak("?from=2024-02-01&to=2024-03-31"), 4)
        self.assertEqual(streak("?to=2024-02-29"), 3)
        self.assertEqual(self.statistics("?to=2024-02-29")["from"], "2023-03-02", "365 days, both ends included")
        self.expect(self.ann("GET", "/statistics?from=2023-02-29&to=2023-03-01"), 400)

    def test_a_streak_that_ended_yesterday_goes_on_until_today_is_over(self):
        book = self.ann.book()
        self.read_ago(book, 2, 0, 5)
        self.assertEqual(self.statistics()["currentStreak"], 0, "yesterday is over")
        self.read_ago(book, 1, 5, 6)
        self.assertEqual(self.statistics()["currentStreak"], 2)
        self.read_ago(book, 0, 6, 3)
        self.assertEqual(self.statistics()["currentStreak"], 2, "a correction is no reading")
        self.read_ago(book, 0, 3, 4)
        self.assertEqual(self.statistics()["currentStreak"], 3)

    def test_a_page_that_is_corrected_downwards_takes_nothing_away(self):
        book = self.ann.book(totalPages=300)
        for page in (200, 20, 30):
            self.ann.read(book, page)
        self.expect(self.ann("PATCH", f"/books/{book['id']}", {"currentPage": 5}), 200)
        self.assertEqual(self.statistics()["pages"], 210)
        self.assertEqual(self.statistics()["pagesPerDay"], [{"day": self.day(0), "pages": 210}])
        other = self.ann.book("Other", currentPage=50)
        self.ann.read(other, 10)
        self.assertEqual(self.statistics()["pages"], 210)

    def test_a_book_counts_in_the_year_in_which_it_was_finished(self):
        for at in ("2023-12-31T23:59:59.999Z", "2024-01-01T00:00:00.000Z", "2024-02-29T12:00:00.000Z"):
            book = self.ann.book(status="READ")
            key = {"pk": {"S": f"USER#{self.subject}"}, "sk": {"S": f"BOOK#{book['id']}"}}
            self.database.ok("UpdateItem", TableName=TABLE, Key=key, UpdateExpression="SET finishedAt = :at, gsi3sk = :key",
                             ExpressionAttributeValues={":at": {"S": at}, ":key": {"S": f"{at}#{book['id']}"}})  # fmt: skip
        self.assertEqual(self.statistics()["finishedPerYear"], [{"year": 2023, "books": 1}, {"year": 2024, "books": 2}])

    def test_ranges_go_to_the_ends_of_the_calendar(self):
        self.ann.read(self.ann.book(), 7)
        future = self.statistics("?to=9999-12-31")
        self.assertEqual((future["from"], future["to"], future["pages"]), ("9999-01-01", "9999-12-31", 0))
        past = self.statistics("?to=0000-02-29")
        self.assertEqual((past["from"], past["to"], past["pages"]), ("0000-01-01", "0000-02-29", 0))
        self.assertEqual(self.statistics(f"?from={self.day(0)}&to={self.today.year + 9}-12-31")["pages"], 7)
        self.assertEqual(self.statistics("?from=2016-01-01&to=2025-12-31")["from"], "2016-01-01", "ten years with three leap days")
        self.expect(self.ann("GET", "/statistics?from=2016-01-01&to=2026-01-01"), 400)

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
