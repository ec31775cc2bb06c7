"""Starts the Stator under test on a free port and a temporary folder, and reports what a suite found.

  STATOR_BIN         the binary (default build/release/stator)
  STATOR_PRESET      what it was built with: asan and tsan get more time
  STATOR_TEST_STORE  `memory` runs every server of the suite with --in-memory
  STATOR_RESULT      where the suite writes {"passed":n,"failed":n,"failures":[...]}
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
import dynamo  # noqa: E402
import waiting  # noqa: E402


def binary():
    path = pathlib.Path(os.environ.get("STATOR_BIN") or ROOT / "build/release/stator").absolute()
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} does not exist: build it first (./run --build-only) or name another with STATOR_BIN")
    return str(path)


def in_memory_only():
    return os.environ.get("STATOR_TEST_STORE") == "memory"


def slowness():
    """How much slower than a release build the binary may be: a factor for every time limit of a test."""
    return 10 if "san" in os.environ.get("STATOR_PRESET", os.environ.get("STATOR_BIN", "")) else 1


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def status_bytes(pid, field):
    """A size in /proc: VmRSS: is what is resident, VmHWM: the most that was since the start, or since forget_peak()."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak(pid):
    with open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")


class Server:
    """One Stator process.  A context manager: what it started is stopped, and a temporary folder is removed.

    `data` is a folder to keep, None for a temporary one, or "memory".  start() returns when the server is healthy.
    """

    def __init__(self, data=None, arguments=(), preexec=None):
        self.memory = data == "memory" or in_memory_only()
        self.temporary = None
        if not self.memory and data is None:
            self.temporary = data = tempfile.mkdtemp(prefix="stator-test-")
        self.data, self.arguments, self.preexec = data, list(arguments), preexec
        self.port, self.process = free_port(), None
        self.log_file = tempfile.NamedTemporaryFile(prefix="stator-log-", suffix=".txt")

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        self.stop()
        if self.temporary:
            shutil.rmtree(self.temporary, ignore_errors=True)
        self.log_file.close()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def connect(self, timeout=60):
        return dynamo.Connection(self.endpoint, timeout * slowness())

    def command(self):
        store = ["--in-memory"] if self.memory else ["--data", self.data]
        return [binary(), "serve", "--port", str(self.port), *store, *self.arguments]

    def start(self, timeout=30):
        for _ in range(5):  # another process may take the port between its choice and its use
            with open(self.log_file.name, "ab") as log:
                self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                preexec_fn=self.preexec)
            for _ in waiting.attempts(timeout * slowness(), 0.003, 0.003):
                if self.process.poll() is not None:
                    break
                if self.healthy():
                    return self
            else:
                self.process.kill()
                raise RuntimeError(f"no answer to GET /health within {timeout} s\n{self.log()}")
            if "port" not in self.log() and "ddress" not in self.log():
                break
            self.port = free_port()
        raise RuntimeError(f"the server ended with {self.process.returncode} at its start\n{self.log()}")

    def healthy(self):
        return self.health() == 200

    def health(self, timeout=5):
        """The status that GET /health is answered with, or None."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout * slowness()) as s:
                s.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                return int(s.recv(4096).split(b" ")[1])
        except (OSError, IndexError, ValueError):
            return None

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """SIGKILL, as a crash would."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """SIGTERM, and an error when the server does not end by itself."""
        if not self.alive():
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20 * slowness())
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"the server did not end on SIGTERM\n{self.log()}") from None

    def disturb(self, rng):
        """Kills it, or asks it to end, and starts it again."""
        if rng.random() < 0.7:
            self.kill()
        else:
            self.stop()
        self.start()

    def log(self, lines=20):
        text = pathlib.Path(self.log_file.name).read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def resident_bytes(self):
        return self._status_bytes("VmRSS:")

    def peak_bytes(self):
        """The most that was resident since the start, or since forget_peak()."""
        return self._status_bytes("VmHWM:")

    def forget_peak(self):
        forget_peak(self.pid)

    def _status_bytes(self, field):
        return status_bytes(self.pid, field)

    def cpu_seconds(self):
        fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Report:
    """Counts what passed, prints what failed, and leaves the result where STATOR_RESULT says."""

    def __init__(self, name):
        self.name, self.passed, self.failures = name, 0, []

    def ok(self):
        self.passed += 1

    def fail(self, what):
        self.failures.append(what)
        print(f"FAIL {what}", flush=True)

    def check(self, condition, what):
        self.ok() if condition else self.fail(what)
        return condition

    def finish(self):
        """Writes the result and ends the process: 0 when nothing failed."""
        result = {"passed": self.passed, "failed": len(self.failures), "failures": self.failures}
        if os.environ.get("STATOR_RESULT"):
            pathlib.Path(os.environ["STATOR_RESULT"]).write_text(json.dumps(result, indent=1) + "\n")
        print(f"{self.name}: {self.passed} passed, {len(self.failures)} failed", flush=True)
        sys.exit(1 if self.failures or not self.passed else 0)
