#!/usr/bin/env python3
"""bench/systems/stories.py: getting a story with all its nodes, and what it takes to make and rearrange one.

  bench/systems/stories.py                  1,000 nodes, in memory and on disk
  bench/systems/stories.py --nodes 200 --rounds 5

A story of that many nodes is imported, read with its nodes (GET /stories/{id}/full, page by page), checked, and put into the opposite
order.  Shown: requests and milliseconds of each.  Every answer is compared with what was imported.
"""

import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import up  # noqa: E402

PAGE = 250  # the largest that the route gives


def document(count):
    ids = [f"00000000-0000-4000-8000-{i:012}" for i in range(count)]
    nodes = [{"id": id, "label": f"node {i}", "type": "passage", "prompt": f"Node {i}. " + "It was a dark and stormy night. " * 10,
              "responses": [{"label": "On", "targetNodeId": ids[(i + 1) % count]}, {"label": "Back", "targetNodeId": ids[i - 1]}]}
             for i, id in enumerate(ids)]  # fmt: skip
    return {"title": "Long", "startNodeId": ids[0], "nodes": nodes}, ids


def whole(user, story, limit):
    """The ids of all nodes, and how many requests that took."""
    found, token, requests = [], "", 0
    while True:
        answer = user("GET", f"/stories/{story}/full?limit={limit}{token}")
        requests += 1
        found += [node["id"] for node in answer["items"][0]["nodes"]]
        if "nextToken" not in answer:
            return found, requests
        token = f"&nextToken={answer['nextToken']}"


def timed(work):
    began = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - began) * 1e3


def run(name, arguments, count, rounds):
    with up.Up("stories", arguments) as running:
        user = running.user("writer")
        body, ids = document(count)
        story, import_ms = timed(lambda: user("POST", "/stories/import", body)["id"])
        rows = [("import", 1, import_ms, import_ms)]
        for limit in (100, PAGE):
            times, requests = [], 0
            for _ in range(rounds):
                (found, requests), took = timed(lambda: whole(user, story, limit))
                up.check(found == ids, f"{len(found)} nodes instead of {count}, or in another order")
                times.append(took)
            rows.append((f"get with nodes, {limit} a page", requests, statistics.median(times), max(times)))
        report, check_ms = timed(lambda: user("GET", f"/stories/{story}/check"))
        up.check(report["sound"] and report["counts"]["nodes"] == count, f"not sound: {report['counts']}")
        rows.append(("check", 1, check_ms, check_ms))
        _, reorder_ms = timed(lambda: user("POST", f"/stories/{story}/reorder", {"nodeIds": ids[::-1]}))
        up.check(whole(user, story, PAGE)[0] == ids[::-1], "the order is not the opposite one")
        rows.append(("reorder all", 1, reorder_ms, reorder_ms))
    for what, requests, median, worst in rows:
        print(f"{name:10}  {what:28} {requests:9} {median:10.1f} {worst:10.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000, help="of the story (1 to 10000)")
    parser.add_argument("--rounds", type=int, default=20, help="how often the story is read")
    options = parser.parse_args()
    print(f"a story of {options.nodes} nodes\n\n{'store':10}  {'what':28} {'requests':>9} {'median ms':>10} {'worst ms':>10}")
    for name, arguments in (("memory", ["--in-memory"]), ("disk", [])):
        run(name, arguments, options.nodes, options.rounds)


main()
