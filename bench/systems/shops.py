#!/usr/bin/env python3
"""bench/systems/shops.py: how fast crawlers can bring in URLs, and workers take shops from the queue.

  bench/systems/shops.py
  bench/systems/shops.py --urls 20000 --shops 200      smaller
  bench/systems/shops.py --durability relaxed          as `stator up` takes it

First, new URLs: blind BatchWriteItem of 25 rows through the DynamoDB API, and batches through REST, which read what is there, merge,
count and report; the same rows, table, indexes and stream.  Then the same batches again, which change nothing.  Then all
workers claim shops until none is due.  The results are checked; status 1 when one is wrong, or when upserts make less than a
third of the blind writes.
"""

import argparse
import concurrent.futures
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import up  # noqa: E402

TABLE = "aura-historia-data"


def url(domain, number):
    return f"https://{domain}/products/category-{number % 97}/item-{number}"


def row(domain, number):
    address = url(domain, number)
    return {"PK": {"S": f"SHOP#{domain}"}, "SK": {"S": f"URL#{address}"}, "domain": {"S": domain}, "url": {"S": address}, "type": {"S": "product"},
            "is_product": {"N": "1"}, "hash": {"S": f"{number:064x}"}, "standards_used": {"L": [{"S": "json-ld"}]}, "entity_type": {"S": "URL"},
            "version": {"N": "1"}}  # fmt: skip


def news(domain, number):
    return {"url": url(domain, number), "type": "product", "hash": f"{number:064x}", "standards_used": ["json-ld"]}


def drive(server, port, requests, check):
    """Sends each connection's requests one after the other; seconds and processor seconds of the server."""
    wires = [up.Wire(port) for _ in requests]

    def run(pair):
        for request in pair[1]:
            status, body = pair[0].call(request)
            if status != 200 or not check(body):
                sys.exit(f"a wrong answer: {status} {body[:300]}")

    cpu, start = server.cpu_seconds(), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(requests)) as pool:
        list(pool.map(run, zip(wires, requests)))
    return time.monotonic() - start, server.cpu_seconds() - cpu


def batches(numbers, size):
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def measure_urls(server, token, arguments):
    share = arguments.urls // arguments.connections
    domains = [f"shop{i % arguments.domains}.example" for i in range(arguments.connections)]
    wire = up.Wire(server.rest)
    for domain in sorted(set(domains)):
        for name in (domain, f"blind-{domain}"):
            assert wire.call(server.rest_request(token, "PUT", f"/shops/{name}", {"shop_country": "DE"}))[0] == 201
    numbers = [list(range(i * share, (i + 1) * share)) for i in range(arguments.connections)]

    blind = [[server.api_request("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": row(f"blind-{domain}", n)}} for n in batch]}})
              for batch in batches(mine, 25)] for domain, mine in zip(domains, numbers)]  # fmt: skip
    upserts = [[server.rest_request(token, "POST", f"/shops/{domain}/urls", {"urls": [news(domain, n) for n in batch]})
                for batch in batches(mine, arguments.batch)] for domain, mine in zip(domains, numbers)]  # fmt: skip
    total = share * arguments.connections
    results = {"blind BatchWriteItem": drive(server, server.api, blind, lambda body: b'"UnprocessedItems":{}' in body)}
    results["upsert, all new"] = drive(server, server.rest, upserts, lambda body: b'"changed":0,"unchanged":0,"refused":0' in body)
    results["upsert, nothing new"] = drive(server, server.rest, upserts, lambda body: b'{"created":0,"changed":0' in body)
    for domain in sorted(set(domains)):
        found = json.loads(wire.call(server.rest_request(token, "GET", f"/shops/{domain}"))[1])
        if found["url_count"] != domains.count(domain) * share:
            sys.exit(f"{domain} counts {found['url_count']} URLs, not {domains.count(domain) * share}")
    print(f"{'':22}{'URLs/s':>10}{'server us/URL':>16}")
    for name, (seconds, cpu) in results.items():
        print(f"{name:22}{total / seconds:>10,.0f}{cpu * 1e6 / total:>16.1f}")
    ratio = results["blind BatchWriteItem"][0] / results["upsert, all new"][0]
    print(f"upserts make {ratio:.2f} of blind writes; {total:,} URLs of {arguments.domains} shops, {arguments.connections} connections, "
          f"batches of {arguments.batch}\n")  # fmt: skip
    return ratio


def measure_claims(server, token, arguments):
    wire = up.Wire(server.rest)
    for i in range(arguments.shops):
        assert wire.call(server.rest_request(token, "PUT", f"/shops/queue{i}.example", {"shop_country": "FR"}))[0] == 201
    request = server.rest_request(token, "POST", "/claim?op=crawl&country=FR&seconds=86400")

    def work(mine):
        taken = []
        while True:
            status, body = mine.call(request)
            if status == 204:
                return taken
            if status != 200:
                sys.exit(f"a claim failed: {status} {body[:300]}")
            taken.append(json.loads(body)["shop"]["domain"])

    wires = [up.Wire(server.rest) for _ in range(arguments.connections)]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(wires)) as pool:
        taken = [domain for mine in pool.map(work, wires) for domain in mine]
    seconds = time.monotonic() - start
    if len(set(taken)) != len(taken) or len(taken) != arguments.shops:
        sys.exit(f"{len(taken)} claims of {len(set(taken))} shops, of {arguments.shops}")
    print(f"{'claims/s':22}{len(taken) / seconds:>10,.0f}   {arguments.shops:,} shops, {arguments.connections} workers, none handed out twice")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=160000)
    parser.add_argument("--batch", type=int, default=1000, help="URLs in one upsert (1000)")
    parser.add_argument("--domains", type=int, default=16, help="shops that they belong to (16); 1: all crawlers are at one shop")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--shops", type=int, default=2000, help="shops in the work queue (2000)")
    arguments, more = parser.parse_known_args()
    with up.Up("shops", more) as server:
        token = server.token("crawler-1", "crawler")
        ratio = measure_urls(server, token, arguments)
        measure_claims(server, token, arguments)
    if ratio < 1 / 3:
        sys.exit("upserts are slower than a third of blind writes")


if __name__ == "__main__":
    main()
