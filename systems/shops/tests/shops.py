"""Shops: one per domain, whatever the spelling; found by country and by when they were crawled or scraped."""

import shops_rest


class Shops(shops_rest.ShopsRest):
    def test_a_put_creates_and_then_merges(self):
        first = self.expect(self.bot("PUT", f"/shops/{self.domain}", {"shop_country": "US", "standards_used": ["json-ld"]}), 201).json
        self.assertEqual((first["domain"], first["url_count"], first["entity_type"]), (self.domain, 0, "SHOP"))
        self.assertEqual((first["crawl_interval_hours"], first["scrape_interval_hours"]), (168, 24))
        again = self.expect(self.bot("PUT", f"/shops/{self.domain}", {"shop_country": "CA"}), 200).json
        self.assertEqual((again["shop_country"], again["standards_used"]), ("CA", ["json-ld"]))
        self.assertEqual(self.expect(self.bot("GET", f"/shops/{self.domain}"), 200).json, again)

    def test_all_spellings_of_a_domain_are_one_shop(self):
        self.shop(domain=self.domain)
        for spelling in (f"www.{self.domain}", self.domain.upper(), f"https%3A%2F%2Fwww.{self.domain}%3A443%2Fshop%3Fq%3D1", self.domain + "."):
            self.assertEqual(self.expect(self.bot("GET", f"/shops/{spelling}"), 200).json["domain"], self.domain, spelling)
            self.expect(self.bot("PUT", f"/shops/{spelling}", {"shop_country": "US"}), 200)

    def test_names_beyond_ascii_are_kept_in_ascii(self):
        shop = self.expect_in(self.bot("PUT", "/shops/www.M%C3%B6bel.example.de", {"shop_country": "DE"}), 200, 201).json
        self.assertEqual(shop["domain"], "xn--mbel-5qa.example.de")
        self.expect(self.bot("GET", "/shops/XN--MBEL-5QA.example.de"), 200)

    def test_what_is_no_domain_is_refused(self):
        for domain in ("a$b.example.com", "-a.com", "a..b", "x" * 64 + ".com"):
            self.expect(self.bot("PUT", f"/shops/{domain}", {"shop_country": "US"}), 400)
            self.expect(self.bot("GET", f"/shops/{domain}"), 404)

    def test_names_with_an_underscore_are_hosts_too(self):
        self.assertEqual(self.shop(domain=f"My_Shop.{self.domain}")["domain"], f"my_shop.{self.domain}")
        report = self.upsert("/a", f"https://img_1.my_shop.{self.domain}/b", domain=f"my_shop.{self.domain}")
        self.assertEqual(report["counts"]["created"], 2)

    def test_a_public_suffix_is_nobodys_shop(self):
        for suffix in ("com", "www.co.uk", "github.io", "localhost", "%E5%85%AC%E5%8F%B8.cn"):
            refused = self.expect(self.bot("PUT", f"/shops/{suffix}", {"shop_country": "US"}), 400, "Invalid")
            self.assertRegex(refused.problems()["domain"], "^must be a name below .*, which is a public suffix$")
            self.expect(self.bot("GET", f"/shops/{suffix}"), 404)
        self.shop(domain="shop.github.io")
        self.shop(domain="shop.co.uk")

    def test_bad_values_are_told_all_at_once(self):
        answer = self.bot("PUT", f"/shops/{self.domain}", {"shop_country": "UK", "crawl_interval_hours": 0, "url_count": 5, "colour": "red"})
        self.assertEqual(set(self.expect(answer, 400, "Invalid").problems()), {"shop_country", "crawl_interval_hours", "url_count", "colour"})
        self.assertEqual(set(self.expect(self.bot("PUT", f"/shops/{self.domain}", {}), 400).problems()), {"shop_country"})
        self.expect(self.bot("PUT", f"/shops/{self.domain}", {"shop_country": "US", "crawl_lease": "mine"}), 400)

    def test_names_can_be_seen(self):
        answer = self.bot("PUT", f"/shops/{self.domain}", {"shop_country": "US", "standards_used": ["json-ld", "\u3000", "a\0b", "a\nb"]})
        self.assertEqual(set(self.expect(answer, 400, "Invalid").problems()), {"standards_used[1]", "standards_used[2]", "standards_used[3]"})
        self.shop()
        report = self.upsert("/a", {"url": "/b", "type": " "}, {"url": "/c", "hash": "a\0b"}, {"url": "/d", "standards_used": ["\x7f"]})
        self.assertEqual(report["counts"], {"created": 1, "changed": 0, "unchanged": 0, "refused": 3})
        self.expect_visible(lambda body: self.bot("PUT", f"/shops/{self.domain}/url/hash", body), {"url": f"https://{self.domain}/a", "hash": "1"}, ("hash",))

    def test_versions_guard_changes(self):
        self.shop()
        etag = self.bot("GET", f"/shops/{self.domain}").headers["ETag"]
        self.expect(self.bot("PATCH", f"/shops/{self.domain}", {"shop_country": "FR"}, If_Match=etag), 200)
        self.expect(self.bot("PATCH", f"/shops/{self.domain}", {"shop_country": "IT"}, If_Match=etag), 412)
        cleared = self.expect(self.bot("PATCH", f"/shops/{self.domain}", {"standards_used": None}), 200).json
        self.assertNotIn("standards_used", cleared)

    def test_only_crawlers_write_and_only_the_signed_in_read(self):
        self.shop()
        paths = [("PUT", f"/shops/{self.domain}", {"shop_country": "US"}), ("PATCH", f"/shops/{self.domain}", {"shop_country": "FR"}),
                 ("DELETE", f"/shops/{self.domain}", None), ("POST", f"/shops/{self.domain}/urls", {"urls": []}),
                 ("PUT", f"/shops/{self.domain}/url/hash", {"url": f"https://{self.domain}/", "hash": "1"}),
                 ("DELETE", f"/shops/{self.domain}/url?url=https%3A%2F%2F{self.domain}%2F", None),
                 ("POST", "/claim?op=crawl&country=US", None),
                 ("POST", f"/shops/{self.domain}/complete", {"op": "crawl", "lease": "x"}),
                 ("POST", f"/shops/{self.domain}/fail", {"op": "crawl", "lease": "x"})]  # fmt: skip
        for method, path, body in paths:
            self.expect(self.ann(method, path, body), 403)
            self.expect(self.nobody(method, path, body), 401)
        self.expect(self.ann("GET", f"/shops/{self.domain}"), 200)
        self.expect(self.nobody("GET", f"/shops/{self.domain}"), 401)

    def test_deleting_a_shop_removes_its_urls(self):
        self.shop()
        self.upsert(*(f"/{i}" for i in range(250)))
        self.expect(self.bot("DELETE", f"/shops/{self.domain}"), 204)
        self.expect(self.bot("GET", f"/shops/{self.domain}"), 404)
        self.expect(self.bot("DELETE", f"/shops/{self.domain}"), 404)
        self.expect(self.bot("GET", f"/shops/{self.domain}/urls"), 404)
        self.expect(self.bot("POST", f"/shops/{self.domain}/urls", {"urls": []}), 404)

    def test_a_shop_comes_back_when_its_urls_are_gone_and_without_them(self):
        self.shop()
        self.upsert(*(f"/{i}" for i in range(250)))
        self.expect(self.bot("DELETE", f"/shops/{self.domain}"), 204)
        refused = []

        def is_back():
            answer = self.bot("PUT", f"/shops/{self.domain}", {"shop_country": "DE"})
            if answer.status != 201:
                refused.append(self.expect(answer, 409, "StillGoing"))
                self.assertEqual(answer.headers["Retry-After"], "1")
            return answer.status == 201

        self.wait_until(is_back)
        self.assertTrue(refused)
        self.assertEqual(self.all_pages(f"/shops/{self.domain}/urls"), [])
        self.upsert("/0", "/new")
        self.assertEqual(self.bot("GET", f"/shops/{self.domain}").json["url_count"], 2)


class Ranges(shops_rest.ShopsRest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for domain, moment in (("a.example", "2026-01-01T00:00:00Z"), ("b.example", "2026-01-31T23:59:59.999Z"), ("c.example", "2026-02-01T00:00:00Z")):
            body = {"shop_country": "DE", "last_crawled": moment, "last_scraped": moment}
            assert cls.bot("PUT", f"/shops/{domain}", body).status == 201
        assert cls.bot("PUT", "/shops/never.example", {"shop_country": "DE"}).status == 201
        assert cls.bot("PUT", "/shops/french.example", {"shop_country": "FR", "last_crawled": "2026-01-15T00:00:00Z"}).status == 201

    def domains(self, query):
        return [shop["domain"].split(".")[0] for shop in self.all_pages(f"/shops?country=DE&{query}", limit=1)]

    def test_a_date_as_end_includes_its_whole_day(self):
        for by in ("crawled", "scraped"):
            self.assertEqual(self.domains(f"by={by}&from=2026-01-01&to=2026-01-31"), ["a", "b"])

    def test_a_moment_as_end_is_left_out(self):
        self.assertEqual(self.domains("by=crawled&from=2026-01-01T00:00:00Z&to=2026-01-31T23:59:59.999Z"), ["a"])
        self.assertEqual(self.domains("by=crawled&from=2026-01-31T23:59:59.999Z&to=2026-02-01T00:00:00.001Z"), ["b", "c"])

    def test_each_end_may_be_open(self):
        self.assertEqual(self.domains("by=crawled"), ["a", "b", "c"])
        self.assertEqual(self.domains("by=crawled&from=2026-01-02"), ["b", "c"])
        self.assertEqual(self.domains("by=crawled&to=2026-01-01"), ["a"])

    def test_a_country_alone_lists_all_of_its_shops(self):
        self.assertEqual(sorted(shop["domain"] for shop in self.all_pages("/shops?country=DE")), ["a.example", "b.example", "c.example", "never.example"])

    def test_shops_that_were_never_crawled_are_due_first(self):
        for op in ("crawl", "scrape"):
            self.assertEqual(self.bot("GET", f"/due?op={op}&country=DE").json["items"][0]["domain"], "never.example")
        self.assertEqual(self.domains("by=crawled").count("never"), 0)

    def test_a_shop_is_due_when_its_interval_has_passed(self):
        due = lambda: [shop["domain"] for shop in self.all_pages("/due?op=crawl&country=AT")]
        self.shop("AT", "weekly.example", last_crawled="2026-01-01T00:00:00Z")
        self.shop("AT", "later.example", last_crawled="2026-01-01T00:00:00Z", crawl_interval_hours=8760)
        self.assertEqual(due()[0], "weekly.example")
        self.expect(self.bot("PATCH", "/shops/weekly.example", {"last_crawled": "2099-01-01T00:00:00Z"}), 200)
        self.assertNotIn("weekly.example", due())

    def test_bad_parameters_are_refused(self):
        for query in ("country=XX", "country=DE&by=crawled&from=yesterday", "country=DE&by=crawled&to=2026-02-30", "country=DE&since=2026-01-01",
                      "country=DE&limit=0", "country=DE&limit=101", "country=DE&nextToken=x"):  # fmt: skip
            self.expect(self.bot("GET", f"/shops?{query}"), 400)
        self.expect(self.bot("GET", "/shops"), 400)

    def test_a_parameter_is_refused_by_the_name_that_the_client_wrote(self):
        for path in ("/shops?country=XX", "/shops?country=XX&by=crawled", "/due?op=crawl&country=XX"):
            refused = self.expect(self.bot("GET", path), 400, "Invalid")
            self.assertEqual(set(refused.problems()), {"country"})
            self.assertNotIn("shop_country", refused.json["message"])

    def test_a_range_that_ends_before_it_begins_is_refused_by_its_parameters(self):
        for by in ("crawled", "scraped"):
            refused = self.expect(self.bot("GET", f"/shops?country=DE&by={by}&from=2026-02-01&to=2026-01-01"), 400, "Invalid")
            self.assertEqual(refused.json["message"], "the range ends before it begins")
            self.assertEqual(set(refused.problems()), {"from", "to"})
