#!/usr/bin/env python3
"""bench/systems/worthwatch.py: the public feed of many watchlists, from its first page to its last.

  bench/systems/worthwatch.py
  bench/systems/worthwatch.py --lists 5000             smaller
  bench/systems/worthwatch.py --durability relaxed     as `stator up` takes it

Creates the lists over REST on 16 connections, then reads the whole feed, page by page.  Shown: lists created per second, and
the latency of pages by where they are in the feed, which should be the same everywhere.  Checked: every list is there once, newest
first.  Status 1 when that is wrong, or when the last tenth of the pages takes more than twice as long as the first.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import up  # noqa: E402

CURATORS = 16


def create(server, count):
    """The ids of `count` public lists of several curators, and how long it took."""

    def work(number):
        token, wire = server.token(f"curator-{number}"), up.Wire(server.rest)
        status, body = wire.call(server.rest_request(token, "POST", "/users", {"email": f"c{number}@example.org", "username": f"c{number}"}))
        assert status == 201, body
        made = []
        for i in range(number, count, CURATORS):
            status, body = wire.call(server.rest_request(token, "POST", "/watchlists", {"title": f"List {i}", "isPublic": True}))
            if status != 201:
                sys.exit(f"a list was not created: {status} {body[:300]}")
            made.append(json.loads(body)["watchlistId"])
        return made

    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CURATORS) as pool:
        made = [one for mine in pool.map(work, range(CURATORS)) for one in mine]
    return made, time.monotonic() - start


def read_feed(server, limit):
    """The feed, and the milliseconds of each page."""
    token, wire = server.token("reader"), up.Wire(server.rest)
    lists, latencies, next_token = [], [], None
    while True:
        request = server.rest_request(token, "GET", f"/watchlists?limit={limit}" + (f"&nextToken={next_token}" if next_token else ""))
        start = time.perf_counter()
        status, body = wire.call(request)
        latencies.append((time.perf_counter() - start) * 1e3)
        if status != 200:
            sys.exit(f"a page failed: {status} {body[:300]}")
        page = json.loads(body)
        lists += [(one["createdAt"], one["watchlistId"]) for one in page["items"]]
        next_token = page.get("nextToken")
        if not next_token:
            return lists, latencies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=100000)
    parser.add_argument("--limit", type=int, default=50, help="lists on a page (50)")
    arguments, more = parser.parse_known_args()
    with up.Up("worthwatch", more) as server:
        made, seconds = create(server, arguments.lists)
        print(f"{len(made):,} lists created by {CURATORS} curators: {len(made) / seconds:,.0f}/s\n")
        read_feed(server, arguments.limit)  # once without looking, so that every page is as warm as the next
        feed, latencies = read_feed(server, arguments.limit)
    if sorted(one for _, one in feed) != sorted(made):
        sys.exit(f"the feed holds {len(feed)} lists, {len({one for _, one in feed})} of them different; {len(made)} were made")
    moments = [moment for moment, _ in feed]
    if moments != sorted(moments, reverse=True):
        sys.exit("the feed is not newest first")
    tenth = max(1, len(latencies) // 10)
    parts = [latencies[start : start + tenth] for start in range(0, tenth * 10, tenth) if latencies[start : start + tenth]]
    print(f"{'pages':>16}{'p50 ms':>10}{'p99 ms':>10}")
    for number, part in enumerate(parts):
        p99 = sorted(part)[int(len(part) * 0.99)]
        print(f"{number * tenth + 1:>7,} - {number * tenth + len(part):>6,}{statistics.median(part):>10.2f}{p99:>10.2f}")
    ratio = statistics.median(parts[-1]) / statistics.median(parts[0])
    print(f"\nthe last tenth takes {ratio:.2f} of the time of the first; {len(latencies):,} pages of {arguments.limit}")
    if ratio > 2:
        sys.exit("pages get slower along the feed")


if __name__ == "__main__":
    main()
