"""A replicated pair of PostgreSQL servers that fails over by itself: pg_auto_failover's monitor and two nodes, in a temporary folder, on
free ports of 127.0.0.1, as an unprivileged user, all gone afterwards.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

import postgres
import server as stator
import waiting

TOP = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 120  # seconds for the pair to be made, or to be whole again
STABLE = {"primary", "secondary"}
# The time after which the monitor takes a node for gone.  Its defaults are for networks.
MONITOR_SETTINGS = {
    "pgautofailover.health_check_period": "500ms", "pgautofailover.health_check_timeout": "1s",
    "pgautofailover.health_check_max_retries": "1", "pgautofailover.health_check_retry_delay": "200ms",
    "pgautofailover.node_considered_unhealthy_timeout": "3s", "pgautofailover.primary_demote_timeout": "2s",
    "pgautofailover.startup_grace_period": "1s",
}  # fmt: skip
# A standby looks for its primary again after five seconds by default, and commits wait for it.
NODE_SETTINGS = {"max_connections": "200", "shared_buffers": "64MB", "wal_retrieve_retry_interval": "200ms"}


def install():
    """Debian's package, if it is missing."""
    script = f"source {TOP}/cmake/packages.sh && install_missing \"${{failover_packages[@]}}\""
    subprocess.run(["bash", "-euc", script], check=True)


@dataclasses.dataclass
class Node:
    """A PostgreSQL server and the pg_autoctl that keeps it."""

    name: str
    folder: pathlib.Path
    port: int
    process: subprocess.Popen = None

    @property
    def data(self):
        """pg_autoctl makes this folder anew when the data cannot be rewound."""
        return self.folder / "data"

    def processes(self):
        """The ids of all its processes: those that work below its folder.  PostgreSQL's have sessions of their own."""
        found = set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if f"{os.readlink(f'/proc/{pid}/cwd')}/".startswith(f"{self.folder}/"):
                    found.add(int(pid))
        return found

    def kill(self):
        """SIGKILL to all, as when the machine loses its power."""
        while pids := self.processes():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if self.process:
                self.process.poll()
            waiting.let_work(0.005)
        self.process.wait(PATIENCE)

    def kill_postgres(self):
        """SIGKILL to PostgreSQL's main process only; pg_autoctl starts it again."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


class Pair:
    """A context manager."""

    def __init__(self, database="stator"):
        install()
        self.database = database
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stator-pair-", dir="/tmp"))  # a socket's path is short
        self.user = None  # PostgreSQL refuses root
        if os.geteuid() == 0:
            self.user = pwd.getpwnam("postgres")
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.monitor, *self.nodes = (Node(name, self.folder / name, stator.free_port()) for name in ("monitor", "one", "two"))

    def __enter__(self):
        try:
            self.create()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in (self.monitor, *self.nodes):
            if node.process:
                node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self):
        binaries = postgres.programs()
        return {
            "PATH": f"{binaries}:/usr/bin:/bin", "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "PG_REGRESS_SOCK_DIR": str(self.folder), "PGHOST": str(self.folder), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
        }  # fmt: skip

    def as_user(self):
        own = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        return {**own, "cwd": self.folder, "env": self.environment()}

    def run(self, *command, check=True):
        ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE, check=False,
                             stdin=subprocess.DEVNULL, **self.as_user())  # fmt: skip
        if check and ran.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command[:3]))} failed: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def create(self):
        for folder in (self.folder / "run", *(node.folder for node in (self.monitor, *self.nodes))):
            folder.mkdir()
            if self.user:
                os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        common = ("--auth", "trust", "--no-ssl", "--hostname", "127.0.0.1")
        self.run("pg_autoctl", "create", "monitor", "--pgdata", self.monitor.data, "--pgport", self.monitor.port, *common)
        self.configure(self.monitor, MONITOR_SETTINGS)
        self.start(self.monitor)
        self.wait_until_it_answers(self.monitor.port, "pg_auto_failover")
        for node in self.nodes:
            self.run("pg_autoctl", "create", "postgres", "--pgdata", node.data, "--pgport", node.port, "--name", node.name,
                     "--dbname", self.database, "--username", "stator", "--monitor", self.monitor_url(), *common)  # fmt: skip
            self.configure(node, NODE_SETTINGS)
            self.start(node)
            waiting.until(lambda: self.states().get(node.name, ("",))[0] in (*STABLE, "single"), f"{node.name} is there", PATIENCE, 0.1)
        self.wait_until_whole()

    def configure(self, node, settings):
        lines = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        with open(node.data / "postgresql.conf", "a") as file:
            file.write(lines)

    def start(self, node):
        with open(self.folder / f"{node.name}.log", "ab") as log:
            node.process = subprocess.Popen(["pg_autoctl", "run", "--pgdata", str(node.data)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, **{**self.as_user(), "cwd": node.folder})  # fmt: skip

    def start_missing(self):
        """Starts what was killed."""
        for node in (self.monitor, *self.nodes):
            if node.process.poll() is not None:
                self.start(node)

    def monitor_url(self):
        return f"postgres://autoctl_node@127.0.0.1:{self.monitor.port}/pg_auto_failover?sslmode=disable"

    def url(self):
        """The address of the store: both nodes; libpq takes the one that accepts writes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgres://stator@{hosts}/{self.database}?sslmode=disable"

    def sql(self, port, text, database=None, user="stator"):
        """The output of psql; None if the server does not answer."""
        ran = subprocess.run(["psql", "-X", "-q", "-A", "-t", f"postgres://{user}@127.0.0.1:{port}/{database or self.database}?connect_timeout=2",
                              "-c", text], capture_output=True, text=True, timeout=30, check=False, **self.as_user())  # fmt: skip
        return ran.stdout.strip() if ran.returncode == 0 else None

    def wait_until_it_answers(self, port, database):
        waiting.until(lambda: self.sql(port, "SELECT 1", database, "autoctl_node") == "1", f"port {port} answers", PATIENCE, 0.1)

    def states(self):
        """{name: (reported state, assigned state)}, by the monitor; empty if it does not answer."""
        rows = self.sql(self.monitor.port, "SELECT json_agg(n) FROM pgautofailover.node n", "pg_auto_failover", "autoctl_node")
        return {row["nodename"]: (row["reportedstate"], row["goalstate"]) for row in json.loads(rows or "[]") or []}

    def is_whole(self):
        """Whether one is the primary, the other one its synchronous standby, and nothing is about to change."""
        states = self.states()
        return {reported for reported, _ in states.values()} == STABLE and all(now == goal for now, goal in states.values())

    def wait_until_whole(self):
        waiting.until(self.is_whole, lambda: f"the pair is whole: {self.states()}\n{self.log()}", PATIENCE, 0.2)

    def with_state(self, wanted):
        """The node that is in this state."""
        states = self.states()
        return next(node for node in self.nodes if states[node.name][0] == wanted)

    def log(self, lines=15):
        parts = []
        for node in (self.monitor, *self.nodes):
            text = (self.folder / f"{node.name}.log").read_text(errors="replace").splitlines()[-lines:]
            parts.append("\n".join([f"-- {node.name}", *text]))
        return "\n".join(parts)
