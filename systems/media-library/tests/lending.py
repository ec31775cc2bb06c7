"""Lending: who has what, since when, and until when."""

import datetime

from media import Rest, as_item, unknown


def day(days):
    return (datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(days=days)).isoformat()


class Lending(Rest):
    def setUp(self):
        super().setUp()
        self.library = self.ann.library()
        self.book = self.ann.book(self.library)
        self.item = as_item(self.book)

    def events(self, item=None):
        return [(one["Type"], one["Event"]) for one in self.ann.items(f"{item or self.item}/events?limit=1")]

    def test_an_item_is_lent_and_returned(self):
        lent = self.expect(self.ann("POST", f"{self.item}/lend", {"borrower": "Eve", "due": "2027-01-31"}), 201).json
        self.assertEqual((lent["Type"], lent["Event"], lent["DueOn"]), ("LENT", "Eve", "2027-01-31"))
        book = self.ann("GET", self.book).json
        self.assertEqual((book["LentTo"], book["DueOn"]), ("Eve", "2027-01-31"))
        self.expect(self.ann("POST", f"{self.item}/return", {"borrower": "Eve"}), 201)
        self.assertFalse({"LentTo", "LentAt", "DueOn"} & set(self.ann("GET", self.book).json))
        self.assertEqual(self.events(), [("RETURNED", "Eve"), ("LENT", "Eve")])

    def test_videos_are_lent_too(self):
        video = as_item(self.ann.video(self.library))
        self.expect(self.ann("POST", f"{video}/lend", {"borrower": "Eve"}), 201)
        self.assertEqual(self.events(video), [("LENT", "Eve")])

    def test_what_is_lent_is_not_lent_again(self):
        self.ann.done("POST", f"{self.item}/lend", {"borrower": "Eve"})
        self.expect(self.ann("POST", f"{self.item}/lend", {"borrower": "Bob"}), 409, "AlreadyLent")
        self.assertEqual(self.events(), [("LENT", "Eve")])

    def test_what_is_at_home_is_not_returned(self):
        self.expect(self.ann("POST", f"{self.item}/return", {}), 409, "NotLent")
        self.assertEqual(self.events(), [])

    def test_who_returns_is_who_has_it(self):
        self.ann.done("POST", f"{self.item}/lend", {"borrower": "Eve"})
        self.expect(self.ann("POST", f"{self.item}/return", {"borrower": "Bob"}), 409, "OtherBorrower")
        self.assertEqual(self.expect(self.ann("POST", f"{self.item}/return", {}), 201).json["Event"], "Eve")

    def test_events_of_one_second_all_survive_newest_first(self):
        for n in range(5):
            self.ann.done("POST", f"{self.item}/lend", {"borrower": f"b{n}"})
            self.ann.done("POST", f"{self.item}/return", {})
        expected = [event for n in reversed(range(5)) for event in (("RETURNED", f"b{n}"), ("LENT", f"b{n}"))]
        self.assertEqual(self.events(), expected)

    def test_inputs_are_checked(self):
        for wrong in ({}, {"borrower": ""}, {"borrower": "é" * 101}, {"borrower": "x", "due": "tomorrow"}, {"borrower": "x", "due": "2026-02-30"}, {"borrower": "x", "y": 1}):
            self.expect(self.ann("POST", f"{self.item}/lend", wrong), 400)
        self.expect(self.ann("POST", f"{self.item}/lend", {"borrower": "é" * 100}), 201)

    def test_what_is_not_there_has_no_history(self):
        nothing = f"{self.library}/items/{unknown()}"
        self.expect(self.ann("GET", f"{nothing}/events"), 404)
        self.expect(self.ann("DELETE", f"{nothing}/events"), 404)
        self.expect(self.ann("POST", f"{nothing}/lend", {"borrower": "Eve"}), 404)
        self.expect(self.ann("POST", f"{nothing}/return", {}), 404)

    def test_a_history_is_kept_while_lent_and_can_be_deleted_then(self):
        other = as_item(self.ann.book(self.library, "Other"))
        self.ann.done("POST", f"{other}/lend", {"borrower": "Eve"})
        for n in range(30):
            self.ann.done("POST", f"{self.item}/lend", {"borrower": f"b{n}"})
            if n == 29:
                self.expect(self.ann("DELETE", f"{self.item}/events"), 409, "StillLent")
                self.assertEqual(len(self.events()), 59)
            self.ann.done("POST", f"{self.item}/return", {})
        self.expect(self.ann("DELETE", f"{self.item}/events"), 204)
        self.assertEqual(self.events(), [])
        self.assertEqual(self.events(other), [("LENT", "Eve")])
        self.expect(self.ann("DELETE", f"{self.item}/events"), 204)
        self.expect(self.ann("GET", self.book), 200)

    def test_an_event_cannot_be_written_or_changed(self):
        self.expect(self.ann("POST", f"{self.item}/events", {"Type": "LENT", "Event": "x"}), 405)
        event = self.ann.done("POST", f"{self.item}/lend", {"borrower": "Eve"})["EventId"]
        for method in ("GET", "PATCH", "DELETE", "PUT"):
            self.expect(self.ann(method, f"{self.item}/events/{event}"), 404)

    def test_deleting_an_item_takes_its_history_along(self):
        self.ann.done("POST", f"{self.item}/lend", {"borrower": "Eve"})
        self.ann.done("DELETE", self.book)
        self.expect(self.ann("GET", f"{self.item}/events"), 404)


class Overdue(Rest):
    def lend(self, library, title, due=None):
        item = as_item(self.ann.book(library, title))
        self.ann.done("POST", f"{item}/lend", {"borrower": "Eve", **({"due": due} if due else {})})
        return item

    def titles(self, path, user=None):
        return [one["Title"] for one in (user or self.ann).items(path)]

    def test_what_should_be_back_is_listed_longest_first(self):
        home, office = self.ann.library(), self.ann.library("Office")
        self.lend(home, "yesterday", day(-1))
        self.lend(office, "long ago", day(-100))
        self.lend(home, "today", day(0))
        self.lend(home, "tomorrow", day(1))
        self.lend(home, "some day")
        self.assertEqual(self.titles("/overdue?limit=1"), ["long ago", "yesterday"])
        self.assertEqual(self.titles("/lent?limit=2"), ["long ago", "yesterday", "today", "tomorrow", "some day"])
        self.assertEqual(self.titles("/overdue", self.bob), [])
        self.expect(self.ann("GET", "/overdue?limit=0"), 400)
        self.expect(self.ann("GET", "/overdue?nextToken=x"), 400)

    def test_what_came_back_is_not(self):
        item = self.lend(self.ann.library(), "late", day(-5))
        self.ann.done("POST", f"{item}/return", {})
        self.assertEqual(self.titles("/overdue") + self.titles("/lent"), [])
