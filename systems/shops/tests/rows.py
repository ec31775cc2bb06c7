"""The rows in the table: the keys and attributes of the design document, and nothing left half-done by a crash."""

import hashlib

import dynamo
import rest
import shops_rest

TABLE = "aura-historia-data"


class Rows(rest.AtStator, shops_rest.ShopsRest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = dynamo.Connection(cls.arguments[-1])

    def row(self, sort, domain="example.com"):
        return self.database.ok("GetItem", TableName=TABLE, Key={"PK": {"S": f"SHOP#{domain}"}, "SK": {"S": sort}}).get("Item")

    def test_shops_and_urls_have_the_documents_keys_and_attributes(self):
        self.shop(domain="example.com", standards_used=["json-ld", "microdata"], last_crawled="2023-10-27T10:00:00Z")
        self.upsert({"url": "/products/item-123", "standards_used": ["json-ld", "microdata"], "type": "product", "hash": "a1b2c3d4"}, domain="example.com")
        shop = self.row("META#")
        self.assertEqual(shop["domain"], {"S": "example.com"})
        self.assertEqual(shop["standards_used"], {"L": [{"S": "json-ld"}, {"S": "microdata"}]})
        self.assertEqual((shop["shop_country"], shop["last_crawled"]), ({"S": "US"}, {"S": "2023-10-27T10:00:00.000Z"}))
        self.assertNotIn("last_scraped", shop)
        url = self.row("URL#https://example.com/products/item-123")
        expected = {"url": {"S": "https://example.com/products/item-123"}, "standards_used": {"L": [{"S": "json-ld"}, {"S": "microdata"}]},
                    "type": {"S": "product"}, "is_product": {"N": "1"}, "hash": {"S": "a1b2c3d4"}}  # fmt: skip
        self.assertEqual({name: url[name] for name in expected}, expected)

    def test_deleting_a_shop_leaves_no_row(self):
        self.shop(domain="gone.example")
        self.upsert(*(f"/{i}" for i in range(250)), domain="gone.example")
        rows = lambda: self.database.items("Query", TableName=TABLE, KeyConditionExpression="PK = :p",
                                           ExpressionAttributeValues={":p": {"S": "SHOP#gone.example"}})  # fmt: skip
        self.assertEqual(len(rows()), 251)
        self.expect(self.bot("DELETE", "/shops/gone.example"), 204)
        self.wait_until(lambda: rows() == [])

    def test_a_long_url_is_under_its_hash(self):
        self.shop(domain="example.com")
        url = "https://example.com/" + "x" * 2000
        self.upsert(url, domain="example.com")
        self.assertEqual(self.row(f"URL:sha256:{hashlib.sha256(url.encode()).hexdigest()}")["url"], {"S": url})

    def test_a_lease_puts_a_shop_apart_from_those_that_can_be_claimed(self):
        at = lambda country: sorted(row["domain"]["S"] for row in self.database.items(
            "Query", TableName=TABLE, IndexName="ClaimToCrawl", KeyConditionExpression="crawl_claim = :c",
            ExpressionAttributeValues={":c": {"S": country}}))  # fmt: skip
        self.shop("IS", "first.example")
        self.shop("IS", "second.example")
        lease = self.expect(self.bot("POST", "/claim?op=crawl&country=IS"), 200).json
        self.assertEqual((at("IS"), at("IS#LEASED")), (["second.example"], ["first.example"]))
        self.expect(self.bot("POST", "/shops/first.example/complete", {"op": "crawl", "lease": lease["lease"]}), 200)
        self.assertEqual((at("IS"), at("IS#LEASED")), (["first.example", "second.example"], []))

    def test_the_documents_queries_find_them(self):
        self.shop("DE", "query.example", last_scraped="2023-02-28T12:00:00Z")
        self.upsert({"url": "/p", "type": "product"}, {"url": "/c", "type": "category"}, domain="query.example")
        query = lambda index, condition, **values: self.database.items(
            "Query", TableName=TABLE, IndexName=index, KeyConditionExpression=condition,
            ExpressionAttributeValues={f":{name}": value for name, value in values.items()})  # fmt: skip
        products = query("IsProductIndex", "PK = :pk AND is_product = :one", pk={"S": "SHOP#query.example"}, one={"N": "1"})
        self.assertEqual([row["url"]["S"] for row in products], ["https://query.example/p"])
        scraped = query("CountryLastScrapedIndex", "shop_country = :c AND last_scraped BETWEEN :a AND :b",
                        c={"S": "DE"}, a={"S": "2023-02-01"}, b={"S": "2023-03-01"})  # fmt: skip
        self.assertEqual([row["domain"]["S"] for row in scraped], ["query.example"])
        self.assertEqual(query("CountryLastCrawledIndex", "shop_country = :c", c={"S": "DE"}), [])

    def test_an_upsert_that_changes_nothing_reaches_no_stream(self):
        self.shop(domain="quiet.example")
        self.upsert(*(f"/{i}" for i in range(150)), domain="quiet.example")
        before = self.stream_length()
        self.assertEqual(self.upsert(*(f"/{i}" for i in range(150)), domain="quiet.example")["counts"]["unchanged"], 150)
        self.assertEqual(self.stream_length(), before)

    def stream_length(self):
        arn = self.database.ok("DescribeTable", TableName=TABLE)["Table"]["LatestStreamArn"]
        length = 0
        for shard in self.database.ok("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
            iterator = self.database.ok("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            while iterator:
                page = self.database.ok("GetRecords", ShardIterator=iterator)
                length += len(page["Records"])
                iterator = page.get("NextShardIterator") if page["Records"] else None
        return length


class Crash(shops_rest.ShopsRest):
    def test_a_crash_in_the_middle_of_batches_leaves_counts_that_are_right(self):
        if rest.stator.in_memory_only():
            self.skipTest("nothing outlives the process in memory")
        for i in range(4):
            self.shop(domain=f"crash{i}.example")

        def crawl(worker, enough):
            for batch in range(1000):
                domain = f"crash{(worker + batch) % 4}.example"
                self.bot("POST", f"/shops/{domain}/urls", {"urls": [f"https://{domain}/{batch}/{i}" for i in range(300)]})
                if batch > 2:
                    enough()

        self.kill_amid(crawl)
        self.assertIn(" 0 findings", self.app.verify())
        self.app.start()
        for i in range(4):
            shop = self.expect(self.bot("GET", f"/shops/crash{i}.example"), 200).json
            self.assertEqual(shop["url_count"], len(self.all_pages(f"/shops/crash{i}.example/urls")))
