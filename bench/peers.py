"""Servers of others, beside which Stator is measured.  Each is a context manager; missing() says what it takes."""
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.request

import measure
import server as stator
import waiting

HERE = pathlib.Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
SYSTEM_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def find(command):
    return shutil.which(command, path=SYSTEM_PATH)


def install_npm_packages():
    """Those that package-lock.json pins, if they are not here yet."""
    names = ("dynalite", "@dynoxide/linux-x64", "@extenddb/linux-x64")
    if not all((MODULES / name).exists() for name in names):
        measure.say("# npm ci")
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=HERE, check=True)


class Peer:
    """A process of its own, with a folder of its own."""

    title, commands, npm = "", {}, False  # commands: what it takes, and Debian's package of it
    credentials = None

    def __init__(self):
        self.port, self.process, self.folder = stator.free_port(), None, tempfile.mkdtemp(prefix="stator-peer-")

    @classmethod
    def missing(cls):
        """One line for what is not installed, or None."""
        commands = {**cls.commands, **({"node": "nodejs", "npm": "npm"} if cls.npm else {})}
        absent = {command: package for command, package in commands.items() if not find(command)}
        if not absent:
            return None
        return f"{cls.title} is left out: no {', '.join(absent)} here; apt-get install {' '.join(dict.fromkeys(absent.values()))}"

    def command(self):
        raise NotImplementedError

    def __enter__(self):
        self.process = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True, env=self.environment())  # fmt: skip
        self.wait()
        return self

    def environment(self):
        return os.environ

    def wait(self):
        measure.wait_for_answer(self.port, time.monotonic() + 30)

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # the group that __enter__ made
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self):
        """The process and its children."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]


class Dynalite(Peer):
    """In memory."""

    title, npm = "dynalite", True

    def command(self):
        return ["node", MODULES / "dynalite/cli.js", "--host", "127.0.0.1", "--port", str(self.port), "--createTableMs", "1",
                "--deleteTableMs", "1"]  # fmt: skip


class Dynoxide(Peer):
    """In memory: SQLite without a file."""

    title, npm = "Dynoxide", True

    def command(self):
        return [MODULES / "@dynoxide/linux-x64/dynoxide", "--port", str(self.port)]


class ExtendDb(Peer):
    """Its server for development, in memory: SQLite without a file.  It checks signatures; the key is the one that it comes with."""

    title, npm = "ExtendDB", True
    credentials = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

    def command(self):
        return [MODULES / "@extenddb/linux-x64/extenddb", "serve", "--foreground"]

    def environment(self):
        return {**os.environ, "HOME": self.folder, "EXTENDDB__SERVER__PORT": str(self.port), "EXTENDDB__STORAGE__SQLITE__PATH": ":memory:"}

    def wait(self):
        waiting.until(self.is_healthy, "ExtendDB answers", 30)

    def is_healthy(self):
        try:
            with urllib.request.urlopen(f"{self.endpoint}/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False


class Nginx(Peer):
    """Answers every POST with a fixed body, and reads the request: what HTTP alone costs."""

    title, commands = "nginx", {"nginx": "nginx-light"}

    def command(self):
        folder = pathlib.Path(self.folder)
        folder.chmod(0o755)
        paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "conf").write_text(f"""worker_processes {os.cpu_count()}; daemon off; pid {folder}/pid; error_log {folder}/errors;
            events {{ worker_connections 1024; }}
            http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; client_body_buffer_size 64k; {paths}
              server {{ listen 127.0.0.1:{self.port} reuseport; location / {{ default_type application/x-amz-json-1.0; return 200 '{{}}'; }} }} }}
            """)
        return [find("nginx"), "-e", folder / "errors", "-c", folder / "conf"]


class Redis(Peer):
    """Without its append-only file, so that nothing is on disk."""

    title, commands, settings = "Redis", {"redis-server": "redis-server", "redis-benchmark": "redis-tools"}, ("--appendonly", "no")

    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder, *self.settings]

    def wait(self):
        waiting.until(lambda: self.ask("PING").startswith("PONG"), "redis answers", 30)

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True, check=False).stdout

    def benchmark(self, test, connections, requests, keys, pipeline=1):
        command = ["redis-benchmark", "-p", str(self.port), "-t", test, "-d", str(measure.ITEM_BYTES), "-r", str(keys), "-n", str(requests),
                   "-c", str(connections), "-P", str(pipeline), "--csv"]  # fmt: skip
        before, busy = sum(map(measure.processor_seconds, self.pids)), measure.busy_seconds(self.pids)
        began = time.monotonic()
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        values = [float(text.strip('"')) for text in lines[-1].split(",")[1:]]
        ms = dict(zip(lines[-2].replace('"', "").split(",")[1:], values))
        return {"ops_s": ms["rps"], "p50_us": ms["p50_latency_ms"] * 1000, "p99_us": ms["p99_latency_ms"] * 1000,
                "server_us_op": (sum(map(measure.processor_seconds, self.pids)) - before) * 1e6 / requests,
                "items": requests, "operations": requests, "items_s": ms["rps"], "reconnects": 0,
                "others": (measure.busy_seconds(self.pids) - busy) / (time.monotonic() - began)}  # fmt: skip

    def load(self, keys):
        self.benchmark("set", 64, 3 * keys, keys, pipeline=32)

    def measure(self, workload, connections, keys, seconds):
        test = {"put": "set", "get": "get"}[workload]
        estimate = self.benchmark(test, connections, 2_000 if connections > 1 else 500, keys)
        return self.benchmark(test, connections, max(1_000, int(estimate["ops_s"] * seconds)), keys)


class RedisAlways(Redis):
    """Answers a write when it is on disk."""

    title, settings = "Redis fsync", ("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")


def rocksdb_batches(seconds, folder, threads=16):
    """Items per second that RocksDB itself writes in batches of 25 with a sync each, or None where its tool is missing."""
    if not find("db_bench"):
        return None
    command = ["db_bench", f"--db={folder}", "--benchmarks=fillrandom", "--batch_size=25", "--sync=1", "--num=100000", "--writes=100000000",
               f"--duration={max(1, int(seconds))}", f"--threads={threads}", "--key_size=40", "--value_size=1000", "--compression_type=lz4",
               "--compression_ratio=1.0"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    shutil.rmtree(folder, ignore_errors=True)
    return float(re.search(r"fillrandom\s*:\s*[\d.]+ micros/op (\d+) ops/sec", done.stdout + done.stderr)[1])


def bare_sync_us(folder, rounds=1000):
    """The median time of appending 1 KB to a file and syncing it."""
    times, data = [], os.urandom(measure.ITEM_BYTES)
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(rounds):
            began = time.perf_counter()
            file.write(data)
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)
