"""bench/baseline.json: the instructions that each hot operation may take, and what they were counted with."""
import json
import pathlib
import subprocess

FILE = pathlib.Path(__file__).resolve().parent / "baseline.json"
MOST_GROWTH = 0.05
# Code that is part of the program or of the count.
PACKAGES = ("g++-12", "libc6", "libjemalloc-dev", "librocksdb-dev", "libsimdjson14", "libstdc++6", "valgrind")
RENEW = "bench/instructions --renew, and the commit says why"


def versions():
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES], capture_output=True, text=True, check=False)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def read():
    return json.loads(FILE.read_text())


def write(counts):
    FILE.write_text(json.dumps({"counted_with": versions(), "instructions": counts}, indent=1) + "\n")


def other_versions(baseline, here=None):
    """One line that tells what differs from the machine where the baseline was counted, or nothing."""
    here = versions() if here is None else here
    different = [f"{name} {here.get(name, 'missing')} instead of {version}"
                 for name, version in baseline["counted_with"].items() if here.get(name) != version]  # fmt: skip
    return f"counted with {', '.join(different)}" if different else ""


def compare(counts, baseline):
    """(problems, gains): operations that have grown by more than MOST_GROWTH, that have no limit or are gone; and those that shrank
    so much that the file no longer protects them."""
    problems, gains = [], []
    limits = baseline["instructions"]
    for store in dict.fromkeys([*limits, *counts]):
        for name in dict.fromkeys([*limits.get(store, {}), *counts.get(store, {})]):
            limit, counted = limits.get(store, {}).get(name), counts.get(store, {}).get(name)
            if limit is None or counted is None:
                problems.append(f"{store}, {name}: {'not in bench/baseline.json' if limit is None else 'no longer counted'}; {RENEW}")
                continue
            growth = counted / limit - 1
            text = f"{store}, {name}: {counted:,} instructions, {limit:,} in bench/baseline.json, {growth:+.1%}"
            if growth > MOST_GROWTH:
                problems.append(f"{text}; find out why, or if it is worth it: {RENEW}")
            elif growth < -MOST_GROWTH:
                gains.append(text)
    return problems, gains
