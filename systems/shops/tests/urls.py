"""URLs: upserted in batches, merged, counted, and told apart by what changed."""

import concurrent.futures
import urllib.parse

import shops_rest


class Urls(shops_rest.ShopsRest):

    def setUp(self):
        super().setUp()
        self.shop()

    def count(self):
        return self.bot("GET", f"/shops/{self.domain}").json["url_count"]

    def test_a_batch_tells_what_it_created_changed_and_found(self):
        first = self.upsert({"url": "/a", "type": "product", "hash": "1", "standards_used": ["json-ld"]}, "/b")
        self.assertEqual(first["counts"], {"created": 2, "changed": 0, "unchanged": 0, "refused": 0})
        second = self.upsert({"url": "/a", "hash": "2"}, {"url": "/b"}, "/c")
        self.assertEqual(second["changed"], [f"https://{self.domain}/a"])
        self.assertEqual(second["unchanged"], [f"https://{self.domain}/b"])
        self.assertEqual(second["created"], [f"https://{self.domain}/c"])
        self.assertEqual(self.count(), 3)

    def test_a_crawl_merges_and_does_not_erase(self):
        self.upsert({"url": "/a", "type": "product", "hash": "1", "standards_used": ["json-ld"]})
        self.upsert("/a")
        found = self.expect(self.url("/a"), 200).json
        self.assertEqual((found["type"], found["is_product"], found["hash"], found["standards_used"]), ("product", 1, "1", ["json-ld"]))
        self.upsert({"url": "/a", "type": "category", "hash": None})
        found = self.url("/a").json
        self.assertEqual((found["type"], found["is_product"], found["standards_used"]), ("category", 0, ["json-ld"]))
        self.assertNotIn("hash", found)

    def test_nothing_changed_is_nothing_written(self):
        self.upsert({"url": "/a", "type": "product", "standards_used": ["json-ld"]})
        version = self.url("/a").headers["ETag"]
        self.assertEqual(self.upsert({"url": "/a", "type": "product", "standards_used": ["json-ld"]})["counts"]["unchanged"], 1)
        self.assertEqual(self.url("/a").headers["ETag"], version)

    def test_one_url_in_many_spellings_is_one(self):
        host = self.domain.upper()
        report = self.upsert("/a", f"HTTPS://{host}:443/a#top", f"https://user:pw@{self.domain}/x/../a", {"url": "/a", "type": "product"})
        self.assertEqual(report["counts"], {"created": 1, "changed": 0, "unchanged": 0, "refused": 0})
        self.assertEqual(self.url("/./a").json["type"], "product")
        self.assertEqual(self.count(), 1)

    def test_what_cannot_be_taken_is_refused_alone(self):
        report = self.upsert("/a", "https://elsewhere.org/a", "https://not" + self.domain + "/", "ftp://x", {"url": "/b", "is_product": 1},
                             {"url": "/c", "hash": "x" * 129}, f"https://shop.{self.domain}/fine")  # fmt: skip
        self.assertEqual(report["counts"], {"created": 2, "changed": 0, "unchanged": 0, "refused": 5})
        reasons = [refused["problem"] for refused in report["refused"]]
        self.assertIn(f"elsewhere.org is not a host of {self.domain}", reasons)
        self.assertIn("is_product is not known here", reasons)
        self.assertEqual([refused["index"] for refused in report["refused"]], [1, 2, 3, 4, 5])

    def test_bodies_that_are_no_batch_are_refused(self):
        for body in ("", "[]", "{}", '{"urls": 7}', '{"urls": [], "x": 1}', '{"urls": ['):
            self.expect(self.bot("POST", f"/shops/{self.domain}/urls", body, Content_Type="application/json"), 400, "Invalid")

    def test_a_long_url_is_kept_under_its_hash(self):
        path = "/" + "x" * 5000
        self.assertEqual(self.upsert(path, path)["counts"]["created"], 1)
        self.assertEqual(self.upsert(path)["counts"]["unchanged"], 1)
        found = self.expect(self.url(path), 200).json
        self.assertEqual((len(found["url"]), len(found["url_hash"])), (5000 + len(f"https://{self.domain}/"), 64))
        self.assertEqual(self.upsert("/" + "x" * 9000)["counts"]["refused"], 1)

    def test_the_longest_url_is_read_and_deleted_by_a_body(self):
        start = f"https://{self.domain}/"
        longest = start + "%C3%A9" * ((8000 - len(start)) // 6)
        self.assertEqual(self.upsert(longest)["counts"]["created"], 1)
        self.expect(self.url(longest), 414)
        ask = lambda caller, action, url=longest: caller("POST", f"/shops/{self.domain}/url/{action}", {"url": url})
        found = self.expect(ask(self.ann, "lookup"), 200)
        self.assertEqual((found.json["url"], found.headers["ETag"]), (longest, '"1"'))
        self.expect(ask(self.ann, "delete"), 403)
        self.expect(ask(self.bot, "delete"), 204)
        for action in ("lookup", "delete"):
            self.expect(ask(self.bot, action), 404)
            self.expect(ask(self.bot, action, "https://elsewhere.org/"), 400, "Invalid")
        self.assertEqual(self.count(), 0)

    def test_a_url_that_its_one_spelling_makes_too_long_is_refused(self):
        refused = self.upsert("/" + "é" * 3000)["refused"]
        self.assertEqual([one["problem"] for one in refused], ["the URL is longer than 8000 characters"])

    def test_a_large_batch_is_taken_in_pieces(self):
        paths = [f"/p/{i}" for i in range(1234)]
        self.assertEqual(self.upsert(*paths)["counts"]["created"], 1234)
        self.assertEqual(self.count(), 1234)
        again = self.upsert(*paths, "/p/new")
        self.assertEqual(again["counts"], {"created": 1, "changed": 0, "unchanged": 1234, "refused": 0})

    def test_lists_page_through_everything(self):
        self.upsert(*(f"/p/{i:03}" for i in range(130)), *({"url": f"/q/{i:03}", "type": "product"} for i in range(60)))
        urls = [url["url"] for url in self.all_pages(f"/shops/{self.domain}/urls", limit=50)]
        self.assertEqual(len(set(urls)), 190)
        self.assertEqual(urls, sorted(urls))
        products = self.all_pages(f"/shops/{self.domain}/products", limit=25)
        self.assertEqual({url["url"] for url in products}, {f"https://{self.domain}/q/{i:03}" for i in range(60)})
        self.assertEqual(self.expect(self.bot("GET", f"/shops/www.{self.domain}/products?limit=1"), 200).json["items"], products[:1])

    def test_a_hash_tells_whether_a_page_changed(self):
        self.upsert({"url": "/a", "type": "product"})
        put = lambda path, value: self.bot("PUT", f"/shops/{self.domain}/url/hash", {"url": f"https://{self.domain}{path}", "hash": value})
        self.assertEqual(self.expect(put("/a", "1"), 200).json, {"url": f"https://{self.domain}/a", "changed": True, "hash": "1"})
        self.assertEqual(put("/a", "1").json["changed"], False)
        self.assertEqual({**put("/a", "2").json, "url": ""}, {"url": "", "changed": True, "hash": "2", "previous": "1"})
        self.assertEqual(self.url("/a").json["type"], "product")
        self.expect(put("/none", "1"), 404)
        self.expect(put("/a", ""), 400)

    def test_deleting_a_url_counts_down(self):
        self.upsert("/a", "/b")
        target = f"/shops/{self.domain}/url?url=" + urllib.parse.quote(f"https://{self.domain}/a", safe="")
        self.expect(self.bot("DELETE", target), 204)
        self.expect(self.bot("DELETE", target), 404)
        self.expect(self.url("/a"), 404)
        self.assertEqual(self.count(), 1)

    def test_another_shop_does_not_have_it(self):
        self.upsert("/a")
        self.shop(domain="other-" + self.domain)
        self.expect(self.bot("GET", f"/shops/other-{self.domain}/url?url=https%3A%2F%2F{self.domain}%2Fa"), 400)
        self.expect(self.bot("GET", f"/shops/missing-{self.domain}/url?url=https%3A%2F%2F{self.domain}%2Fa"), 404)

    def test_the_count_is_exact_when_crawlers_overlap(self):
        paths = [f"/p/{i}" for i in range(400)]
        crawl = lambda worker: self.upsert(*paths[worker * 20 :], *paths[: worker * 20])["counts"]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            counts = list(pool.map(crawl, range(16)))
        self.assertEqual(sum(count["created"] for count in counts), 400)
        self.assertEqual(sum(count["unchanged"] for count in counts), 400 * 15)
        self.assertEqual(self.count(), 400)
