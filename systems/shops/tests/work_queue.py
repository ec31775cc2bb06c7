"""The work queue: each shop that is due is leased to one worker at a time."""

import concurrent.futures
import time

import shops_rest


class WorkQueue(shops_rest.ShopsRest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.countries = iter("AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD".split())

    def setUp(self):
        super().setUp()
        self.country = next(self.countries)  # a queue of its own

    def add(self, *names, **attributes):
        for name in names:
            self.shop(self.country, f"{name}.{self.domain}", **attributes)

    def claim(self, op="crawl", **parameters):
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        return self.expect_in(self.bot("POST", f"/claim?op={op}&country={self.country}{more}"), 200, 204)

    def release(self, how, lease):
        return self.bot("POST", f"/shops/{lease['shop']['domain']}/{how}", {"op": lease["op"], "lease": lease["lease"]})

    def claimed(self, **parameters):
        answer = self.claim(**parameters)
        return answer.json["shop"]["domain"].split(".")[0] if answer.status == 200 else None

    def test_the_most_overdue_shop_comes_first(self):
        self.add("late", last_crawled="2026-01-02T00:00:00Z")
        self.add("later", last_crawled="2026-01-03T00:00:00Z")
        self.add("never")
        self.add("fresh", last_crawled="2099-01-01T00:00:00Z")
        self.assertEqual([self.claimed() for _ in range(4)], ["never", "late", "later", None])

    def test_crawling_and_scraping_are_leased_apart(self):
        self.add("a")
        self.assertEqual((self.claimed(op="crawl"), self.claimed(op="scrape")), ("a", "a"))
        self.assertEqual((self.claimed(op="crawl"), self.claimed(op="scrape")), (None, None))

    def test_a_leased_shop_is_not_due(self):
        self.add("a")
        lease = self.claim().json
        self.assertEqual(self.bot("GET", f"/due?op=crawl&country={self.country}").json["items"], [])
        self.assertEqual(lease["shop"]["crawl_lease_until"], lease["until"])
        self.assertNotIn("crawl_lease", lease["shop"])

    def test_completing_sets_when_it_was_done_and_when_it_is_due_again(self):
        self.add("a", crawl_interval_hours=24)
        shop = self.expect(self.release("complete", self.claim().json), 200).json
        self.assertNotIn("crawl_lease_until", shop)
        day = lambda text: text[:10]
        self.assertGreater(day(shop["crawl_at"]), day(shop["last_crawled"]))
        self.assertEqual(shop["crawl_at"][10:], shop["last_crawled"][10:])
        self.assertIsNone(self.claimed())

    def test_a_lease_is_released_once_and_only_by_its_holder(self):
        self.add("a")
        lease = self.claim().json
        self.expect(self.release("complete", {**lease, "lease": "another"}), 409, "LeaseLost")
        self.expect(self.release("complete", {**lease, "op": "scrape"}), 409, "LeaseLost")
        self.expect(self.release("complete", lease), 200)
        self.expect(self.release("complete", lease), 409, "LeaseLost")
        self.expect(self.release("fail", lease), 409, "LeaseLost")

    def test_a_failure_puts_it_off_longer_each_time(self):
        self.add("a")
        shop = self.expect(self.release("fail", self.claim().json), 200).json
        self.assertEqual(shop["crawl_backoff_seconds"], 300)
        self.assertEqual(shop["crawl_at"], shop["crawl_retry_at"])
        self.assertNotIn("last_crawled", shop)
        self.assertIsNone(self.claimed())

    def test_a_newer_crawl_that_is_reported_makes_an_older_failure_forgotten(self):
        self.add("a", crawl_interval_hours=1)
        failed = self.expect(self.release("fail", self.claim().json), 200).json
        crawled = self.shop(self.country, f"a.{self.domain}", last_crawled="2099-01-01T00:00:00.000Z")
        self.assertEqual(crawled["crawl_at"], "2099-01-01T01:00:00.000Z")
        older = self.shop(self.country, f"a.{self.domain}", last_crawled="2026-01-01T00:00:00.000Z")
        self.assertEqual(older["crawl_at"], failed["crawl_retry_at"], "a crawl before the failure does not count")

    def test_a_shop_that_was_never_crawled_comes_first_again_once_its_lease_is_over(self):
        self.add("late", last_crawled="2026-01-02T00:00:00Z")
        self.add("never")
        self.assertEqual(self.claimed(seconds=1), "never")
        due = lambda: [shop["domain"].split(".")[0] for shop in self.bot("GET", f"/due?op=crawl&country={self.country}").json["items"]]
        self.assertEqual(due(), ["late"])
        self.wait_until(lambda: due() == ["never", "late"])
        self.assertEqual(self.claimed(), "never")

    def test_a_lease_that_moves_does_not_break_somebodys_edit(self):
        self.add("a")
        path = f"/shops/a.{self.domain}"
        etag = self.bot("GET", path).headers["ETag"]
        self.release("fail", self.claim(op="scrape").json)
        lease = self.claim().json
        self.expect(self.bot("PATCH", path, {"standards_used": ["json-ld"]}, If_Match=etag), 200)
        etag = self.bot("GET", path).headers["ETag"]
        self.expect(self.release("complete", lease), 200)
        self.expect(self.bot("PATCH", path, {"crawl_interval_hours": 1}, If_Match=etag), 200)

    def test_what_a_request_says_of_the_last_crawl_counts_as_a_change(self):
        self.add("a")
        path = f"/shops/a.{self.domain}"
        etag = self.bot("GET", path).headers["ETag"]
        self.expect(self.bot("PATCH", path, {"last_crawled": "2026-01-01T00:00:00Z"}), 200)
        self.expect(self.bot("PATCH", path, {"last_crawled": "2026-01-02T00:00:00Z"}, If_Match=etag), 412)

    def test_leased_shops_at_the_head_of_the_queue_hide_nothing_behind_them(self):
        self.add(*(f"s{i:03}" for i in range(200)))
        taken = {self.claimed() for _ in range(199)}
        last = self.bot("GET", f"/due?op=crawl&country={self.country}").json["items"]
        self.assertEqual([shop["domain"].split(".")[0] for shop in last], sorted({f"s{i:03}" for i in range(200)} - taken))

    def test_of_dead_workers_shops_the_most_overdue_comes_first(self):
        self.add("c", last_crawled="2026-01-03T00:00:00Z")
        self.add("b", last_crawled="2026-01-02T00:00:00Z")
        self.add("a", last_crawled="2026-01-01T00:00:00Z")
        self.assertEqual([self.claimed(seconds=2), self.claimed(seconds=1)], ["a", "b"])
        due = lambda: [shop["domain"].split(".")[0] for shop in self.bot("GET", f"/due?op=crawl&country={self.country}").json["items"]]
        self.wait_until(lambda: due() == ["a", "b", "c"])
        self.assertEqual([self.claimed() for _ in range(4)], ["a", "b", "c", None])

    def test_a_dead_workers_lease_expires(self):
        self.add("a")
        dead = self.claim(seconds=1).json
        self.assertIsNone(self.claimed())
        self.wait_until(lambda: self.claimed() == "a")
        self.expect(self.release("complete", dead), 409, "LeaseLost")

    def test_bad_claims_are_refused(self):
        for query in ("op=paint&country=DE", "op=crawl", "country=DE", "op=crawl&country=de", "op=crawl&country=DE&seconds=0", "op=crawl&country=DE&x=1"):
            self.expect(self.bot("POST", f"/claim?{query}"), 400)

    def test_an_unknown_country_is_told_as_the_lists_tell_it(self):
        for country in ("XX", "de", "DEU"):
            refused = self.expect(self.bot("POST", f"/claim?op=crawl&country={country}"), 400, "Invalid")
            self.assertRegex(refused.json["message"], "^country must be one of AD, AE, ")
            self.assertEqual(refused.json, self.bot("GET", f"/due?op=crawl&country={country}").json)

    def test_what_leads_to_an_impossible_time_is_named(self):
        self.add("a")
        refused = self.expect(self.bot("PATCH", f"/shops/a.{self.domain}", {"last_crawled": "9999-12-31T23:00:00Z"}), 400, "Invalid")
        self.assertEqual(set(refused.problems()), {"last_crawled"})

    def test_the_list_of_what_is_due_says_what_it_needs(self):
        for query, names in (("", {"op", "country"}), ("?country=DE", {"op"}), ("?op=crawl", {"country"}), ("?op=fetch&country=DE", {"op"})):
            self.assertEqual(set(self.expect(self.bot("GET", f"/due{query}"), 400, "Invalid").problems()), names)

    def test_a_claim_takes_no_body(self):
        target = f"/claim?op=crawl&country={self.country}"
        refused = self.expect(self.bot("POST", target, {"seconds": 5, "x": 1}), 400, "Invalid")
        self.assertEqual(set(refused.problems()), {"seconds", "x"})
        self.expect(self.bot("POST", target, {}), 204)

    def test_sixteen_workers_never_hold_the_same_shop(self):
        self.add(*(f"s{i}" for i in range(60)))

        def work(_):
            mine = []
            while True:
                shop = self.claimed()
                if shop is None:
                    return mine
                mine.append(shop)

        started = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            taken = [shop for mine in pool.map(work, range(16)) for shop in mine]
        self.assertEqual(sorted(taken), sorted(f"s{i}" for i in range(60)), f"in {time.monotonic() - started:.1f} s")
