"""What the tests of this system have in common: a crawler, and shops."""

import urllib.parse

import rest


class ShopsRest(rest.Rest):
    model = "shops"
    prefix = "/systems/shops/v1"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bot = cls.user("crawler-1", "crawler")

    def setUp(self):
        super().setUp()
        self.domain = self.name.replace("_", "-")[:50].strip("-") + ".example.com"

    def shop(self, country="US", domain=None, **attributes):
        return self.expect_in(self.bot("PUT", f"/shops/{domain or self.domain}", {"shop_country": country, **attributes}), 200, 201).json

    def expect_in(self, answer, *statuses):
        self.assertIn(answer.status, statuses, answer.body)
        return answer

    def upsert(self, *urls, domain=None):
        """Paths, or dictionaries with a path as `url`; the counts and the lists of the answer."""
        domain = domain or self.domain
        full = lambda url: url if "://" in url else f"https://{domain}{url}"
        entries = [full(url) if isinstance(url, str) else {**url, "url": full(url["url"])} for url in urls]
        return self.expect(self.bot("POST", f"/shops/{domain}/urls", {"urls": entries}), 200).json

    def url(self, path, domain=None):
        domain = domain or self.domain
        full = urllib.parse.quote(path if path.startswith("http") else f"https://{domain}{path}", safe="")
        return self.bot("GET", f"/shops/{domain}/url?url={full}")

    def all_pages(self, path, limit=100):
        return self.bot.items(f"{path}{'&' if '?' in path else '?'}limit={limit}")
