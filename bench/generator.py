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


def command(program, endpoint, workload, table, connections, items, seconds=0.0, warmup=0.0, pid=None):
    """One run of `workload`; with no seconds, a workload that ends by itself (load) runs to its end.

    `endpoint` can be several of one host, with commas between them: each connection is to one of them, in turn.
    """
    urls = [urllib.parse.urlparse(one) for one in endpoint.split(",")]
    ports = ",".join(str(url.port or 80) for url in urls)
    arguments = [program, workload, "--table", table, "--host", urls[0].hostname, "--port", ports, "--path", urls[0].path or "/",
                 "--connections", str(connections), "--items", str(items), "--seconds", str(seconds), "--warmup", str(warmup),
                 "--seed", str(time.monotonic_ns() % 1_000_003)]
    return arguments + (["--pids", str(pid)] if pid else [])


def run(program, endpoint, workload, table, connections, items, seconds=0.0, warmup=0.0, pid=None, ours=True):
    """What the generator reports.  A wrong answer ends the program, and so does a connection that a server of `ours` closed."""
    done = subprocess.run(command(program, endpoint, workload, table, connections, items, seconds, warmup, pid), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{workload} on {endpoint}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    if result["reconnects"] and ours:
        sys.exit(f"{workload} on {endpoint}: the server closed {result['reconnects']} connections instead of answering")
    if result["errors"]:
        sys.exit(f"{workload} on {endpoint}: {result['errors']} wrong answers, the first to {result['first_error']}")
    return result
