"""The load generator behind the benchmarks: builds it, writes its command line, and runs it."""
import json
import pathlib
import subprocess
import sys
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def build():
    """Builds the load generator if it is missing or older than its source."""
    folder = ROOT / "build/release"
    program = folder / "stator_loadgen"
    sources = list((HERE / "loadgen").iterdir()) + [HERE / "CMakeLists.txt"]
    if not program.exists() or program.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        if (folder / "CMakeCache.txt").exists() and "stator_loadgen" in subprocess.run(
                ["cmake", "--build", folder, "--target", "help"], capture_output=True, text=True).stdout:
            subprocess.run(["cmake", "--build", folder, "--target", "stator_loadgen"], check=True, stdout=subprocess.DEVNULL)
        else:  # no build of the database here: the generator alone
            folder = ROOT / "build/bench"
            program = folder / "stator_loadgen"
            subprocess.run(["cmake", "-S", HERE, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["cmake", "--build", folder], check=True, stdout=subprocess.DEVNULL)
    return str(program)


def command(program, endpoint, workload, table, connections, items, seconds=0.0, warmup=0.0, pids=(), first=0, sign=False, rate=0):
    """One run of `workload`; with no seconds, a workload that ends by itself (load) runs to its end.

    `endpoint` can be several of one host, with commas between them: each connection is to one of them, in turn.  `first`: where loading
    begins.  `sign`: with the credentials in its environment.  `rate`: requests per second, 0 for as many as are answered.
    """
    urls = [urllib.parse.urlparse(one) for one in endpoint.split(",")]
    ports = ",".join(str(url.port or 80) for url in urls)
    arguments = [program, workload, "--table", table, "--host", urls[0].hostname, "--port", ports, "--path", urls[0].path or "/",
                 "--connections", str(connections), "--items", str(items), "--first", str(first), "--seconds", str(seconds),
                 "--warmup", str(warmup), "--seed", str(time.monotonic_ns() % 1_000_003)]  # fmt: skip
    arguments += (["--sign", "yes"] if sign else []) + (["--rate", str(rate)] if rate else [])
    return arguments + (["--pids", ",".join(map(str, pids))] if pids else [])
